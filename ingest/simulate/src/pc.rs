//! One machine of a fleet: which kind it is, which build it runs on a day, what is set on it, which ids a boot gave.

use wire::{Luid, Machine, MachineAdapter, Rect};

use crate::description::{Build, Driver, Fleet, Kind, Setting, Variable};
use crate::dice::{Dice, Purpose};

/// A machine boots at most so many days after the last time.
const BOOT_DAYS: i64 = 4;

/// A machine.
#[derive(Clone, Debug)]
pub struct Pc<'f> {
    /// Its number in the fleet, from 0.
    pub index: u64,
    /// What it is.
    pub kind: &'f Kind,
    /// What its file says.
    pub facts: &'f Machine,
    /// Its driver package.
    pub driver: &'f Driver,
    fleet: &'f Fleet,
    seed: u64,
    /// The build that it never leaves.
    stuck: Option<usize>,
    /// Days between a release and its installation here.
    lag_days: i64,
    /// What stands on it, once somebody has set it.
    settings: Vec<&'f Setting>,
}

/// What is in force for one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Levers<'f> {
    /// `DXR_WEAVE_ON_SCANOUT`.
    pub kill: Option<&'f Setting>,
    /// `DXR_D3D_FORCE_GPU`.
    pub force: Option<&'f Setting>,
    /// `DXR_VK_FORCE_GPU`.
    pub vulkan: Option<&'f Setting>,
    /// `DXR_SPLIT_SAME_ADAPTER`.
    pub same_adapter: Option<&'f Setting>,
}

impl<'f> Levers<'f> {
    /// Those that are set.
    pub fn iter(self) -> impl Iterator<Item = &'f Setting> {
        [self.kill, self.force, self.vulkan, self.same_adapter].into_iter().flatten()
    }
}

impl<'f> Pc<'f> {
    /// The machine with this number; `None` when the description was not read by [`Fleet::parse`].
    pub fn new(fleet: &'f Fleet, seed: u64, index: u64) -> Option<Self> {
        let mut dice = Dice::new(seed, index, 0, Purpose::Machine);
        let kind = dice.weighted(fleet.kinds.iter().map(|kind| (kind, kind.share)))?;
        let driver = dice.weighted(kind.drivers.iter().map(|driver| (driver, driver.share)))?;
        let old = dice.chance(fleet.old_builds);
        let stuck = dice.below(fleet.builds.len().saturating_sub(1).max(1) as u64) as usize;
        let lag_days = i64::try_from(dice.below(u64::from(fleet.update_days) + 1)).unwrap_or_default();
        let here = |setting: &&Setting| setting.kinds.is_empty() || setting.kinds.contains(&kind.name);
        let settings = fleet.settings.iter().filter(here).filter(|setting| dice.chance(setting.share)).collect();
        let stuck = old.then_some(stuck);
        Some(Self { index, kind, facts: kind.facts.as_ref()?, driver, fleet, seed, stuck, lag_days, settings })
    }

    /// A pseudonym that says nothing but the number.
    pub fn name(&self) -> String {
        format!("machine-{:06}", self.index)
    }

    /// The build that it runs on a day.
    pub fn build(&self, day: i64) -> &'f Build {
        let builds = &self.fleet.builds;
        let newest = builds.iter().rposition(|build| build.released + self.lag_days <= day).unwrap_or_default();
        &builds[self.stuck.map_or(newest, |stuck| stuck.min(newest))]
    }

    /// What is in force on a day for a process of this build. Old builds know none of these variables as newer ones do, so
    /// nobody sets them there; only newer builds look into the stores.
    pub fn levers(&self, day: i64, build: &Build) -> Levers<'f> {
        let mut levers = Levers::default();
        if build.generation != wire::Generation::G2 {
            return levers;
        }
        for setting in self.settings.iter().copied().filter(|own| own.from_day <= day) {
            // The kill on one adapter is told to the environment only (contract section 5).
            let stored = build.stores && setting.name != Variable::SplitSameAdapter;
            if setting.source != wire::Source::Env && !stored {
                continue;
            }
            let slot = match setting.name {
                Variable::WeaveOnScanout => &mut levers.kill,
                Variable::D3dForceGpu => &mut levers.force,
                Variable::VkForceGpu => &mut levers.vulkan,
                Variable::SplitSameAdapter => &mut levers.same_adapter,
            };
            // The environment goes before the user's store, that before the machine's.
            if slot.is_none_or(|own| setting.source < own.source) {
                *slot = Some(setting);
            }
        }
        levers
    }

    /// The adapters with the ids of the boot that a day belongs to.
    pub fn adapters(&self, day: i64) -> Vec<MachineAdapter> {
        let boot = day.div_euclid(1 + BOOT_DAYS.min(self.lag_days));
        let mut dice = Dice::new(self.seed, self.index, boot.unsigned_abs(), Purpose::Boot);
        let mut luid = dice.between(0xa000, 0xf000);
        let mut adapters = self.facts.adapters.clone();
        for adapter in adapters.iter_mut().rev() {
            luid += dice.between(0x100, 0x3000);
            adapter.luid = Some(Luid(luid));
        }
        adapters
    }

    /// Where its panel is.
    pub fn panel(&self) -> Rect {
        self.facts.panel.unwrap_or(Rect { left: 0, top: 0, width: 3840, height: 2160 })
    }

    /// The monitor that is the panel.
    pub fn monitor(&self) -> &str {
        let panel = self.panel();
        let own = self.facts.monitors.iter().find(|monitor| monitor.rect == panel);
        own.map_or(r"\\.\DISPLAY1", |monitor| monitor.gdi_name.as_str())
    }
}
