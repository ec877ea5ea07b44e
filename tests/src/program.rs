//! Starts the programs that cargo built beside the test, and never leaves one behind.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer than any program here takes to say its first word, also on a busy machine. Only a hang reaches it.
const PATIENCE: Duration = Duration::from_mins(2);

/// How a program ended and what it said.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// All of it.
    pub stdout: String,
    /// All of it.
    pub stderr: String,
}

impl Finished {
    /// Checks the exit code.
    ///
    /// # Panics
    /// With everything the program said, when it is not.
    #[track_caller]
    pub fn with_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// A command for one of our programs, `weavewatch` or `weavewatch-server`, with nothing of ours in its environment.
///
/// # Panics
/// When the program was not built. It is not skipped: a test that starts nothing proves nothing.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(path(program));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WEAVEWATCH_")) {
        command.env_remove(name);
    }
    command.env("NO_COLOR", "1").env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

/// Runs a program to its end.
///
/// # Panics
/// When it cannot be started.
pub fn run<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>) -> Finished {
    let mut command = command(program);
    command.args(arguments);
    finish(command)
}

/// The same for a command that has its arguments already.
///
/// # Panics
/// When it cannot be started.
pub fn finish(mut command: Command) -> Finished {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.output().expect("the program was built a moment ago");
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("our programs print UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("our programs print UTF-8"),
    }
}

/// A program that runs beside the test. It is killed when this value goes.
pub struct Running {
    child: Child,
    stdout: Receiver<String>,
    readers: Vec<JoinHandle<String>>,
}

impl Running {
    /// Starts it and listens to both of its outputs.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let (sender, stdout) = channel();
        let pipe = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let lines = std::thread::spawn(move || {
            let mut all = String::new();
            for line in pipe.lines().map_while(Result::ok) {
                all.push_str(&line);
                all.push('\n');
                // Nobody may be waiting for a line any more; it is kept all the same.
                let _ = sender.send(line);
            }
            all
        });
        let mut pipe = child.stderr.take().expect("stderr is piped");
        let rest = std::thread::spawn(move || {
            let mut all = Vec::new();
            // A killed program's pipe just ends.
            let _ = pipe.read_to_end(&mut all);
            String::from_utf8_lossy(&all).into_owned()
        });
        Self { child, stdout, readers: vec![lines, rest] }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What follows `prefix` on the first line of stdout that starts with it.
    ///
    /// # Panics
    /// When the program ends, or stays silent for two minutes, without such a line.
    #[track_caller]
    pub fn line_after(&mut self, prefix: &str) -> String {
        loop {
            match self.stdout.recv_timeout(PATIENCE) {
                Ok(line) => {
                    if let Some(rest) = line.strip_prefix(prefix) {
                        return rest.to_owned();
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("the program never said `{prefix}…`"),
                Err(RecvTimeoutError::Disconnected) => {
                    let finished = self.end();
                    panic!("the program ended without `{prefix}…`: {finished:?}")
                }
            }
        }
    }

    /// True while it runs.
    ///
    /// # Panics
    /// When the system does not tell.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("the child is ours").is_none()
    }

    /// Ends it at once (SIGKILL), as a power cut would, and waits until it is gone.
    pub fn kill(mut self) -> Finished {
        self.kill_now()
    }

    /// The same for one that will be replaced.
    pub fn kill_now(&mut self) -> Finished {
        // It may have ended by itself a moment ago.
        let _ = self.child.kill();
        self.end()
    }

    /// Waits for its own end.
    pub fn wait(mut self) -> Finished {
        self.end()
    }

    fn end(&mut self) -> Finished {
        let status: ExitStatus = self.child.wait().expect("the child is ours");
        let mut said = self.readers.drain(..).map(|reader| reader.join().expect("a reader does not panic"));
        let (stdout, stderr) = (said.next().unwrap_or_default(), said.next().unwrap_or_default());
        Finished { code: status.code(), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only when the process is gone already, which is what they are for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where cargo put a program: the test lies in `deps/` below it.
fn path(program: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test is a program");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("cargo puts tests into target/…/deps");
    let mut name = OsString::from(program);
    name.push(std::env::consts::EXE_SUFFIX);
    let path = folder.join(name);
    assert!(
        path.is_file(),
        "{} is missing: build the programs first with `cargo build --workspace --all-targets`, as tests/run does",
        path.display()
    );
    path
}
