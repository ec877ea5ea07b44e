//! From results by situation to the answer: sums over logs and distinct machines, the largest first, bounded.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use analytics::{Count, Counts};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Outcome, Policy};

use super::replayed::{End, Replay, Replayed};
use super::{BusSaved, Question};
use crate::store::Fleet;
use crate::text;

/// In the order of the answer.
const EFFECTS: [resolver::replay::Effect; 5] = resolver::replay::Effect::ALL;
/// Pairs of outcomes of one effect.
const PAIRS: usize = 50;
/// Cohorts of one effect.
const COHORTS: usize = 20;
/// Facts in a list.
const FACTS: usize = 20;
/// Situations that the link of a pair names; a link is to stay short.
const LINKED: usize = 20;

/// The answer of `GET /api/v1/what-if`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[schema(as = WhatIfAnswer)]
pub struct Answer {
    /// The rules that were asked; null: those that each log shows.
    #[schema(value_type = Option<String>)]
    pub policy: Option<Policy>,
    /// The rules for "before"; null: those that each log shows.
    #[schema(value_type = Option<String>)]
    pub against: Option<Policy>,
    /// What was set for all.
    pub set: BTreeMap<String, String>,
    /// How many logs were asked about, each by its last session.
    pub logs: u64,
    /// Distinct machines among them.
    pub machines: u64,
    /// Distinct situations, each replayed once.
    pub situations: u64,
    /// `better`, `worse`, `sideways`, `stay`, `cannot_replay`, always all five.
    pub effects: Vec<Effect>,
    /// Why sessions cannot be replayed; a log can miss several facts.
    pub missing: Vec<Fact>,
    /// What the answers rest on: facts that the logs leave open, taken at their defaults.
    pub assumed: Vec<Fact>,
    /// What it does to what crosses between GPUs.
    pub bus: BusSaved,
}

/// All sessions to which the change does the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[schema(as = WhatIfEffect)]
pub struct Effect {
    /// The word.
    pub effect: &'static str,
    /// Logs.
    pub logs: u64,
    /// Distinct machines.
    pub machines: u64,
    /// Old and new outcomes, most logs first.
    pub pairs: Vec<Pair>,
    /// Pairs behind the limit.
    pub pairs_left_out: u64,
    /// Kinds of PCs, most logs first.
    pub cohorts: Vec<Cohort>,
    /// Cohorts behind the limit.
    pub cohorts_left_out: u64,
}

/// Fleet that become the same from the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[schema(as = WhatIfPair)]
pub struct Pair {
    /// What the logs say that they did.
    pub did: &'static str,
    /// What the rules say of them as they are; null when there is nothing to replay.
    pub before: Option<Ends>,
    /// What the rules say under the change.
    pub after: Option<Ends>,
    /// Logs.
    pub logs: u64,
    /// Distinct machines.
    pub machines: u64,
    /// The logs behind it: those of its largest situations.
    pub logs_link: Option<String>,
    /// Situations that the link does not name.
    pub situations_left_out: u64,
}

/// How a session ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[schema(as = WhatIfEnds)]
pub struct Ends {
    /// The one word.
    pub outcome: &'static str,
    /// The runtime's token; null when engaged.
    pub reason: Option<&'static str>,
    /// OpenGL's interop devices cross adapters.
    pub interop_crossing: bool,
}

/// A fact that nobody told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[schema(as = WhatIfFact)]
pub struct Fact {
    /// Such as `session.device_luid`; `situation`: the log was judged by an older server, judge it again.
    #[schema(value_type = String)]
    pub fact: Cow<'static, str>,
    /// Logs.
    pub logs: u64,
    /// Distinct machines.
    pub machines: u64,
}

/// A kind of PC.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[schema(as = WhatIfCohort)]
pub struct Cohort {
    /// For the filter `cohort`; null: its logs name no adapters.
    pub id: Option<String>,
    /// For people.
    pub label: Option<String>,
    /// Logs.
    pub logs: u64,
    /// Distinct machines.
    pub machines: u64,
}

/// Counts everything that the answer holds, but for what people call the cohorts.
pub fn count(fleet: &Fleet, replayed: &Replayed, question: &Question) -> anyhow::Result<Answer> {
    let kinds = Kinds::of(replayed);
    let result = |situation: &u32| replayed.of.get(*situation as usize).copied().unwrap_or_default();
    let results: Vec<u32> = fleet.situation.iter().map(result).collect();
    let through = |table: &[u32]| -> Vec<u32> { results.iter().map(|result| table[*result as usize]).collect() };
    let mut counts = Counts::new(&fleet.machine, &fleet.logs)?;
    counts.with("effect", &through(&kinds.effect))?;
    counts.with("kind", &through(&kinds.kind))?;
    counts.with("did", &fleet.outcome)?;
    counts.with("cohort", &fleet.cohort)?;
    let (totals, pairs, cohorts) =
        (counts.by(&["effect"])?, counts.by(&["kind", "did"])?, counts.by(&["effect", "cohort"])?);
    let largest = kinds.largest(fleet, replayed);
    let effects = EFFECTS.iter().zip(0..).map(|(effect, number)| {
        let own: Vec<_> = pairs.iter().filter(|count| kinds.all[count.key[0] as usize].0 == *effect).collect();
        let cohorts: Vec<_> = cohorts.iter().filter(|count| count.key[0] == number).collect();
        let (logs, machines) = sums(totals.iter().find(|count| count.key == [number]));
        Effect {
            effect: effect.as_str(),
            logs,
            machines,
            pairs_left_out: own.len().saturating_sub(PAIRS) as u64,
            pairs: own.into_iter().take(PAIRS).map(|count| kinds.pair(count, &largest, fleet)).collect(),
            cohorts_left_out: cohorts.len().saturating_sub(COHORTS) as u64,
            cohorts: cohorts.into_iter().take(COHORTS).map(|count| cohort(count, fleet)).collect(),
        }
    });
    let effects = effects.collect();
    let (logs, machines) = sums(counts.by(&[])?.first());
    let mut facts = |of: fn(&Replay) -> &[Cow<'static, str>]| facts(&mut counts, &results, replayed, of);
    Ok(Answer {
        policy: question.change.policy,
        against: question.against,
        set: question.change.set.clone(),
        logs,
        machines,
        situations: fleet.situation_ids.len() as u64,
        effects,
        missing: facts(|result| &result.missing)?,
        assumed: facts(|result| &result.assumed)?,
        bus: BusSaved::default(),
    })
}

/// Effect and ends: what a pair is about, whatever is missing or assumed.
type Kind<'a> = (resolver::replay::Effect, Option<&'a End>, Option<&'a End>);

/// The kinds of results, numbered.
struct Kinds<'a> {
    all: Vec<Kind<'a>>,
    /// By result: index into `all`.
    kind: Vec<u32>,
    /// By result: index into [`EFFECTS`].
    effect: Vec<u32>,
}

/// Situation and logs of it, by kind and what the logs did.
type Largest = HashMap<(u32, u32), (Vec<(u32, u32)>, u64)>;

impl<'a> Kinds<'a> {
    fn of(replayed: &'a Replayed) -> Self {
        let mut kinds = Self { all: Vec::new(), kind: Vec::new(), effect: Vec::new() };
        for result in &replayed.results {
            let kind = (result.effect, result.before.as_ref(), result.after.as_ref());
            let known = kinds.all.iter().position(|own| *own == kind);
            let number = known.unwrap_or_else(|| {
                kinds.all.push(kind);
                kinds.all.len() - 1
            });
            kinds.kind.push(number as u32);
            let effect = EFFECTS.iter().position(|own| *own == result.effect);
            kinds.effect.push(effect.unwrap_or_default() as u32);
        }
        kinds
    }

    /// The situations with the most logs, and how many there are.
    fn largest(&self, fleet: &Fleet, replayed: &Replayed) -> Largest {
        let width = Outcome::ALL.len();
        let mut logs = vec![0_u32; replayed.of.len() * width];
        for ((situation, did), more) in fleet.situation.iter().zip(&fleet.outcome).zip(&fleet.logs) {
            if let Some(own) = logs.get_mut((*situation as usize).saturating_mul(width) + *did as usize) {
                *own = own.saturating_add(*more);
            }
        }
        let mut largest: Largest = HashMap::new();
        for (place, logs) in logs.into_iter().enumerate().filter(|(_, logs)| *logs > 0) {
            let (situation, did) = (place / width, place % width);
            let kind = self.kind[replayed.of[situation] as usize];
            let (found, all) = largest.entry((kind, did as u32)).or_default();
            *all += 1;
            let at = found.partition_point(|(_, own)| *own >= logs);
            if at < LINKED {
                found.insert(at, (situation as u32, logs));
                found.truncate(LINKED);
            }
        }
        largest
    }

    fn pair(&self, count: &Count, largest: &Largest, fleet: &Fleet) -> Pair {
        let (_, before, after) = self.all[count.key[0] as usize];
        let ends = |end: &End| Ends {
            outcome: end.outcome.as_str(),
            reason: end.reason,
            interop_crossing: end.interop_crossing,
        };
        let did = Outcome::ALL.get(count.key[1] as usize).map_or("unknown", |outcome| outcome.as_str());
        let found = largest.get(&(count.key[0], count.key[1]));
        let link = found.map(|(situations, _)| {
            let ids = situations.iter().filter_map(|(own, _)| fleet.situation_ids.get(*own as usize));
            let words = ids.map(|id| text::content_word(*id));
            words.fold(format!("/api/v1/logs?outcome={did}"), |link, id| link + "&situation=" + &id)
        });
        let left_out = found.map_or(0, |(situations, all)| all - situations.len() as u64);
        Pair {
            did,
            before: before.map(ends),
            after: after.map(ends),
            logs: count.logs,
            machines: count.machines,
            logs_link: link,
            situations_left_out: left_out,
        }
    }
}

fn cohort(count: &Count, fleet: &Fleet) -> Cohort {
    let id = fleet.cohort_ids.get(count.key[1] as usize).cloned();
    Cohort { id, label: None, logs: count.logs, machines: count.machines }
}

/// How many logs and machines there are behind each fact, most logs first.
fn facts(
    counts: &mut Counts,
    results: &[u32],
    replayed: &Replayed,
    of: fn(&Replay) -> &[Cow<'static, str>],
) -> anyhow::Result<Vec<Fact>> {
    // The facts of the largest groups come first, so that only those are counted that can be in the list.
    let mut by_fact: BTreeMap<&Cow<'static, str>, Vec<u32>> = BTreeMap::new();
    for (result, number) in replayed.results.iter().zip(0..) {
        for fact in of(result) {
            by_fact.entry(fact).or_default().push(number);
        }
    }
    counts.with("result", results)?;
    let by_result: HashMap<u32, u64> = counts.by(&["result"])?.iter().map(|count| (count.key[0], count.logs)).collect();
    let logs = |numbers: &[u32]| numbers.iter().filter_map(|number| by_result.get(number)).sum::<u64>();
    let mut largest: Vec<_> = by_fact.into_iter().map(|(fact, numbers)| (logs(&numbers), fact, numbers)).collect();
    largest.retain(|(logs, ..)| *logs > 0);
    largest.sort_by_key(|(logs, ..)| std::cmp::Reverse(*logs));
    let mut facts = Vec::new();
    for (_, fact, numbers) in largest.into_iter().take(FACTS) {
        let mut has = vec![0; replayed.results.len()];
        for number in numbers {
            has[number as usize] = 1;
        }
        let column: Vec<u32> = results.iter().map(|result| has[*result as usize]).collect();
        counts.with("fact", &column)?;
        let (logs, machines) = sums(counts.by(&["fact"])?.iter().find(|count| count.key == [1]));
        facts.push(Fact { fact: fact.clone(), logs, machines });
    }
    Ok(facts)
}

fn sums(count: Option<&Count>) -> (u64, u64) {
    count.map_or((0, 0), |count| (count.logs, count.machines))
}
