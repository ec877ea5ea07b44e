//! The command `columnar`: writes or checks the copy by hand.

use std::io::IsTerminal as _;

use anyhow::Context;
use tokio::sync::Notify;

use super::{Copy, check, keep, run};
use crate::args::{CopyPlace, Database};
use crate::exit::Usage;
use crate::say;

pub(crate) async fn command(
    once: bool,
    only_check: bool,
    columnar: CopyPlace,
    database: Database,
) -> anyhow::Result<()> {
    let Some(url) = columnar.url else {
        return Err(Usage("failed to start: name the place of the copy with --columnar".to_owned()).into());
    };
    let copy = Copy::open(&url)?;
    if only_check {
        let checked = serde_json::to_string_pretty(&check(&copy).await?).context("failed to write the answer")?;
        return say::unless_gone(say::data(checked)).context("failed to print the answer");
    }
    let store = database.open().await?;
    // On a terminal somebody waits for it.
    let watched = std::io::stderr().is_terminal();
    let mut progress = |done: usize, all: usize| {
        if watched && all > 0 {
            say::note(format_args!("{done} of {all} days"));
        }
    };
    let done = run(&store, &copy, columnar.closed_after_days, &mut progress).await;
    if !once {
        if let Err(error) = done {
            say::note(format_args!("{:#}", anyhow::Error::new(error)));
        }
        keep(&store, &copy, columnar.closed_after_days, &Notify::new()).await;
        return Ok(());
    }
    store.close().await;
    let done = done?;
    say::note(format_args!(
        "wrote {} days, {} rows, {} bytes; removed {} files",
        done.days, done.rows, done.bytes, done.removed
    ));
    Ok(())
}
