//! What can be typed after `enroll`, `watch`, `status`, `flush`, `preview` and `purge`: the commands of the agent.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use reqwest::Url;

/// Where the agent keeps its memory; shared by all of its commands.
#[derive(Args, Clone, Debug, Default)]
pub struct StateArgs {
    /// The agent's own folder: its queue, its positions, this machine's id. Default: $STATE_DIRECTORY, else `weavewatch` in
    /// $XDG_STATE_HOME or ~/.local/state; on Windows `Weavewatch` in %LOCALAPPDATA%.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// A TOML file with the same names as the options (`cpu_percent = 3`), and more; the README lists them. What is typed
    /// wins.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// How to reach a server.
#[derive(Args, Clone, Debug, Default)]
pub struct ServerArgs {
    /// Where weavewatch-server listens, such as `https://weave.example.org`.
    #[arg(long, value_name = "URL", value_parser = server_url)]
    pub server: Option<Url>,
    /// A PEM file with further root certificates, for a server with a certificate of your own.
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// A proxy, such as `http://proxy:3128`. Default: what HTTPS_PROXY and NO_PROXY say.
    #[arg(long, value_name = "URL")]
    pub proxy: Option<String>,
    /// Allow plain http:// to another machine, where everybody on the way can read and change what is sent.
    #[arg(long)]
    pub allow_http: bool,
}

/// `weavewatch watch`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_long_help = "Examples:
  weavewatch watch                           follow what `weavewatch enroll` agreed to
  weavewatch watch --once --dir logs --server http://127.0.0.1:8787 --token TOKEN
                                             send what is there, wait for the answer and end
  weavewatch watch --config weavewatch.toml  with a file such as
                                               dirs = ['D:\\logs']
                                               cpu_percent = 3

Only typed events leave this machine, with user names, host names, addresses and secrets
taken out; `weavewatch preview` prints the very bytes. --server together with --token counts
as consent to that; otherwise `weavewatch enroll` comes first. It ends at Ctrl+C; to let the
system start it, see `weavewatch service --help`.")]
pub struct WatchArgs {
    /// A folder with logs, with everything below; may repeat. Default: those that were agreed to with `enroll`, else the
    /// runtime's log folders of this machine.
    #[arg(long = "dir", value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// A token of scope `agent`; better given in the environment, where other users do not see it.
    #[arg(long, env = "WEAVEWATCH_TOKEN", hide_env_values = true, value_parser = token)]
    pub token: Option<Token>,
    /// The agent's folder.
    #[command(flatten)]
    pub state: StateArgs,
    /// Send everything that is there, wait for the acknowledgement and end.
    #[arg(long)]
    pub once: bool,
    /// Most of one processor that the agent takes, in percent; 0 is no limit. Default: 5, and no limit with --once.
    #[arg(long, value_name = "PERCENT")]
    pub cpu_percent: Option<u32>,
}

/// `weavewatch enroll`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_long_help = "The owner of the server makes the enrolment secret with
  weavewatch-server token create --scope enrolment
This command shows what will be sent, asks, and trades the secret for a credential that is
valid for this machine only and can be revoked on the server. It sends nothing else; the other
commands then know the server, the folders, and how to get there. Run it again to change that.

Example:
  weavewatch enroll --server https://weave.example.org --secret SECRET
  weavewatch preview
  weavewatch watch")]
pub struct EnrollArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// The enrolment secret; better given in the environment, where other users do not see it.
    #[arg(long, env = "WEAVEWATCH_ENROLMENT", hide_env_values = true, value_parser = token)]
    pub secret: Token,
    /// The agent's folder.
    #[command(flatten)]
    pub state: StateArgs,
    /// A folder with logs that will be followed; may repeat. Default: the runtime's log folders of this machine.
    #[arg(long = "dir", value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// Agree without being asked.
    #[arg(long)]
    pub yes: bool,
}

/// `weavewatch status`.
#[derive(Args, Clone, Debug, Default)]
pub struct StatusArgs {
    /// The agent's folder.
    #[command(flatten)]
    pub state: StateArgs,
    /// How to print.
    #[arg(long, value_enum, default_value = "text")]
    pub format: StatusFormat,
}

/// `weavewatch flush`.
#[derive(Args, Clone, Debug, Default)]
#[command(
    after_long_help = "A running agent is asked to do it at once; without one the command does it, as `watch --once` would."
)]
pub struct FlushArgs {
    /// The agent's folder.
    #[command(flatten)]
    pub state: StateArgs,
    /// Seconds to wait for the acknowledgement of a running agent.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
}

/// `weavewatch preview`.
#[derive(Args, Clone, Debug, Default)]
#[command(
    after_long_help = "It prints the JSON that `weavewatch watch` packs and posts: first what waits in the queue, else what
reading would find now, a last line that is still being written included. Nothing is sent, and
nothing is remembered; no server is needed. Beside it the agent only reports on itself, as
`weavewatch status` does: version, queue, configuration, and by log what was lost and why."
)]
pub struct PreviewArgs {
    /// A folder with logs; may repeat. Default: as with `watch`.
    #[arg(long = "dir", value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// The agent's folder.
    #[command(flatten)]
    pub state: StateArgs,
}

/// `weavewatch purge`.
#[derive(Args, Clone, Debug, Default)]
#[command(
    after_long_help = "Stop the agent first. The logs themselves stay, and what was deleted is not read again. The
machine stays enrolled: what its logs gain later is sent by the next `watch`. To end that, delete
credential.json in the agent's folder, or revoke the token on the server."
)]
pub struct PurgeArgs {
    /// The server, where it is not the one that this machine enrolled with.
    #[command(flatten)]
    pub server: ServerArgs,
    /// A token of scope `admin`, where this machine did not enrol: a shared one must not delete.
    #[arg(long, env = "WEAVEWATCH_TOKEN", hide_env_values = true, value_parser = token)]
    pub token: Option<Token>,
    /// The agent's folder.
    #[command(flatten)]
    pub state: StateArgs,
    /// Delete what waits on this machine only, and ask no server.
    #[arg(long)]
    pub local_only: bool,
}

/// How to print the state of the agent.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StatusFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one object, `weavewatch.status/1`.
    Json,
}

/// A secret that does not print itself.
#[derive(Clone, Default)]
pub struct Token(pub String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Reads the address of a server.
pub(crate) fn server_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{error}; give it as https://HOST"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        _ => Err("expected http:// or https://".to_owned()),
    }
}

/// Reads a token.
pub(crate) fn token(text: &str) -> Result<Token, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("expected the token as `weavewatch-server token create` printed it".to_owned());
    }
    Ok(Token(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_does_not_print_itself() {
        let token = token("secret").expect("it is printable");
        assert!(!format!("{token:?}").contains("secret"));
    }
}
