//! What people and programs are told: numbers with everything needed to believe them, and links to the logs behind them.
//!
//! Names of builds, programs and adapters come from logs. In sentences whatever acts instead of being seen is spelled out and
//! what is long is cut; the JSON for programs holds the whole name, in JSON's own spelling.

use dashboards::Query;
use dashboards::share::{Share, wilson_95};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::file::Compare;
use super::findings::{Finding, window};
use super::rules::{Alerts, Rule, Watch};
use crate::store::{AlertKind, AlertRow};
use crate::text;

/// Names the shape of the JSON.
const SCHEMA: &str = "weavewatch.alert/1";
/// The part of a name that fits into a title.
const TITLE_CHARS: usize = 80;

/// A message without its kind, which may change while it waits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Message {
    rule: String,
    /// The measure's word, and what it says of a log.
    count: String,
    label: String,
    /// What the subject is a value of, the value, and what people call it.
    by: Option<String>,
    value: Option<String>,
    name: Option<String>,
    counted: u64,
    logs: u64,
    machines: Option<i64>,
    above: f64,
    by_share: bool,
    least_logs: i64,
    least_machines: i64,
    cool_down_hours: i64,
    from: String,
    to: String,
    since: String,
    at: String,
    counted_url: String,
    logs_url: String,
    server: String,
}

impl Message {
    /// About a subject; without a finding nothing of it is looked at any more.
    pub fn new(alerts: &Alerts, rule: &Rule, row: &AlertRow, finding: Option<&Finding>, now: Timestamp) -> Self {
        let [from, to] = window(rule, now).map(|day| day.to_string());
        let [counted_url, logs_url] =
            paths(rule, row.subject.as_deref(), now).map(|path| format!("{}{path}", alerts.public_url));
        let share = finding.map(Finding::share).unwrap_or_default();
        Self {
            rule: rule.name.clone(),
            count: rule.measure.word(),
            label: rule.measure.label(),
            by: rule.watch.dimension().map(|by| by.as_str().to_owned()),
            value: row.subject.clone(),
            name: finding.and_then(|finding| finding.label.clone()),
            counted: share.count,
            logs: share.total,
            machines: finding.and_then(|finding| finding.machines),
            above: rule.above,
            by_share: rule.compare == Compare::Share,
            least_logs: rule.least_logs,
            least_machines: rule.least_machines,
            cool_down_hours: rule.cool_down.as_hours(),
            counted_url,
            logs_url,
            from,
            to,
            since: row.since.clone(),
            at: text::timestamp(now),
            server: alerts.public_url.clone(),
        }
    }

    /// The one that somebody sends to see whether it arrives.
    pub fn trial(alerts: &Alerts, now: Timestamp) -> Option<Self> {
        let rule = alerts.rules.first()?;
        let row = AlertRow { since: text::timestamp(now), ..AlertRow::default() };
        let rule = Rule { name: "a trial".to_owned(), watch: Watch::Together, ..rule.clone() };
        Some(Self::new(alerts, &rule, &row, None, now))
    }

    /// As the database keeps it while it waits.
    pub fn stored(&self) -> String {
        serde_json::to_string(self).expect("plain fields are always JSON")
    }

    /// One line, such as a subject of a mail.
    pub fn title(&self, kind: AlertKind) -> String {
        let what = self.of().map(|(_, value)| format!(", {}", cut(&value))).unwrap_or_default();
        let (rule, share) = (&self.rule, plain(&self.share().percent()));
        match kind {
            AlertKind::Alarm => format!("{rule}{what}: {share} {}", cut(&self.label)),
            AlertKind::Reminder => format!("Still {rule}{what}: {share} {}", cut(&self.label)),
            AlertKind::Resolved => format!("Over: {rule}{what}"),
            AlertKind::Test => "Trial message: alerts arrive here".to_owned(),
        }
    }

    /// The whole message as text.
    pub fn text(&self, kind: AlertKind) -> String {
        let mut lines = vec![self.title(kind), String::new()];
        if kind == AlertKind::Test {
            lines.push(
                "Somebody tried whether messages of `weavewatch-server serve --alerts` arrive. Nothing is wrong."
                    .to_owned(),
            );
            lines.push(self.server.clone());
            return lines.join("\n");
        }
        lines.push(format!("Rule: {}", self.rule));
        lines.extend(self.of().map(|(by, value)| format!("{by}: {value}")));
        let share = self.share();
        if share.total > 0 {
            let machines =
                self.machines.map(|machines| format!(", on {machines} {}", noun(machines))).unwrap_or_default();
            let (percent, interval) = (share.percent(), share.interval());
            let label = text::brief(&self.label);
            lines.push(plain(&format!("{share} logs {label}: {percent} (95 % interval {interval}){machines}")));
        } else {
            lines.push(
                "No logs are looked at any more: none are within the window, or a newer build took its place."
                    .to_owned(),
            );
        }
        let what = if self.by_share { "the share" } else { "the lower end of the interval" };
        let limit = plain(&percent(self.above));
        let (logs, machines) = (self.least_logs, self.least_machines);
        lines.push(format!(
            "Limit: {what} above {limit}, with at least {logs} logs, and such logs on at least {machines} {}",
            noun(machines)
        ));
        lines.push(format!("Window: logs that started from {} to {}", self.from, self.to));
        let state = if kind == AlertKind::Resolved { "Not above the limit" } else { "Above the limit" };
        lines.extend([format!("{state} since {}", self.since), String::new()]);
        lines.push(format!("The logs that count: {}", self.counted_url));
        lines.push(format!("All logs looked at:  {}", self.logs_url));
        if kind != AlertKind::Resolved {
            lines.push(String::new());
            let hours = self.cool_down_hours;
            lines.push(format!("The next message about it comes when it is over, or in {hours} hours if it stays so."));
        }
        lines.join("\n")
    }

    /// For programs: one JSON object.
    pub fn json(&self, kind: AlertKind) -> String {
        let share = self.share();
        let interval = wilson_95(share.count, share.total);
        let told = |end: f64| interval.map(|_| end);
        let (low, high) = interval.unwrap_or_default();
        let group = self.by.as_ref().zip(self.value.as_ref());
        let group = group.map(|(by, value)| json!({ "by": by, "value": value, "name": self.name }));
        let document = json!({
            "schema": SCHEMA,
            "kind": kind,
            "text": self.chat(kind),
            "rule": self.rule,
            "count": self.count,
            "group": group,
            "counted": self.counted,
            "logs": self.logs,
            "machines": self.machines,
            "share": told(share.fraction()),
            "low": told(low),
            "high": told(high),
            "above": self.above,
            "compare": if self.by_share { "share" } else { "interval" },
            "least_logs": self.least_logs,
            "least_machines": self.least_machines,
            "from": self.from,
            "to": self.to,
            "since": self.since,
            "at": self.at,
            "counted_url": self.counted_url,
            "logs_url": self.logs_url,
            "server": self.server,
        });
        // Says the same in characters that can all be seen.
        wire::cell::json(&document.to_string()).into_owned()
    }

    /// Chats show it as it stands, so a name from a log must be no link, no mention and no format.
    fn chat(&self, kind: AlertKind) -> String {
        let dull = |own: &String| own.chars().map(dull).collect::<String>();
        let quiet = Self {
            rule: dull(&self.rule),
            label: dull(&self.label),
            value: self.value.as_ref().map(dull),
            name: self.name.as_ref().map(dull),
            ..self.clone()
        };
        let title = quiet.title(kind);
        if kind == AlertKind::Test { title } else { format!("{title}\n{}", self.counted_url) }
    }

    fn share(&self) -> Share {
        Share { count: self.counted, total: self.logs }
    }

    /// What it is about, and what that is, safe to be read.
    fn of(&self) -> Option<(&str, String)> {
        let value = self.name.as_ref().or(self.value.as_ref())?;
        Some((self.by.as_deref()?, text::brief(value)))
    }
}

/// Where the logs of a subject are listed: those that count, and all.
pub fn paths(rule: &Rule, subject: Option<&str>, now: Timestamp) -> [String; 2] {
    let mut pairs = rule.filters.clone();
    if let (Some(by), Some(value)) = (rule.watch.dimension(), subject) {
        pairs.retain(|(name, _)| name != by.as_str());
        pairs.push((by.as_str().to_owned(), value.to_owned()));
    }
    let days = window(rule, now).map(|day| day.to_string());
    pairs.extend(["from", "to"].map(str::to_owned).into_iter().zip(days));
    let own = rule.measure.pairs().into_iter().map(|(name, value)| (name.to_owned(), value));
    let counted: Query = pairs.iter().cloned().chain(own).collect();
    [counted, pairs.into_iter().collect()].map(|query| query.href("/logs"))
}

/// `12.5 %`.
pub fn percent(fraction: f64) -> String {
    let percent = (fraction * 1_000.0).round() / 10.0;
    format!("{percent} %")
}

/// `1 machine`, `2 machines`.
pub const fn noun(machines: i64) -> &'static str {
    if machines == 1 { "machine" } else { "machines" }
}

/// Plain blanks, which every program for mail breaks lines at.
pub fn plain(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

fn cut(text: &str) -> String {
    let safe = wire::cell::terminal(text);
    let mut chars = safe.chars();
    let mut kept: String = chars.by_ref().take(TITLE_CHARS).collect();
    if chars.next().is_some() {
        kept.push('…');
    }
    kept
}

/// A character that looks alike and means nothing to a chat.
const fn dull(char: char) -> char {
    match char {
        '<' => '‹',
        '>' => '›',
        '@' => '＠',
        '`' | '*' | '_' | '~' | '|' => '·',
        '[' => '⟦',
        ']' => '⟧',
        '&' => '＆',
        '#' => '＃',
        '!' => 'ǃ',
        ':' => '꞉',
        '/' => '∕',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alerts::findings::Judgement;

    const RULES: &str = r#"
        public_url = "https://weavewatch.example.com/"
        webhooks.chat.url = "https://chat.example.com/x"
        [[rules]]
        name = "killed by build"
        count = "killed"
        above = 0.05
        by = "runtime"
        filters.path = "d3d12"
        to = ["chat"]
    "#;

    fn message(build: &str) -> Message {
        let alerts = Alerts::parse("rules.toml", RULES).expect("they are right");
        let finding = Finding {
            subject: Some(build.to_owned()),
            label: None,
            counted: 12,
            logs: 80,
            machines: Some(9),
            judgement: Judgement::Above,
        };
        let now = "2026-09-14T12:00:00Z".parse().expect("a time");
        let row = AlertRow { subject: Some(build.to_owned()), since: text::timestamp(now), ..AlertRow::default() };
        Message::new(&alerts, &alerts.rules[0], &row, Some(&finding), now)
    }

    #[test]
    fn everything_needed_to_believe_it_is_said() {
        let text = message("2.13.0").text(AlertKind::Alarm);
        let expected = "killed by build, 2.13.0: 15.0 % switched off by a setting

Rule: killed by build
runtime: 2.13.0
12 of 80 logs switched off by a setting: 15.0 % (95 % interval 8.8–24.4 %), on 9 machines
Limit: the lower end of the interval above 5 %, with at least 30 logs, and such logs on at least 3 machines
Window: logs that started from 2026-09-08 to 2026-09-15
Above the limit since 2026-09-14T12:00:00.000Z

The logs that count: https://weavewatch.example.com/logs?path=d3d12&runtime=2.13.0&from=2026-09-08&to=2026-09-15&killed=true
All logs looked at:  https://weavewatch.example.com/logs?path=d3d12&runtime=2.13.0&from=2026-09-08&to=2026-09-15

The next message about it comes when it is over, or in 24 hours if it stays so.";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_hostile_build_is_a_name_and_nothing_else() {
        let build = "1.0\r\nBcc: all@example.com\u{202e}<!channel> [x](http://evil.example) \u{0}".to_owned()
            + &"y".repeat(4_000);
        let message = message(&build);
        for kind in [AlertKind::Alarm, AlertKind::Reminder, AlertKind::Resolved] {
            let (title, text) = (message.title(kind), message.text(kind));
            assert!(title.chars().count() < 400 && !title.contains(char::is_control), "{title:?}");
            assert!(!text.contains(['\r', '\u{202e}', '\0']) && !text.contains("\nBcc"), "{text}");
            let json = message.json(kind);
            assert!(!json.contains(['\n', '\u{202e}']), "{json}");
            let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
            assert_eq!(read["group"]["value"], build, "programs get the whole name");
            let chat = read["text"].as_str().expect("a text");
            assert!(!chat.contains("<!") && !chat.contains("](") && !chat.contains("//evil"), "{chat}");
        }
    }
}
