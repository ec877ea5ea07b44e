//! A cost as people read it: the sentence, who told which number, what was measured, and a table for every question.

use resolver::cost::words;
use wire::{
    CostInput, CostReport, CostSource, MeasuredCost, PageTables, PlacementCost, Span, Strategies, StrategyCost,
    SurfaceMemory, Way,
};

use crate::document::{Block, Document, Table};

/// The whole page; `notes` are what a reader should know of the way the source was read.
pub fn page(report: &CostReport, notes: &[String]) -> Document {
    let mut page = Document::default();
    page.push(Block::Title("What crossing costs".to_owned()));
    page.push(Block::Verdict(report.conclusion.clone()));
    page.push(Block::Facts(vec![("Source".to_owned(), report.source.clone())]));
    page.section("Numbers that went in", [inputs(&report.inputs)]);
    page.section(
        "What would narrow the answer",
        [Block::Bullets(report.missing.iter().map(|own| missing(own)).collect())],
    );
    if let Some(measured) = &report.measured {
        page.section("What the log measured", [Block::Facts(measured_facts(measured)), planes(measured)]);
    }
    page.section("Ways to the panel", [placements(&report.placements)]);
    page.section("Memory of what crosses", [surfaces(&report.surfaces)]);
    page.section("Page tables for it, at its largest", report.page_tables.iter().map(page_tables));
    if let Some(strategies) = &report.strategies {
        page.section("GPUs, the strongest first", [adapters(strategies)]);
        page.section("Ways to use them", [shared(strategies), waits(strategies)]);
        page.section("Who does what", [Block::Bullets(strategies.strategies.iter().filter_map(work).collect())]);
        let verdicts = strategies.strategies.iter().map(|own| format!("{}: {}", own.strategy, own.verdict));
        page.section("Do they keep the refresh rate?", [Block::Bullets(verdicts.collect())]);
    }
    page.section("Keep in mind", [Block::Bullets(notes.iter().cloned().chain(caveats(report)).collect())]);
    page
}

/// A way in words.
pub fn way(way: Way) -> &'static str {
    match way {
        Way::Local => "Nothing crosses",
        Way::AtlasPerFrame => "One atlas per rendered frame crosses",
        Way::EveryPresentOneCopy => "Every present crosses, in one copy",
        Way::EveryPresentTwoCopies => "Every present crosses, in two copies",
        Way::GlInteropShare => "OpenGL interop reads across",
        Way::GlInteropCopy => "OpenGL interop copies over and back",
    }
}

/// What a way moves, as the beginning of a sentence that its verdict ends; empty where nothing moves.
pub(super) fn moved(own: &PlacementCost) -> String {
    match own.bytes_per_second {
        Some(rate) if rate == Span::exact(0.0) => String::new(),
        rate @ Some(_) => format!("{}, {}; ", words::rate(rate), own.basis),
        None => match own.bytes_per_frame {
            bytes @ Some(_) => format!("{} a picture, {}; ", words::bytes(bytes), own.basis),
            None => String::new(),
        },
    }
}

fn inputs(inputs: &[CostInput]) -> Block {
    let rows = inputs.iter().map(|own| vec![own.name.to_string(), value(own), teller(own)]);
    Block::Table(Table { columns: vec!["Number", "Value", "Told by"], rows: rows.collect() })
}

/// A number with who told it: `60, told by the log, line 12`.
pub fn told_by(input: &CostInput) -> String {
    format!("{}, told by {}", value(input), teller(input))
}

fn value(input: &CostInput) -> String {
    let low = plain(input.low);
    match input.high.map(plain) {
        Some(high) if high == low => low,
        Some(high) => format!("{low} to {high}"),
        None => format!("at least {low}"),
    }
}

fn teller(input: &CostInput) -> String {
    let by = match input.source {
        CostSource::Given => "the command line",
        CostSource::Log => "the log",
        CostSource::Machine => "the machine",
        CostSource::Reference => "the reference laptop",
        CostSource::Bounds => "nobody: what is possible",
    };
    let line = input.line.map(|line| format!(", line {line}")).unwrap_or_default();
    format!("{by}{line}")
}

/// As few digits as tell it.
fn plain(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn missing(name: &str) -> String {
    let (what, option) = match name {
        "panel_px" => ("the size of the panel", "--panel WIDTHxHEIGHT"),
        "atlas_px" => ("the size of the atlas", "--atlas WIDTHxHEIGHT"),
        "bytes_per_pixel" => ("the pixel format", "--bytes-per-pixel N"),
        "refresh_hz" => ("the refresh rate", "--refresh-hz N"),
        "rendered_hz" => ("how many frames the app renders", "--rendered-hz N"),
        "link_bytes_per_second" => ("what the link between the GPUs carries", "--link-gb-per-s N"),
        other => (other, "no option"),
    };
    format!("{what}: {option}")
}

/// What the counters say, by name.
pub fn measured_facts(measured: &MeasuredCost) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut tell = |name: &str, value: String| facts.push((name.to_owned(), value));
    if measured.windows > 0 {
        tell("Windows", format!("{}, {} s in all", measured.windows, plain(measured.seconds)));
        tell("Over the bridge", words::bytes(Some(Span::exact(measured.bridge_bytes))));
        tell("Per second", words::rate(measured.bytes_per_second));
    }
    if measured.frames_per_second.is_some() {
        tell("Frames into the bridge", format!("{} a second", words::number(measured.frames_per_second)));
        tell("Per frame", words::bytes(measured.bytes_per_frame));
    }
    if let Some(staged) = measured.staged_share {
        tell(
            "Staged",
            format!("{} of them, one copy more on the render GPU", words::percent(Some(Span::exact(staged)))),
        );
    }
    if let Some(rate) = measured.link_at_least_bytes_per_second {
        tell("The link carried", words::rate(Some(Span { low: rate, high: f64::INFINITY })));
    }
    for (name, ms) in [("Set-up, once a session", measured.setup_ms), ("Of it the bridge", measured.bridge_setup_ms)] {
        if ms.is_some() {
            tell(name, words::ms(ms));
        }
    }
    let thousandths = |own: Span<u64>| own.real().times(Span::exact(0.001));
    for (name, us) in [("A client's frame", measured.client_render_us), ("Waiting for it", measured.wait_us)] {
        if let Some(us) = us {
            tell(name, format!("{} on average", words::ms(Some(thousandths(us)))));
        }
    }
    facts
}

fn planes(measured: &MeasuredCost) -> Block {
    let rows = measured.planes.iter().map(|own| {
        let half = if own.half_rate { "yes" } else { "no" };
        let bytes = words::bytes(Some(Span::exact(own.bytes)));
        vec![own.plane.clone(), bytes, own.copies.to_string(), own.skips.to_string(), half.to_owned()]
    });
    Block::Table(Table { columns: vec!["Plane", "Bytes", "Copies", "Skips", "Half rate"], rows: rows.collect() })
}

fn placements(rows: &[PlacementCost]) -> Block {
    let rows = rows.iter().map(|own| {
        let mark = if own.happened { "► " } else { "" };
        vec![
            format!("{mark}{}", way(own.placement)),
            words::bytes(own.bytes_per_frame),
            words::rate(own.bytes_per_second),
            words::percent(own.frame_share),
            own.verdict.clone(),
        ]
    });
    let columns = vec!["Way", "A picture", "A second", "Of a frame", "Verdict"];
    Block::Table(Table { columns, rows: rows.collect() })
}

fn surfaces(surfaces: &[SurfaceMemory]) -> Block {
    let rows = surfaces.iter().map(|own| {
        vec![
            own.surface.to_string(),
            own.held_by.to_string(),
            own.mapped_by.join(", "),
            words::number(Some(own.count.real())),
            words::bytes(Some(own.bytes_each)),
            words::bytes(Some(own.in_4k_pages_bytes)),
            words::bytes(Some(own.in_64k_pages_bytes)),
            words::bytes(Some(own.waste_64k_bytes)),
        ]
    });
    let columns = vec!["Surface", "Held by", "Mapped by", "How many", "One", "4 KiB pages", "64 KiB pages", "Waste"];
    Block::Table(Table { columns, rows: rows.collect() })
}

fn page_tables(own: &PageTables) -> Block {
    let all = |what: &str, entries: String, tables: String, bytes: u64| {
        vec![own.role.to_string(), what.to_owned(), entries, tables, words::bytes(Some(Span::exact(bytes)))]
    };
    let mut rows: Vec<_> = own
        .levels
        .iter()
        .map(|level| all(&level.level.to_string(), level.entries.to_string(), level.tables.to_string(), level.bytes))
        .collect();
    rows.push(all("all", String::new(), String::new(), own.bytes));
    if own.mirrored_bytes > 0 {
        rows.push(all("on both GPUs", String::new(), String::new(), own.bytes_on_all_adapters));
        rows.push(all("of it mirrored", String::new(), String::new(), own.mirrored_bytes));
    }
    Block::Table(Table { columns: vec!["Address space", "Level", "Entries", "Tables", "Bytes"], rows })
}

fn adapters(strategies: &Strategies) -> Block {
    let rows = strategies.adapters.iter().map(|own| {
        let rank = match (&own.excluded, own.rank) {
            (Some(why), _) => format!("left out: {why}"),
            (None, Some(rank)) => rank.to_string(),
            (None, None) => "cannot be ranked".to_owned(),
        };
        let panel = if own.scanout { "yes" } else { "no" };
        vec![own.index.to_string(), own.name.clone(), rank, panel.to_owned()]
    });
    Block::Table(Table { columns: vec!["GPU", "Name", "Rank", "Drives the panel"], rows: rows.collect() })
}

fn mark(strategies: &Strategies, own: &StrategyCost) -> String {
    let mark = if strategies.cheapest.as_ref() == Some(&own.strategy) { "► " } else { "" };
    format!("{mark}{}", own.strategy)
}

fn shared(strategies: &Strategies) -> Block {
    let rows = strategies.strategies.iter().map(|own| {
        let keeps = match own.keeps {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not known",
        };
        vec![
            mark(strategies, own),
            own.device_mask.clone().unwrap_or_else(|| "none".to_owned()),
            words::bytes(own.bytes_per_frame),
            words::rate(own.bytes_per_second),
            words::percent(own.frame_share),
            keeps.to_owned(),
        ]
    });
    let columns = vec!["Way", "GPUs", "Across, a frame", "A second", "Link busy", "Keeps the rate"];
    Block::Table(Table { columns, rows: rows.collect() })
}

fn waits(strategies: &Strategies) -> Block {
    let rows = strategies.strategies.iter().map(|own| {
        let memory = own.memory.iter().map(|held| {
            let whose = held.adapter.map_or_else(|| "system".to_owned(), |adapter| format!("GPU {adapter}"));
            format!("{whose} {}", words::bytes(Some(held.bytes)))
        });
        vec![
            mark(strategies, own),
            words::number(own.copies_per_frame),
            own.sync_points_per_frame.map_or_else(|| "unknown".to_owned(), |own| own.to_string()),
            words::number(own.added_latency_frames),
            own.scene_copies.map_or_else(|| "unknown".to_owned(), |own| own.to_string()),
            memory.collect::<Vec<_>>().join(", "),
        ]
    });
    let columns = vec!["Way", "Copies", "Waits", "Frames later", "Scene copies", "Memory of its surfaces"];
    Block::Table(Table { columns, rows: rows.collect() })
}

fn work(own: &StrategyCost) -> Option<String> {
    let work: Vec<_> = own.work.iter().map(|work| format!("GPU {} {}", work.adapter, work.does)).collect();
    (!work.is_empty()).then(|| format!("{}: {}", own.strategy, work.join(", ")))
}

/// Where counters and sizes say different things, both are told.
fn caveats(report: &CostReport) -> Vec<String> {
    let mut caveats = Vec::new();
    let measured = report.measured.as_ref().and_then(|own| own.bytes_per_frame);
    let atlas = report.surfaces.iter().find(|own| own.surface == "egress ring").map(|own| own.bytes_each);
    if let (Some(measured), Some(atlas)) = (measured, atlas)
        && (measured.high < atlas.low / 2 || measured.low > atlas.high.saturating_mul(2))
    {
        caveats.push(format!(
            "The counters say {} a frame where an atlas has {}: pictures that did not change, or were cropped, do not cross \
             in full.",
            words::bytes(Some(measured)),
            words::bytes(Some(atlas))
        ));
    }
    if report.inputs.iter().any(|own| own.source == CostSource::Reference) {
        caveats.push(
            "Some numbers are those of the reference laptop, because they were asked for: they say what this would cost there."
                .to_owned(),
        );
    }
    if report.strategies.is_some() {
        caveats.push(
            "The GPU that ranks first is taken to render in time, as it does today; --frame-ms GPU=MS tells how long a GPU \
             takes. Memory leaves out the scene's own resources, which every GPU that renders holds once."
                .to_owned(),
        );
    }
    caveats
}
