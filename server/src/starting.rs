//! What is answered from the moment that the port is taken until the database is up to date: alive, but not ready.
//!
//! A migration may take minutes. Whoever watches over the server must not take it for dead, and nobody should be sent to it.
//! Whoever comes all the same waits, because it is usually a moment only.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tokio::sync::watch;
use tower::ServiceExt;

use crate::error::Error;
use crate::health;
use crate::router::dress;

/// So long a request waits for the server to be ready.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server's door: closed first, then it leads to the real router.
pub struct Door {
    opened: watch::Sender<Option<Router>>,
    patience: Duration,
}

impl Default for Door {
    fn default() -> Self {
        Self::closed(PATIENCE)
    }
}

impl Door {
    fn closed(patience: Duration) -> Self {
        Self { opened: watch::channel(None).0, patience }
    }

    /// Everything that waits, and that comes from now on, goes to this router.
    pub fn open(&self, router: Router) {
        self.opened.send_replace(Some(router));
    }

    /// The service to listen with.
    pub fn router(&self) -> Router {
        let (opened, patience) = (self.opened.subscribe(), self.patience);
        let starting = dress(
            Router::new()
                .route("/healthz", get(health::live))
                .route("/", any(not_ready))
                .route("/{*anything}", any(not_ready)),
        );
        Router::new().fallback(async move |request: Request| -> Response {
            let mut opened = opened.clone();
            let waits = !matches!(request.uri().path(), "/healthz" | "/readyz");
            if waits && opened.borrow().is_none() {
                // What has not come by then is answered as not ready.
                let _ = tokio::time::timeout(patience, opened.wait_for(Option::is_some)).await;
            }
            let router = opened.borrow().as_ref().unwrap_or(&starting).clone();
            router.oneshot(request).await.into_response()
        })
    }
}

async fn not_ready() -> Error {
    Error::NotReady("is starting")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::http::header::{CONTENT_SECURITY_POLICY, RETRY_AFTER};

    use super::*;

    #[tokio::test]
    async fn it_is_alive_at_once_ready_when_it_is_and_keeps_callers_waiting_but_not_for_ever() {
        let ask = async |door: &Door, uri: &str| {
            let request = Request::builder().uri(uri).body(Body::empty()).expect("a request");
            door.router().oneshot(request).await.expect("the router answers everything")
        };
        let impatient = Door::closed(Duration::ZERO);
        assert_eq!(ask(&impatient, "/healthz").await.status(), StatusCode::OK);
        for uri in ["/readyz", "/", "/api/v1/ingest"] {
            let answer = ask(&impatient, uri).await;
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE, "{uri}");
            assert_eq!(answer.headers()[RETRY_AFTER], "5");
            assert!(answer.headers().contains_key(CONTENT_SECURITY_POLICY));
        }
        let door = Door::default();
        assert_eq!(ask(&door, "/readyz").await.status(), StatusCode::SERVICE_UNAVAILABLE);
        let real = || Router::new().route("/readyz", get(async || "ok")).route("/page", get(async || "ok"));
        let (waited, ()) = tokio::join!(ask(&door, "/page"), async { door.open(real()) });
        assert_eq!(waited.status(), StatusCode::OK);
        assert_eq!(ask(&door, "/readyz").await.status(), StatusCode::OK);
        assert_eq!(ask(&door, "/api/v1/ingest").await.status(), StatusCode::NOT_FOUND);
    }
}
