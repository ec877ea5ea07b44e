//! `demo`: a throw-away database, filled with a simulated fleet through the real HTTP path while people look.

mod machine;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, bail};
use futures::{Stream, StreamExt as _, stream};
use jiff::{ToSpan as _, ZonedDateTime};
use simulate::{Fleet, Simulation};
use tokio::net::TcpListener;
use wire::Ack;

use crate::app::State;
use crate::args::DemoSettings;
use crate::auth::Scope;
use crate::connections::{self, Limits};
use crate::exit::Usage;
use crate::filling::Filling;
use crate::progress::Progress;
use crate::router::router;
use crate::say;
use crate::serve::{CannotListen, bind};
use crate::stop::Stop;
use crate::store::{Place, Store};

/// Ports that are tried above the first.
const PORTS: u16 = 100;
/// The address is told when so many machines are here, so that the first look finds something.
const FIRST: u64 = 8;
/// Machines that are made or uploaded at the same time: both the simulation and the server have something to do.
const AT_ONCE: usize = 6;

/// The command `demo`.
///
/// # Errors
/// When no such fleet can be made, no port is free, or an upload is not taken.
pub async fn run(settings: DemoSettings) -> anyhow::Result<()> {
    if !settings.listen.ip().is_loopback() {
        let why = "failed to start: the demo answers without tokens, so it listens on this machine only";
        return Err(Usage(why.to_owned()).into());
    }
    let simulation = Arc::new(simulation(&settings)?);
    let machines = simulation.fleet().machines;
    // The folder of a demo that a signal kills stays behind.
    let stop = Stop::listen();
    let folder = tempfile::tempdir().context("failed to make a temporary folder")?;
    let place = Place::File(folder.path().join("demo.sqlite"));
    let store = Store::open(&place).await.with_context(|| format!("failed to open {place}"))?;
    store.migrate().await?;
    let agent = store.create_token(Scope::Agent, "demo agent").await?.secret;
    let reader = store.create_token(Scope::Reader, "demo reader").await?.secret;

    let listener = next_free(settings.listen).await?;
    let url = format!("http://{}", listener.local_addr().context("failed to read the address that was bound")?);
    let filling = Arc::new(Filling::new(machines));
    let app = Arc::new(State::for_demo(store, filling.clone()));
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(connections::serve(listener, router(app.clone()), Limits::default(), async move {
        // A dropped sender means the same as a signal: the upload failed.
        let _ = ended.await;
    }));

    let shown = async {
        let bar = Progress::items("machines", machines);
        let mut logs = 0;
        let mut uploads = pin!(uploads(&url, &agent, &simulation)?);
        while let Some(uploaded) = uploads.next().await {
            logs += uploaded?;
            bar.add(1);
            if filling.one_more() == FIRST.min(machines) {
                bar.beside(|| welcome(&url, &reader));
            }
        }
        drop(bar);
        tell(format_args!("all {machines} machines are here, with {logs} logs"));
        std::future::pending().await
    };
    // Whoever wants it to end while it fills need not ask twice.
    let filled = tokio::select! {
        filled = shown => filled,
        () = stop.asked() => Ok(()),
    };
    // Pages that watch arrivals end by that.
    app.stopping.store(true, Ordering::Relaxed);
    drop(end);
    server.await.context("failed to stop in good order")?;
    app.store.close().await;
    filled
}

/// The fleet that is asked for, with its last day where that belongs.
fn simulation(settings: &DemoSettings) -> anyhow::Result<Simulation> {
    let usage = |why: String| Usage(format!("failed to start: {why}"));
    // The last whole day: no log is from the future, at whatever hour the demo starts.
    let until = match settings.until {
        Some(until) => until,
        None => ZonedDateTime::now().date().yesterday().context("failed to read the date")?,
    };
    let mut fleet = Fleet::example()?;
    let first = until.checked_sub((i64::from(settings.days) - 1).days());
    fleet.first_day = first.map_err(|_| usage(format!("there are no {} days before {until}", settings.days)))?;
    let fleet = fleet.resized(Some(settings.machines), Some(settings.days));
    Ok(Simulation::new(fleet.map_err(|error| usage(error.to_string()))?, settings.seed))
}

fn welcome(url: &str, reader: &str) {
    tell(format_args!("Weavewatch demo: {url}/\nreader token: {reader}"));
    say::note("Look around while it fills. Everything is thrown away when this program ends (ctrl-c).");
}

/// A server whose output takes nothing goes on.
fn tell(line: std::fmt::Arguments<'_>) {
    if let Err(error) = say::unless_gone(say::data(line)) {
        tracing::warn!("failed to print {line}: {error}");
    }
}

/// The first free port from the given one upwards.
async fn next_free(first: SocketAddr) -> Result<TcpListener, CannotListen> {
    let mut address = first;
    loop {
        match bind(address).await {
            Err(error) if error.is_taken() && address.port() != 0 && address.port() - first.port() < PORTS => {
                let Some(port) = address.port().checked_add(1) else { return Err(error) };
                address.set_port(port);
            }
            result => return result,
        }
    }
}

/// Makes and sends the machines one after the other, several at a time; answers the logs of each that is here.
fn uploads<'d>(
    url: &'d str,
    token: &'d str,
    simulation: &Arc<Simulation>,
) -> anyhow::Result<impl Stream<Item = anyhow::Result<u64>> + 'd> {
    // The client wants a TLS stack although it never leaves this machine; a second installation is harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().context("failed to set up the HTTP client")?;
    let simulation = simulation.clone();
    let machines = stream::iter(0..simulation.fleet().machines).map(move |index| {
        let (simulation, client) = (simulation.clone(), client.clone());
        async move {
            // Threads of their own, so that pages are answered meanwhile.
            let made = tokio::task::spawn_blocking(move || machine::packed_batches(&simulation, index)).await;
            let mut logs = 0;
            for batch in made.context("failed to make a machine")?? {
                logs += batch.logs;
                send(&client, url, token, batch.packed).await?;
            }
            Ok(logs)
        }
    });
    Ok(machines.buffer_unordered(AT_ONCE))
}

async fn send(client: &reqwest::Client, url: &str, token: &str, packed: Vec<u8>) -> anyhow::Result<()> {
    let answer = client
        .post(format!("{url}/api/v1/ingest"))
        .bearer_auth(token)
        .header("content-type", "application/json")
        .header("content-encoding", "zstd")
        .body(packed)
        .send()
        .await
        .and_then(reqwest::Response::error_for_status)
        .context("failed to upload the simulated logs")?;
    let ack: Ack = answer.json().await.context("failed to read the answer to an upload")?;
    if let Some(refusal) = ack.refused.first() {
        bail!("failed to upload a simulated log: {}", refusal.reason);
    }
    Ok(())
}
