//! `POST /api/v1/enroll`: an agent that was given an enrolment token gets a token of its machine's own.
//!
//! The enrolment token can be on many PCs, because it opens nothing else. What it makes is good for one machine.

use axum::body::Body;
use axum::extract::State;
use axum::{Extension, Json};
use wire::{ENROLL_SCHEMA, ENROLLED_SCHEMA, Enroll, Enrolled};

use crate::app::App;
use crate::audit::Actor;
use crate::auth::Caller;
use crate::body;
use crate::error::Error;
use crate::openapi;
use crate::text;

/// The largest body that is read: three short strings.
const LIMIT_BYTES: usize = 16 << 10;

/// Makes the token and tells it, once.
#[utoipa::path(
    post, path = "/api/v1/enroll", operation_id = "enroll", tag = "agents",
    request_body = openapi::Enroll,
    responses(
        (status = 200, description = "The token; one that the machine had is refused from now on", body = openapi::Enrolled),
        (status = 400, description = "It is no enrolment"),
        (status = 408, description = "The body did not arrive in time"),
        (status = 507, description = "The disk is full or nearly so")
    )
)]
pub async fn answer(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    actor: Actor,
    body: Body,
) -> Result<Json<Enrolled>, Error> {
    let bad = |why: &str| Error::BadEnrolment(why.to_owned());
    let too_large = || bad("the body is longer than 16 KiB");
    let body = body::read(body, LIMIT_BYTES, app.body_timeout).await;
    let body = body.map_err(|fault| fault.answer(app.body_timeout, too_large, Error::BadEnrolment))?;
    let Enroll { schema, machine, agent } = serde_json::from_slice(&body)
        .map_err(|error| Error::BadEnrolment(format!("the body is no enrolment: {error}")))?;
    if schema != ENROLL_SCHEMA {
        return Err(Error::BadEnrolment(format!("the schema of the enrolment is not {ENROLL_SCHEMA}")));
    }
    if !text::is_id(&machine) {
        return Err(bad("the machine is not 32 hex digits"));
    }
    // Not the agent's words: names are shown on terminals.
    let name = format!("enrolled with {}", caller.token);
    let token = app.store.enroll(&machine, &name, &actor).await.map_err(Error::from_store)?;
    tracing::info!(machine, token = token.id, agent = ?text::for_column(&agent), "gave a machine its token");
    Ok(Json(Enrolled { schema: ENROLLED_SCHEMA.to_owned(), machine, token: token.secret }))
}
