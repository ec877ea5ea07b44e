//! Which adapter is meant, and whether two are the same one.
//!
//! An adapter is its place in the enumeration. A LUID that stands nowhere in the list, and a name that a log gives without
//! its LUID, are adapters too.

use std::borrow::Cow;

use wire::{Luid, Machine};

/// The name that the runtime prints for a LUID that DXGI does not list.
pub const UNKNOWN_NAME: &str = "<unknown>";

/// One adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gpu {
    /// By its place in the enumeration.
    Listed(usize),
    /// A LUID that no listed adapter has.
    Foreign(Luid),
    /// What a log names as scanout adapter, and nothing else of the machine matches.
    Told,
}

impl Gpu {
    /// The first listed adapter with this LUID, else a foreign one.
    pub fn by_luid(machine: &Machine, luid: Luid) -> Self {
        index_of(machine, luid).map_or(Self::Foreign(luid), Self::Listed)
    }

    /// DXGI's description.
    pub fn name(self, machine: &Machine) -> &str {
        match self {
            Self::Listed(index) => machine.adapters.get(index).map_or(UNKNOWN_NAME, |adapter| &adapter.name),
            Self::Foreign(luid) => match &machine.told_scanout {
                Some(told) if told.luid == Some(luid) => &told.name,
                _ => UNKNOWN_NAME,
            },
            Self::Told => machine.told_scanout.as_ref().map_or(UNKNOWN_NAME, |told| &told.name),
        }
    }

    /// Null where the machine does not tell it.
    pub fn luid(self, machine: &Machine) -> Option<Luid> {
        match self {
            Self::Listed(index) => machine.adapters.get(index).and_then(|adapter| adapter.luid),
            Self::Foreign(luid) => Some(luid),
            Self::Told => None,
        }
    }

    /// The fact that is missing where [`Gpu::luid`] is null.
    pub fn luid_fact(self) -> Cow<'static, str> {
        match self {
            Self::Listed(index) => Cow::Owned(format!("adapters[{index}].luid")),
            Self::Foreign(_) | Self::Told => Cow::Borrowed("told_scanout.luid"),
        }
    }

    /// Equal LUIDs are one adapter. Two places in the list without LUIDs are two; a bare name against anything else is
    /// not known.
    pub fn same_as(self, other: Self, machine: &Machine) -> Option<bool> {
        if self == other {
            return Some(true);
        }
        match (self, other, self.luid(machine), other.luid(machine)) {
            (_, _, Some(own), Some(others)) => Some(own == others),
            (Self::Listed(_), Self::Listed(_), _, _) => Some(false),
            _ => None,
        }
    }
}

/// The first listed adapter with this LUID.
pub fn index_of(machine: &Machine, luid: Luid) -> Option<usize> {
    machine.adapters.iter().position(|adapter| adapter.luid == Some(luid))
}
