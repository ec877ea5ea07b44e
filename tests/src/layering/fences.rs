//! Which crate may know what: the table behind the layering test, as the architecture document draws it.

/// What one crate may know.
#[derive(Clone, Copy, Debug)]
pub struct Fence {
    /// Package name.
    pub member: &'static str,
    /// Crates of the workspace that may be linked into it.
    pub may_use: &'static [&'static str],
    /// Packages that must be nowhere in its dependency tree.
    pub must_not_reach: &'static [&'static [&'static str]],
    /// Paths or names that its sources must not contain outside tests.
    pub must_not_say: &'static [&'static str],
    /// The reason, for whoever runs into the fence.
    pub because: &'static str,
}

impl Fence {
    /// Every package that it must not reach.
    pub fn forbidden(&self) -> impl Iterator<Item = &'static str> {
        self.must_not_reach.iter().flat_map(|group| group.iter().copied())
    }
}

/// A dependency that belongs to some crates only, however deep others may hold it.
#[derive(Clone, Copy, Debug)]
pub struct Owned {
    /// Package name.
    pub dependency: &'static str,
    /// Crates whose manifests may name it.
    pub owners: &'static [&'static str],
    /// The reason.
    pub because: &'static str,
}

/// Storage, transport and table engines: none of them below the programs.
const HEAVY: &[&str] = &["sqlx", "sqlx-core", "polars", "polars-core", "axum", "hyper", "reqwest", "tokio", "rustls"];

/// Nor a terminal, where both programs use a crate.
const TERMINAL: &[&str] = &["clap", "indicatif", "anstream", "comfy-table"];

/// The database and the routes, which are the server's.
const SERVING: &[&str] = &["sqlx", "sqlx-core", "axum"];

/// The machine that a pure crate must not look at. Time comes in as an argument.
const OUTSIDE: &[&str] =
    &["std::fs", "std::env", "std::net", "std::process", "std::thread", "SystemTime", "Instant", "tokio"];

/// One row for every member of the workspace.
pub const FENCES: &[Fence] = &[
    Fence {
        member: "wire",
        may_use: &[],
        must_not_reach: &[HEAVY, &["nom", "regex", "memchr"]],
        must_not_say: OUTSIDE,
        because: "the nouns know nothing of parsing, storage or HTTP",
    },
    Fence {
        member: "parser",
        may_use: &["wire"],
        must_not_reach: &[HEAVY],
        must_not_say: OUTSIDE,
        because: "the parser is bytes in, events out",
    },
    Fence {
        member: "resolver",
        may_use: &["wire"],
        must_not_reach: &[HEAVY, &["nom"]],
        must_not_say: OUTSIDE,
        because: "the resolver is events in, verdicts out, and never sees a line",
    },
    Fence {
        member: "dashboards",
        may_use: &["wire"],
        must_not_reach: &[HEAVY],
        must_not_say: OUTSIDE,
        because: "a page is values in, HTML out",
    },
    Fence {
        member: "spool",
        may_use: &[],
        must_not_reach: &[HEAVY],
        must_not_say: &[],
        because: "the queue keeps bytes and knows neither logs nor servers",
    },
    Fence {
        member: "redact",
        may_use: &["wire"],
        must_not_reach: &[HEAVY],
        must_not_say: OUTSIDE,
        because: "redaction is text and policy in, text out",
    },
    Fence {
        member: "follow",
        may_use: &["wire", "parser"],
        must_not_reach: &[HEAVY],
        must_not_say: &[],
        because: "following says what is new in the logs, and sends and keeps nothing",
    },
    Fence {
        member: "triage",
        may_use: &["wire", "parser", "resolver"],
        must_not_reach: &[HEAVY, TERMINAL],
        must_not_say: OUTSIDE,
        because: "reading for people is readers in, words out, the same for the command line and the server",
    },
    Fence {
        member: "simulate",
        may_use: &["wire", "parser"],
        must_not_reach: &[HEAVY, TERMINAL],
        must_not_say: OUTSIDE,
        because: "the truth of a simulated log comes from its description, never from the resolver that it judges",
    },
    Fence {
        member: "ingest",
        may_use: &["wire", "parser", "resolver", "spool", "redact", "follow", "triage", "simulate"],
        must_not_reach: &[SERVING, &["polars", "polars-core"]],
        must_not_say: &[],
        because: "the agent runs on every PC and stores nothing but its queue",
    },
    Fence {
        member: "analytics",
        may_use: &["wire"],
        must_not_reach: &[SERVING],
        must_not_say: &[],
        because: "analytics is rows in, columns out; the server owns the database and the routes",
    },
    Fence {
        member: "server",
        // What the demo shows comes from the simulator.
        may_use: &["wire", "parser", "resolver", "triage", "simulate", "dashboards", "analytics"],
        must_not_reach: &[],
        must_not_say: &[],
        because: "the server and the agent meet on the wire only, and share what reads a log for people",
    },
    Fence {
        member: "tests",
        // The parser for its table of shapes, which one test walks.
        may_use: &["wire", "parser"],
        must_not_reach: &[SERVING, &["polars", "polars-core"]],
        must_not_say: &[],
        because: "end-to-end tests see the programs from outside",
    },
];

/// Who may name what.
pub const OWNED: &[Owned] = &[
    Owned { dependency: "nom", owners: &["parser"], because: "lines are read in one place" },
    Owned { dependency: "polars", owners: &["analytics"], because: "it multiplies the cost of every build it is in" },
    Owned { dependency: "axum", owners: &["server"], because: "there is one HTTP surface" },
    Owned { dependency: "tower-http", owners: &["server"], because: "there is one HTTP surface" },
    Owned { dependency: "sqlx", owners: &["server"], because: "there is one store" },
    Owned { dependency: "askama", owners: &["dashboards"], because: "there is one place for HTML" },
];
