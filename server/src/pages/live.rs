//! `GET /live`: the logs that arrived last; `GET /live/events`: those that arrive, as server-sent events.

use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use dashboards::{LivePage, LiveRow};
use hyper::body::{Body as HttpBody, Frame};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::log::row;
use super::{Asked, drawn, frame};
use crate::app::App;
use crate::auth::Caller;
use crate::error::{Error, Html};
use crate::store::Filter;

/// Logs on the page when it opens.
const LOGS: u32 = 50;
/// How long a browser waits before it asks again.
const RETRY: &str = "retry: 15000\n\n";
/// Between two looks whether the server ends, and how many of them there are between two signs of life.
const LOOK: Duration = Duration::from_secs(1);
const LOOKS: u32 = 15;
/// A watch ends before the connection gets too old (`connections`), and the browser begins a new one.
const WATCH: Duration = Duration::from_mins(8);
/// Events that wait for a slow reader.
const WAITING: usize = 16;

/// The logs that arrived last.
#[utoipa::path(
    get, path = "/live", operation_id = "live_page", tag = "pages",
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 400, description = "A query, where none is asked")
    )
)]
pub async fn page(State(app): State<App>, caller: Option<Extension<Caller>>, _asked: Asked) -> Result<Response, Html> {
    let drawing = async {
        let mut logs = Vec::new();
        for id in app.live.recent(LOGS as usize) {
            // One may have been deleted meanwhile.
            logs.extend(app.store.log(&id).await?.map(row));
        }
        let arrived = !logs.is_empty();
        if !arrived {
            logs = app.store.logs(&Filter::default(), None, LOGS).await?.0.into_iter().map(row).collect();
        }
        drawn(LivePage { frame: frame("/live", caller), logs, arrived }.render())
    };
    drawing.await.map_err(Html)
}

/// Logs as they arrive, each as a row of the page.
#[utoipa::path(
    get, path = "/live/events", operation_id = "live_events", tag = "pages",
    responses(
        (status = 200, description = "Events named `log`, without end", body = String, content_type = "text/event-stream"),
        (status = 429, description = "Too many watch already")
    )
)]
pub async fn events(State(app): State<App>) -> Result<Response, Html> {
    let watcher = app.live.watchers.clone().try_acquire_owned();
    let watcher = watcher.map_err(|_| Html(Error::TooOften(60)))?;
    let (sender, receiver) = channel(WAITING);
    tokio::spawn(async move {
        let _watcher = watcher;
        let ended = tokio::time::timeout(WATCH, watch(&app, &sender)).await;
        if let Ok(Err(error)) = ended {
            tracing::warn!("failed to tell a watcher of a log: {error}");
        }
    });
    let mut response = Body::new(Events(receiver)).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Ok(response)
}

/// Until nobody listens any more, or the server ends.
async fn watch(app: &App, sender: &Sender<Bytes>) -> Result<(), Error> {
    let mut news = app.live.watch();
    let mut text = Bytes::from_static(RETRY.as_bytes());
    let mut looks = 0;
    loop {
        if !text.is_empty() && sender.send(text).await.is_err() {
            return Ok(());
        }
        text = match tokio::time::timeout(LOOK, news.recv()).await {
            Ok(Ok(id)) => match app.store.log(&id).await? {
                Some(log) => event(&LiveRow { log: row(log) })?,
                None => Bytes::new(),
            },
            // It missed some: the page says that it shows the last ones only.
            Ok(Err(RecvError::Lagged(_))) => Bytes::new(),
            Ok(Err(RecvError::Closed)) => return Ok(()),
            Err(_) if app.stopping.load(Ordering::Relaxed) || sender.is_closed() => return Ok(()),
            Err(_) => {
                looks += 1;
                if looks % LOOKS == 0 { Bytes::from_static(b":\n\n") } else { Bytes::new() }
            }
        };
    }
}

fn event(row: &LiveRow) -> Result<Bytes, Error> {
    let html = row.render().map_err(|error| Error::Internal(error.into()))?;
    let data: String = html.lines().filter(|line| !line.is_empty()).flat_map(|line| ["data: ", line, "\n"]).collect();
    Ok(format!("event: log\n{data}\n").into())
}

/// A body that comes from another task.
struct Events(Receiver<Bytes>);

impl HttpBody for Events {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
