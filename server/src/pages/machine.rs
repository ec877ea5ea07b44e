//! `GET /machines/{id}`: one PC; and `POST /machines/{id}/delete`, which forgets it.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use dashboards::{BootRow, Gpu, MachinePage, SettingRow, Topology};
use resolver::replay::cost;

use super::log::{known_form, row};
use super::{Asked, count, drawn, frame, machine_cost, spread, spreads};
use crate::app::App;
use crate::audit::Actor;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::machines;
use crate::store::{Boot, Dimension, Filter, LogTime, Setting, StoredLog};

/// Logs in the list.
const LOGS: u32 = 12;
/// Boots that are drawn with the verdict of their last log; older ones show their adapters only.
const DRAWN: usize = 6;

/// One machine: topology, settings, logs, losses.
#[utoipa::path(
    get, path = "/machines/{id}", operation_id = "machine_page", tag = "pages",
    params(("id" = String, Path, pattern = "^[0-9a-f]{32}$")),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A query, where none is asked"),
        (status = 404, description = "There is no such machine")
    )
)]
pub async fn page(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    id: Result<Path<String>, PathRejection>,
    _asked: Asked,
) -> Result<Response, Html> {
    let drawing = async {
        let page = read(&app, known_form(id)?).await?;
        drawn(MachinePage { frame: frame("/machines", caller), ..page }.render())
    };
    drawing.await.map_err(Html)
}

/// Deletes everything that is held of a machine, for the form of its page.
#[utoipa::path(
    post, path = "/machines/{id}/delete", operation_id = "delete_machine_form", tag = "pages",
    params(("id" = String, Path, pattern = "^[0-9a-f]{32}$")),
    responses(
        (status = 303, description = "It is gone: back to the others"),
        (status = 404, description = "There is no such machine")
    )
)]
pub async fn delete(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    actor: Actor,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Html> {
    let deleting = async {
        let deleted = machines::forget(&app, known_form(id)?, actor, caller.token).await?;
        deleted.map(|_| Redirect::to("/machines").into_response()).ok_or(Error::NotFound)
    };
    deleting.await.map_err(Html)
}

async fn read(app: &App, id: String) -> Result<MachinePage, Error> {
    let store = &app.store;
    let machine = store.machine(&id).await?.ok_or(Error::NotFound)?;
    let mut filter = Filter::default();
    filter.take("machine", &id).map_err(Error::BadQuery)?;
    let learned = store.learned(&id).await?;
    let mut boots = Vec::with_capacity(learned.boots.len());
    for (place, boot) in learned.boots.into_iter().enumerate() {
        let last = if place < DRAWN { store.log(&boot.last.log).await? } else { None };
        boots.push(boot_row(boot, last.as_ref()));
    }
    let (logs, _) = store.logs(&filter, None, LOGS).await?;
    let losses = machine.losses;
    let costs = machine_cost::facts(store, &id, machine.cohort.as_ref().map(|own| own.id.as_str())).await?;
    Ok(MachinePage {
        first_seen: machine.first_seen,
        last_contact: machine.last_contact,
        agent: machine.agent,
        heartbeat: machine.heartbeat.zip(machine.heartbeat_at),
        cohort: machine.cohort.map(|cohort| (cohort.id, cohort.label)),
        spread: spread(&store.total(&filter).await?),
        by_day: spreads(&store.groups(&filter, Dimension::Day).await?, Dimension::Day),
        costs,
        settings: learned.settings.into_iter().map(setting).collect(),
        boots,
        boots_left_out: learned.boots_left_out,
        losses: losses.by_reason.into_iter().map(|(reason, lost)| (reason, lost.bytes, lost.events)).collect(),
        losses_left_out: count(losses.losses_left_out),
        logs: logs.into_iter().map(row).collect(),
        id,
        ..MachinePage::default()
    })
}

fn at(time: LogTime) -> (String, String) {
    (time.log, time.started.replacen('T', " ", 1))
}

fn setting(own: Setting) -> SettingRow {
    SettingRow {
        name: own.name,
        value: own.value,
        source: own.source,
        honoured: own.honoured,
        since: at(own.since),
        last: at(own.last),
    }
}

fn boot_row(boot: Boot, last: Option<&StoredLog>) -> BootRow {
    let gpus = boot.adapters.into_iter().map(|own| Gpu {
        name: own.name,
        luid: own.luid,
        vram_mib: own.dedicated_vram_mib,
        set_aside: own.software == Some(true) || own.remote == Some(true),
    });
    let verdict = last.map(|log| log.report.verdict.clone());
    let panel = boot.panel.map(|panel| wire::Rect {
        left: panel.left,
        top: panel.top,
        width: panel.width,
        height: panel.height,
    });
    let topology = Topology {
        adapters: gpus.collect(),
        outputs: Vec::new(),
        panel: panel.map(|rect| (rect.width, rect.height)),
        cost: verdict.as_ref().and_then(|verdict| cost(verdict.crossing, panel)),
        verdict,
    };
    BootRow { first: at(boot.first), last: at(boot.last), logs: boot.logs, topology }
}
