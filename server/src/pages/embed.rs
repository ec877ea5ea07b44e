//! `GET /embed/{chart}`: one picture of the front page, which other sites may show in a frame when `--embed-from` names them.

use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use dashboards::{EMBEDDED, EmbedPage, FleetPage, Query};

use super::{Asked, counts, drawn, filter, selection, spreads};
use crate::app::App;
use crate::error::{Error, Html};
use crate::openapi::Filters;
use crate::store::Dimension;
use crate::text;

/// Left with an answer that may stand in a frame: its policy, in place of the one of all others.
#[derive(Clone, Debug)]
pub struct Framed(pub HeaderValue);

/// One picture of the front page alone: days, reasons, flow, pairs, builds, paths or programs.
#[utoipa::path(
    get, path = "/embed/{chart}", operation_id = "embed_page", tag = "pages",
    params(("chart" = String, Path), Filters),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A wrong query"),
        (status = 404, description = "There is no such picture")
    )
)]
pub async fn page(State(app): State<App>, Path(chart): Path<String>, asked: Result<Asked, Html>) -> Response {
    // What went wrong is shown in the frame too.
    let drawing = async { draw(&app, &chart, asked?.0).await.map_err(Html) };
    let mut response = drawing.await.into_response();
    let ancestors = app.embed_from.iter().fold("'self'".to_owned(), |all, origin| all + " " + origin);
    if let Ok(policy) = HeaderValue::try_from(dashboards::policy_within(&ancestors)) {
        response.extensions_mut().insert(Framed(policy));
    }
    response
}

async fn draw(app: &App, chart: &str, query: Query) -> Result<Response, Error> {
    let name = EMBEDDED.into_iter().find(|name| *name == chart).ok_or(Error::NotFound)?;
    let filter = filter(&query)?;
    let mut counting = app.store.counting().await?;
    let dimension = match name {
        "days" => Dimension::Day,
        "reasons" => Dimension::Reason,
        "builds" => Dimension::Runtime,
        "paths" => Dimension::Path,
        "programs" => Dimension::Exe,
        _ => Dimension::GpuPair,
    };
    let groups = counting.groups(&filter, dimension).await?;
    let mut fleet = FleetPage { selection: selection(&mut counting, query, &filter).await?, ..FleetPage::default() };
    drop(counting);
    let spread = || spreads(&groups, dimension);
    match name {
        "days" => fleet.by_day = spread(),
        // A log without a reason is in no group here.
        "reasons" => {
            fleet.by_reason = counts(&groups, dimension).into_iter().filter(|count| count.key.is_some()).collect();
        }
        "builds" => fleet.by_runtime = spread(),
        "paths" => fleet.by_path = spread(),
        "programs" => fleet.by_exe = spread(),
        _ => fleet.by_gpu_pair = spread(),
    }
    // When it was counted: as long as the page is remembered (`remembered`), nothing has changed since.
    drawn(EmbedPage { name, fleet, as_of: text::now(), ..EmbedPage::default() }.render())
}

/// What may stand behind `--embed-from`: scheme, host and port, and nothing that a policy would read as more.
///
/// # Errors
/// In words, for whoever typed it.
pub fn origin(text: &str) -> Result<String, String> {
    let origin = text.strip_suffix('/').unwrap_or(text);
    let host = ["https://", "http://"].iter().find_map(|scheme| origin.strip_prefix(scheme)).unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if host.is_empty() || !host.bytes().all(plain) {
        return Err("is no site such as https://wiki.example.com or http://127.0.0.1:8080".to_owned());
    }
    Ok(origin.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_a_site_and_no_policy() {
        for (typed, kept) in [
            ("https://wiki.example.com", "https://wiki.example.com"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("http://[::1]:1", "http://[::1]:1"),
        ] {
            assert_eq!(origin(typed).as_deref(), Ok(kept));
        }
        for wrong in [
            "",
            "*",
            "https://",
            "https://*",
            "wiki.example.com",
            "https://a/b",
            "https://a; script-src *",
            "https://a b",
            "https://a,b",
        ] {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }
}
