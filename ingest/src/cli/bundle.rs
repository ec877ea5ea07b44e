//! What can be typed after `bundle`.

use std::path::PathBuf;

use clap::Args;

use super::StateArgs;
use crate::bundle::Since;

/// `weavewatch bundle`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_long_help = "Examples:
  weavewatch bundle                                    this machine's logs, in a .zip in the current folder
  weavewatch bundle --since 2d --out report.zip        what ran in the last two days
  weavewatch bundle --since 2026-09-14 --dir D:\\logs   since that day, from a folder of your own

User names, host names, e-mail addresses and secrets are taken out of every line; manifest.json
in the bundle says how many of each. A rule cannot know every name, so look through the bundle
before you send it: `weavewatch scan report.zip` and `weavewatch explain report.zip` read it.")]
pub struct BundleArgs {
    /// A folder with logs, with everything below; may repeat. Default: the runtime's log folders of this machine.
    #[arg(long = "dir", value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// The bundle. Default: `weavewatch-bundle-DATE_TIME.zip` in the current folder.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file when it is there already.
    #[arg(long)]
    pub force: bool,
    /// Only logs that started or were written since then: a time ago such as `12h`, `2d`, `3w`, or a local date or time such
    /// as `2026-09-14` or `2026-09-14T08:00`.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Seconds that displayxr-cli may take for each question before it is stopped.
    #[arg(long, value_name = "SECONDS", env = "WEAVEWATCH_TOOL_TIMEOUT", default_value_t = 10)]
    pub tool_timeout: u64,
    /// The agent's folder and configuration: its folders and what it takes out hold here as well.
    #[command(flatten)]
    pub state: StateArgs,
}
