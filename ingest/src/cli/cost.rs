//! What can be typed after `cost`: a log or a machine, numbers that somebody knows, and what to compare.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use resolver::cost::memory::{Layout, PageSize, Sharing};
use resolver::cost::{Frame, Pixels};
use triage::cost::{Asked, Paging};
use wire::{Path, Policy, Span};

use super::PageFormat;
use super::offline::{path, policy};

/// `weavewatch cost`.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line, on or not")]
#[command(group(ArgGroup::new("source").required(true).args(["log", "machine"])))]
#[command(after_long_help = "Examples:
  weavewatch cost MyViewer.log                         what the log measured, and what that means for the link
  weavewatch cost MyViewer.log --json                  the same for programs (schema weavewatch.cost/1)
  weavewatch cost --machine laptop.json --reference    what the rules expect there, with the reference laptop's
                                                       60 Hz, 3.04 GB/s, four bytes a pixel, side-by-side atlas
  weavewatch cost --machine laptop.json --strategies --refresh-hz 60 --link-gb-per-s 3.04 --frame-ms 1=25
      every way to use the GPUs, and the cheapest that keeps 60 Hz
  weavewatch cost --machine one-gpu.json --strategies --reference --virtual-instances 2
      the same on one GPU that pretends to be two
  weavewatch cost --machine laptop.json --reference --page-levels 9,9,9,9
      with the page tables for what crosses, leaf first

A number that nobody tells is an interval or `unknown`, never made up; the page says who told
each number and which option would narrow the answer. What a log measured wins over estimates,
what is typed here wins over the log. Rates may be LOW..HIGH. Units are decimal (1 GB is 10^9 bytes).")]
pub struct CostArgs {
    /// A log, a .zip bundle (its last log is taken) or one member of it, or `-` for standard input.
    pub log: Option<PathBuf>,
    /// A machine file, a log, or saved output of `displayxr-cli info`: the cost of what the rules expect there.
    #[arg(long, value_name = "FILE")]
    pub machine: Option<PathBuf>,
    /// Compare ways to use all GPUs, and name the cheapest that keeps the refresh rate.
    #[arg(long)]
    strategies: bool,
    /// Take the reference laptop's numbers for what is not told: 60 Hz, 3.04 GB/s, four bytes a pixel, an atlas of half the
    /// panel.
    #[arg(long)]
    reference: bool,
    /// For a machine, which compositor: d3d11, d3d12, vulkan, opengl, service, ipc_client or unknown.
    #[arg(long, value_name = "PATH", value_parser = path, default_value = "d3d11", conflicts_with = "log")]
    pub path: Path,
    /// For a machine, the rules: `document` is the adapter-selection document, `adr039` the newest code.
    #[arg(long, value_name = "POLICY", value_parser = policy, default_value = "document", conflicts_with = "log")]
    pub policy: Policy,
    /// Refresh rate of the panel.
    #[arg(long, value_name = "HZ", value_parser = rate)]
    refresh_hz: Option<Span<f64>>,
    /// Frames that the app renders per second.
    #[arg(long, value_name = "HZ", value_parser = rate)]
    rendered_hz: Option<Span<f64>>,
    /// What the link between the GPUs carries, in 10^9 bytes per second.
    #[arg(long, value_name = "GB", value_parser = rate)]
    link_gb_per_s: Option<Span<f64>>,
    /// Size of the panel in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = pixels)]
    panel: Option<Pixels>,
    /// Size of the atlas in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = pixels)]
    atlas: Option<Pixels>,
    /// Views that the atlas holds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    views: Option<u32>,
    /// Bytes a pixel: 4 for 8 and 10 bits a channel, 8 for half floats.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=16))]
    bytes_per_pixel: Option<u64>,
    /// Bytes of the planes that cross beside each atlas.
    #[arg(long, value_name = "N", default_value_t = 0)]
    planes_bytes: u64,
    /// How long a GPU takes for a whole frame, by its place in the list from 0; may repeat.
    #[arg(long, value_name = "GPU=MS", value_parser = frame_ms)]
    frame_ms: Vec<(u32, f64)>,
    /// Bytes a pixel that one pass hands to the next on another GPU.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=256))]
    pass_bytes_per_pixel: Option<u64>,
    /// Pretend that the strongest GPU is there so often, to try ways for several.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    virtual_instances: u32,
    /// Count page tables: bits of each level, the leaf first.
    #[arg(long, value_name = "BITS,…", value_delimiter = ',')]
    page_levels: Vec<u32>,
    /// Bits of the offset in a page.
    #[arg(long, value_name = "BITS", default_value_t = 12, requires = "page_levels")]
    page_offset_bits: u32,
    /// Bytes of an entry of a page table.
    #[arg(long, value_name = "N", default_value_t = 8, requires = "page_levels")]
    page_entry_bytes: u64,
    /// The GPUs keep their own memory in pages of 4 KiB instead of 64 KiB.
    #[arg(long, requires = "page_levels")]
    small_pages: bool,
    /// The GPUs are linked: their root table is mirrored.
    #[arg(long, requires = "page_levels")]
    linked: bool,
    /// How to print.
    #[arg(long, value_enum, default_value = "text")]
    format: PageFormat,
    /// Short for `--format json`.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl CostArgs {
    /// The format that was asked for.
    pub fn format(&self) -> PageFormat {
        if self.json { PageFormat::Json } else { self.format }
    }

    /// What the model is asked.
    ///
    /// # Errors
    /// When no GPU has such page tables: wrong usage, in words.
    pub fn asked(&self) -> Result<Asked, String> {
        let paging = if self.page_levels.is_empty() {
            None
        } else {
            let layout = Layout::new(self.page_offset_bits, &self.page_levels, self.page_entry_bytes);
            Some(Paging {
                layout: layout.map_err(|error| format!("no GPU has such page tables: {error}"))?,
                pages: if self.small_pages { PageSize::Small4K } else { PageSize::Large64K },
                sharing: if self.linked { Sharing::Linked } else { Sharing::Separate },
            })
        };
        Ok(Asked {
            given: Frame {
                panel_px: self.panel,
                atlas_px: self.atlas,
                atlas_at_most_px: None,
                views: self.views,
                bytes_per_pixel: self.bytes_per_pixel,
                refresh_hz: self.refresh_hz,
                rendered_hz: self.rendered_hz,
                link_bytes_per_s: self.link_gb_per_s.map(|own| own.times(Span::exact(1e9))),
                planes_bytes: Span::exact(self.planes_bytes),
            },
            reference: self.reference,
            strategies: self.strategies,
            frame_ms: self.frame_ms.iter().copied().collect::<BTreeMap<_, _>>(),
            pass_bytes_per_pixel: self.pass_bytes_per_pixel,
            virtual_instances: self.virtual_instances,
            paging,
        })
    }
}

fn positive(word: &str) -> Result<f64, String> {
    match word.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(format!("'{word}' is no number above 0")),
    }
}

fn rate(text: &str) -> Result<Span<f64>, String> {
    match text.split_once("..") {
        Some((low, high)) => {
            let (low, high) = (positive(low)?, positive(high)?);
            if low > high { Err(format!("{low} is more than {high}")) } else { Ok(Span { low, high }) }
        }
        None => positive(text).map(Span::exact),
    }
}

fn pixels(text: &str) -> Result<Pixels, String> {
    let side = |word: &str| word.parse::<u32>().ok().filter(|own| (1..=65536).contains(own));
    let sides = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
    let (width, height) = sides.ok_or("expected WIDTHxHEIGHT in pixels, such as 3840x2160")?;
    Ok(Pixels { width, height })
}

fn frame_ms(text: &str) -> Result<(u32, f64), String> {
    let (gpu, ms) = text.split_once('=').ok_or("expected GPU=MS, such as 1=12.5")?;
    let gpu = gpu.parse().map_err(|_| format!("'{gpu}' is no place in the list of GPUs, which starts at 0"))?;
    Ok((gpu, positive(ms)?))
}
