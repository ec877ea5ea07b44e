//! `PATCH /api/v1/reports/{id}` and the form of its page: how far people are with a report, who looks after it, what they note.

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::ReportState;

use super::{answer, known_form};
use crate::app::App;
use crate::audit::Actor;
use crate::error::{Error, Html};
use crate::store::Note;
use crate::{body, forgery, openapi};

/// The largest body: a note.
const LIMIT_BYTES: usize = 64 << 10;
/// The longest name of a build or a person, in characters.
const NAME_CHARS: usize = 100;
/// The longest note, in characters.
const NOTE_CHARS: usize = 10_000;

/// What is to change. What is left out stays as it is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ReportChange)]
pub struct Change {
    /// How far people are.
    #[schema(value_type = Option<openapi::ReportState>)]
    pub state: Option<ReportState>,
    /// The build in which it is fixed: with the state `fixed`, and only then.
    #[schema(max_length = 100)]
    pub build: Option<String>,
    /// Who looks after it; empty: nobody.
    #[schema(max_length = 100)]
    pub assignee: Option<String>,
    /// Is added to the notes.
    #[schema(max_length = 10000)]
    pub note: Option<String>,
}

/// How a report stands.
#[derive(Serialize, ToSchema)]
#[schema(as = ReportStanding)]
pub struct Standing {
    id: String,
    url: String,
    #[schema(value_type = openapi::ReportState)]
    state: ReportState,
    build: Option<String>,
    assignee: Option<String>,
    /// Oldest first.
    notes: Vec<Note>,
}

/// What the form of the page sends.
#[derive(ToSchema)]
#[schema(as = ReportChangeForm)]
#[expect(dead_code, reason = "a shape to be described: `forgery::form` reads it")]
struct Form {
    /// From the page that holds the form.
    csrf: Option<String>,
    #[schema(value_type = Option<openapi::ReportState>)]
    state: Option<String>,
    build: Option<String>,
    assignee: Option<String>,
    note: Option<String>,
}

impl Change {
    /// Blanks around a text say nothing, and neither does an empty note.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for what cannot be.
    fn checked(self) -> Result<Self, Error> {
        let text = |name: &str, text: Option<String>, most: usize| {
            let text = text.map(|text| text.trim().to_owned());
            match &text {
                Some(text) if text.contains('\0') || text.chars().count() > most => {
                    Err(Error::BadRequest(format!("the {name} is not a text of at most {most} characters")))
                }
                _ => Ok(text),
            }
        };
        let checked = Self {
            state: self.state,
            build: text("build", self.build, NAME_CHARS)?.filter(|build| !build.is_empty()),
            assignee: text("assignee", self.assignee, NAME_CHARS)?,
            note: text("note", self.note, NOTE_CHARS)?.filter(|note| !note.is_empty()),
        };
        match (checked.state, &checked.build) {
            (Some(ReportState::Fixed), None) => Err(Error::BadRequest("say in which build it is fixed".to_owned())),
            (Some(ReportState::Fixed), Some(_)) | (_, None) => Ok(checked),
            _ => Err(Error::BadRequest("a build belongs to the state fixed".to_owned())),
        }
    }
}

/// Says how far people are with a report, who looks after it, or notes something.
#[utoipa::path(
    patch, path = "/api/v1/reports/{id}", operation_id = "change_report", tag = "reports",
    params(("id" = String, Path, pattern = "^[0-9A-Za-z_-]{22}$")),
    request_body = Change,
    responses(
        (status = 200, description = "How it stands now", body = Standing),
        (status = 400, description = "The change cannot be read, or cannot be"),
        (status = 404, description = "There is no such report"),
        (status = 408, description = "The body did not arrive in time")
    )
)]
pub async fn patch(
    State(app): State<App>,
    by: Actor,
    id: Result<Path<String>, PathRejection>,
    body: Body,
) -> Result<Json<Standing>, Error> {
    let id = known_form(id)?;
    let too_large = || Error::BadRequest("the body is longer than 64 KiB".to_owned());
    let body = body::read(body, LIMIT_BYTES, app.body_timeout).await;
    let body = body.map_err(|fault| fault.answer(app.body_timeout, too_large, Error::BadRequest))?;
    let change: Change = serde_json::from_slice(&body)
        .map_err(|error| Error::BadRequest(format!("the body is no change of a report: {error}")))?;
    if !app.store.change_report(&id, &change.checked()?, &by).await? {
        return Err(Error::NotFound);
    }
    let report = app.store.report(&id).await?.ok_or(Error::NotFound)?;
    let notes = app.store.report_notes(&id).await?;
    let (state, build, assignee) = (report.state, report.build, report.assignee);
    Ok(Json(Standing { url: answer::url(&id), id, state, build, assignee, notes }))
}

/// The same from the form of the page.
#[utoipa::path(
    post, path = "/reports/{id}", operation_id = "report_form", tag = "pages",
    params(("id" = String, Path, pattern = "^[0-9A-Za-z_-]{22}$")),
    request_body(content = Form, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Changed; it leads to the page"),
        (status = 400, description = "The change cannot be read, or cannot be"),
        (status = 404, description = "There is no such report"),
        (status = 408, description = "The body did not arrive in time")
    )
)]
pub async fn form(
    State(app): State<App>,
    by: Actor,
    id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Html> {
    changed(&app, &by, id, request).await.map_err(Html)
}

async fn changed(
    app: &App,
    by: &Actor,
    id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Error> {
    let id = known_form(id)?;
    let (parts, body) = request.into_parts();
    let mut change = Change::default();
    for (name, value) in forgery::form(&parts, body, app.body_timeout).await? {
        match name.as_str() {
            "state" => {
                let known = ReportState::from_word(&value);
                change.state = Some(known.ok_or_else(|| Error::BadRequest("there is no such state".to_owned()))?);
            }
            "build" => change.build = Some(value),
            "assignee" => change.assignee = Some(value),
            "note" => change.note = Some(value),
            _ => {}
        }
    }
    // The field of the build stands in the form whatever the state is.
    if change.state.is_some_and(|state| state != ReportState::Fixed) {
        change.build = None;
    }
    if !app.store.change_report(&id, &change.checked()?, by).await? {
        return Err(Error::NotFound);
    }
    to(&answer::url(&id))
}

/// Deletes a report from its page.
#[utoipa::path(
    post, path = "/reports/{id}/delete", operation_id = "delete_report_form", tag = "pages",
    params(("id" = String, Path, pattern = "^[0-9A-Za-z_-]{22}$")),
    responses(
        (status = 303, description = "It is gone; it leads to the list of reports"),
        (status = 404, description = "There is no such report")
    )
)]
pub async fn delete(
    State(app): State<App>,
    by: Actor,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Html> {
    let deleting = async {
        let id = known_form(id)?;
        if !app.store.delete_report(&id, &by).await? {
            return Err(Error::NotFound);
        }
        tracing::info!(report = id, "deleted a report");
        to("/triage")
    };
    deleting.await.map_err(Html)
}

/// 303: go on with this page.
///
/// # Errors
/// When it is no address, which is our own fault.
pub fn to(address: &str) -> Result<Response, Error> {
    let location = HeaderValue::from_str(address).map_err(|error| Error::Internal(error.into()))?;
    Ok((StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response())
}
