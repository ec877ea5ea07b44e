//! The file of rules as it is typed: names and types only. What it means, and whether it can be, is for `rules`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

/// The file. Every part remembers its place, so that a mistake can be shown there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Where people reach the server: in front of every link.
    pub public_url: Spanned<String>,
    /// The mail server; needed when a rule tells an address.
    pub mail: Option<Spanned<Mail>>,
    /// Places for JSON, by name.
    #[serde(default)]
    pub webhooks: BTreeMap<String, Spanned<Webhook>>,
    /// What is watched.
    #[serde(default)]
    pub rules: Vec<Spanned<RuleTable>>,
}

/// A mail server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// `Weavewatch <weavewatch@example.com>`.
    pub from: Spanned<String>,
    /// Its name, which is on its certificate too.
    pub host: Spanned<String>,
    /// That of the kind of encryption when nothing is said.
    pub port: Option<u16>,
    /// How the conversation is kept secret.
    #[serde(default)]
    pub tls: Tls,
    /// Who signs in there.
    pub user: Option<String>,
    /// The variable with the password.
    pub password_env: Option<String>,
    /// Or the file with it.
    pub password_file: Option<PathBuf>,
}

/// How a conversation with a mail server is kept secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tls {
    /// It begins in plain and must change over (port 587).
    #[default]
    Starttls,
    /// From the first byte (port 465).
    Implicit,
    /// Not at all (port 25): to this machine, or without a password.
    None,
}

/// A place for JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// Its address.
    pub url: Option<Spanned<String>>,
    /// The variable with it: many addresses are secrets.
    pub url_env: Option<String>,
    /// Or the file with it.
    pub url_file: Option<PathBuf>,
    /// The header that brings the secret; `authorization` when nothing is said.
    pub header: Option<Spanned<String>>,
    /// The variable with the header's value, as it is sent.
    pub secret_env: Option<String>,
    /// Or the file with it.
    pub secret_file: Option<PathBuf>,
}

/// What is watched, and who is told.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleTable {
    /// What people call it; its state is kept under this name.
    pub name: Spanned<String>,
    /// What is counted: a word of `measure`.
    pub count: Spanned<String>,
    /// The limit, a share between 0 and 1.
    pub above: Spanned<f64>,
    /// What has to be above it.
    #[serde(default)]
    pub compare: Compare,
    /// One by one for each value of this dimension.
    pub by: Option<Spanned<String>>,
    /// Only the newest build that has logs enough.
    #[serde(default)]
    pub newest_build: bool,
    /// Only these logs: filters of the API.
    #[serde(default)]
    pub filters: BTreeMap<String, Spanned<toml::Value>>,
    /// Logs that started on the last so many days.
    pub days: Option<Spanned<u32>>,
    /// Fewer logs than this tell nothing.
    pub least_logs: Option<Spanned<u32>>,
    /// Nor fewer machines with what is counted.
    pub least_machines: Option<Spanned<u32>>,
    /// Between two alarms about the same.
    pub cool_down_hours: Option<Spanned<u32>>,
    /// Names of webhooks, and addresses of e-mail.
    pub to: Spanned<Vec<Spanned<String>>>,
}

/// What has to be above the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compare {
    /// The lower end of the 95 % interval: few logs prove less than many.
    #[default]
    Interval,
    /// The share itself.
    Share,
}
