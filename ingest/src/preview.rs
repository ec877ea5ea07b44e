//! `weavewatch preview`: the next upload, byte for byte, before it is packed; nothing is sent, kept or remembered.
//!
//! It is made by the code that makes uploads, from the ranges that wait, or else from what reading would find now.

use crate::agent::batch::{self, MOST_BYTES, MOST_SEGMENTS};
use crate::agent::config::Config;
use crate::agent::memory::View;
use crate::agent::{machine, reader};
use crate::cli::PreviewArgs;
use crate::exit::Exit;
use crate::problems::{Problems, say};
use crate::show;

/// Runs the command.
pub fn run(args: &PreviewArgs) -> Exit {
    let problems = Problems::new(indicatif::ProgressBar::hidden());
    let mut config = match Config::of_state(&args.state) {
        Ok(config) => config,
        Err(error) => {
            say(format_args!("{error:#}"));
            return Exit::Usage;
        }
    };
    if !args.dirs.is_empty() {
        config.dirs.clone_from(&args.dirs);
    }
    // A last line that is still being written would wait; it is shown, because it is sent some time.
    config.once = true;
    match next(&config, &problems) {
        Ok(Some(json)) => show::done(show::bytes(&json)).max(problems.exit()),
        Ok(None) => {
            say("nothing is to be sent");
            problems.exit()
        }
        Err(error) => {
            say(format_args!("{error:#}"));
            Exit::Unreadable
        }
    }
}

fn next(config: &Config, problems: &Problems) -> anyhow::Result<Option<Vec<u8>>> {
    config.home.create()?;
    let machine = machine::pseudonym(config.home.path())?;
    let view = View::of(&config.home, MOST_BYTES)?;
    let mut entries = view.entries;
    if entries.is_empty() {
        // As the sender takes them from the queue: as many as fit, and one whatever its length.
        let mut bytes = 0;
        reader::dry(config, view.logs.into_values().map(|state| state.position), problems, |entry| {
            bytes += serde_json::to_vec(&entry).map_or(0, |json| json.len());
            let fits = entries.is_empty() || bytes <= MOST_BYTES;
            if fits {
                entries.push(entry);
            }
            fits && entries.len() < MOST_SEGMENTS
        });
    }
    entries.truncate(MOST_SEGMENTS);
    Ok(if entries.is_empty() { None } else { Some(batch::json(&machine, &entries)?) })
}
