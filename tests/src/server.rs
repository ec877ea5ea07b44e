//! A real server on a free port, over a database that outlives it.

use std::ffi::OsString;

use crate::fleet::DEMO;
use crate::http::Http;
use crate::postgres;
use crate::program::{Finished, Running, command, run};

/// Where a server keeps its rows.
pub enum Database {
    /// In a SQLite file of its own.
    Sqlite(tempfile::TempDir),
    /// In a PostgreSQL database of its own.
    Postgres(postgres::Database),
}

impl Database {
    /// A SQLite file in a folder of its own; both go with this value.
    ///
    /// # Panics
    /// When there is no temporary folder.
    pub fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A new PostgreSQL database; it goes with this value.
    ///
    /// # Panics
    /// When there is no PostgreSQL to connect to.
    pub fn postgres() -> Self {
        Self::Postgres(postgres::Database::new())
    }

    /// A new token for `scope`, made the way its owner does.
    ///
    /// # Panics
    /// When the program refuses.
    pub fn token(&self, scope: &str) -> String {
        let finished = self.command(&["token", "create", "--scope", scope]);
        finished.with_code(0).stdout.lines().next().expect("the token is printed").trim().to_owned()
    }

    /// Runs a command of `weavewatch-server` on it.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn command(&self, arguments: &[&str]) -> Finished {
        let arguments = arguments.iter().map(OsString::from).chain(self.arguments());
        run("weavewatch-server", arguments)
    }

    /// Size of the file; none for PostgreSQL.
    ///
    /// # Panics
    /// When nothing was stored yet.
    pub fn file_bytes(&self) -> Option<u64> {
        let Self::Sqlite(folder) = self else { return None };
        Some(std::fs::metadata(folder.path().join("server.sqlite")).expect("a server made it").len())
    }

    fn arguments(&self) -> [OsString; 2] {
        match self {
            Self::Sqlite(folder) => ["--data".into(), folder.path().join("server.sqlite").into()],
            Self::Postgres(database) => ["--database-url".into(), database.url().into()],
        }
    }
}

/// A running `weavewatch-server serve` or `demo`.
pub struct Server {
    // Killed first, then its folder goes.
    program: Running,
    _folder: Option<tempfile::TempDir>,
    /// Such as `http://127.0.0.1:40123`, without a slash at the end.
    pub url: String,
}

impl Server {
    /// Starts `serve` on a free port and waits until it is ready.
    ///
    /// # Panics
    /// When it does not start.
    #[track_caller]
    pub fn start(database: &Database) -> Self {
        let mut program = Self::begin(database, 0);
        let url = program.line_after("listening on ");
        // It says so when its database is up to date.
        let ready = Http::new(&url, None).get("/readyz");
        assert_eq!(ready.status, 200, "{}", ready.body);
        Self { program, _folder: None, url }
    }

    /// Starts `serve` on `port` and does not wait for it.
    ///
    /// # Panics
    /// When there is no such program.
    pub fn begin(database: &Database, port: u16) -> Running {
        let mut command = command("weavewatch-server");
        command.args(["serve", "--listen", &format!("127.0.0.1:{port}")]).args(database.arguments());
        Running::start(command)
    }

    /// Starts `demo` with the fleet [`DEMO`], whose days are those that `weavewatch simulate` makes, and waits until all of it is
    /// there. It looks for a free port from `first_port` upwards.
    ///
    /// # Panics
    /// When it does not start.
    #[track_caller]
    pub fn demo(first_port: u16) -> Self {
        let mut command = command("weavewatch-server");
        // It removes its own folder when it is asked to stop, but a test kills it.
        let folder = tempfile::tempdir().expect("a temporary folder");
        let numbers = [("--machines", DEMO.machines), ("--days", DEMO.days.into()), ("--seed", DEMO.seed)];
        command.args(["demo", "--listen", &format!("127.0.0.1:{first_port}"), "--until", "2026-11-30"]);
        command.args(numbers.iter().flat_map(|(name, number)| [(*name).to_owned(), number.to_string()]));
        command.env("TMPDIR", folder.path());
        let mut program = Running::start(command);
        let said = program.line_after("Weavewatch demo: ");
        program.line_after(&format!("all {} machines are here", DEMO.machines));
        Self { program, _folder: Some(folder), url: said.trim_end_matches('/').to_owned() }
    }

    /// The port it listens on.
    ///
    /// # Panics
    /// When its URL has none.
    pub fn port(&self) -> u16 {
        let (_, port) = self.url.rsplit_once(':').expect("a URL with a port");
        port.parse().expect("a URL with a port")
    }

    /// Talks to it with this token.
    pub fn http(&self, token: &str) -> Http {
        Http::new(&self.url, Some(token))
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(self) -> Finished {
        self.program.kill()
    }
}

/// A port that was free a moment ago.
///
/// # Panics
/// When there is none.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}
