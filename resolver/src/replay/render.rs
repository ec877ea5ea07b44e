//! Which adapter the app should render on: exclusions, ranking, provenance (ADR-037 section 2 as told by vocabulary 9.1
//! and 11).
//!
//! Facts may be missing. Then the ranking is made twice, once with every doubtful adapter and once with none of them:
//! what both say is certain, because more candidates can only push a winner down, never up.

use std::borrow::Cow;

use wire::{Machine, MachineAdapter, Ranked, Source};

use super::trace::{Trace, outcomes};

/// The least dedicated memory of a discrete adapter, in MiB (vocabulary section 11).
const DISCRETE_MIB: u64 = 512;
/// Vendor and device of Microsoft's Basic Render driver.
const BASIC_RENDER: (u32, u32) = (0x1414, 0x008c);
/// Its name, for machines that do not tell the numbers.
const BASIC_RENDER_NAME: &str = "Microsoft Basic Render Driver";
/// The least feature level.
const FEATURE_LEVEL: (u32, u32) = (11, 0);

outcomes! {
    /// Why an adapter is no candidate, in the order of asking.
    Exclusion {
        /// WARP and its like.
        Software => "software",
        /// The fallback driver of Windows.
        BasicRender => "Basic Render",
        /// Of a remote desktop session.
        Remote => "remote",
        /// Too old.
        FeatureLevel => "below feature level 11_0",
    }
}

outcomes! {
    /// What the exclusions left.
    Excluded {
        /// Every adapter.
        None => "none",
        /// Some.
        Some => "some",
        /// No adapter survived, or there is none.
        All => "all",
        /// A fact is missing.
        Unknown => "unknown",
    }
}

outcomes! {
    /// The runtime's words for the winner. `adapter type` cannot come out while the type follows from the memory that is
    /// compared first; the key is kept because it is the runtime's.
    Words {
        /// The ranking had nothing to decide.
        OnlyCandidate => "only candidate",
        /// First key.
        MostVram => "most VRAM",
        /// Second key.
        AdapterType => "adapter type",
        /// Third key.
        LowestIndex => "lowest index (tie)",
        /// No adapter survived.
        Unresolved => "unresolved",
        /// A fact is missing.
        Unknown => "unknown",
    }
}

/// How an adapter was chosen, in the runtime's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provenance {
    /// By the ranking.
    Ranked(Words),
    /// By a setting.
    Forced(Source, Keyword),
}

/// What a forced provenance names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keyword {
    /// The adapter that drives the panel.
    Scanout,
    /// The least dedicated memory.
    Igpu,
    /// The most dedicated memory.
    Dgpu,
    /// A number.
    Index,
}

impl Provenance {
    /// As printed, such as `user-forced: igpu`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ranked(words) => words.as_str(),
            Self::Forced(Source::Env, Keyword::Scanout) => "env-forced: scanout",
            Self::Forced(Source::Env, Keyword::Igpu) => "env-forced: igpu",
            Self::Forced(Source::Env, Keyword::Dgpu) => "env-forced: dgpu",
            Self::Forced(Source::Env, Keyword::Index) => "env-forced: index",
            Self::Forced(Source::User, Keyword::Scanout) => "user-forced: scanout",
            Self::Forced(Source::User, Keyword::Igpu) => "user-forced: igpu",
            Self::Forced(Source::User, Keyword::Dgpu) => "user-forced: dgpu",
            Self::Forced(Source::User, Keyword::Index) => "user-forced: index",
            Self::Forced(Source::Machine, Keyword::Scanout) => "machine-forced: scanout",
            Self::Forced(Source::Machine, Keyword::Igpu) => "machine-forced: igpu",
            Self::Forced(Source::Machine, Keyword::Dgpu) => "machine-forced: dgpu",
            Self::Forced(Source::Machine, Keyword::Index) => "machine-forced: index",
        }
    }
}

/// Is an adapter a candidate?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It survived.
    Candidate,
    /// It did not.
    Excluded(Exclusion),
    /// The named fact of the adapter would tell.
    Doubtful(&'static str),
}

/// What the ranking chose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// An adapter, and why; the reason is null when only the reason depends on a missing fact.
    Adapter(usize, Option<Words>),
    /// Nothing survived.
    Unresolved,
    /// A fact is missing.
    Unknown,
}

/// The whole ranking.
pub struct Ranking {
    /// By place in the enumeration.
    pub standings: Vec<Standing>,
    /// Candidates and doubtful ones, best first; those of unknown memory last.
    pub order: Vec<usize>,
    /// The winner.
    pub choice: Choice,
}

/// Ranks the adapters of a machine.
pub fn rank(machine: &Machine) -> Ranking {
    let adapters: &[MachineAdapter] = if machine.dxgi { &machine.adapters } else { &[] };
    let standings: Vec<Standing> = adapters.iter().map(standing).collect();
    let mut order: Vec<usize> = Vec::with_capacity(adapters.len());
    order.extend((0..adapters.len()).filter(|index| !matches!(standings[*index], Standing::Excluded(_))));
    order.sort_by_key(|index| {
        let vram = adapters[*index].dedicated_vram_mib;
        (vram.is_none(), std::cmp::Reverse(vram), std::cmp::Reverse(vram.map(is_discrete)), *index)
    });
    let certain = |index: &&usize| standings[**index] == Standing::Candidate;
    let fewest = choose(adapters, order.iter().filter(certain).copied());
    let choice = if order.iter().all(|index| certain(&index)) {
        fewest
    } else {
        match (fewest, choose(adapters, order.iter().copied())) {
            (Choice::Adapter(few, words), Choice::Adapter(all, same)) if few == all => {
                Choice::Adapter(few, words.filter(|_| words == same))
            }
            _ => Choice::Unknown,
        }
    };
    Ranking { standings, order, choice }
}

impl Ranking {
    /// Writes both steps down.
    pub fn note(&self, trace: &mut Trace) {
        let excluded = self.standings.iter().filter(|standing| matches!(standing, Standing::Excluded(_))).count();
        let doubtful = self.standings.iter().any(|standing| matches!(standing, Standing::Doubtful(_)));
        let outcome = match excluded {
            _ if doubtful => Excluded::Unknown,
            all if all == self.standings.len() => Excluded::All,
            0 => Excluded::None,
            _ => Excluded::Some,
        };
        trace.note("render.exclude", outcome.as_str());
        let words = match self.choice {
            Choice::Adapter(_, words) => words.unwrap_or(Words::Unknown),
            Choice::Unresolved => Words::Unresolved,
            Choice::Unknown => Words::Unknown,
        };
        trace.note("render.rank", words.as_str());
    }

    /// The facts that keep the ranking from being certain.
    pub fn missing(&self, machine: &Machine) -> Vec<Cow<'static, str>> {
        let mut facts = Vec::new();
        for index in &self.order {
            if let Standing::Doubtful(fact) = self.standings[*index] {
                facts.push(Cow::Owned(format!("adapters[{index}].{fact}")));
            }
            if self.order.len() > 1 && machine.adapters[*index].dedicated_vram_mib.is_none() {
                facts.push(Cow::Owned(format!("adapters[{index}].dedicated_vram_mib")));
            }
        }
        facts
    }

    /// The list as the answer carries it, in enumeration order.
    pub fn list(&self, machine: &Machine) -> Vec<Ranked> {
        let ranked = |(index, adapter): (usize, &MachineAdapter)| Ranked {
            index: index as u32,
            name: adapter.name.clone(),
            luid: adapter.luid,
            dedicated_vram_mib: adapter.dedicated_vram_mib,
            kind: adapter
                .dedicated_vram_mib
                .map(|vram| Cow::Borrowed(if is_discrete(vram) { "discrete" } else { "integrated" })),
            rank: self
                .order
                .iter()
                .position(|own| *own == index)
                .filter(|_| self.choice != Choice::Unknown)
                .map(|place| place as u32 + 1),
            excluded: match self.standings.get(index) {
                Some(Standing::Excluded(exclusion)) => Some(Cow::Borrowed(exclusion.as_str())),
                _ => None,
            },
        };
        machine.adapters.iter().enumerate().map(ranked).collect()
    }
}

/// The best of a sorted list, and the key by which it beats the next.
fn choose(adapters: &[MachineAdapter], mut order: impl Iterator<Item = usize>) -> Choice {
    let Some(best) = order.next() else { return Choice::Unresolved };
    let Some(next) = order.next() else { return Choice::Adapter(best, Some(Words::OnlyCandidate)) };
    // Those of unknown memory come last, so they are behind `next` or are it.
    let unknown = |index: usize| adapters[index].dedicated_vram_mib.is_none();
    if unknown(best) || unknown(next) || order.any(unknown) {
        return Choice::Unknown;
    }
    let words = match (adapters[best].dedicated_vram_mib, adapters[next].dedicated_vram_mib) {
        (own, others) if own != others => Words::MostVram,
        (own, others) if own.map(is_discrete) != others.map(is_discrete) => Words::AdapterType,
        _ => Words::LowestIndex,
    };
    Choice::Adapter(best, Some(words))
}

/// Any reason that is certain excludes; only then does a missing fact matter.
fn standing(adapter: &MachineAdapter) -> Standing {
    let level = adapter.feature_level.as_deref().and_then(feature_level);
    let basic = match (adapter.vendor_id, adapter.device_id) {
        (Some(vendor), Some(device)) => (vendor, device) == BASIC_RENDER,
        _ => adapter.name == BASIC_RENDER_NAME,
    };
    let reasons = [
        (adapter.software, Exclusion::Software, "software"),
        (Some(basic), Exclusion::BasicRender, "device_id"),
        (adapter.remote, Exclusion::Remote, "remote"),
        (level.map(|level| level < FEATURE_LEVEL), Exclusion::FeatureLevel, "feature_level"),
    ];
    if let Some((_, exclusion, _)) = reasons.iter().find(|(excludes, ..)| *excludes == Some(true)) {
        return Standing::Excluded(*exclusion);
    }
    match reasons.iter().find(|(excludes, ..)| excludes.is_none()) {
        Some((_, _, fact)) => Standing::Doubtful(fact),
        None => Standing::Candidate,
    }
}

const fn is_discrete(vram_mib: u64) -> bool {
    vram_mib >= DISCRETE_MIB
}

/// `12_1`; null for what is none.
fn feature_level(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('_')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
