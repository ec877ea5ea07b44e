//! `POST /api/v1/replay`: what should happen on a machine, by the same code and with the same bytes as the command line.

use std::collections::BTreeMap;
use std::io::Cursor;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use triage::one::Contents;
use triage::replay::source::{self, Source};
use wire::{Machine, Path, Policy, Situation};

use crate::app::App;
use crate::body;
use crate::error::Error;
use crate::openapi;
use crate::store::Store;
use crate::text;

/// The largest body: a log that tells of a machine, as a JSON text.
const LIMIT_BYTES: usize = 8 << 20;

/// What is asked: of a machine, or of a situation that logs have told.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question<'a> {
    /// A machine file as an object, or the text of what `--machine` reads.
    #[serde(borrow, default, deserialize_with = "told")]
    machine: Option<&'a RawValue>,
    /// Its id, 16 hex digits.
    #[serde(default, deserialize_with = "told")]
    situation: Option<String>,
    /// A situation has its own.
    #[serde(default, deserialize_with = "told")]
    path: Option<String>,
    /// A situation has its own.
    #[serde(default, deserialize_with = "told")]
    policy: Option<Policy>,
    /// Environment settings to add.
    #[serde(default)]
    set: BTreeMap<String, String>,
}

/// The same, understood.
struct Asked {
    of: Of,
    path: Option<Path>,
    policy: Option<Policy>,
    set: BTreeMap<String, String>,
}

enum Of {
    Machine(Box<Machine>),
    Situation(i64),
}

/// Null is no value here.
fn told<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// What should happen on a machine, rule by rule.
#[utoipa::path(
    post, path = "/api/v1/replay", operation_id = "replay", tag = "questions",
    request_body = openapi::ReplayQuestion,
    responses(
        (status = 200, description = "As `weavewatch replay --format json` prints it", body = openapi::Replay),
        (status = 400, description = "The question or its machine cannot be read"),
        (status = 404, description = "No log has told this situation"),
        (status = 408, description = "The body did not arrive in time")
    )
)]
pub async fn answer(State(app): State<App>, body: Body) -> Result<impl IntoResponse, Error> {
    let too_large = || Error::BadReplay("the body is longer than 8 MiB".to_owned());
    let body = body::read(body, LIMIT_BYTES, app.body_timeout).await;
    let body = body.map_err(|fault| fault.answer(app.body_timeout, too_large, Error::BadReplay))?;
    let Asked { of, path, policy, mut set } = off_thread(move || read(&body)).await?;
    let (mut machine, own) = match of {
        Of::Machine(machine) => (*machine, None),
        Of::Situation(id) => {
            let mut situation = stored(&app.store, id).await?;
            resolver::replay::set(&mut situation, &std::mem::take(&mut set));
            (situation.machine, Some((situation.path, situation.policy)))
        }
    };
    let (own_path, own_policy) = own.unzip();
    let path = path.or(own_path).ok_or_else(|| Error::BadReplay("path is missing".to_owned()))?;
    let policy = policy.or(own_policy).unwrap_or_default();
    machine.settings.env.extend(set);
    let work = move || printed(&resolver::replay::replay(&machine, path, policy));
    let text = off_thread(move || work().map_err(|error| Error::Internal(error.into()))).await?;
    Ok(([(CONTENT_TYPE, "application/json")], text))
}

async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Internal(error.into()))?
}

fn read(body: &[u8]) -> Result<Asked, Error> {
    let Question { machine, situation, path, policy, set } = serde_json::from_slice(body)
        .map_err(|error| Error::BadReplay(format!("the body is no question for a replay: {error}")))?;
    let path = path.map(|word| compositor(&word)).transpose()?;
    if set.contains_key("") {
        return Err(Error::BadReplay("a name in set is empty".to_owned()));
    }
    let of = match (machine, situation) {
        (Some(machine), None) => Of::Machine(Box::new(source(machine)?.told.machine)),
        (None, Some(word)) => Of::Situation(
            text::content_id(&word)
                .ok_or_else(|| Error::BadReplay("situation is not the id of one, 16 hex digits".to_owned()))?,
        ),
        _ => return Err(Error::BadReplay("either machine or situation is wanted".to_owned())),
    };
    Ok(Asked { of, path, policy, set })
}

fn compositor(word: &str) -> Result<Path, Error> {
    Path::ALL.into_iter().find(|path| path.as_str() == word).ok_or_else(|| {
        let known: Vec<_> = Path::ALL.iter().map(|path| path.as_str()).collect();
        Error::BadReplay(format!("path is no compositor; they are {}", known.join(", ")))
    })
}

async fn stored(store: &Store, id: i64) -> Result<Situation, Error> {
    let (_, json) = store.situations_of(&[id]).await?.pop().ok_or(Error::NotFound)?;
    serde_json::from_str(&json).map_err(|error| Error::Internal(error.into()))
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
