//! A PostgreSQL database for one test, in the throw-away cluster that `tests/run` starts.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A database of its own; it is dropped with this value.
pub struct Database {
    admin: String,
    name: String,
}

impl Database {
    /// Makes one.
    ///
    /// # Panics
    /// When no cluster is named. The test is not skipped: it would prove nothing.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let admin = std::env::var("WEAVEWATCH_TEST_POSTGRES").expect(
            "WEAVEWATCH_TEST_POSTGRES names no PostgreSQL, such as postgres://app@127.0.0.1:5432/test: \
             start the tests with tests/run, which brings one",
        );
        let name = format!("it_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        psql(&admin, &format!("create database {name}"));
        Self { admin, name }
    }

    /// Its URL.
    ///
    /// # Panics
    /// When the cluster's URL names no database.
    pub fn url(&self) -> String {
        let (server, _) = self.admin.rsplit_once('/').expect("the URL ends with a database");
        format!("{server}/{}", self.name)
    }
}

impl Default for Database {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        psql(&self.admin, &format!("drop database {} with (force)", self.name));
    }
}

fn psql(url: &str, statement: &str) {
    let output = Command::new("psql").args(["--no-psqlrc", "--quiet", "--command", statement, url]).output();
    let output = output.expect("psql comes with PostgreSQL");
    assert!(output.status.success(), "{statement}: {}", String::from_utf8_lossy(&output.stderr));
}
