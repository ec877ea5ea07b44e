//! `weavewatch simulate`: a fleet of logs with the truth about each of them, in a folder or as a zip stream.
//!
//! `simulate` (the crate) makes the logs of a machine; here machines are made on many threads (`crew`), written where they
//! shall go (`sink`), and counted. What is made of a machine waits until the machines before it are written, so both ways
//! give the same bytes whatever the number of threads.

mod crew;
mod sink;
pub mod zip_stream;

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simulate::{EXAMPLE, Fleet, Simulation, Totals};

use self::crew::Part;
use self::sink::Sink;
use crate::cli::SimulateArgs;
use crate::exit::Exit;
use crate::problems::Problems;
use crate::show;

/// Fewer machines are made before a bar could be seen.
const WORTH_A_BAR: u64 = 200;

/// Runs the command.
pub fn run(args: &SimulateArgs) -> Exit {
    if args.show_fleet {
        return show::done(show::text(EXAMPLE));
    }
    let bar = ProgressBar::hidden();
    let problems = Problems::new(bar.clone());
    let prepared = prepare(args);
    let (simulation, sink) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            problems.note(format_args!("{error:#}"));
            return Exit::Usage;
        }
    };
    start(&bar, simulation.fleet().machines);
    let made = make(&simulation, sink, &bar);
    bar.finish_and_clear();
    match made {
        Ok(Some(totals)) => problems.note(summary(&totals)),
        // Whoever reads the stream had enough of it, such as `head`.
        Ok(None) => {}
        Err(error) => problems.unreadable("output", format_args!("{error:#}")),
    }
    problems.exit()
}

/// The fleet, and where it goes. What fails here has written nothing.
fn prepare(args: &SimulateArgs) -> Result<(Simulation, Sink)> {
    let fleet = match &args.fleet {
        None => Fleet::example()?,
        Some(file) => read_fleet(file)?,
    };
    let simulation = Simulation::new(fleet.resized(args.machines, args.days)?, args.seed);
    let out = args.out.as_deref().context("failed to start: --out says where the logs go")?;
    let truth = args.truth.as_deref();
    if out == Path::new("-") {
        if io::stdout().is_terminal() {
            bail!("failed to start: a zip stream is not for a terminal; pipe it, such as `| weavewatch scan -`");
        }
        return Ok((simulation, Sink::stream(truth.map(create).transpose()?)));
    }
    empty_folder(out)?;
    let truth = truth.map_or_else(|| out.join("truth.jsonl"), Path::to_owned);
    Ok((simulation, Sink::folder(out.to_owned(), create(&truth)?)))
}

fn read_fleet(file: &Path) -> Result<Fleet> {
    let text = fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))?;
    let beside = file.parent().unwrap_or(Path::new(""));
    let fleet = Fleet::parse(&text, &mut |name| fs::read_to_string(beside.join(name)).ok());
    fleet.with_context(|| format!("{}", file.display()))
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    let file = File::options().write(true).create_new(true).open(path);
    Ok(BufWriter::new(file.with_context(|| format!("failed to create {}; is it there already?", path.display()))?))
}

/// Makes the folder; one with something in it is left alone.
fn empty_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("failed to make the folder {}", folder.display()))?;
    let mut entries = fs::read_dir(folder).with_context(|| format!("failed to look into {}", folder.display()))?;
    if entries.next().is_some() {
        bail!("failed to start: the folder {} is not empty, and nothing in it is replaced", folder.display());
    }
    Ok(())
}

/// Makes all machines; `None` when the reader of the stream went away.
fn make(simulation: &Simulation, mut sink: Sink, bar: &ProgressBar) -> Result<Option<Totals>> {
    let mut totals = Totals::new();
    let form = sink.form();
    let made = crew::in_order(simulation, &form, &mut |part: Part| {
        sink.take(&part)?;
        totals.merge(part.totals);
        bar.inc(1);
        Ok(())
    });
    match made.and_then(|()| sink.finish(&totals)) {
        Ok(()) => Ok(Some(totals)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error).context("failed to write the fleet; is the disk full?"),
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

fn start(bar: &ProgressBar, machines: u64) {
    if machines < WORTH_A_BAR {
        return;
    }
    bar.set_length(machines);
    if let Ok(style) = ProgressStyle::with_template("making logs {bar:30} {pos}/{len} machines, {eta} left") {
        bar.set_style(style);
    }
    // Hides itself when stderr is no terminal.
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
}

fn summary(totals: &Totals) -> String {
    let all = &totals.total;
    let split = all.split;
    format!(
        "made {} logs ({} MB) of {} machines: {} split, {} do not, {} do not tell",
        all.logs,
        totals.bytes.div_ceil(1_000_000),
        all.machines,
        split.engaged,
        split.off,
        split.unknown
    )
}

/// The name of a path in the folder, whichever system made it.
fn below(folder: &Path, name: &str) -> PathBuf {
    name.split('/').fold(folder.to_owned(), |path, part| path.join(part))
}

/// Writes a value as JSON, with a newline.
fn json_line(out: &mut dyn io::Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
