//! What becomes of a session: the description's choice, before any line is written.
//!
//! Refusals come in the order of the runtime's gates (vocabulary section 3), so that a session with two reasons ends for
//! the one that the runtime would name. Nothing here asks the resolver.

use std::borrow::Cow;

use wire::Path;

use crate::description::{Fault, FoundBy, Setting};
use crate::log::Log;

/// What becomes of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It splits.
    Engaged,
    /// It splits on one adapter (ADR-039).
    SameEngaged,
    /// A heavy D3D12 session that is re-routed across adapters, whose line gives no reason.
    HybridReroute,
    /// One adapter, nothing to split.
    Same,
    /// The kill switch.
    Killed,
    /// A gate refuses, with this token.
    Refused(&'static str),
    /// This API has no split in this build.
    NoSplit,
    /// A build before Phase 3: whether it splits is not asked.
    Old,
    /// Stage A fails.
    StageAFailed,
    /// The plug-in refuses the panel's GPU.
    DpRefused,
    /// A reason that only the newest build knows.
    NewToken(String),
    /// It splits and is taken back for a mask.
    Mask,
    /// The same, and the log ends before `CHANGED`.
    CutBehindRetired,
    /// The line contradicts the log's own resolvers.
    Contradiction,
    /// The app goes through the service.
    Client,
    /// The process ends before its session opens.
    NoSession,
    /// Logging starts anew behind the footer: a file with next to nothing in it.
    SecondLog,
}

impl Outcome {
    /// The word in the truth.
    pub fn word(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Engaged => "engaged",
            Self::SameEngaged => "engaged_on_one_adapter",
            Self::HybridReroute => "rerouted_across_adapters",
            Self::Same => "same_adapter",
            Self::Killed => "killed",
            Self::Refused(token) => token,
            Self::NoSplit => "api_unsupported",
            Self::Old => "old_build",
            Self::StageAFailed => "stage_a_failed",
            Self::DpRefused => "dp_refused",
            Self::NewToken(token) => return Cow::Owned(token.clone()),
            Self::Mask => "authored_mask",
            Self::CutBehindRetired => "cut_behind_retired",
            Self::Contradiction => "contradiction",
            Self::Client => "client",
            Self::NoSession => "no_session",
            Self::SecondLog => "second_log",
        })
    }
}

/// Does this value of `DXR_WEAVE_ON_SCANOUT` kill the split on this path? Two idioms that must not be merged (vocabulary
/// section 11): D3D11 in-process knows whole words, the others look at the first letter.
pub fn kills(path: Path, setting: &Setting) -> bool {
    let value = setting.value.as_str();
    match path {
        Path::D3d11 => matches!(value, "false" | "FALSE" | "off" | "OFF" | "no" | "NO" | "n" | "N" | "f" | "F" | "0"),
        _ => value.starts_with(['0', 'f', 'F', 'n', 'N']) || matches!(value, "off" | "OFF" | "Off"),
    }
}

impl Log<'_> {
    /// Chooses for an in-process session of a D3D or Vulkan app, or for the service.
    pub(crate) fn choose(&mut self, path: Path) -> Outcome {
        let in_process = path != Path::Service;
        if self.levers.kill.is_some_and(|setting| kills(path, setting)) {
            return Outcome::Killed;
        }
        if path == Path::Vulkan && self.happens(Fault::NoTimeline) {
            return Outcome::Refused("no_timeline_semaphore");
        }
        if in_process && self.happens(Fault::NoWindow) {
            return Outcome::Refused("no_hwnd");
        }
        if in_process && self.happens(Fault::SharedTexture) {
            return Outcome::Refused("shared_texture_session");
        }
        if matches!(path, Path::D3d11 | Path::Vulkan) && self.happens(Fault::RenderUnresolvable) {
            return Outcome::Refused("render_unresolvable");
        }
        let Some(scanout) = self.scanout else { return Outcome::Refused("scanout_unresolvable") };
        if scanout == self.render {
            let declines = self.levers.same_adapter.is_some_and(|setting| setting.value.starts_with('0'));
            return if self.build.adr039 && in_process && !declines { Outcome::SameEngaged } else { Outcome::Same };
        }
        // An output walk prints no id, so nobody can hold the line against it.
        let told = !self.is_unprintable() && self.pc.kind.found_by == FoundBy::DisplayPath;
        if in_process && told && self.happens(Fault::Contradiction) {
            return Outcome::Contradiction;
        }
        self.across(path)
    }

    /// The session would split across adapters.
    fn across(&mut self, path: Path) -> Outcome {
        let driver = self.pc.driver.stage_a_failed;
        if self.regressed(path, Fault::StageAFailed) || self.happens(Fault::StageAFailed) || self.chance.chance(driver)
        {
            return Outcome::StageAFailed;
        }
        if path != Path::Service && (self.regressed(path, Fault::DpRefused) || self.happens(Fault::DpRefused)) {
            return Outcome::DpRefused;
        }
        if let Some(token) = &self.build.new_token
            && self.chance.chance(self.build.new_token_rate)
        {
            return Outcome::NewToken(token.clone());
        }
        if matches!(path, Path::D3d12 | Path::Vulkan) {
            if self.happens(Fault::AuthoredMask) {
                return Outcome::Mask;
            }
            if self.happens(Fault::CutBehindRetired) {
                return Outcome::CutBehindRetired;
            }
        }
        let reroutes = path == Path::D3d12 && self.build.adr039;
        if reroutes && self.chance.chance(0.1) { Outcome::HybridReroute } else { Outcome::Engaged }
    }

    /// A fault that a build brought to this kind of machine.
    fn regressed(&mut self, path: Path, fault: Fault) -> bool {
        let builds = &self.fleet.builds;
        let at = |version: &str| builds.iter().rposition(|build| build.version == version);
        let own = builds.iter().position(|build| std::ptr::eq(build, self.build));
        let rate = self
            .fleet
            .regressions
            .iter()
            .filter(|own| own.kind == self.pc.kind.name && own.fault == fault && own.path.is_none_or(|own| own == path))
            .filter(|regression| at(&regression.build) <= own)
            .map(|own| own.rate)
            .fold(0.0, f64::max);
        self.chance.chance(rate)
    }

    /// Does this fault happen here?
    pub(crate) fn happens(&mut self, fault: Fault) -> bool {
        let rate = self.fleet.fault(fault);
        self.chance.chance(rate)
    }
}
