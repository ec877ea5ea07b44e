//! A server of its own for each test, on each database that is there.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::Value;
use server::app::State;
use server::auth::Scope;
use server::filling::Filling;
use server::store::{EventRow, Place, Store};
use sqlx::{AssertSqlSafe, Connection, Executor};
use tower::ServiceExt;
use wire::{Ack, Batch};

/// Where a superuser of PostgreSQL can be found.
const POSTGRES: &str = "WEAVEWATCH_TEST_POSTGRES";

/// A server with an empty database.
pub struct World {
    pub app: Arc<State>,
    pub place: Place,
    router: Router,
    agent: String,
    reader: String,
}

/// What came back.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// Runs a test on SQLite, and on PostgreSQL when there is one.
pub fn on_each_database<F: Future<Output = ()>>(test: impl Fn(World) -> F) {
    on_each_place(|place| {
        let test = &test;
        async move {
            let world = World::open(place).await;
            let app = world.app.clone();
            test(world).await;
            app.store.close().await;
        }
    });
}

/// The same for a test that fills the empty database by itself, and closes it.
pub fn on_each_place<F: Future<Output = ()>>(test: impl Fn(Place) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    runtime.block_on(each_place(test));
}

/// The same within a test, which then has more than one database.
pub async fn each_place<F: Future<Output = ()>>(test: impl Fn(Place) -> F) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    test(Place::File(folder.path().join("test.sqlite"))).await;
    match std::env::var(POSTGRES) {
        Ok(url) => {
            let database = Database::create(&url).await;
            test(Place::Postgres(database.url.clone())).await;
            database.drop().await;
        }
        Err(_) => eprintln!("ran on SQLite only: {POSTGRES} does not name a PostgreSQL"),
    }
}

/// A database in PostgreSQL.
struct Database {
    superuser: String,
    name: String,
    url: String,
}

impl Database {
    async fn create(superuser: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        sqlx::any::install_default_drivers();
        let name = format!("weavewatch_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let (server, _) = superuser.rsplit_once('/').expect("the URL names a database");
        let url = format!("{server}/{name}");
        let database = Self { superuser: superuser.to_owned(), name, url };
        database.execute("create").await;
        database
    }

    async fn drop(self) {
        self.execute("drop").await;
    }

    async fn execute(&self, verb: &str) {
        let mut connection = sqlx::AnyConnection::connect(&self.superuser).await.expect("PostgreSQL answers");
        let sql = format!("{verb} database {}", self.name);
        connection.execute(AssertSqlSafe(sql)).await.expect("the superuser may do that");
    }
}

impl World {
    pub async fn open(place: Place) -> Self {
        let store = Store::open(&place).await.expect("the database opens");
        store.migrate().await.expect("the schema fits");
        Self::of(State::new(store), place).await
    }

    pub async fn demo(place: Place) -> Self {
        let store = Store::open(&place).await.expect("the database opens");
        store.migrate().await.expect("the schema fits");
        Self::of(State::for_demo(store, Arc::new(Filling::new(0))), place).await
    }

    /// A server in this state.
    pub async fn of(state: State, place: Place) -> Self {
        let app = Arc::new(state);
        let agent = app.store.create_token(Scope::Agent, "agent").await.expect("a token").secret;
        let reader = app.store.create_token(Scope::Reader, "reader").await.expect("a token").secret;
        Self { router: server::router(app.clone()), app, place, agent, reader }
    }

    /// A request as it stands, from a peer.
    pub async fn send_from(&self, peer: &str, mut request: Request<Body>) -> Answer {
        let peer: SocketAddr = peer.parse().expect("an address");
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = self.router.clone().oneshot(request).await.expect("the router answers everything");
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.expect("the body is in memory").to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// From another machine.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        self.send_from("192.0.2.7:4000", request).await
    }

    /// As a reader.
    pub async fn get(&self, uri: &str) -> Answer {
        self.send(request("GET", uri, Some(&self.reader), Body::empty())).await
    }

    /// As a reader; the answer is good.
    pub async fn json(&self, uri: &str) -> Value {
        let answer = self.get(uri).await;
        assert_eq!(answer.status, StatusCode::OK, "{uri}: {}", answer.text());
        answer.json()
    }

    /// A body as an agent sends it.
    pub async fn post(&self, encoding: Option<&str>, body: impl Into<Body>) -> Answer {
        let mut request = request("POST", "/api/v1/ingest", Some(&self.agent), body.into());
        if let Some(encoding) = encoding {
            request.headers_mut().insert("content-encoding", encoding.parse().expect("a header"));
        }
        self.send(request).await
    }

    /// A batch; the answer is good and nothing is refused.
    pub async fn upload(&self, batch: &Batch) -> Ack {
        let answer = self.post(None, serde_json::to_vec(batch).expect("plain data")).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        let ack: Ack = serde_json::from_slice(&answer.body).expect("an ack");
        assert_eq!(ack.refused, [], "nothing is wrong with it");
        ack
    }

    /// A batch as the bearer of a token.
    pub async fn upload_as(&self, token: &str, batch: &Batch) -> Answer {
        let body = serde_json::to_vec(batch).expect("plain data");
        self.send(request("POST", "/api/v1/ingest", Some(token), body.into())).await
    }

    /// Everything that is stored of every log and does not depend on the way it came.
    pub async fn rows(&self) -> Vec<String> {
        let mut connection = connect(&self.place).await;
        let mut rows = Vec::new();
        for sql in [
            "select id || '|' || machine || '|' || file || '|' || end_offset || '|' || missing_bytes || '|' || facts || '|'
                || report || '|' || started_s || '|' || coalesce(day, '-') || '|' || coalesce(exe, '-') || '|'
                || coalesce(runtime, '-') || '|' || path || split || crossing || basis || outcome || '|'
                || interop_crossing || killed || retired || '|' || coalesce(gpu_pair, '-') || '|'
                || coalesce(clock, '-') || unfinished || '|' || events from logs order by 1",
            "select log || token from log_reasons order by 1",
        ] {
            let found: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut connection).await.expect("the tables exist");
            rows.extend(found);
        }
        for row in self.events().await {
            let shape = row.shape.as_deref().unwrap_or("-");
            let place = format!("{}|{}|{}|{}", row.log, row.record_offset, row.ordinal, row.line);
            rows.push(format!("{place}{}{shape}{}", row.kind, row.body));
        }
        rows
    }

    /// Every record that counts.
    pub async fn events(&self) -> Vec<EventRow> {
        let mut rows: Vec<EventRow> = Vec::new();
        loop {
            let after =
                rows.last().map(|last| (last.log.clone(), last.record_offset, last.ordinal)).unwrap_or_default();
            let page = self.app.store.event_rows(&after, 1_000).await.expect("the database answers");
            assert!(page.len() <= 1_000);
            if page.is_empty() {
                return rows;
            }
            rows.extend(page);
        }
    }
}

/// A connection of the test's own.
pub async fn connect(place: &Place) -> sqlx::AnyConnection {
    sqlx::any::install_default_drivers();
    let url = match place {
        Place::File(path) => format!("sqlite://{}?mode=rwc", path.display()),
        Place::Postgres(url) => url.clone(),
    };
    sqlx::AnyConnection::connect(&url).await.expect("the database opens")
}

/// A request with or without a token.
pub fn request(method: &str, uri: &str, token: Option<&str>, body: Body) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(uri).header("host", "weavewatch.example");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    request.body(body).expect("a request")
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"))
    }

    /// Checks that it is a problem with this status.
    pub fn assert_problem(&self, status: u16) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["status"], status);
        for field in ["type", "title", "detail"] {
            assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {problem}");
        }
    }
}
