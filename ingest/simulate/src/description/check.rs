//! Does a description fit together? What does not is said before anything is made.

use wire::Path;

use super::{Fault, Fleet, Variable};

impl Fleet {
    /// What is wrong with it, in words for whoever wrote it.
    pub(super) fn check(&self) -> Result<(), String> {
        const MOST_MACHINES: u64 = 1_000_000;
        const MOST_DAYS: u32 = 3660;
        /// What is made of a machine waits until the machines before it are written.
        const MOST_SESSIONS: f64 = 20_000.0;
        let ensure = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        ensure((1..=MOST_MACHINES).contains(&self.machines), "machines must be from 1 to 1000000")?;
        ensure((1..=MOST_DAYS).contains(&self.days), "days must be from 1 to 3660")?;
        ensure((1970..=2100).contains(&self.first_day.year()), "first_day must be from 1970 to 2100")?;
        ensure((0.0..=100.0).contains(&self.sessions_a_day), "sessions_a_day must be from 0 to 100")?;
        let sessions = self.sessions_a_day * f64::from(self.days);
        ensure(sessions <= MOST_SESSIONS, "a machine may have at most 20000 sessions: fewer days or sessions_a_day")?;
        ensure(self.noise.frames <= 100_000, "noise.frames must be at most 100000")?;
        ensure(self.noise.windows <= 10_000, "noise.windows must be at most 10000")?;
        ensure(!self.builds.is_empty(), "there must be a [[build]]")?;
        ensure(!self.kinds.is_empty(), "there must be a [[kind]]")?;
        ensure(!self.apps.is_empty(), "there must be an [[app]]")?;
        ensure(self.builds[0].released <= 0, "the first [[build]] must be released on day 0 or before")?;
        ensure(self.builds.is_sorted_by_key(|build| build.released), "builds must stand oldest first")?;
        for build in &self.builds {
            let numbers: Vec<_> = build.version.split('.').map(str::parse::<u32>).collect();
            let three = numbers.len() == 3 && numbers.iter().all(Result::is_ok);
            ensure(three, &format!("the version {:?} must be three numbers", build.version))?;
        }
        for app in &self.apps {
            let in_process = matches!(app.path, Path::D3d11 | Path::D3d12 | Path::Vulkan | Path::OpenGl);
            ensure(in_process, &format!("the app {} must have a path of a graphics API", app.name))?;
            let plain = app.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
            ensure(plain && !app.name.is_empty(), &format!("the app {:?} must have a plain name", app.name))?;
        }
        self.check_kinds()?;
        self.check_rates()
    }

    fn check_kinds(&self) -> Result<(), String> {
        let known = |name: &str| self.kinds.iter().any(|kind| kind.name == name);
        for kind in &self.kinds {
            let adapters = kind.facts.as_ref().map_or(&[][..], |facts| &facts.adapters);
            let hardware = |at: usize| adapters.get(at).is_some_and(|own| own.software != Some(true));
            let drivers = kind.drivers.iter().filter_map(|driver| driver.gl_render);
            for at in [Some(kind.render), kind.scanout].into_iter().flatten().chain(drivers) {
                if !hardware(at) {
                    return Err(format!("the kind {} has no hardware adapter {at}", kind.name));
                }
            }
            if kind.drivers.is_empty() {
                return Err(format!("the kind {} must have a [[kind.driver]]", kind.name));
            }
        }
        for regression in &self.regressions {
            if !known(&regression.kind) || !self.builds.iter().any(|build| build.version == regression.build) {
                return Err(format!(
                    "a regression of {} on {} fits no build and kind",
                    regression.build, regression.kind
                ));
            }
            if !self.has(&regression.kind, regression.path) {
                return Err(format!(
                    "a regression of {} is on a path that no log of {} has",
                    regression.build, regression.kind
                ));
            }
            if !matches!(regression.fault, Fault::StageAFailed | Fault::DpRefused) {
                return Err("a regression must be stage_a_failed or dp_refused".to_owned());
            }
        }
        for setting in &self.settings {
            if let Some(name) = setting.kinds.iter().find(|name| !known(name)) {
                return Err(format!("a setting is for the kind {name}, which is not there"));
            }
            let index = setting.value.starts_with(|first: char| first.is_ascii_digit());
            if index && matches!(setting.name, Variable::D3dForceGpu | Variable::VkForceGpu) {
                return Err("a force-GPU setting by number is not simulated; use a word".to_owned());
            }
        }
        Ok(())
    }

    /// Some session of the kind may split on the path; on any, when none is told.
    fn has(&self, kind: &str, path: Option<Path>) -> bool {
        let service = self.kinds.iter().any(|own| own.name == kind && own.service);
        match path {
            None => true,
            Some(Path::Service) => service,
            Some(path) => !service && self.apps.iter().any(|app| app.path == path),
        }
    }

    fn check_rates(&self) -> Result<(), String> {
        let builds = self.builds.iter().flat_map(|own| [own.splices, own.new_token_rate, own.new_words_rate]);
        let rates = builds
            .chain([self.old_builds])
            .chain(self.faults.values().copied())
            .chain(self.quirks.values().copied())
            .chain(self.mutations.values().copied())
            .chain(self.settings.iter().map(|own| own.share))
            .chain(self.regressions.iter().map(|own| own.rate))
            .chain(self.kinds.iter().flat_map(|kind| kind.drivers.iter().map(|driver| driver.stage_a_failed)));
        for rate in rates {
            if !(0.0..=1.0).contains(&rate) {
                return Err(format!("the rate {rate} must be from 0 to 1"));
            }
        }
        let some = |shares: &mut dyn Iterator<Item = f64>| {
            let shares: Vec<_> = shares.collect();
            shares.iter().all(|share| (0.0..1e9).contains(share)) && shares.iter().any(|share| *share > 0.0)
        };
        let sound = some(&mut self.kinds.iter().map(|own| own.share))
            && some(&mut self.apps.iter().map(|own| own.share))
            && self.kinds.iter().all(|kind| some(&mut kind.drivers.iter().map(|own| own.share)));
        if sound { Ok(()) } else { Err("shares must not be negative, and one of each list above 0".to_owned()) }
    }
}
