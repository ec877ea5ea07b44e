//! What the agent says beside the logs: how it is, and what was lost. Batches without segments carry it.

use tokio::time::Instant;
use wire::{Ack, BATCH_SCHEMA, Batch, Heartbeat, Loss};

use crate::agent::live;
use crate::agent::sender::Sender;
use crate::agent::upload::Failure;
use crate::exit::Exit;

/// A server takes so many losses in one batch, at the least.
const MOST_LOSSES: usize = 5_000;

impl Sender<'_> {
    /// Reports where that is due.
    pub(super) async fn report_if_due(&mut self) {
        if self.next_report.is_some_and(|due| due <= Instant::now()) {
            self.next_report = Some(Instant::now() + self.shared.config.heartbeat);
            let heartbeat = self.heartbeat();
            self.report(Some(heartbeat)).await;
        }
    }

    /// With `--once` nobody else tells them.
    pub(super) async fn report_losses(&mut self) {
        if !self.report(None).await {
            self.sent.exit = self.sent.exit.max(Exit::Server);
        }
    }

    /// Tells how the agent is, and what was lost where that is more than the server knows. A report that fails is made
    /// again with the next one: everything in it is a total.
    async fn report(&mut self, heartbeat: Option<Heartbeat>) -> bool {
        let mut losses = self.shared.memory().losses();
        let lost = losses.iter().map(|loss| loss.events + loss.bytes).sum();
        if lost == self.told_losses {
            losses.clear();
        }
        for loss in &mut losses {
            self.privacy.loss(loss);
        }
        let mut told = losses.chunks(MOST_LOSSES).map(<[Loss]>::to_vec);
        let first = told.next();
        if heartbeat.is_none() && first.is_none() {
            return true;
        }
        let mut next = Some((heartbeat, first.unwrap_or_default()));
        while let Some((heartbeat, losses)) = next {
            match self.tell(heartbeat, losses).await {
                Ok(ack) => {
                    for remark in ack.left_out {
                        self.shared.problems.note(format_args!("the server left something out of a report: {remark}"));
                    }
                }
                Err(failure) => {
                    self.in_doubt = matches!(failure, Failure::Settings(_));
                    self.shared.trouble(&format!("failed to report: {:#}", failure.into_error()));
                    return false;
                }
            }
            next = told.next().map(|losses| (None, losses));
        }
        self.told_losses = lost;
        self.shared.say(|live| {
            live.last_contact = Some(live::now());
            live.last_error = None;
        });
        true
    }

    /// A batch without anything: does the server take batches at all?
    pub(super) async fn report_nothing(&self) -> Result<Ack, Failure> {
        self.tell(None, Vec::new()).await
    }

    async fn tell(&self, heartbeat: Option<Heartbeat>, losses: Vec<Loss>) -> Result<Ack, Failure> {
        let batch = Batch {
            schema: BATCH_SCHEMA.to_owned(),
            machine: self.shared.machine.clone(),
            agent: env!("CARGO_PKG_VERSION").to_owned(),
            segments: Vec::new(),
            heartbeat,
            losses,
        };
        let packed = serde_json::to_vec(&batch)
            .map_err(std::io::Error::from)
            .and_then(|json| zstd::bulk::compress(&json, zstd::DEFAULT_COMPRESSION_LEVEL));
        let packed = packed.map_err(|error| Failure::Passing(anyhow::Error::new(error), None))?;
        self.uploader.send(packed, 0).await
    }

    fn heartbeat(&self) -> Heartbeat {
        let memory = self.shared.memory();
        let live = self.shared.live();
        let (logs, finished) = memory.count();
        let mut heartbeat = Heartbeat {
            logs_followed: logs - finished,
            logs_finished: finished,
            queue_bytes: memory.queue_bytes(),
            lag_s: memory.oldest_age_s(),
            dropped: memory.ledger().dropped,
            slowed: live.slowed,
            config: live.config,
        };
        drop(memory);
        self.privacy.heartbeat(&mut heartbeat);
        heartbeat
    }
}
