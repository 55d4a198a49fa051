//! `export offsets`: a lookup table of offsets for programs that run on any kernel.

use super::write::Parts;
use crate::object::object;
use crate::print::csv_cell;
use crate::{Error, Outcome, no_stdout};
use etw_layouts_codegen::axis::{Axis, Build};
use etw_layouts_codegen::registry::{Image, Pdb};
use etw_layouts_project::Project;
use etw_layouts_project::evidence::{Address, AddressBy};
use etw_layouts_project::offsets::{self, Cell, Column, OffsetTable, Row, Variable};
use serde::{Serialize, Serializer};
use std::io::Write;
use std::path::PathBuf;

/// Write a table of member offsets and variable addresses, with one row per examined kernel file (PDB or image).
///
///     etw export offsets ETW_GUID_ENTRY.Guid WMI_LOGGER_CONTEXT.LoggerName > offsets.csv
///     etw export offsets ETW_GUID_ENTRY ETW_GUID_ENTRY.Guid --format json
///     etw export offsets EtwThreatIntProvRegHandle PspHostSiloGlobals     addresses of variables
///
/// Members are written as offsets in bytes, bit fields as OFFSET:FIRST-LAST, and structures as their size. A cell is empty if
/// the build does not have the member. Addresses of global variables are in bytes from the start of the image; a cell is empty
/// if the address is unknown. Offsets, sizes, addresses and time stamps are hexadecimal in CSV, and numbers in JSON.
///
/// The columns are the identity of the build, then the members in the order given, then each variable, followed by the column
/// `VARIABLE evidence`, then `STRUCTURE confidence` for each structure. The evidence is the source of the address, or empty if
/// the build does not have the variable:
///   PDB                              the PDB of the build
///   image                            a table of kernel images that names this image
///   build                            a table of kernel images that names only build and architecture
///   build, in one of its 2 images    the same, but 2 images are known and the address can be that of the other one
///   unknown                          the build has the variable, but no known PDB or table states its address
///
/// The last columns state the confidence in the layout of each structure. `etw show STRUCTURE --build B` explains it.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// STRUCTURE.MEMBER for an offset, STRUCTURE for a size, or a global variable such as EtwpDebuggerData.
    #[arg(required = true, value_name = "MEMBER")]
    members: Vec<String>,
    /// Write only rows of this build, label, update or range: 10.0.19041.1415, 19045, 1809, 6.1..6.3.
    #[arg(long)]
    build: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// Write DIR/offsets.csv or DIR/offsets.json, or FILE with that extension. By default, print to standard output.
    #[arg(short, long, value_name = "DIR|FILE", value_parser = no_stdout())]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Comma-separated values, with the column names in the first line.
    Csv,
    /// One JSON document.
    Json,
}

pub(super) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.shared_layouts()?;
    let registry = project.registry(&layouts.spec.axis)?;
    if registry.builds.is_empty() {
        return Err("no examined builds: the specs have no facts; name a folder of facts with --facts".into());
    }
    let found = offsets::of(&layouts, &registry, &args.members, args.build.as_deref())?;
    if found.without_row > 0 {
        let noun = if found.without_row == 1 { "build has" } else { "builds have" };
        anstream::eprintln!(
            "note: {} examined {noun} no row: the version axis has no build with their layouts",
            found.without_row
        );
    }
    let name = if args.format == Format::Csv { "offsets.csv" } else { "offsets.json" };
    let mut parts = Parts::open(name, args.output.as_deref())?;
    match args.format {
        Format::Csv => csv(&found).try_for_each(|line| parts.write_all(line.as_bytes()))?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut parts, &table(&layouts.spec.axis, &found))?;
            parts.write_all(b"\n")?;
        }
    }
    parts.finish()
}

/// The lines of the table as comma-separated values.
pub fn csv(table: &OffsetTable) -> impl Iterator<Item = String> {
    let mut names: Vec<String> =
        ["build", "arch", "pdb", "guid", "age", "image", "time_stamp", "image_size"].map(str::to_owned).into();
    names.extend(table.columns.iter().map(|column| match &column.member {
        Some(member) => format!("{}.{member}", table.structure(column)),
        None => format!("sizeof({})", table.structure(column)),
    }));
    names.extend(table.variables.iter().flat_map(|name| [name.clone(), format!("{name} evidence")]));
    names.extend(table.structures.iter().map(|structure| format!("{structure} confidence")));
    [names.join(",") + "\n"].into_iter().chain(table.rows().map(|row| line(&row)))
}

fn line(Row { seen, choices, cells, variables }: &Row) -> String {
    let mut values = vec![build(seen.build), seen.arch.to_string()];
    values.extend(match &seen.pdb {
        Some(pdb) => [pdb.name.clone(), pdb.guid.to_string(), pdb.age.to_string()],
        None => Default::default(),
    });
    values.extend(match &seen.image {
        Some(image) => [image.name.clone(), format!("{:#x}", image.time_stamp), format!("{:#x}", image.size)],
        None => Default::default(),
    });
    values.extend(cells.iter().map(|cell| cell.as_ref().map(place).unwrap_or_default()));
    values.extend(variables.iter().flat_map(|place| match place {
        Variable::At(Address { at, by }) => [format!("{at:#x}"), by.evidence()],
        Variable::Unknown => [String::new(), UNKNOWN.to_owned()],
        Variable::Absent => Default::default(),
    }));
    values.extend(choices.iter().map(|choice| choice.confidence.word().to_owned()));
    // File names come from facts, which are untrusted.
    values.iter().map(|value| csv_cell(value)).collect::<Vec<_>>().join(",") + "\n"
}

fn place(cell: &Cell) -> String {
    let bits = cell.bits.map(|bits| format!(":{}-{}", bits.position, (bits.position + bits.width).saturating_sub(1)));
    format!("{:#x}{}", cell.value, bits.unwrap_or_default())
}

/// A build with all four numbers, even if it has no revision.
pub(super) fn build(build: Build) -> String {
    let Build { number: [major, minor, number], revision } = build;
    format!("{major}.{minor}.{number}.{revision}")
}

/// The table as JSON. A row is computed when it is written.
pub fn table<'a>(axis: &'a Axis, table: &'a OffsetTable<'a>) -> impl Serialize + 'a {
    object! { builds: Builds { axis, table } }
}

/// The rows of a table.
struct Builds<'a> {
    axis: &'a Axis,
    table: &'a OffsetTable<'a>,
}

impl Serialize for Builds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { axis, table } = self;
        serializer.collect_seq(table.rows().map(|row| examined(axis, table, &row)))
    }
}

fn examined<'a>(axis: &Axis, table: &'a OffsetTable, row: &Row<'a>) -> impl Serialize + use<'a> {
    let seen = row.seen;
    let cells = table.columns.iter().zip(&row.cells);
    object! {
        build: build(seen.build),
        arch: seen.arch.to_string(),
        pdb: seen.pdb.as_ref().map(pdb),
        image: seen.image.as_ref().map(image),
        members: cells.map(|(column, cell)| member(axis, table, row, column, *cell)).collect::<Vec<_>>(),
        variables: table.variables.iter().zip(&row.variables).map(|(name, of)| variable(name, *of)).collect::<Vec<_>>(),
    }
}

fn member<'a>(
    axis: &Axis,
    table: &'a OffsetTable,
    row: &Row,
    column: &'a Column,
    cell: Option<Cell>,
) -> impl Serialize + use<'a> {
    let (member, choice) = (&column.member, &row.choices[column.structure]);
    object! {
        structure: table.structure(column),
        // None for the size of the structure.
        member: member,
        size: cell.filter(|_| member.is_none()).map(|cell| cell.value),
        offset: cell.filter(|_| member.is_some()).map(|cell| cell.value),
        bit: cell.and_then(|cell| cell.bits).map(|bits| bits.position),
        bits: cell.and_then(|cell| cell.bits).map(|bits| bits.width),
        confidence: choice.confidence.word(),
        evidence: choice.sentence(axis),
        // Whether an image of this build shows the offset.
        in_image: cell.is_some_and(|cell| cell.in_image),
    }
}

/// The evidence of a variable whose address is unknown.
const UNKNOWN: &str = "unknown";

/// A global variable. Of an address by build, `images` is the number of known images of the build and architecture: the address is that in
/// one of them.
fn variable(name: &str, variable: Variable) -> impl Serialize {
    let (address, evidence, images) = match variable {
        Variable::Absent => (None, None, None),
        Variable::Unknown => (None, Some(UNKNOWN), None),
        Variable::At(Address { at, by }) => match by {
            AddressBy::Pdb => (Some(at), Some("pdb"), None),
            AddressBy::Image => (Some(at), Some("image"), None),
            AddressBy::Build(images) => (Some(at), Some("build"), Some(images)),
        },
    };
    object! { name: name, address: address, evidence: evidence, images: images }
}

/// The identity of a symbol file.
pub(super) fn pdb(pdb: &Pdb) -> impl Serialize {
    object! { name: &pdb.name, guid: pdb.guid.to_string(), age: pdb.age }
}

/// The identity of an image.
pub(super) fn image(image: &Image) -> impl Serialize {
    object! { name: &image.name, time_stamp: image.time_stamp, size: image.size }
}
