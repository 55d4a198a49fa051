//! `cargo xtask catalog`: the catalogue of events from tables of manifests.

mod corrections;
mod dotnet;
mod fields;
mod keywords;
mod manifest;
mod merge;
mod report;
mod rows;
mod structures;

use crate::{Error, Outcome, workspace};
use corrections::Corrections;
use etw_layouts_catalog::{Entry, Mask, SOURCES, write};
use etw_layouts_payload::Uuid;
use etw_layouts_schemas::{Map, Provider};
use liblzma::bufread::XzDecoder;
use liblzma::stream::{Check, Filters, LzmaOptions, Stream};
use report::Report;
use rows::Row;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Make the catalogue of events from tables of manifests.
///
/// Writes catalog/events.txt.xz and prints what was read, changed and left out.
#[derive(clap::Args)]
pub struct Args {
    /// Tables of events with their sources, in xz.
    #[arg(value_name = "TABLE", required = true)]
    tables: Vec<PathBuf>,
    /// Table of events of build 28000, with types and names of fields only, in xz.
    #[arg(long, value_name = "TABLE")]
    events_28000: PathBuf,
    /// Manifest of the .NET runtime.
    #[arg(long, value_name = "MANIFEST")]
    clr: PathBuf,
    /// Tables of the .NET runtime's further events, of their value maps, and of their names.
    #[arg(long, value_names = ["EVENTS", "MAPS", "NAMES"], num_args = 3)]
    dotnet: Vec<PathBuf>,
    /// Output file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print all forms of fields with their counts.
    #[arg(long)]
    forms: bool,
}

pub fn run(args: &Args) -> Result<Outcome, Error> {
    let mut report = Report::default();
    let tables = args.tables.iter().map(|path| table(path)).collect::<Result<Vec<_>, _>>()?;
    let dotnet = args.dotnet.iter().map(|path| plain(path)).collect::<Result<Vec<_>, _>>()?;
    let providers = manifest::read(&args.clr, &mut report)?;
    let entries = reduce(&tables, &table(&args.events_28000)?, providers, &dotnet, &mut report)?;
    let text = write(&entries, &comments());
    let packed = pack(text.as_bytes()).map_err(|error| Error::from(error.to_string()))?;
    let path = args.out.clone().unwrap_or(workspace::root().join("catalog/events.txt.xz"));
    std::fs::write(&path, &packed).map_err(|error| Error::from(format!("{}: {error}", path.display())))?;
    anstream::print!("{report}");
    if args.forms {
        report.forms().iter().for_each(|(form, count)| anstream::println!("{count:>8}  {form}"));
    }
    anstream::println!("{} providers, {} bytes, {} compressed, in {}", entries.len(), text.len(), packed.len(), path.display());
    Ok(Outcome::Good)
}

fn table(path: &Path) -> Result<String, Error> {
    let failed = |error: std::io::Error| Error::from(format!("{}: {error}", path.display()));
    let file = std::io::BufReader::new(std::fs::File::open(path).map_err(failed)?);
    let mut text = String::new();
    XzDecoder::new(file).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

fn plain(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| Error::from(format!("{}: {error}", path.display())))
}

/// The catalogue of the tables.
fn reduce(
    tables: &[String],
    events_28000: &str,
    mut clr: Vec<Provider>,
    dotnet: &[String],
    report: &mut Report,
) -> Result<Vec<Entry>, Error> {
    let mut rows: Vec<Row> = tables.iter().flat_map(|table| rows::manifest_events(table, report)).collect();
    let guids: BTreeMap<String, Uuid> = rows.iter().map(|row| (row.provider.clone(), row.guid)).collect();
    rows.extend(rows::events_28000(events_28000, &guids, report));
    structures::resolve(&mut rows, report);
    rows.extend(clr.iter().flat_map(|provider| manifest::rows(provider, "clr", report)));
    if let [events, maps, names] = dotnet {
        rows.extend(dotnet::rows(events, maps, names, &mut clr, report));
    }
    Corrections::read()?.apply(&mut rows, report)?;
    let mut providers: BTreeMap<Uuid, Vec<Row>> = BTreeMap::new();
    for row in rows {
        providers.entry(row.guid).or_default().push(row);
    }
    let maps = |guid| clr.iter().find(|provider| provider.guid == guid).map_or(Vec::new(), |provider| provider.maps.clone());
    Ok(providers.into_iter().map(|(guid, rows)| entry(guid, &rows, maps(guid), report)).collect())
}

fn entry(guid: Uuid, rows: &[Row], maps: Vec<Map>, report: &mut Report) -> Entry {
    let sizes = merge::sizes(rows);
    let mut events: BTreeMap<(u16, u8), Vec<Row>> = BTreeMap::new();
    for row in rows {
        events.entry((row.id, row.version)).or_default().push(row.clone());
    }
    let keywords = keywords::masks(&events, report);
    let merged = events.values().flat_map(|rows| merge::merge(rows, &sizes, report));
    let (events, sources) = merged.unzip();
    let name = rows.first().map_or_else(String::new, |row| row.provider.clone());
    Entry { provider: Provider { guid, name, keywords, maps, events, ..Provider::default() }, sources }
}

/// The lines before the first provider: the sources, each with its bit.
fn comments() -> String {
    let sources = SOURCES
        .iter()
        .map(|source| format!("# {:x} {}: {}, {}\n", Mask::named(source.name).0, source.name, source.release, source.repository));
    format!("# Made by `cargo xtask catalog`. Sources:\n{}", sources.collect::<String>())
}

fn pack(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut options = LzmaOptions::new_preset(9 | liblzma::stream::PRESET_EXTREME)?;
    options.literal_context_bits(4).position_bits(0);
    let stream = Stream::new_stream_encoder(Filters::new().lzma2(&options), Check::Crc32)?;
    let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
    encoder.write_all(text)?;
    encoder.finish()
}
