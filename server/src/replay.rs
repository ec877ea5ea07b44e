//! `POST /api/v1/replay`: what should happen on a machine, by the same code and with the same bytes as the command line.

use std::collections::BTreeMap;
use std::io::Cursor;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::value::RawValue;
use triage::one::Contents;
use triage::replay::source::{self, Source};
use wire::{Path, Policy};

use crate::app::App;
use crate::body;
use crate::error::Error;
use crate::openapi;

/// The largest body: a log that tells of a machine, as a JSON text.
const LIMIT_BYTES: usize = 8 << 20;

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question<'a> {
    /// A machine file as an object, or the text of what `--machine` reads.
    #[serde(borrow)]
    machine: &'a RawValue,
    path: String,
    #[serde(default)]
    policy: Policy,
    /// Environment settings to add.
    #[serde(default)]
    set: BTreeMap<String, String>,
}

/// What should happen on a machine, rule by rule.
#[utoipa::path(
    post, path = "/api/v1/replay", operation_id = "replay", tag = "questions",
    request_body = openapi::ReplayQuestion,
    responses(
        (status = 200, description = "As `weavewatch replay --format json` prints it", body = openapi::Replay),
        (status = 400, description = "The question or its machine cannot be read"),
        (status = 408, description = "The body did not arrive in time")
    )
)]
pub async fn answer(State(app): State<App>, body: Body) -> Result<impl IntoResponse, Error> {
    let too_large = || Error::BadReplay("the body is longer than 8 MiB".to_owned());
    let body = body::read(body, LIMIT_BYTES, app.body_timeout).await;
    let body = body.map_err(|fault| fault.answer(app.body_timeout, too_large, Error::BadReplay))?;
    let answered = tokio::task::spawn_blocking(move || replay(&body)).await;
    let text = answered.map_err(|error| Error::Internal(error.into()))??;
    Ok(([(CONTENT_TYPE, "application/json")], text))
}

fn replay(body: &[u8]) -> Result<String, Error> {
    let question: Question<'_> = serde_json::from_slice(body)
        .map_err(|error| Error::BadReplay(format!("the body is no question for a replay: {error}")))?;
    let path = Path::ALL.into_iter().find(|path| path.as_str() == question.path).ok_or_else(|| {
        let known: Vec<_> = Path::ALL.iter().map(|path| path.as_str()).collect();
        Error::BadReplay(format!("path is no compositor; they are {}", known.join(", ")))
    })?;
    if question.set.contains_key("") {
        return Err(Error::BadReplay("a name in set is empty".to_owned()));
    }
    let mut machine = source(question.machine)?.told.machine;
    machine.settings.env.extend(question.set);
    let answer = resolver::replay::replay(&machine, path, question.policy);
    printed(&answer).map_err(|error| Error::Internal(error.into()))
}

/// A text is what a file holds; an object is the file of a machine, or the tool's JSON.
fn source(machine: &RawValue) -> Result<Source, Error> {
    let text = match serde_json::from_str::<String>(machine.get()) {
        Ok(text) => text,
        Err(_) => machine.get().to_owned(),
    };
    source::read(Contents::Log(Box::new(Cursor::new(text))), "machine")
        .and_then(Source::with_topology)
        .map_err(|error| Error::BadReplay(format!("failed to read the machine: {error:#}")))
}

/// As the command line prints JSON: line by line, with nothing that a terminal would obey.
fn printed(answer: &wire::Replay) -> serde_json::Result<String> {
    let document = serde_json::to_string_pretty(answer)?;
    Ok(document.lines().flat_map(|line| [wire::cell::json(line), "\n".into()]).collect())
}
