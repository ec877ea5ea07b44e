//! The page at `/machines/{id}`: one PC. First what somebody forgot on it, then its topology boot by boot, its settings, its
//! logs over time, and what was lost.

use askama::Template;
use wire::Heartbeat;

use crate::chart::Chart;
use crate::fleet::FleetPage;
use crate::frame::Frame;
use crate::machines_page::{BarPart, logs_of, parts, spread_words};
use crate::selection::Selection;
use crate::sentence::Part;
use crate::share::{counted, thousands};
use crate::spread::Spread;
use crate::topology::Topology;
use crate::{LogRow, Query};

/// One machine.
#[derive(Clone, PartialEq, Debug, Default, Template)]
#[template(path = "machine.html")]
pub struct MachinePage {
    /// What stands around it.
    pub frame: Frame,
    /// Its pseudonym.
    pub id: String,
    /// When its first batch came, RFC 3339.
    pub first_seen: String,
    /// When its newest batch came.
    pub last_contact: Option<String>,
    /// Version of the agent that sent it.
    pub agent: Option<String>,
    /// How the agent was, and when it said so.
    pub heartbeat: Option<(Heartbeat, String)>,
    /// Id and words of its kind of PC.
    pub cohort: Option<(String, String)>,
    /// All its logs.
    pub spread: Spread,
    /// By local day of the start.
    pub by_day: Vec<Spread>,
    /// As the logs tell them last.
    pub settings: Vec<SettingRow>,
    /// What its crossings cost, by name.
    pub costs: Vec<(String, String)>,
    /// Newest first.
    pub boots: Vec<BootRow>,
    /// There are older ones.
    pub boots_left_out: bool,
    /// What will never arrive: reason, bytes, events.
    pub losses: Vec<(String, u64, u64)>,
    /// Reasons that are not among them.
    pub losses_left_out: u64,
    /// Its newest logs.
    pub logs: Vec<LogRow>,
}

/// Id of a log, and when it started by its own clock.
pub type LogAt = (String, String);

/// One setting.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SettingRow {
    /// The variable.
    pub name: String,
    /// `None` where the logs tell only what came of it.
    pub value: Option<String>,
    /// `env`, `user` or `machine`.
    pub source: Option<String>,
    /// Whether the runtime followed it.
    pub honoured: Option<bool>,
    /// The first log that told the same.
    pub since: LogAt,
    /// The newest log that told it.
    pub last: LogAt,
}

/// The topology of one boot.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BootRow {
    /// Its first log.
    pub first: LogAt,
    /// Its last log so far.
    pub last: LogAt,
    /// How many logs tell of it.
    pub logs: u64,
    /// With the verdict of its last log, where that was read.
    pub topology: Topology,
}

impl MachinePage {
    /// The page. Fails only when memory does.
    pub fn render(&self) -> Result<String, askama::Error> {
        Template::render(self)
    }

    fn title(&self) -> String {
        let left = self.leftovers();
        match (left.first(), self.logs.first()) {
            (Some(flag), _) if left.len() == 1 && self.is_newest(flag) => {
                format!("A test flag is still set: {}", flag.name)
            }
            (Some(flag), _) if left.len() == 1 => format!("A test flag was set when a log told last: {}", flag.name),
            (Some(_), _) => format!("{} were set when a log told last", counted(left.len() as u64, "test flag")),
            (None, Some(log)) => format!("Newest log: {}", log.outcome().label()),
            (None, None) => "A machine without logs".to_owned(),
        }
    }

    /// What somebody set for a test and forgot.
    fn leftovers(&self) -> Vec<&SettingRow> {
        self.settings.iter().filter(|own| own.is_test_flag()).collect()
    }

    /// Whether the newest log still tells the setting.
    fn is_newest(&self, own: &SettingRow) -> bool {
        self.logs.first().is_some_and(|log| log.id == own.last.0)
    }

    fn logs_href(&self) -> String {
        logs_of(&self.id)
    }

    fn cohort_href(id: &str) -> String {
        Query::default().with("cohort", id).href("/machines")
    }

    fn counted(&self) -> String {
        counted(self.spread.tally.logs, "log")
    }

    fn bar(&self) -> Vec<BarPart> {
        parts(&self.spread.outcomes)
    }

    fn spread_words(&self) -> String {
        spread_words(&self.spread.outcomes)
    }

    /// Its logs by day and outcome; `None` where no log tells its day.
    fn days(&self) -> Option<Chart> {
        self.by_day.iter().any(|own| own.key.is_some()).then(|| {
            let query = Query::default().with("machine", &self.id);
            let selection =
                Selection { query, total: self.spread.tally, whole: self.spread.tally, ..Selection::default() };
            FleetPage { selection, by_day: self.by_day.clone(), ..FleetPage::default() }.days()
        })
    }

    fn lost(&self) -> Vec<(&str, String, String)> {
        self.losses
            .iter()
            .map(|(reason, bytes, events)| (reason.as_str(), thousands(*bytes), thousands(*events)))
            .collect()
    }

    fn more_losses(&self) -> String {
        counted(self.losses_left_out, "further reason")
    }

    /// What the agent said of itself: name and value, those from its configuration last.
    fn told(&self) -> Vec<(String, String)> {
        let Some((heartbeat, _)) = &self.heartbeat else { return Vec::new() };
        let mut rows = vec![
            ("Logs that may still grow".to_owned(), thousands(heartbeat.logs_followed)),
            ("Logs that have ended".to_owned(), thousands(heartbeat.logs_finished)),
            ("Waits on its disk".to_owned(), counted(heartbeat.queue_bytes, "byte")),
            ("The oldest of it for".to_owned(), counted(heartbeat.lag_s, "second")),
        ];
        rows.extend(heartbeat.slowed.iter().map(|why| ("Slowed".to_owned(), why.clone())));
        rows.extend(
            heartbeat.dropped.iter().map(|(reason, events)| (format!("Dropped: {reason}"), counted(*events, "event"))),
        );
        rows.extend(heartbeat.config.iter().map(|(name, value)| (format!("Setting {name}"), value.clone())));
        rows
    }
}

/// Who set something.
fn source_words(source: Option<&str>) -> &str {
    match source {
        Some("env") => "environment",
        Some("user") => "user settings",
        Some("machine") => "machine settings",
        Some(other) => other,
        None => "the logs do not say who",
    }
}

/// Kills and forces the placement; the opt-in of old builds does neither.
fn is_test_flag(name: &str, value: Option<&str>) -> bool {
    let opts_in = name == "DXR_WEAVE_ON_SCANOUT" && value.is_some_and(|value| !value.starts_with('0'));
    meaning(name).is_some() && !opts_in
}

/// A test flag that is still set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flag {
    /// Of the variable.
    pub name: String,
    /// Null where logs tell only what came of it.
    pub value: Option<String>,
    /// Who set it, in the word of `wire::Source`; null where logs do not tell.
    pub source: Option<String>,
}

impl Flag {
    /// `NAME=VALUE`, or the name where the value is not told.
    pub(crate) fn set(&self) -> String {
        self.value.as_ref().map_or_else(|| self.name.clone(), |value| format!("{}={value}", self.name))
    }

    /// Where it stands.
    pub(crate) fn place(&self) -> &str {
        match self.source.as_deref() {
            Some("env") => "in the environment",
            Some("user") => "in the user’s settings file",
            Some("machine") => "in the machine’s settings, the registry",
            Some(other) => other,
            None => "where: not told",
        }
    }
}

/// Those of some settings that somebody forgot.
pub fn test_flags(settings: impl Iterator<Item = Flag>) -> Vec<Flag> {
    settings.filter(|own| is_test_flag(&own.name, own.value.as_deref())).collect()
}

impl SettingRow {
    fn is_test_flag(&self) -> bool {
        is_test_flag(&self.name, self.value.as_deref())
    }

    pub(crate) fn meaning(&self) -> &'static str {
        meaning(&self.name).unwrap_or_default()
    }

    pub(crate) fn source_words(&self) -> &str {
        source_words(self.source.as_deref())
    }

    pub(crate) fn honoured_words(&self) -> &'static str {
        match self.honoured {
            Some(true) => "followed",
            Some(false) => "not followed",
            None => "not told",
        }
    }
}

impl BootRow {
    pub(crate) fn counted(&self) -> String {
        counted(self.logs, "log")
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.topology.adapters.iter().map(|own| own.name.as_str()).collect()
    }
}

/// What a variable does that is meant for tests; `None` for any other.
fn meaning(name: &str) -> Option<&'static str> {
    Some(match name {
        "DXR_WEAVE_ON_SCANOUT" => "switches the split off",
        "DXR_D3D_FORCE_GPU" => "forces the GPU that Direct3D apps render on",
        "DXR_VK_FORCE_GPU" => "forces the GPU that Vulkan apps render on",
        "DXR_SPLIT_SAME_ADAPTER" => "decides whether one GPU splits with itself",
        "DXR_SPLIT_INGRESS" => "chooses how pictures come across",
        "DXR_VK_DEPOSIT" => "asks for the Vulkan deposit",
        "DXR_LEGACY_STANDALONE" => "puts the service into its legacy mode",
        _ if name.starts_with("DXR_TEST_") => "makes a step fail on purpose",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_is_left_over_and_the_opt_in_of_old_builds_is_not() {
        let row = |name: &str, value: Option<&str>| SettingRow {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            ..SettingRow::default()
        };
        assert!(row("DXR_WEAVE_ON_SCANOUT", None).is_test_flag());
        assert!(row("DXR_WEAVE_ON_SCANOUT", Some("0")).is_test_flag());
        assert!(!row("DXR_WEAVE_ON_SCANOUT", Some("1")).is_test_flag());
        assert!(row("DXR_D3D_FORCE_GPU", Some("igpu")).is_test_flag());
        assert!(!row("SOMETHING_ELSE", Some("igpu")).is_test_flag());
    }
}
