//! What the server counts of itself, and `GET /metrics`, where Prometheus fetches it (contract section 4: without a token).
//!
//! Counters and timings are kept where things happen, with the macros of the `metrics` crate and the names below. What can be
//! asked for is asked when somebody fetches (`gauges`). Labels are words of this program, never of a caller.

mod gauges;

use std::sync::OnceLock;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::app::App;
pub use gauges::Gauges;

/// Requests, by method, route and status.
pub const REQUESTS: &str = "weavewatch_http_requests_total";
/// Time until the head of an answer, by method and route.
pub const REQUEST_SECONDS: &str = "weavewatch_http_request_duration_seconds";
/// Requests that were refused because there were too many, by limit.
pub const RATE_LIMITED: &str = "weavewatch_rate_limited_total";
/// Wrong tokens.
pub const AUTH_FAILURES: &str = "weavewatch_auth_failures_total";
/// Batches that were stored.
pub const BATCHES: &str = "weavewatch_ingest_batches_total";
/// Segments that were stored.
pub const SEGMENTS: &str = "weavewatch_ingest_segments_total";
/// Segments that were refused.
pub const REFUSED: &str = "weavewatch_ingest_refused_segments_total";
/// Events and flaws in the segments that came, repeats included.
pub const EVENTS: &str = "weavewatch_ingest_events_total";
/// Bytes of uploads, as they were sent.
pub const BYTES: &str = "weavewatch_ingest_bytes_total";
/// Uploads that are read, wait for their turn or are being stored.
pub const UPLOADS: &str = "weavewatch_ingest_uploads_under_way";
/// Commits, and how long each took, the flush to disk included.
pub const COMMIT_SECONDS: &str = "weavewatch_commit_duration_seconds";
/// Uploads that shared a commit.
pub const GROUP_SIZE: &str = "weavewatch_commit_group_size";
/// What the logs in columns take.
pub const FRAME_BYTES: &str = "weavewatch_frame_bytes";
/// Messages of alerts, by what became of an attempt.
pub const ALERT_MESSAGES: &str = "weavewatch_alert_messages_total";
/// What the rules of alerts find too much, on the server that looks.
pub const ALERTS_ABOVE: &str = "weavewatch_alerts_above_limit";

/// From a question that the cache answers to an upload that waits for a slow disk.
const SECONDS: [f64; 14] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Of groups.
const SIZES: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
/// How often timings are folded into their buckets when nobody fetches; they take memory until then.
const UPKEEP: Duration = Duration::from_secs(5);

/// Numbers for Prometheus.
#[utoipa::path(
    get, path = "/metrics", operation_id = "metrics", tag = "monitoring",
    responses((status = 200, description = "The text format, version 0.0.4", body = String, content_type = "text/plain"))
)]
pub async fn answer(State(app): State<App>) -> Response {
    let mut text = recorder().render();
    text.push_str(&app.gauges.text(&app).await);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// Keeps memory bounded; never done.
pub async fn upkeep() {
    loop {
        tokio::time::sleep(UPKEEP).await;
        recorder().run_upkeep();
    }
}

/// One for the process, whichever server in it counts. The first call begins to count.
pub fn recorder() -> &'static PrometheusHandle {
    static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
            .and_then(|builder| builder.set_buckets_for_metric(Matcher::Suffix("_size".to_owned()), &SIZES));
        let recorder = builder.expect("the buckets are not empty").build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("failed to count: something else in this process does already");
        }
        describe();
        handle
    })
}

/// What stands behind `# HELP`; and what can be counted is there from the start, so that an alert sees the first one.
fn describe() {
    metrics::describe_counter!(REQUESTS, "Requests by method, route and status.");
    metrics::describe_histogram!(REQUEST_SECONDS, "Time until the head of an answer, by method and route.");
    metrics::describe_counter!(RATE_LIMITED, "Requests that were refused because there were too many.");
    metrics::describe_counter!(AUTH_FAILURES, "Wrong, revoked or expired tokens.");
    metrics::describe_counter!(BATCHES, "Batches that were stored.");
    metrics::describe_counter!(SEGMENTS, "Segments that were stored.");
    metrics::describe_counter!(REFUSED, "Segments that were refused, each with a reason to the agent.");
    metrics::describe_counter!(EVENTS, "Events and flaws in the segments that came, repeats included.");
    metrics::describe_counter!(BYTES, "Bytes of uploads, as they were sent.");
    metrics::describe_gauge!(UPLOADS, "Uploads that are read, wait for their turn or are being stored.");
    metrics::describe_histogram!(COMMIT_SECONDS, "Time of a commit, the flush to disk included.");
    metrics::describe_histogram!(GROUP_SIZE, "Uploads that shared a commit.");
    metrics::describe_counter!(ALERT_MESSAGES, "Attempts to send a message of an alert, by outcome.");
    metrics::describe_gauge!(
        FRAME_BYTES,
        "What the logs in columns take, which questions of several dimensions are answered from."
    );
    metrics::describe_gauge!(ALERTS_ABOVE, "Alerts above their limit, on the server that looks after them.");
    for name in [AUTH_FAILURES, BATCHES, SEGMENTS, REFUSED, EVENTS, BYTES] {
        metrics::counter!(name).increment(0);
    }
    for limit in ["uploads", "reads", "failures"] {
        metrics::counter!(RATE_LIMITED, "limit" => limit).increment(0);
    }
    for outcome in ["sent", "failed", "given_up"] {
        metrics::counter!(ALERT_MESSAGES, "outcome" => outcome).increment(0);
    }
    metrics::gauge!(UPLOADS).set(0.0);
    metrics::gauge!(ALERTS_ABOVE).set(0.0);
    metrics::gauge!(FRAME_BYTES).set(0.0);
}
