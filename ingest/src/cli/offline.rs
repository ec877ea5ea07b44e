//! What can be typed after `replay`, `explain` and `diff`: the commands that ask no server and keep nothing.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use wire::{Path, Policy};

/// `weavewatch replay`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:
  weavewatch replay --machine laptop.json --path d3d11
      what a D3D11 app should do on the machine that the file describes
  displayxr-cli info > info.txt; weavewatch replay --machine info.txt --path d3d12
      the same for this PC, so far as the tool tells it
  weavewatch replay --machine MyViewer.log --path vulkan --policy adr039
      what Vulkan would do on the machine that a log shows
  weavewatch replay --machine laptop.json --path service --set DXR_D3D_FORCE_GPU=scanout
      and with a setting changed

A machine file starts with {\"schema\":\"weavewatch.machine/1\",…}. What a file does not tell
is null; a rule that needs it answers `unknown`, and the answer names the missing fact.")]
pub struct ReplayArgs {
    /// A machine file, a log, or saved output of `displayxr-cli info` (text or JSON).
    #[arg(long, value_name = "FILE")]
    pub machine: PathBuf,
    /// Which compositor: d3d11, d3d12, vulkan, opengl, service, ipc_client or unknown.
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub path: Path,
    /// The rules: `document` is the adapter-selection document, `adr039` the newest code.
    #[arg(long, value_name = "POLICY", value_parser = policy, default_value = "document")]
    pub policy: Policy,
    /// Adds an environment setting; may repeat. An empty value hides the stores and counts as unset.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// How to print.
    #[arg(long, value_enum, default_value = "text")]
    pub format: AnswerFormat,
}

/// `weavewatch explain`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:
  weavewatch explain MyViewer.log                      what happened, why, and what to ask next
  weavewatch explain MyViewer.log --format markdown    the same, to paste into an issue
  weavewatch explain field-report.zip                  the last log of a bundle
  weavewatch explain 'field-report.zip!/logs/a.log'    one member, named as `scan` names it
  weavewatch explain MyViewer.log --machine info.txt   with saved `displayxr-cli info` beside it
  weavewatch explain - < MyViewer.log                  from standard input
  weavewatch explain <(zcat MyViewer.log.gz)           from a pipe that the shell makes

Expected stands beside observed: the log's own topology is replayed by the documented
rules, and the first rule that differs is named, or the fact that is missing to tell.")]
pub struct ExplainArgs {
    /// A log, a .zip bundle (its last log is taken) or one member of it, or `-` for standard input. Of members with one
    /// name the one that started last is taken.
    pub log: PathBuf,
    /// What tells more of the PC: saved output of `displayxr-cli info` or `perf list` (text or JSON), a machine file, or
    /// another log; may repeat. It fills what the log leaves open; where it says something else, the log wins.
    #[arg(long = "machine", visible_alias = "info", value_name = "FILE")]
    pub machines: Vec<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value = "text")]
    pub format: PageFormat,
}

/// `weavewatch diff`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:
  weavewatch diff yesterday.log today.log              what changed between two runs
  weavewatch diff good-machine.zip bad-machine.zip     the last log of each bundle
  weavewatch diff a.log b.log --format markdown        to paste into an issue

Adapters are aligned by their role and name. Their LUIDs are valid within one boot of one
machine, so they are never compared.")]
pub struct DiffArgs {
    /// A log, a .zip bundle (its last log is taken) or one member of it, or `-` for standard input.
    pub a: PathBuf,
    /// Another one.
    pub b: PathBuf,
    /// How to print.
    #[arg(long, value_enum, default_value = "text")]
    pub format: PageFormat,
}

/// How to print an answer.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerFormat {
    /// For people.
    Text,
    /// The answer object.
    Json,
}

/// How to print a page.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageFormat {
    /// For a terminal.
    Text,
    /// To paste into an issue.
    Markdown,
    /// For programs.
    Json,
}

pub(super) fn path(word: &str) -> Result<Path, String> {
    Path::ALL.into_iter().find(|path| path.as_str() == word).ok_or_else(|| {
        let known: Vec<_> = Path::ALL.iter().map(|path| path.as_str()).collect();
        format!("no compositor has this name; they are {}", known.join(", "))
    })
}

pub(super) fn policy(word: &str) -> Result<Policy, String> {
    Policy::ALL
        .into_iter()
        .find(|policy| policy.as_str() == word)
        .ok_or_else(|| "the policies are document and adr039".to_owned())
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, such as DXR_WEAVE_ON_SCANOUT=0".to_owned()),
    }
}
