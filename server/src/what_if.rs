//! `GET /api/v1/what-if`: every stored session replayed as it is and under another policy or other settings (issue 5).
//!
//! Logs come in columns (`store::fleet`), each distinct situation is replayed once (`replayed`), and `analytics` counts
//! what became of them. A log counts by its last session, as everywhere.

mod answer;
mod replayed;
mod saved;

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use resolver::replay::{Change, SETTINGS};
use tokio::sync::Semaphore;
use wire::Policy;

use crate::app::App;
use crate::error::Error;
use crate::openapi::{Changes, Filters};
use crate::query::{Pairs, unknown};
use crate::store::{Filter, Store};

pub use answer::{Answer, Cohort, Effect, Ends, Fact, Pair};
pub use saved::{BusSaved, Saved};

/// The most characters of a setting's value.
const VALUE_CHARS: usize = 300;
/// Each takes all processors, so a second one would only make both slow.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// What is asked of every session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Question {
    /// What is changed.
    pub change: Change,
    /// The rules for "as it is"; null: those that each log shows.
    pub against: Option<Policy>,
}

/// What another policy or other settings would make of every stored session.
#[utoipa::path(
    get, path = "/api/v1/what-if", operation_id = "what_if", tag = "questions",
    params(Changes, Filters),
    responses((status = 200, description = "What becomes of them", body = Answer), (status = 400, description = "A wrong query"))
)]
pub async fn answer(State(app): State<App>, Pairs(pairs): Pairs) -> Result<Json<Answer>, Error> {
    let mut filter = Filter::default();
    let mut question = Question::default();
    let mut filters = String::new();
    for (name, value) in pairs {
        if question.take(&name, &value)? {
            continue;
        }
        if !filter.take(&name, &value).map_err(Error::BadQuery)? {
            return Err(unknown(&name));
        }
        // Values of one name are alternatives.
        if !value.is_empty() {
            filters.extend(["&", &name, "="]);
            dashboards::query::encode(&value, &mut filters);
        }
    }
    Ok(Json(ask_in_turn(&app.store, &filter, &question, &filters).await?))
}

impl Question {
    /// Takes a parameter; false when it is none of the question's.
    ///
    /// # Errors
    /// A query with a value that cannot be.
    pub fn take(&mut self, name: &str, value: &str) -> Result<bool, Error> {
        match name {
            "policy" | "against" | "set" if value.is_empty() => {}
            "policy" => self.change.policy = Some(policy(value)?),
            "against" => self.against = Some(policy(value)?),
            "set" => {
                let (name, value) = setting(value)?;
                self.change.set.insert(name, value);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Asks when nobody else does. The links of the answer ask about the same logs as the question: `filters` are its filters as
/// pairs of a query string.
///
/// # Errors
/// When the database fails.
pub async fn ask_in_turn(store: &Store, filter: &Filter, question: &Question, filters: &str) -> Result<Answer, Error> {
    let turn = ONE_AT_A_TIME.acquire().await.map_err(|error| Error::Internal(error.into()))?;
    let mut answer = ask(store, filter, question).await?;
    drop(turn);
    // A link names its own outcome and situations.
    let kept = filters.trim_start_matches('?').split('&').filter(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        !matches!(name, "" | "outcome" | "situation")
    });
    let kept = kept.fold(String::new(), |kept, pair| kept + "&" + pair);
    let links =
        answer.effects.iter_mut().flat_map(|effect| &mut effect.pairs).filter_map(|pair| pair.logs_link.as_mut());
    links.for_each(|link| link.push_str(&kept));
    Ok(answer)
}

/// Asks the whole fleet, or the part of it that the filter lets through.
///
/// # Errors
/// When the database fails.
pub async fn ask(store: &Store, filter: &Filter, question: &Question) -> Result<Answer, Error> {
    let replaying = async {
        let fleet = store.fleet(filter).await?;
        let replayed = replayed::all(store, &fleet.situation_ids, question).await.map_err(ours)?;
        Ok((fleet, replayed))
    };
    let costing = async { store.situation_costs(filter).await.map_err(Error::from) };
    // Both read for some time, and neither waits for the other.
    let ((fleet, replayed), (costs, days)) = tokio::try_join!(replaying, costing)?;
    let question = question.clone();
    let counting = move || {
        let mut answer = answer::count(&fleet, &replayed, &question)?;
        answer.bus = saved::saved(&costs, days, &fleet, &replayed, answer.logs);
        Ok(answer)
    };
    let counted = tokio::task::spawn_blocking(counting).await;
    let mut answer = counted.map_err(|error| Error::Internal(error.into()))?.map_err(Error::Internal)?;
    let cohorts = || answer.effects.iter().flat_map(|effect| &effect.cohorts);
    let ids: BTreeSet<_> = cohorts().filter_map(|cohort| cohort.id.clone()).collect();
    let labels = store.cohort_labels(&Vec::from_iter(ids)).await?;
    for cohort in answer.effects.iter_mut().flat_map(|effect| &mut effect.cohorts) {
        cohort.label = cohort.id.as_ref().and_then(|id| labels.get(id).cloned());
    }
    Ok(answer)
}

fn policy(word: &str) -> Result<Policy, Error> {
    let known = Policy::ALL.into_iter().find(|policy| policy.as_str() == word);
    known.ok_or_else(|| Error::BadQuery("a policy is document or adr039".to_owned()))
}

/// `NAME=VALUE`; only names that a rule reads, since any other would change nothing in silence.
fn setting(text: &str) -> Result<(String, String), Error> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| Error::BadQuery("the value of set is not NAME=VALUE".to_owned()))?;
    if !SETTINGS.contains(&name) {
        return Err(Error::BadQuery(format!("no rule reads that setting, known are {}", SETTINGS.join(", "))));
    }
    if value.contains('\0') || value.chars().count() > VALUE_CHARS {
        return Err(Error::BadQuery(format!("the value of {name} is not one of at most {VALUE_CHARS} characters")));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A database that is away is no fault of ours, also behind a replay.
fn ours(error: anyhow::Error) -> Error {
    match error.downcast::<sqlx::Error>() {
        Ok(error) => error.into(),
        Err(error) => Error::Internal(error),
    }
}
