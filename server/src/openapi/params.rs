//! The parameters that several questions share: the filters of `store::Filter`, what counts are grouped by, and the pages
//! of a list.

use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{AnyOf, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Required, Schema};

use crate::store::Dimension;

/// Which logs a question is about. A name may repeat: its values are alternatives; different names all have to hold. The
/// value `null` selects logs that do not tell; an empty value says nothing.
pub struct Filters;

/// What counts are grouped by.
pub struct GroupBy;

/// What a what-if changes.
pub struct Changes;

/// The filters of two sides: with `a.` in front, with `b.`, and bare for both.
pub struct TwoSides;

/// How an answer is written.
pub struct Format;

/// The most items of an answer.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "a shape to be described: the handlers read it")]
pub struct Limit {
    /// Items in the answer.
    #[param(minimum = 1, maximum = 500, default = 100)]
    limit: Option<u32>,
}

/// Where a page of a list begins and how long it is.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "a shape to be described: the handlers read it")]
pub struct Paging {
    /// `next` of the page before; none for the first.
    cursor: Option<String>,
    /// Items on a page.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
}

impl IntoParams for Filters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters: Vec<_> =
            Dimension::ALL.iter().map(|of| parameter(of.as_str(), meaning(*of), many(value(*of)))).collect();
        for (name, meaning) in
            [("killed", "A setting switched the split off."), ("retired", "The split was taken back.")]
        {
            parameters.push(parameter(name, meaning, words(["true", "false", ""])));
        }
        // Ids of content are positive numbers.
        let situation = text().pattern(Some("^([0-7][0-9a-f]{15}|)$"));
        parameters.push(parameter("situation", "What a replay of the log needs, by its id.", many(situation.into())));
        let word = text().pattern(Some("^(any|(token|shape):[^\\x00]*|)$"));
        parameters.push(parameter("unknown", "A word that nobody knows, as `drift` tells it.", many(word.into())));
        let build = text().pattern(Some("^[^\\x00]*$"));
        parameters.push(parameter("unknown_build", "The build that prints such a word.", many(build.into())));
        for (name, meaning) in [
            ("from", "The first day, or the first moment by the log's own clock."),
            ("to", "The last day, or the moment behind the last."),
        ] {
            parameters.push(parameter(name, meaning, moment()));
        }
        parameters
    }
}

impl IntoParams for TwoSides {
    fn into_params(of: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let bare = Filters::into_params(of);
        let with = |side: &str| {
            let side = side.to_owned();
            bare.clone().into_iter().map(move |mut parameter| {
                parameter.name = format!("{side}{}", parameter.name);
                parameter
            })
        };
        with("a.").chain(with("b.")).chain(with("")).collect()
    }
}

impl IntoParams for GroupBy {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let dimensions = words(Dimension::ALL.iter().map(|of| of.as_str()));
        vec![parameter("group_by", "May repeat: then every combination is a group.", many(dimensions))]
    }
}

impl IntoParams for Changes {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let policy = || words(wire::Policy::ALL.iter().map(|policy| policy.as_str()).chain([""]));
        let names = resolver::replay::SETTINGS.join("|");
        let setting = text().pattern(Some(format!("^(({names})=[^\\x00]{{0,300}}|)$")));
        vec![
            parameter("policy", "The rules to ask instead of those that each log shows.", policy()),
            parameter("against", "The rules for how it is, instead of those that each log shows.", policy()),
            parameter("set", "An environment setting for all, `NAME=VALUE`; may repeat.", many(setting.into())),
        ]
    }
}

impl IntoParams for Format {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![parameter("format", "`json` when it is left out.", words(["json", "csv", ""]))]
    }
}

fn parameter(name: &str, description: &str, schema: RefOr<Schema>) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}

const fn meaning(of: Dimension) -> &'static str {
    match of {
        Dimension::Day => "Local day of the start.",
        Dimension::Path => "Which compositor.",
        Dimension::Reason => "A reason token of the verdict.",
        Dimension::Render => "Name of the render adapter.",
        Dimension::Scanout => "Name of the adapter that drives the panel.",
        Dimension::GpuPair => "Both names, `RENDER → SCANOUT`.",
        Dimension::Runtime => "Version of the runtime, else the tag of its build.",
        Dimension::Exe => "Base name of the program.",
        Dimension::Machine => "Pseudonym of the PC.",
        Dimension::Split => "The verdict's split.",
        Dimension::Crossing => "The verdict's crossing.",
        Dimension::Outcome => "One word for a verdict.",
        Dimension::Cohort => "Kind of PC: which adapters it has, in which roles. An id that an answer gave.",
    }
}

/// One value of a filter: what can occur, `null` for logs that do not tell, or nothing.
fn value(of: Dimension) -> RefOr<Schema> {
    let none = ["null", ""];
    match of {
        Dimension::Day => AnyOf::builder().item(text().format(Some(DATE))).item(words(none)).into(),
        Dimension::Path => words(wire::Path::ALL.iter().map(|path| path.as_str()).chain(none)),
        Dimension::Outcome => words(wire::Outcome::ALL.iter().map(|outcome| outcome.as_str()).chain(none)),
        Dimension::Split => words(["engaged", "off", "unknown"].into_iter().chain(none)),
        Dimension::Crossing => words(["none", "atlas_per_frame", "every_present", "unknown"].into_iter().chain(none)),
        Dimension::Cohort => text().pattern(Some("^([0-9a-f]{16}|null|)$")).into(),
        Dimension::Machine => text().pattern(Some("^([0-9a-f]{32}|null|)$")).into(),
        // No database holds a NUL in a name.
        Dimension::Reason
        | Dimension::Render
        | Dimension::Scanout
        | Dimension::GpuPair
        | Dimension::Runtime
        | Dimension::Exe => text().pattern(Some("^[^\\x00]*$")).into(),
    }
}

const DATE: SchemaFormat = SchemaFormat::KnownFormat(KnownFormat::Date);
const DATE_TIME: SchemaFormat = SchemaFormat::KnownFormat(KnownFormat::DateTime);

fn moment() -> RefOr<Schema> {
    AnyOf::builder().item(text().format(Some(DATE))).item(text().format(Some(DATE_TIME))).item(words([""])).into()
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> RefOr<Schema> {
    text().enum_values(Some(words)).into()
}

fn many(item: RefOr<Schema>) -> RefOr<Schema> {
    ArrayBuilder::new().items(item).into()
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}
