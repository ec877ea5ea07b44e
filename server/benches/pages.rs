//! What every page costs with a million logs, as a ratio to `/healthz` of the same server, asked by turns; and how much the
//! front page loads (issue 6, acceptance 3).
//!
//! `cargo bench -p server --bench pages -- [LOGS] [sqlite|postgres] [keep] [/PAGE…]`, on SQLite, and on PostgreSQL when
//! `WEAVEWATCH_TEST_POSTGRES` holds the URL of a superuser. `keep` leaves the databases for the next run; with `/PAGE` only
//! addresses that begin so are asked. The server is the program itself in a process of its own, asked over one connection with
//! a token. Each page is asked first after a commit, when it has to be drawn, then again; the goal is for the page asked again,
//! and both are printed. Ends with an error when a goal is missed.

mod client;
mod fleet;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use client::{Client, started};
use fleet::{LOGS, MACHINES, Records, connect, execute, filled};
use server::Store;
use server::auth::Scope;
use server::store::Place;
use sqlx::{AnyConnection, Connection};

/// Times of `/healthz` that the HTML of a page may take.
const MOST_TIMES: f64 = 40.0;
/// What the front page and all that it loads may weigh as transferred, for a browser that has nothing, and for one that has
/// been here.
const MOST_COLD_BYTES: usize = 700_000;
const MOST_WARM_BYTES: usize = 60_000;
/// How often a page is asked again.
const TURNS: usize = 30;
/// How often it is asked first, and only once where that takes longer than this.
const FIRSTS: usize = 5;
const LONG: Duration = Duration::from_secs(1);

/// Addresses of each page, the plain one and those that ask for more. `{log}`, `{machine}`, `{report}` and `{cursor}` are
/// filled in.
const PAGES: &[(&str, &[&str])] = &[
    ("/", &["/", "/?from=2026-03-12&to=2026-04-10", "/?path=d3d11", "/?path=d3d11&exe=App1.exe", "/?killed=true"]),
    ("/embed/{chart}", &["/embed/days", "/embed/pairs", "/embed/reasons?path=d3d11"]),
    (
        "/explore",
        &[
            "/explore",
            "/explore?group_by=path&group_by=day",
            "/explore?group_by=gpu_pair&group_by=outcome",
            "/explore?group_by=machine",
            "/explore?group_by=cohort&path=vulkan",
        ],
    ),
    (
        "/compare",
        &[
            "/compare",
            "/compare?by=cohort&a=0000000000000001&b=0000000000000002",
            "/compare?by=period&a=2026-02-01..2026-02-28&b=2026-03-01..2026-03-31",
        ],
    ),
    (
        "/logs",
        &[
            "/logs",
            "/logs?cursor={cursor}",
            "/logs?path=d3d11&killed=true",
            "/logs?reason=killed_by_env",
            "/logs?unknown=any",
            "/logs?machine={machine}",
        ],
    ),
    ("/logs/{id}", &["/logs/{log}"]),
    ("/machines", &["/machines", "/machines?q=00", "/machines?path=d3d11", "/machines?state=flagged"]),
    ("/machines/{id}", &["/machines/{machine}"]),
    ("/what-if", &["/what-if", "/what-if?policy=adr039", "/what-if?set=DXR_WEAVE_ON_SCANOUT%3D0&path=d3d11"]),
    ("/drift", &["/drift", "/drift?path=d3d11"]),
    ("/costs", &["/costs"]),
    ("/names", &["/names"]),
    ("/triage", &["/triage"]),
    ("/reports/{id}", &["/reports/{report}"]),
    ("/reports/compare", &["/reports/compare?a={report}&b={log}"]),
    ("/health", &["/health"]),
    ("/live", &["/live"]),
    ("/tokens", &["/tokens"]),
    ("/audit", &["/audit"]),
    ("/sign-in", &["/sign-in"]),
];
/// Named among the pages and asked for with them.
const NO_PAGE: [&str; 1] = ["/static/{name}"];

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let logs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(LOGS);
    let has = |name: &str| words.iter().any(|word| word == name);
    sqlx::any::install_default_drivers();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    let mut missed = 0;
    if !has("postgres") {
        missed += runtime.block_on(sqlite(logs, has("keep")));
    }
    if !has("sqlite") {
        missed += runtime.block_on(postgres(logs, has("keep")));
    }
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn sqlite(logs: u64, keep: bool) -> usize {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pages-{logs}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("fleet.sqlite");
    let place = Place::File(file.clone());
    if !file.exists() {
        filled("SQLite", &place, logs, &Records::of_the_report()).await;
    }
    let missed = measured(&place, &["--data", &file.to_string_lossy()]).await;
    if !keep {
        std::fs::remove_dir_all(folder).expect("it is ours");
    }
    missed
}

async fn postgres(logs: u64, keep: bool) -> usize {
    let Ok(superuser) = std::env::var("WEAVEWATCH_TEST_POSTGRES") else {
        println!("no PostgreSQL: WEAVEWATCH_TEST_POSTGRES names none");
        return 0;
    };
    let (server, _) = superuser.rsplit_once('/').expect("the URL names a database");
    let name = format!("weavewatch_bench_pages_{logs}");
    let url = format!("{server}/{name}");
    let place = Place::Postgres(url.clone());
    let mut admin = AnyConnection::connect(&superuser).await.expect("PostgreSQL answers");
    if AnyConnection::connect(&url).await.is_err() {
        execute(&mut admin, &format!("create database {name}")).await;
        filled("PostgreSQL", &place, logs, &Records::of_the_report()).await;
    }
    let missed = measured(&place, &["--database-url", &url]).await;
    if !keep {
        execute(&mut admin, &format!("drop database {name}")).await;
    }
    missed
}

/// Starts the server, asks for everything, and answers how many goals are missed.
async fn measured(place: &Place, database: &[&str]) -> usize {
    let store = Store::open(place).await.expect("it opens");
    store.migrate().await.expect("the schema fits");
    let token = store.create_token(Scope::Admin, "bench").await.expect("a token").secret;
    store.close().await;
    let mut connection = connect(place).await;
    let (mut server, address) = started(database);
    let mut client = Client::new(&address, &token);
    println!("{}: median of {TURNS} turns with /healthz; first: after a commit, of {FIRSTS} or 1", place.kind());
    let mut missed = 0;
    let only: Vec<_> = std::env::args().skip(1).filter(|word| word.starts_with('/')).collect();
    let is_wanted = |address: &String| only.is_empty() || only.iter().any(|own| address.starts_with(own));
    for address in addresses(&mut client).into_iter().filter(is_wanted) {
        missed += usize::from(!page(&mut client, &mut connection, &address).await);
    }
    missed += weight(&mut client);
    println!("{}: {missed} goals missed", place.kind());
    server.kill().expect("it is ours");
    server.wait().expect("it ends");
    connection.close().await.expect("it closes");
    missed
}

/// What is asked for: every page that the description of the API names.
fn addresses(client: &mut Client) -> Vec<String> {
    let text = include_str!("../../docs/openapi.json");
    let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
    for (path, item) in document["paths"].as_object().expect("paths") {
        let get = &item["get"];
        let is_page = get["tags"][0] == "pages" && get["responses"]["200"]["content"]["text/html"].is_object();
        let known = PAGES.iter().any(|(known, _)| known == path) || NO_PAGE.contains(&path.as_str());
        assert!(known || !is_page, "{path} has no line in PAGES");
    }
    let log = fleet::id(MACHINES / 2);
    let list = client.json("/api/v1/logs?limit=500");
    let cursor = list["next_cursor"].as_str().expect("there are more").to_owned();
    let brought = client.bring(include_bytes!("../../fixtures/logs/ok/d3d11_adr039_corrected.log"));
    let report = brought["id"].as_str().expect("an id").to_owned();
    let filled = |address: &&str| {
        let address = address.replace("{log}", &log).replace("{machine}", &format!("{:032x}", MACHINES / 2));
        address.replace("{report}", &report).replace("{cursor}", &cursor)
    };
    PAGES.iter().flat_map(|(_, addresses)| addresses.iter()).map(filled).collect()
}

/// Asks for one page; false when the goal is missed.
async fn page(client: &mut Client, connection: &mut AnyConnection, address: &str) -> bool {
    let (mut first, mut idle) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    while first.len() < FIRSTS && first.iter().all(|took| *took < LONG) {
        // What a commit does to what is remembered.
        let mark = format!("update changes set anything = '{0}', logs = '{0}', revision = revision + 1", uuid());
        execute(connection, &mark).await;
        idle.push(client.get("/healthz").took);
        let answer = client.get(address);
        assert_eq!(answer.status, 200, "{address}: {}", String::from_utf8_lossy(&answer.plain()));
        bytes = answer.body.len();
        first.push(answer.took);
    }
    let (mut again, mut live) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        live.push(client.get("/healthz").took);
        again.push(client.get(address).took);
    }
    let [first, idle, again, live] = [first, idle, again, live].map(median);
    let (times_first, times) = (first / idle, again / live);
    println!(
        "{} {address}: first {:.2} ms, {times_first:.0} times; again {:.3} ms, {times:.1} times; {:.1} kB; /healthz {:.3} ms",
        if times <= MOST_TIMES { "met   " } else { "MISSED" },
        first * 1e3,
        again * 1e3,
        bytes as f64 / 1e3,
        live * 1e3
    );
    times <= MOST_TIMES
}

/// The front page and what it loads; answers how many goals are missed.
fn weight(client: &mut Client) -> usize {
    let page = client.get("/");
    let html = String::from_utf8(page.plain()).expect("UTF-8");
    let (mut cold, mut warm) = (page.transferred, page.transferred);
    let mut files: Vec<_> = html.split('"').filter(|part| part.starts_with("/static/")).collect();
    files.sort_unstable();
    files.dedup();
    assert!(!files.is_empty(), "a page without style");
    for path in files {
        let file = client.get(path);
        assert_eq!(file.status, 200, "{path}");
        cold += file.transferred;
        // Anything else is asked for again.
        if !file.header("cache-control").contains("immutable") {
            warm += file.transferred;
        }
        println!("    {path}: {:.1} kB", file.transferred as f64 / 1e3);
    }
    println!("the front page: {:.1} kB cold, {:.1} kB warm", cold as f64 / 1e3, warm as f64 / 1e3);
    usize::from(cold > MOST_COLD_BYTES) + usize::from(warm > MOST_WARM_BYTES)
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

/// A mark that was never there.
fn uuid() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is later than 1970");
    now.as_nanos().to_string()
}
