//! The agent's configuration: what the command line says, else the file, else a default; and the same in words, for
//! `status` and the heartbeat.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use reqwest::Url;
use serde::Deserialize;

use crate::agent::home::{Credential, Enrolment, Home, default_folder};
use crate::agent::pace::Limits;
use crate::cli::{self, ServerArgs, StateArgs, Token, WatchArgs};

/// Beside an app that is measured, the agent takes little.
const CPU_PERCENT: u32 = 5;
const MEMORY_MIB: u64 = 80;
const QUEUE_MIB: u64 = 256;
const POLL: Duration = Duration::from_mins(1);
const BATCH_AGE: Duration = Duration::from_secs(1);
const QUIET: Duration = Duration::from_hours(1);
const HEARTBEAT: Duration = Duration::from_mins(5);
/// A range is never larger than a few MiB, so each fits.
const LEAST_QUEUE_MIB: u64 = 8;
/// A number beyond these is a slip of the keyboard.
const MOST_MIB: u64 = 1 << 20;
const MOST_SECONDS: u64 = 366 * 24 * 3600;

/// What to do when the queue has reached its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// Read no further until the server has taken something: the logs themselves keep what is new.
    #[default]
    Pause,
    /// Drop the oldest entries, counted with the reason `queue_full`.
    DropOldest,
}

/// The file's contents: the same names as the options, and what needs no option.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    dirs: Vec<PathBuf>,
    server: Option<String>,
    token: Option<String>,
    state: Option<PathBuf>,
    ca: Option<PathBuf>,
    proxy: Option<String>,
    allow_http: bool,
    cpu_percent: Option<u32>,
    memory_mib: Option<u64>,
    queue_mib: Option<u64>,
    when_full: WhenFull,
    poll_s: Option<u64>,
    batch_age_s: Option<u64>,
    quiet_s: Option<u64>,
    heartbeat_s: Option<u64>,
    redact: redact::Policy,
}

/// Everything that the agent goes by.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folders with logs; none means those of this machine.
    pub dirs: Vec<PathBuf>,
    /// The agent's own folder.
    pub home: Home,
    /// The server, where one is named.
    pub server: Option<Url>,
    /// How to get there.
    pub way: ServerArgs,
    /// The token, where one is named.
    pub token: Option<Token>,
    /// End when everything is acknowledged.
    pub once: bool,
    /// Limits on itself.
    pub limits: Limits,
    /// Most bytes on disk.
    pub queue_bytes: u64,
    /// And what happens then.
    pub when_full: WhenFull,
    /// Between two looks at all folders; hints come at once.
    pub poll: Duration,
    /// A batch waits this long for more.
    pub batch_age: Duration,
    /// A log in which nothing has been written for so long has ended.
    pub quiet: Duration,
    /// Between two reports of the agent's own state.
    pub heartbeat: Duration,
    /// What is taken out.
    pub redact: redact::Policy,
}

impl WhenFull {
    /// As the file spells it.
    const fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::DropOldest => "drop_oldest",
        }
    }
}

impl Config {
    /// For `watch`.
    ///
    /// # Errors
    /// When the file cannot be read, or holds an unknown name.
    pub fn of_watch(args: &WatchArgs) -> anyhow::Result<Self> {
        // With `--once` somebody is waiting for it.
        let cpu_percent = if args.once { 0 } else { CPU_PERCENT };
        let mut config = Self::read(&args.state, cpu_percent)?;
        if !args.dirs.is_empty() {
            config.dirs.clone_from(&args.dirs);
        }
        config.take(&args.server);
        config.token = args.token.clone().or(config.token);
        config.once = args.once;
        if let Some(percent) = args.cpu_percent {
            config.limits.cpu_percent = percent;
        }
        config.go_by_enrolment();
        Ok(config)
    }

    /// For the other commands of the agent.
    ///
    /// # Errors
    /// As [`Self::of_watch`].
    pub fn of_state(args: &StateArgs) -> anyhow::Result<Self> {
        let mut config = Self::read(args, CPU_PERCENT)?;
        config.go_by_enrolment();
        Ok(config)
    }

    /// For `enroll`: whatever was agreed to before does not count.
    ///
    /// # Errors
    /// As [`Self::of_watch`].
    pub fn of_enrolment(args: &StateArgs) -> anyhow::Result<Self> {
        Self::read(args, CPU_PERCENT)
    }

    fn read(args: &StateArgs, cpu_percent: u32) -> anyhow::Result<Self> {
        let (file, base) = match &args.config {
            Some(path) => (read_file(path)?, path.parent().map(Path::to_owned)),
            None => (File::default(), None),
        };
        // A relative path in a file is relative to the file, wherever the agent was started.
        let beside = |path: PathBuf| base.as_ref().map_or_else(|| path.clone(), |base| base.join(&path));
        let state = args.state.clone().or_else(|| file.state.map(&beside)).or_else(default_folder);
        let state = state.context("no variable tells where this user's state is kept; give a folder with --state")?;
        let server = file.server.as_deref().map(cli::server_url).transpose();
        let token = file.token.as_deref().map(cli::token).transpose();
        let seconds = |name, least, value: Option<u64>, default| match value {
            Some(seconds) => within(name, seconds, least, MOST_SECONDS).map(Duration::from_secs),
            None => Ok(default),
        };
        let mebibytes = |name, least, value: Option<u64>, default| {
            within(name, value.unwrap_or(default), least, MOST_MIB).map(|mebibytes| mebibytes << 20)
        };
        Ok(Self {
            dirs: file.dirs.into_iter().map(&beside).collect(),
            home: Home::at(state),
            server: server.map_err(|error| anyhow!("server: {error}"))?,
            way: ServerArgs { server: None, ca: file.ca.map(&beside), proxy: file.proxy, allow_http: file.allow_http },
            token: token.map_err(|error| anyhow!("token: {error}"))?,
            once: false,
            limits: Limits {
                cpu_percent: file.cpu_percent.unwrap_or(cpu_percent),
                memory_bytes: mebibytes("memory_mib", 0, file.memory_mib, MEMORY_MIB)?,
            },
            queue_bytes: mebibytes("queue_mib", LEAST_QUEUE_MIB, file.queue_mib, QUEUE_MIB)?,
            when_full: file.when_full,
            poll: seconds("poll_s", 1, file.poll_s, POLL)?,
            batch_age: seconds("batch_age_s", 0, file.batch_age_s, BATCH_AGE)?,
            quiet: seconds("quiet_s", 1, file.quiet_s, QUIET)?,
            heartbeat: seconds("heartbeat_s", 1, file.heartbeat_s, HEARTBEAT)?,
            redact: file.redact,
        })
    }

    /// Takes what the command line says of the server.
    pub fn take(&mut self, args: &ServerArgs) {
        if args.server.is_some() {
            self.server.clone_from(&args.server);
        }
        if args.ca.is_some() {
            self.way.ca.clone_from(&args.ca);
        }
        if args.proxy.is_some() {
            self.way.proxy.clone_from(&args.proxy);
        }
        self.way.allow_http |= args.allow_http;
    }

    /// Goes by what was agreed to with `enroll` where nothing else is said, unless another server is named.
    fn go_by_enrolment(&mut self) {
        // A file that cannot be read is said where the credential is needed.
        let Ok(Some(Enrolment { credential, dirs, ca, proxy, allow_http })) = self.home.enrolment() else { return };
        if self.server.as_ref().is_some_and(|server| *server != credential.server) {
            return;
        }
        if self.dirs.is_empty() {
            self.dirs = dirs;
        }
        self.way.ca = self.way.ca.take().or(ca);
        self.way.proxy = self.way.proxy.take().or(proxy);
        self.way.allow_http |= allow_http;
    }

    /// Where to send and with which token: both named, which counts as consent, or from `enroll` (contract section 6).
    ///
    /// # Errors
    /// When only one is named, or neither and this machine has not enrolled.
    pub fn credential(&self) -> anyhow::Result<Credential> {
        match (&self.server, &self.token) {
            (Some(server), Some(token)) => Ok(Credential { server: server.clone(), token: token.0.clone() }),
            (None, None) => self.home.enrolment()?.map(|kept| kept.credential).ok_or_else(|| {
                anyhow!(
                    "nothing is sent before somebody has agreed: run `weavewatch enroll`, or give --server and --token \
                     (or WEAVEWATCH_TOKEN)"
                )
            }),
            (Some(server), None) => match self.home.enrolment()? {
                Some(Enrolment { credential, .. }) if credential.server == *server => Ok(credential),
                _ => bail!("{server}: --token (or WEAVEWATCH_TOKEN) is missing; or run `weavewatch enroll` first"),
            },
            (None, Some(_)) => bail!("a token is given and no --server"),
        }
    }

    /// In words, without secrets.
    pub fn words(&self) -> BTreeMap<String, String> {
        let dirs: Vec<_> = self.dirs.iter().map(|dir| dir.display().to_string()).collect();
        let percent = |percent| if percent == 0 { "no limit".to_owned() } else { format!("{percent} %") };
        [
            ("dirs", if dirs.is_empty() { "this machine's log folders".to_owned() } else { dirs.join(", ") }),
            ("cpu", percent(self.limits.cpu_percent)),
            ("memory", format!("{} MiB", self.limits.memory_bytes >> 20)),
            ("queue", format!("{} MiB", self.queue_bytes >> 20)),
            ("when_full", self.when_full.word().to_owned()),
            ("poll", format!("{} s", self.poll.as_secs())),
            ("batch_age", format!("{} s", self.batch_age.as_secs())),
            ("quiet", format!("{} s", self.quiet.as_secs())),
            ("heartbeat", format!("{} s", self.heartbeat.as_secs())),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

fn within(name: &str, value: u64, least: u64, most: u64) -> anyhow::Result<u64> {
    if !(least..=most).contains(&value) {
        bail!("{name} = {value} in the configuration: expected a number from {least} to {most}");
    }
    Ok(value)
}

fn read_file(path: &Path) -> anyhow::Result<File> {
    let text = std::fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("failed to understand {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> anyhow::Result<Config> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("weavewatch.toml");
        std::fs::write(&path, text)?;
        let state = StateArgs { config: Some(path), ..StateArgs::default() };
        Config::of_watch(&WatchArgs { state, ..WatchArgs::default() })
    }

    #[test]
    fn paths_in_a_file_are_relative_to_it_and_the_command_line_wins() {
        let read = config("dirs = ['logs', '/abs']\nstate = 'own'\ncpu_percent = 3\nwhen_full = 'drop_oldest'\n")
            .expect("it is sound");
        assert!(read.dirs[0].is_absolute() && read.dirs[0].ends_with("logs"), "{:?}", read.dirs);
        assert_eq!(read.dirs[1], Path::new("/abs"));
        assert!(read.home.path().ends_with("own"));
        assert_eq!((read.limits.cpu_percent, read.when_full), (3, WhenFull::DropOldest));
    }

    #[test]
    fn a_name_that_nobody_knows_is_said() {
        let said = config("cpu_procent = 3\n").expect_err("there is no such name");
        assert!(format!("{said:#}").contains("cpu_procent"), "{said:#}");
        assert!(config("server = 'ftp://x'\n").is_err());
    }

    #[test]
    fn a_number_out_of_reason_is_said_with_its_name() {
        for line in [
            "queue_mib = 0",
            "queue_mib = 9223372036854775807",
            "memory_mib = 9999999",
            "heartbeat_s = 0",
            "poll_s = -1",
        ] {
            let said = config(line).expect_err(line);
            let name = line.split(' ').next().expect("it has a name");
            assert!(format!("{said:#}").contains(name), "{said:#}");
        }
    }

    #[test]
    fn what_was_enrolled_goes_where_nothing_else_is_said() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let server = Url::parse("https://weave.example.org").expect("it is a URL");
        let enrolment = Enrolment {
            credential: Credential { server, token: "own".to_owned() },
            dirs: vec!["/logs".into()],
            ca: Some("/own.pem".into()),
            proxy: None,
            allow_http: false,
        };
        Home::at(folder.path().to_owned()).keep(&enrolment).expect("the folder is writable");
        let state = StateArgs { state: Some(folder.path().to_owned()), config: None };
        let args = |dirs: &[&str], server: Option<&str>| WatchArgs {
            dirs: dirs.iter().map(PathBuf::from).collect(),
            server: ServerArgs { server: server.map(|url| Url::parse(url).expect("a URL")), ..ServerArgs::default() },
            state: state.clone(),
            ..WatchArgs::default()
        };
        let read = |args| {
            let config = Config::of_watch(&args).expect("it is sound");
            (config.dirs, config.way.ca)
        };
        let dirs = |dir: &str| vec![PathBuf::from(dir)];
        assert_eq!(read(args(&[], None)), (dirs("/logs"), Some("/own.pem".into())));
        assert_eq!(read(args(&["/more"], None)), (dirs("/more"), Some("/own.pem".into())));
        assert_eq!(read(args(&[], Some("https://other.example.org"))), (vec![], None));
        assert_eq!(Config::of_state(&state).expect("it is sound").dirs, dirs("/logs"));
        assert_eq!(Config::of_enrolment(&state).expect("it is sound").dirs, Vec::<PathBuf>::new());
    }

    #[test]
    fn a_share_that_was_written_down_also_goes_for_once() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("weavewatch.toml");
        for (text, once, percent) in [("", false, 5), ("", true, 0), ("cpu_percent = 5", true, 5)] {
            std::fs::write(&path, text).expect("the folder is writable");
            let state = StateArgs { config: Some(path.clone()), state: None };
            let read = Config::of_watch(&WatchArgs { state, once, ..WatchArgs::default() }).expect("it is sound");
            assert_eq!(read.limits.cpu_percent, percent, "{text:?} {once}");
        }
    }

    #[test]
    fn server_and_token_together_are_consent_and_neither_alone_is() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let state = || StateArgs { state: Some(folder.path().to_owned()), config: None };
        let url = Url::parse("https://weave.example.org").expect("it is a URL");
        let args = |server: bool, token: bool| WatchArgs {
            server: ServerArgs { server: server.then(|| url.clone()), ..ServerArgs::default() },
            token: token.then(|| Token("t".to_owned())),
            state: state(),
            ..WatchArgs::default()
        };
        let credential =
            |server, token| Config::of_watch(&args(server, token)).expect("nothing else is said").credential();
        assert!(credential(true, true).is_ok());
        assert!(credential(false, false).expect_err("nobody agreed").to_string().contains("weavewatch enroll"));
        assert!(credential(true, false).is_err() && credential(false, true).is_err());
        let kept = Credential { server: url.clone(), token: "own".to_owned() };
        let enrolment = Enrolment { credential: kept.clone(), dirs: vec![], ca: None, proxy: None, allow_http: false };
        Home::at(folder.path().to_owned()).keep(&enrolment).expect("the folder is writable");
        assert_eq!(credential(false, false).expect("it enrolled"), kept);
        assert_eq!(credential(true, false).expect("it enrolled there"), kept);
    }
}
