//! `GET /drift`: words that nobody knows, by build.

use std::collections::BTreeSet;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use dashboards::{DriftBuild, DriftPage, DriftWord, NearWord, Query, Tally};
use parser::vocabulary;
use wire::ReasonFacts;

use super::{Asked, count, drawn, filter, frame, selection, tally};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::openapi::Filters;
use crate::store::{UnknownWord, WordKind};

/// Words by build on a page; a fleet with more has other worries.
const WORDS: u32 = 200;

/// Unknown reason tokens and unrecognised records, by build.
#[utoipa::path(
    get, path = "/drift", operation_id = "drift_page", tag = "pages",
    params(Filters),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    Asked(query): Asked,
) -> Result<Response, Html> {
    let page = DriftPage { frame: frame("/drift", caller), ..DriftPage::default() };
    draw(&app, page, query).await.map_err(Html)
}

async fn draw(app: &App, page: DriftPage, query: Query) -> Result<Response, Error> {
    let filter = filter(&query)?;
    let (found, left_out) = app.store.drift(&filter, WORDS).await?;
    let mut words: Vec<DriftWord> = Vec::new();
    for own in found {
        let is_token = own.kind == WordKind::Token;
        let build = build(&own);
        match words.iter_mut().find(|word| word.is_token == is_token && word.what == own.what) {
            Some(word) => word.builds.push(build),
            None => words.push(DriftWord { builds: vec![build], ..word(own) }),
        }
    }
    for word in &mut words {
        word.builds.sort_by(|a, b| (&a.seen, &a.build).cmp(&(&b.seen, &b.build)));
    }
    words.sort_by_key(|word| std::cmp::Reverse(word.builds.iter().map(|build| build.tally.logs).sum::<u64>()));
    let mut affected = filter.clone();
    affected.take("unknown", "any").map_err(Error::BadQuery)?;
    let mut counting = app.store.counting().await?;
    let affected = tally(&counting.total(&affected).await?);
    let selection = selection(&mut counting, query, &filter).await?;
    drop(counting);
    drawn(DriftPage { selection, affected, words, left_out: count(left_out), ..page }.render())
}

fn build(own: &UnknownWord) -> DriftBuild {
    DriftBuild {
        build: own.build.clone(),
        tally: Tally { logs: count(own.logs), machines: count(own.machines) },
        records: count(own.records),
        seen: [own.first_seen.clone(), own.last_seen.clone()],
        example: (own.example.log.clone(), count(own.example.line)),
        text: own.example.text.clone(),
    }
}

fn word(own: UnknownWord) -> DriftWord {
    let is_token = own.kind == WordKind::Token;
    let nearest = own.nearest.map(|known| near(&own.what, &known.name, is_token, known.distance));
    let doubts: BTreeSet<_> = if is_token {
        resolver::ON_TOKENS.iter().copied().collect()
    } else {
        // Every known record that starts like it may be the one that is worded anew.
        let like_it = |row: &&vocabulary::Row| {
            row.shape.format.starts_with(&own.what) || nearest.as_ref().is_some_and(|known| known.name == row.shape.id)
        };
        vocabulary::rows().iter().filter(like_it).flat_map(|row| resolver::rests_on(row.shape.kind)).copied().collect()
    };
    DriftWord {
        is_token,
        what: own.what,
        builds: Vec::new(),
        nearest,
        doubts: doubts.into_iter().map(resolver::Code::as_str).collect(),
    }
}

/// The known word with as much of its text as is compared.
fn near(what: &str, name: &str, is_token: bool, distance: u64) -> NearWord {
    let (text, meaning) = if is_token {
        let facts = ReasonFacts::ALL.iter().find(|facts| facts.token == name);
        (name.to_owned(), facts.map_or("", |facts| facts.meaning))
    } else {
        let shape = vocabulary::shape(name);
        let start = shape.map(|shape| shape.format.chars().take(what.chars().count()).collect());
        (start.unwrap_or_default(), shape.map_or("", |shape| shape.meaning))
    };
    NearWord { name: name.to_owned(), text, meaning: meaning.to_owned(), distance }
}
