//! What stands still until somebody asks: how much there is in the database, on the disk and in this process.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Mutex;

use crate::app::State;
use crate::store::{Holdings, Store};

/// Anybody may ask, so that one look into the database serves all who ask within this time.
const FRESH: Duration = Duration::from_secs(10);
/// Prometheus gives up after ten seconds; a database that is busy for so long counts as away.
const PATIENCE: Duration = Duration::from_secs(5);

/// The newest look.
#[derive(Debug)]
pub struct Gauges {
    started: SystemTime,
    last: Mutex<Option<(Instant, Arc<str>)>>,
}

impl Default for Gauges {
    fn default() -> Self {
        Self { started: SystemTime::now(), last: Mutex::new(None) }
    }
}

impl Gauges {
    /// In the text format of Prometheus.
    pub async fn text(&self, app: &State) -> Arc<str> {
        let mut last = self.last.lock().await;
        if let Some((since, text)) = &*last
            && since.elapsed() < FRESH
        {
            return text.clone();
        }
        let mut text = Text::default();
        process(&mut text, self.started);
        let holdings = tokio::time::timeout(PATIENCE, app.store.holdings()).await;
        let holdings = holdings.unwrap_or(Err(sqlx::Error::PoolTimedOut));
        if let Err(error) = &holdings {
            tracing::warn!("failed to count what the database holds: {error}");
        }
        text.one("weavewatch_database_up", "Whether the database answers.", u8::from(holdings.is_ok()));
        if let Ok(holdings) = holdings {
            database(&mut text, &app.store, &holdings);
        }
        let text: Arc<str> = text.0.into();
        *last = Some((Instant::now(), text.clone()));
        text
    }
}

fn process(text: &mut Text, started: SystemTime) {
    let build = format!("version=\"{}\",schema=\"{}\"", env!("CARGO_PKG_VERSION"), Store::schema_version());
    text.family("weavewatch_build_info", "gauge", "Which program this is.", &[(build, 1)]);
    let started = started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    text.one("process_start_time_seconds", "When the server started, since 1970.", started.as_secs_f64());
    if let Some(memory) = memory_stats::memory_stats() {
        text.one("process_resident_memory_bytes", "Memory that is in use.", memory.physical_mem);
    }
    if let Ok(cpu) = cpu_time::ProcessTime::try_now() {
        let seconds = cpu.as_duration().as_secs_f64();
        let help = "Processor time that was used.";
        text.family("process_cpu_seconds_total", "counter", help, &[(String::new(), seconds)]);
    }
}

fn database(text: &mut Text, store: &Store, holdings: &Holdings) {
    let by = |label: &str, counts: &[(&str, i64)]| {
        counts.iter().map(|(word, count)| (format!("{label}=\"{word}\""), *count)).collect::<Vec<_>>()
    };
    text.one("weavewatch_database_bytes", "Size of the database.", holdings.size_bytes);
    if let Ok(Some(free)) = store.free_bytes() {
        text.one("weavewatch_disk_free_bytes", "What is left on the database's disk.", free);
    }
    text.one("weavewatch_machines", "Machines that are known.", holdings.machines);
    text.family("weavewatch_logs", "gauge", "Logs by verdict.", &by("split", &holdings.logs_by_split));
    text.family("weavewatch_tokens", "gauge", "Valid tokens by scope.", &by("scope", &holdings.tokens_by_scope));
    let last = holdings.last_upload.as_deref().and_then(|time| time.parse::<jiff::Timestamp>().ok());
    if let Some(last) = last {
        let help = "When the newest upload was stored, since 1970.";
        text.one("weavewatch_last_upload_timestamp_seconds", help, last.as_millisecond() as f64 / 1000.0);
    }
}

/// Families in the making.
#[derive(Default)]
struct Text(String);

impl Text {
    fn one(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "gauge", help, &[(String::new(), value)]);
    }

    /// Labels are written as they stand: they are words of this program.
    fn family<V: std::fmt::Display>(&mut self, name: &str, kind: &str, help: &str, samples: &[(String, V)]) {
        let written = (|| {
            writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}")?;
            for (labels, value) in samples {
                let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
                writeln!(self.0, "{name}{labels} {value}")?;
            }
            writeln!(self.0)
        })();
        written.expect("a string takes everything");
    }
}
