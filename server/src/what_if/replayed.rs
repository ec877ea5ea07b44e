//! Every distinct situation replayed once, on all processors: what the change makes of it, as a small number.
//!
//! The situations are read in as many parts as there are processors, a page at a time; the next page is read while one is
//! replayed. Ids are hashes, so equal parts of their range hold about as many.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use resolver::replay::{Effect, Ending, what_if};
use wire::{Crossing, Outcome, Situation};

use super::Question;
use crate::store::Store;

/// Situations read at a time.
const PAGE: u32 = 2_000;
/// So few are asked for by their ids; more are found faster by reading all.
const FEW: usize = 5_000;

/// What a session ends as, as far as answers tell sessions apart.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct End {
    /// The one word for it.
    pub outcome: Outcome,
    /// The runtime's token.
    pub reason: Option<&'static str>,
    /// OpenGL's interop devices cross adapters.
    pub interop_crossing: bool,
}

/// What the change makes of a situation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Replay {
    /// What it does.
    pub effect: Effect,
    /// As it is, by the rules; null when there is nothing to replay.
    pub before: Option<End>,
    /// Under the change.
    pub after: Option<End>,
    /// What crosses before and after, where nothing else changes on the bus; null where that cannot be told.
    pub crossing: Option<[Crossing; 2]>,
    /// Facts that are missing.
    pub missing: Vec<Cow<'static, str>>,
    /// Facts that the answer takes at their defaults.
    pub assumed: Vec<Cow<'static, str>>,
}

/// The result of each situation.
pub struct Replayed {
    /// Each once; the first is that of logs without a situation.
    pub results: Vec<Replay>,
    /// Index into `results`, by index of the situation.
    pub of: Vec<u32>,
}

/// Replays the situations with these ids.
pub async fn all(store: &Store, ids: &[i64], question: &Question) -> anyhow::Result<Replayed> {
    let index: HashMap<i64, u32> = ids.iter().zip(0..).map(|(id, index)| (*id, index)).collect();
    let index = Arc::new(index);
    let question = Arc::new(question.clone());
    let mut replayed = Replayed { results: vec![unknown()], of: vec![0; ids.len()] };
    if ids.len() <= FEW {
        let page = store.situations_of(ids).await?;
        replayed.take(replay(page, index, question).await?);
        return Ok(replayed);
    }
    let parts = std::thread::available_parallelism().map_or(1, |cores| i64::try_from(cores.get()).unwrap_or(1));
    let size = i64::MAX / parts;
    let part = |number: i64| {
        let last = if number == parts - 1 { i64::MAX } else { (number + 1) * size - 1 };
        read(store, number * size - 1, last, index.clone(), question.clone())
    };
    for pages in futures::future::try_join_all((0..parts).map(part)).await? {
        for page in pages {
            replayed.take(page);
        }
    }
    Ok(replayed)
}

/// One part of the ids.
async fn read(
    store: &Store,
    mut after: i64,
    last: i64,
    index: Arc<HashMap<i64, u32>>,
    question: Arc<Question>,
) -> anyhow::Result<Vec<Page>> {
    let mut pages = Vec::new();
    let mut page = store.situations(after, last, PAGE).await?;
    while let Some((id, _)) = page.last() {
        after = *id;
        let next = async { store.situations(after, last, PAGE).await.map_err(anyhow::Error::new) };
        let (done, next) = tokio::try_join!(replay(page, index.clone(), question.clone()), next)?;
        pages.push(done);
        page = next;
    }
    Ok(pages)
}

/// Situations by index, each with its result, and the results.
struct Page {
    of: Vec<(u32, u32)>,
    results: Vec<Replay>,
}

/// On a thread of its own.
async fn replay(
    page: Vec<(i64, String)>,
    index: Arc<HashMap<i64, u32>>,
    question: Arc<Question>,
) -> anyhow::Result<Page> {
    let work = move || {
        let mut known: HashMap<Replay, u32> = HashMap::new();
        let mut of = Vec::with_capacity(page.len());
        for (id, json) in &page {
            let Some(place) = index.get(id) else { continue };
            let result = match serde_json::from_str::<Situation>(json) {
                Ok(situation) => result(situation, &question),
                Err(error) => {
                    tracing::warn!(situation = id, "failed to read a stored situation, judge its logs again: {error}");
                    unknown()
                }
            };
            let next = known.len() as u32;
            of.push((*place, *known.entry(result).or_insert(next)));
        }
        let mut results: Vec<_> = known.into_iter().collect();
        results.sort_unstable_by_key(|(_, number)| *number);
        Page { of, results: results.into_iter().map(|(result, _)| result).collect() }
    };
    tokio::task::spawn_blocking(work).await.context("a replay failed")
}

impl Replayed {
    fn take(&mut self, page: Page) {
        let numbers: Vec<u32> = page.results.into_iter().map(|result| self.number(result)).collect();
        for (place, own) in page.of {
            self.of[place as usize] = numbers[own as usize];
        }
    }

    /// There are few, so that looking through them is quick.
    fn number(&mut self, result: Replay) -> u32 {
        let known = self.results.iter().position(|own| *own == result);
        known.unwrap_or_else(|| {
            self.results.push(result);
            self.results.len() - 1
        }) as u32
    }
}

/// Of a log that was judged before situations were kept.
fn unknown() -> Replay {
    let missing = vec![Cow::Borrowed("situation")];
    Replay { effect: Effect::CannotReplay, before: None, after: None, crossing: None, missing, assumed: Vec::new() }
}

fn result(situation: Situation, question: &Question) -> Replay {
    let answer = what_if(situation, question.against, &question.change);
    let end = |ending: &Ending| {
        let Ending { reason, interop_crossing, .. } = *ending;
        Some(End { outcome: ending.outcome(), reason, interop_crossing })
    };
    let both = [answer.before.crossing, answer.after.crossing];
    let is_told = answer.effect != Effect::CannotReplay
        && !both.contains(&Crossing::Unknown)
        && answer.before.interop_crossing == answer.after.interop_crossing;
    Replay {
        crossing: is_told.then_some(both),
        effect: answer.effect,
        before: end(&answer.before),
        after: end(&answer.after),
        missing: answer.missing,
        assumed: answer.assumed,
    }
}
