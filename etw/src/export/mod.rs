//! `export`.

mod confidence;
mod json;
mod kernels;
mod offsets;
mod write;

pub use json::document;
pub use offsets::{csv, table};

use crate::{Error, Outcome, map};
use etw_layouts_codegen::emit::c::Style;
use etw_layouts_codegen::emit::{c, cstruct, isf};
use etw_layouts_codegen::is_identifier;
use etw_layouts_project::Project;
use etw_layouts_project::map::Map;
use etw_layouts_project::names::Among;
use kernels::{Kernel, Kernels};

/// Write the layouts for other tools: C compilers, Ghidra and IDA, Volatility, dissect, Graphviz, and programs of your own.
///
///     etw export c 1709-x64 > layouts.h
///     etw export c --plain --only WMI_LOGGER_CONTEXT 10.0.19041.1415-x64    for Ghidra and IDA
///     etw export isf all -o tables                                          a table for each kernel
///     etw export offsets ETW_GUID_ENTRY.Guid ETW_REG_ENTRY.Callback         a row for each kernel that was seen
///     etw export json -o .                                                  everything in one file
///
/// Each file says how sure it is for the kernel that is named. One that nobody has seen takes the layouts of another.
///
/// `cargo xtask export` is the same on the specs of the workspace.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(subcommand)]
    format: Format,
}

/// What is written.
#[derive(clap::Subcommand)]
enum Format {
    /// A C header with static assertions, for C and C++ and the Microsoft ABI; with --plain for parsers that know no more than C.
    ///
    ///     etw export c 1709-x64 > layouts.h
    ///     clang -target x86_64-pc-windows-msvc -fsyntax-only layouts.h
    ///
    /// It declares structures, unions, enumerations, pointers to them (PLIST_ENTRY), flags and constants, in the order in which they
    /// need each other, and includes nothing but <stddef.h>, for its assertions. -DETW_LAYOUTS_ASSERTIONS=0 leaves these out.
    #[command(verbatim_doc_comment)]
    C(C),
    /// A table for Volatility 3 (Intermediate Symbol Format), with types; and with ETW's global variables, of a kernel whose PDB is known.
    ///
    ///     etw export isf 5.0-x86 -o volatility3/symbols/windows
    ///     etw export isf 10.0.19041.1415-x64 -o tables
    ///     etw export isf --pdb 3177d310-00ba-7590-ded3-35936c93e374-1 -o tables
    ///
    /// In a plugin: IntermediateSymbolTable.create(context, path, "windows", "5.0-x86"). The table of a label or of a kernel whose symbols
    /// nobody has read names no PDB, so that Volatility does not take it for the kernel's own table, and has no symbols; its
    /// producer's name says why.
    ///
    /// Addresses of variables are those of one PDB: of the kernel that is named by its build with its revision, or by --pdb. Such a table
    /// names the PDB. Without a known PDB they are those that a table of images has of the build; then the producer's name says so. Keep it out of Volatility's folders of symbols, where it would be taken for the kernel's own, which has far more;
    /// a plugin loads it by its URL: IntermediateSymbolTable(context, path, "etw", isf_url="file:///…").
    #[command(verbatim_doc_comment)]
    Isf(Kernels),
    /// Definitions for dissect.cstruct, which reads structures in Python.
    ///
    ///     etw export cstruct 2004-x64 > layouts.h
    ///     python3 -c 'from dissect.cstruct import cstruct; cstruct(pointer="uint64").loadfile("layouts.h")'
    ///
    /// All padding is declared, so that nothing needs to be aligned. What it cannot say is a comment there: the types of pointers
    /// to functions, and to structures that are declared later or not at all.
    #[command(verbatim_doc_comment)]
    Cstruct(Kernels),
    Offsets(offsets::Args),
    Json(json::Args),
    /// The map of the structures as a graph for Graphviz, as `etw map --format dot` prints it.
    ///
    ///     etw export dot 1709-x64 | dot -Tsvg > map.svg
    #[command(verbatim_doc_comment)]
    Dot(Kernels),
    /// The map of the structures as a picture, as `etw map --format svg` prints it and the atlas shows it. It needs no Graphviz.
    ///
    ///     etw export svg 1709-x64 > map.svg
    #[command(verbatim_doc_comment)]
    Svg(Kernels),
}

#[derive(clap::Args)]
struct C {
    #[command(flatten)]
    kernels: Kernels,
    /// Begin the names of all types and constants with this, so that they are none of windows.h or of another header.
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    /// C11 without extensions of a compiler: all padding is declared, and no alignment stated. Assertions of sizes and offsets are there if
    /// ETW_LAYOUTS_ASSERTIONS is defined as 1; they hold where pointers have the target's size. For parsers that take no comments and
    /// no directives, such as pycparser, preprocess it: gcc -E -P layouts.h.
    #[arg(long)]
    plain: bool,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    match &args.format {
        Format::C(C { kernels, prefix, plain }) => {
            if !prefix.is_empty() && !is_identifier(prefix) {
                return Err(format!("no name of C can begin with `{prefix}`").into());
            }
            kernels.write(project, Among::All, "h", |kernel| {
                let Kernel { layouts, choice, only, .. } = kernel;
                let confidence = kernel.confidence();
                let style = Style { prefix, plain: *plain, notes: Some(&confidence.types) };
                format!("{}{}", confidence.comment(&kernel.note()), c::header(layouts, choice.target(), *only, style))
            })
        }
        Format::Isf(kernels) => kernels.write(project, Among::Symbols, "json", |kernel| {
            let Kernel { layouts, choice, only, .. } = kernel;
            let (placed, of) = match kernel.placed() {
                Ok((seen, of)) => (Some(seen), of),
                Err(why) => (None, format!("no symbols: {why}")),
            };
            let confidence = kernel.confidence();
            let note = format!("etw-layouts: {}{}; {}", kernel.note(), confidence.list(), of);
            isf::table(layouts, choice.target(), *only, placed, &note)
        }),
        Format::Cstruct(kernels) => kernels.write(project, Among::All, "h", |kernel| {
            let Kernel { layouts, choice, only, .. } = kernel;
            let confidence = kernel.confidence();
            let text = cstruct::definitions(layouts, choice.target(), *only, &confidence.types);
            format!("{}{text}", confidence.comment(&kernel.note()))
        }),
        Format::Dot(kernels) => kernels.write(project, Among::Symbols, "dot", |kernel| {
            let Kernel { layouts, choice, only, .. } = kernel;
            map::dot(&Map::of(layouts, choice.target(), *only), &layouts.spec.axis, choice)
        }),
        Format::Svg(kernels) => kernels.write(project, Among::Symbols, "svg", |kernel| {
            let Kernel { layouts, choice, only, .. } = kernel;
            map::svg(&Map::of(layouts, choice.target(), *only), &layouts.spec.axis, choice)
        }),
        Format::Offsets(args) => offsets::run(args, project),
        Format::Json(args) => json::run(args, project),
    }
}
