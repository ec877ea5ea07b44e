//! How far has the demo filled? Every page says so until all of its machines are here.
//!
//! Pages get it from the task that answers: it is a fact of the moment and of this process, which none of them asks for.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;

tokio::task_local! {
    /// What was missing when the request came.
    static MISSING: Option<dashboards::Filling>;
}

/// The machines of a demo as they arrive.
#[derive(Debug)]
pub struct Filling {
    of: u64,
    here: AtomicU64,
}

impl Filling {
    /// None of so many is here.
    pub const fn new(of: u64) -> Self {
        Self { of, here: AtomicU64::new(0) }
    }

    /// All logs of one more are stored. Answers how many machines are here now.
    pub fn one_more(&self) -> u64 {
        // Whoever sees the last one sees what was committed before it.
        self.here.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// What pages say; nothing once all are here.
    pub fn missing(&self) -> Option<dashboards::Filling> {
        let here = self.here.load(Ordering::Acquire);
        (here < self.of).then_some(dashboards::Filling { here, of: self.of })
    }
}

/// What is missing, for the page that is being drawn.
pub(crate) fn missing() -> Option<dashboards::Filling> {
    MISSING.try_with(|missing| *missing).ok().flatten()
}

/// The middleware that looks once a request, so that a page is either of a full demo or says that it is not.
pub async fn look(State(app): State<App>, request: Request, next: Next) -> Response {
    let missing = app.filling.as_ref().and_then(|filling| filling.missing());
    MISSING.scope(missing, next.run(request)).await
}
