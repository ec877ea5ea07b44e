//! Is the columnar copy there, ours, and as far as the database?

use std::time::Duration;

use super::Check;
use crate::columnar::{Error, State, state};
use crate::store::Store;

/// An object store that is away is asked again and again for minutes, which is longer than anybody waits here.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) async fn examine(store: &Store, url: &str, closed_after_days: u32) -> Check {
    match tokio::time::timeout(PATIENCE, state(store, url, closed_after_days)).await {
        Ok(Ok(state)) => told(url, state),
        Ok(Err(error)) => {
            let advice = match error {
                Error::Damaged(_) | Error::Foreign(_) => "see there; without its manifest.json it is written anew",
                _ => "look at the place, its rights and AWS_* in the environment",
            };
            Check::failed("columnar", format!("{:#}", anyhow::Error::new(error)), advice)
        }
        Err(_) => Check::failed(
            "columnar",
            format!("{url} does not answer within {} s", PATIENCE.as_secs()),
            "look whether it runs, and at AWS_ENDPOINT_URL in the environment",
        ),
    }
}

fn told(url: &str, state: State) -> Check {
    let (days, written, due, late) = match state {
        State::Nothing => {
            let advice = "`serve` with the same --columnar writes it, or `columnar --once`";
            return Check::warning("columnar", format!("nothing was written to {url} yet"), advice);
        }
        State::Foreign => {
            let found = format!("{url} holds the copy of another database");
            return Check::failed("columnar", found, "name an empty place with --columnar");
        }
        State::Ours { days, written, due, late } => (days, written, due, late),
    };
    let found = match due {
        0 => format!("{days} days, and none to write"),
        _ => format!("{days} days, written {written}; {due} days wait to be written"),
    };
    if late == 0 {
        return Check::ok("columnar", found);
    }
    let found = format!("{found}, {late} of them for more than a day");
    Check::warning("columnar", found, "look at the log of `serve --columnar`, or write them with `columnar --once`")
}
