//! What a file of rules means. Everything that could go wrong with it is told when it is read, with its line and what is
//! allowed, and not in the night of the first alarm.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use jiff::SignedDuration;
use reqwest::Url;
use toml::{Spanned, Value};

use super::file::{Compare, File, RuleTable};
use super::mail::MailServer;
use super::measure::Measure;
use super::webhook::Hook;
use crate::exit::Usage;
use crate::store::{Dimension, Filter};
use crate::text;

/// What a rule can watch one by one. Not machines: their pseudonyms belong to nothing that outlives them. Not days: there is
/// the window.
const ONE_BY_ONE: [Dimension; 7] = [
    Dimension::Runtime,
    Dimension::Path,
    Dimension::GpuPair,
    Dimension::Render,
    Dimension::Scanout,
    Dimension::Exe,
    Dimension::Cohort,
];
/// Filters of the API that a rule may use: without those that are a time.
const NOT_FILTERS: [&str; 3] = ["day", "from", "to"];
/// When nothing is said.
const DAYS: u32 = 7;
const LEAST_LOGS: u32 = 30;
const LEAST_MACHINES: u32 = 3;
const COOL_DOWN_HOURS: u32 = 24;
/// Ten years, as everywhere.
const MOST_DAYS: u32 = 3_660;
/// A year.
const MOST_HOURS: u32 = 8_784;
/// The name is half of a key in the database, which an index has to take.
const NAME_CHARS: usize = 100;

/// Rules that can be held against a database, and those who are told.
#[derive(Debug)]
pub struct Alerts {
    /// In front of the path of every link, without a slash at the end.
    pub(super) public_url: String,
    /// In the order of the file.
    pub(super) rules: Vec<Rule>,
    /// By the words of the rules.
    pub(super) receivers: BTreeMap<String, Receiver>,
    /// This server's name for the others.
    pub(super) holder: String,
}

/// Who is told.
#[derive(Clone, Debug)]
pub enum Receiver {
    /// A program.
    Hook(Arc<Hook>),
    /// The person behind the address.
    Mail(Arc<MailServer>, lettre::Address),
}

/// A rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// What people call it.
    pub name: String,
    /// What is counted.
    pub measure: Measure,
    /// The limit, a share.
    pub above: f64,
    /// What has to be above it.
    pub compare: Compare,
    /// Together, or one by one.
    pub watch: Watch,
    /// Which logs, for an address.
    pub filters: Vec<(String, String)>,
    /// Which logs.
    pub filter: Filter,
    /// How many days, today included.
    pub days: u32,
    /// Fewer logs tell nothing.
    pub least_logs: i64,
    /// Nor fewer machines with what is counted.
    pub least_machines: i64,
    /// Between two alarms about the same.
    pub cool_down: SignedDuration,
    /// The words of the receivers.
    pub to: Vec<String>,
}

/// What a rule looks at as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watch {
    /// All its logs.
    Together,
    /// The logs of each value.
    Each(Dimension),
    /// Those of the newest build that has enough.
    NewestBuild,
}

impl Watch {
    /// What a subject is a value of.
    pub const fn dimension(self) -> Option<Dimension> {
        match self {
            Self::Together => None,
            Self::Each(dimension) => Some(dimension),
            Self::NewestBuild => Some(Dimension::Runtime),
        }
    }
}

impl Alerts {
    /// Reads the file.
    ///
    /// # Errors
    /// `Usage` for what is wrong in it; others when it cannot be read.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("failed to read the rules in {shown}"))?;
        Ok(Self::parse(&shown, &text)?)
    }

    /// The same of a text; `shown` is what messages call it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(shown: &str, text: &str) -> Result<Self, Usage> {
        let source = Source { shown, text };
        let file: File = toml::from_str(text).map_err(|error| source.wrong(error.span(), error.message()))?;
        let public_url = public_url(file.public_url.get_ref()).map_err(|why| source.at(&file.public_url, why))?;
        let mail = match &file.mail {
            Some(mail) => {
                let server = MailServer::new(mail.get_ref(), &public_url);
                Some(Arc::new(server.map_err(|why| source.at(mail, format_args!("{why:#}")))?))
            }
            None => None,
        };
        let mut hooks = BTreeMap::new();
        for (name, table) in &file.webhooks {
            plain_name(name).map_err(|why| source.at(table, why))?;
            if name.contains('@') {
                return Err(source.at(table, "the name of a webhook has no @: that would be an address of e-mail"));
            }
            let hook = Hook::new(table.get_ref()).map_err(|why| source.at(table, format_args!("{why:#}")))?;
            hooks.insert(name.clone(), Arc::new(hook));
        }
        let mut alerts = Self {
            public_url,
            rules: Vec::new(),
            receivers: BTreeMap::new(),
            holder: text::random_hex().map_err(|error| source.wrong(None, error))?,
        };
        let mut names = BTreeSet::new();
        for table in &file.rules {
            let rule = rule(&source, table)?;
            if !names.insert(rule.name.clone()) {
                return Err(source.at(&table.get_ref().name, "another rule has this name"));
            }
            for word in table.get_ref().to.get_ref() {
                let receiver = receiver(word.get_ref(), &hooks, mail.as_ref()).map_err(|why| source.at(word, why))?;
                alerts.receivers.insert(word.get_ref().clone(), receiver);
            }
            alerts.rules.push(rule);
        }
        if alerts.rules.is_empty() {
            return Err(source.wrong(None, "there is no rule: begin one with [[rules]]"));
        }
        Ok(alerts)
    }

    /// The names of its rules.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.name.as_str())
    }

    /// The rule of this name.
    pub(super) fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }
}

/// For messages with a line.
struct Source<'a> {
    shown: &'a str,
    text: &'a str,
}

impl Source<'_> {
    fn at<T>(&self, place: &Spanned<T>, why: impl std::fmt::Display) -> Usage {
        self.wrong(Some(place.span()), why)
    }

    fn wrong(&self, place: Option<Range<usize>>, why: impl std::fmt::Display) -> Usage {
        let line = place.and_then(|place| self.text.get(..place.start)).map(|before| before.matches('\n').count() + 1);
        let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
        // The parser's messages may have several lines.
        let why = why.to_string().lines().collect::<Vec<_>>().join(", ");
        Usage(format!("failed to understand {}{line}: {why}", self.shown))
    }
}

fn rule(source: &Source<'_>, table: &Spanned<RuleTable>) -> Result<Rule, Usage> {
    let own = table.get_ref();
    plain_name(own.name.get_ref()).map_err(|why| source.at(&own.name, why))?;
    let measure = Measure::parse(own.count.get_ref()).map_err(|why| source.at(&own.count, why))?;
    let above = *own.above.get_ref();
    if !(0.0..1.0).contains(&above) {
        return Err(source.at(&own.above, "a limit is a share from 0 to below 1, such as 0.2 for 20 %"));
    }
    let watch = watch(source, own)?;
    let mut filter = Filter::default();
    let mut filters = Vec::new();
    for (name, place) in &own.filters {
        for value in values(place.get_ref()).map_err(|why| source.at(place, why))? {
            take(&mut filter, name, &value).map_err(|why| source.at(place, why))?;
            filters.push((name.clone(), value));
        }
        if measure.filter_name() == Some(name.as_str()) {
            let why = format!(
                "the rule counts by {name}, so a filter cannot choose by it: the share would always be the same"
            );
            return Err(source.at(place, why));
        }
    }
    if let Watch::Each(dimension) = watch
        && let (Some(by), Some(_)) = (&own.by, measure.filter_name().filter(|name| *name == dimension.as_str()))
    {
        return Err(source.at(by, "what is counted cannot be watched one by one as well"));
    }
    measure.within(filter.clone()).map_err(|why| source.at(&own.count, why))?;
    if own.to.get_ref().is_empty() {
        return Err(source.at(&own.to, "nobody would be told: name webhooks or addresses"));
    }
    let mut to: Vec<String> = own.to.get_ref().iter().map(|word| word.get_ref().clone()).collect();
    to.sort();
    to.dedup();
    let within = |said: Option<&Spanned<u32>>, usual: u32, most: u32| match said {
        Some(said) if !(1..=most).contains(said.get_ref()) => {
            Err(source.at(said, format_args!("expected a number from 1 to {most}")))
        }
        said => Ok(said.map_or(usual, |said| *said.get_ref())),
    };
    Ok(Rule {
        name: own.name.get_ref().clone(),
        measure,
        above,
        compare: own.compare,
        watch,
        filters,
        filter,
        days: within(own.days.as_ref(), DAYS, MOST_DAYS)?,
        least_logs: within(own.least_logs.as_ref(), LEAST_LOGS, u32::MAX)?.into(),
        least_machines: within(own.least_machines.as_ref(), LEAST_MACHINES, u32::MAX)?.into(),
        cool_down: SignedDuration::from_hours(
            within(own.cool_down_hours.as_ref(), COOL_DOWN_HOURS, MOST_HOURS)?.into(),
        ),
        to,
    })
}

fn watch(source: &Source<'_>, own: &RuleTable) -> Result<Watch, Usage> {
    match (&own.by, own.newest_build) {
        (Some(by), true) => {
            Err(source.at(by, "a rule is for the newest build, or for each value of `by`: leave one out"))
        }
        (None, true) => Ok(Watch::NewestBuild),
        (None, false) => Ok(Watch::Together),
        (Some(by), false) => {
            let known = ONE_BY_ONE.into_iter().find(|dimension| dimension.as_str() == by.get_ref());
            known.map(Watch::Each).ok_or_else(|| {
                let words: Vec<_> = ONE_BY_ONE.iter().map(|dimension| dimension.as_str()).collect();
                source.at(by, format_args!("{:?} cannot be watched one by one: {} can", by.get_ref(), words.join(", ")))
            })
        }
    }
}

fn take(filter: &mut Filter, name: &str, value: &str) -> Result<(), String> {
    if NOT_FILTERS.contains(&name) {
        return Err("the time of a rule is its `days`".to_owned());
    }
    if filter.take(name, value)? {
        return Ok(());
    }
    let known: Vec<_> = dashboards::query::FILTERS.into_iter().filter(|name| !NOT_FILTERS.contains(name)).collect();
    Err(format!("{name} is no filter: there are {}", known.join(", ")))
}

/// One value or several alternatives.
fn values(value: &Value) -> Result<Vec<String>, &'static str> {
    let one = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Boolean(flag) => Ok(flag.to_string()),
        _ => Err("a filter has a text, true or false, or a list of texts"),
    };
    match value {
        Value::Array(list) if list.is_empty() => Err("a filter without a value chooses nothing: leave it out"),
        Value::Array(list) => list.iter().map(one).collect(),
        other => Ok(vec![one(other)?]),
    }
}

fn receiver(
    word: &str,
    hooks: &BTreeMap<String, Arc<Hook>>,
    mail: Option<&Arc<MailServer>>,
) -> Result<Receiver, String> {
    if !word.contains('@') {
        let hook = hooks.get(word).cloned().map(Receiver::Hook);
        return hook.ok_or_else(|| {
            let known: Vec<_> = hooks.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("{word:?} is neither an address of e-mail nor a webhook: of [webhooks] there are {known}")
        });
    }
    let address = word.parse().map_err(|error| format!("{word:?} is no address of e-mail: {error}"))?;
    let server = mail.ok_or("an address of e-mail needs a mail server: add [mail] with from and host")?;
    Ok(Receiver::Mail(server.clone(), address))
}

/// Names stand on terminals, in headers and in keys.
fn plain_name(name: &str) -> Result<(), String> {
    let fits = !name.trim().is_empty() && name.chars().count() <= NAME_CHARS && wire::cell::terminal(name) == name;
    if fits { Ok(()) } else { Err(format!("a name has 1 to {NAME_CHARS} characters, none of which is invisible")) }
}

fn public_url(text: &str) -> Result<String, String> {
    let wrong = || format!("{text:?} is no address such as https://weavewatch.example.com");
    let url: Url = text.parse().map_err(|_| wrong())?;
    let is_plain =
        url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    if matches!(url.scheme(), "http" | "https") && url.has_host() && is_plain {
        Ok(url.as_str().trim_end_matches('/').to_owned())
    } else {
        Err(wrong())
    }
}
