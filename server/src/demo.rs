//! `demo`: a throw-away database, filled with the example logs through the real HTTP path.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};
use parser::LogReader;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use wire::{Ack, BATCH_SCHEMA, Batch, Segment};

use crate::app::State;
use crate::auth::Scope;
use crate::connections::{self, Limits};
use crate::exit::Usage;
use crate::router::router;
use crate::say;
use crate::serve::{CannotListen, bind};
use crate::stop::Stop;
use crate::store::{Place, Store};
use crate::text;

include!(concat!(env!("OUT_DIR"), "/fleet.rs"));

/// Ports that are tried above the first.
const PORTS: u16 = 100;
/// As the agent reads files: a piece at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// The command `demo`.
///
/// # Errors
/// When no port is free, or the upload is not taken.
pub async fn run(listen: SocketAddr) -> anyhow::Result<()> {
    if !listen.ip().is_loopback() {
        let why = "failed to start: the demo answers without tokens, so it listens on this machine only";
        return Err(Usage(why.to_owned()).into());
    }
    // The folder of a demo that a signal kills stays behind.
    let stop = Stop::listen();
    let folder = tempfile::tempdir().context("failed to make a temporary folder")?;
    let place = Place::File(folder.path().join("demo.sqlite"));
    let store = Store::open(&place).await.with_context(|| format!("failed to open {place}"))?;
    store.migrate().await?;
    let agent = store.create_token(Scope::Agent, "demo agent").await?.secret;
    let reader = store.create_token(Scope::Reader, "demo reader").await?.secret;

    let listener = next_free(listen).await?;
    let url = format!("http://{}", listener.local_addr().context("failed to read the address that was bound")?);
    let app = Arc::new(State::for_demo(store));
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(connections::serve(listener, router(app.clone()), Limits::default(), async move {
        // A dropped sender means the same as a signal: the upload failed.
        let _ = ended.await;
    }));

    let shown = async {
        upload(&url, &agent).await?;
        if let Err(error) = say::unless_gone(say::data(format_args!("Weavewatch demo: {url}/\nreader token: {reader}")))
        {
            tracing::warn!("failed to print the address {url}/: {error}");
        }
        say::note("Everything is thrown away when this program ends (ctrl-c).");
        std::future::pending().await
    };
    // Whoever wants it to end while it loads need not ask twice.
    let loaded = tokio::select! {
        loaded = shown => loaded,
        () = stop.asked() => Ok(()),
    };
    // Pages that watch arrivals end by that.
    app.stopping.store(true, Ordering::Relaxed);
    drop(end);
    server.await.context("failed to stop in good order")?;
    app.store.close().await;
    loaded
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

/// Sends every example log, one batch a machine.
async fn upload(url: &str, token: &str) -> anyhow::Result<()> {
    // The client wants a TLS stack although it never leaves this machine; a second installation is harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().context("failed to set up the HTTP client")?;
    for batch in batches() {
        let json = serde_json::to_vec(&batch).context("failed to write a batch")?;
        let packed = zstd::encode_all(json.as_slice(), 0).context("failed to pack a batch")?;
        let answer = client
            .post(format!("{url}/api/v1/ingest"))
            .bearer_auth(token)
            .header("content-type", "application/json")
            .header("content-encoding", "zstd")
            .body(packed)
            .send()
            .await
            .and_then(reqwest::Response::error_for_status)
            .context("failed to upload the example logs")?;
        let ack: Ack = answer.json().await.context("failed to read the answer to an upload")?;
        if let Some(refusal) = ack.refused.first() {
            bail!("failed to upload an example log: {}", refusal.reason);
        }
    }
    Ok(())
}

fn batches() -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for (machine, file, bytes) in FLEET {
        let machine = id(&format!("demo machine {machine}"));
        let segment = read(file, bytes);
        match batches.last_mut() {
            Some(batch) if batch.machine == machine => batch.segments.push(segment),
            _ => batches.push(Batch {
                schema: BATCH_SCHEMA.to_owned(),
                machine,
                agent: env!("CARGO_PKG_VERSION").to_owned(),
                segments: vec![segment],
                ..Batch::default()
            }),
        }
    }
    batches
}

/// One log, read the way the agent reads it.
fn read(file: &str, bytes: &[u8]) -> Segment {
    let mut observations = Vec::new();
    let mut reader = LogReader::new();
    for chunk in bytes.chunks(CHUNK_BYTES) {
        reader.feed(chunk, &mut |observation| observations.push(observation));
    }
    let mut facts = reader.finish(&mut |observation| observations.push(observation));
    facts.process = parser::file_name::merge(facts.process, file);
    Segment {
        log: id(&format!("demo log {file}")),
        file: file.to_owned(),
        start: 0,
        end: bytes.len() as u64,
        facts,
        observations,
        ..Segment::default()
    }
}

fn id(name: &str) -> String {
    text::hex(&Sha256::digest(name)[..16])
}
