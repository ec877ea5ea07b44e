//! Is the process alive, and is its database?

use axum::extract::State;

use crate::app::App;
use crate::error::Error;

/// `GET /healthz`: the process answers.
pub async fn live() -> &'static str {
    "ok"
}

/// `GET /readyz`: the database answers too.
pub async fn ready(State(app): State<App>) -> Result<&'static str, Error> {
    app.store.ready().await?;
    Ok("ok")
}
