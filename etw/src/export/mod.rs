//! The command `export`.

mod confidence;
mod json;
mod layouts;
mod offsets;
mod targets;
mod write;

pub use json::document;
pub use offsets::{csv, table};

use crate::{Error, Outcome, map};
use etw_layouts_codegen::emit::c::Style;
use etw_layouts_codegen::emit::{btf, c, cstruct, isf};
use etw_layouts_codegen::is_identifier;
use etw_layouts_project::Project;
use etw_layouts_project::map::Map;
use etw_layouts_project::names::Among;
use targets::{ExportTarget, TargetOptions};

/// Export layouts for other tools: C compilers, Ghidra, IDA, Volatility, dissect, pahole, Graphviz, and your own programs.
///
///     etw export c 1709-x64 > layouts.h
///     etw export c --plain --only WMI_LOGGER_CONTEXT 10.0.19041.1415-x64    for Ghidra and IDA
///     etw export isf all -o tables                                          one table per target
///     etw export btf 10-22H2-x64 -o etw.btf                                    for pahole and bpftool
///     etw export offsets ETW_GUID_ENTRY.Guid ETW_REG_ENTRY.Callback         one row per examined build
///     etw export json -o .                                                  everything in one file
///     etw export layouts -o layouts.bin                                     a table for programs in Rust
///
/// Each file but BTF states the confidence in its layouts for the selected target. If its build has not been examined, the layouts of
/// a known build are used.
///
/// `cargo xtask export` does the same with the specs of the workspace.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(subcommand)]
    format: Format,
}

/// The output format.
#[derive(clap::Subcommand)]
enum Format {
    /// Write a C header with static assertions, for C and C++ with the Microsoft ABI, or with --plain for parsers of plain C.
    ///
    ///     etw export c 1709-x64 > layouts.h
    ///     clang -target x86_64-pc-windows-msvc -fsyntax-only layouts.h
    ///
    /// The header declares structures, unions, enumerations, pointers to them (PLIST_ENTRY), flags and constants, each after the types
    /// that it depends on. It includes only <stddef.h>, for the assertions. -DETW_LAYOUTS_ASSERTIONS=0 disables the assertions.
    #[command(verbatim_doc_comment)]
    C(C),
    /// Write a Volatility 3 symbol table (Intermediate Symbol Format) with types and, if known, addresses of ETW's global variables.
    ///
    ///     etw export isf 5.0-x86 -o volatility3/symbols/windows
    ///     etw export isf 10.0.19041.1415-x64 -o tables
    ///     etw export isf --pdb 3177d310-00ba-7590-ded3-35936c93e374-1 -o tables
    ///
    /// In a plugin, load the table with IntermediateSymbolTable.create(context, path, "windows", "5.0-x86").
    ///
    /// Addresses of variables belong to one PDB. To include them, select a target by build and revision, or by --pdb. The table then
    /// names this PDB. If no PDB of the build is known, the addresses come from a table of kernel images. For a label, or for a build
    /// without known addresses, the table has no symbols and names no PDB. The producer's name in the table states the source of
    /// the addresses, or the reason why there are none.
    ///
    /// Keep a table that names a PDB out of Volatility's symbol folders. Volatility would use it instead of its own table of the
    /// kernel, which has far more types. Load it in a plugin by its URL:
    /// IntermediateSymbolTable(context, path, "etw", isf_url="file:///…").
    #[command(verbatim_doc_comment)]
    Isf(TargetOptions),
    /// Write types in BTF (BPF Type Format), for pahole, bpftool and readers of kernels on Linux.
    ///
    ///     etw export btf 10-22H2-x64 -o etw.btf
    ///     pahole -F btf -C _WMI_LOGGER_CONTEXT etw.btf
    ///     bpftool btf dump file etw.btf format c
    ///
    /// Integers have Microsoft's names. Readers take the size of pointers from the integer `unsigned long`: the file declares one
    /// with that size, which no member uses. Alignment is not in the format, and neither is the confidence in a layout: `etw show`
    /// states it.
    #[command(verbatim_doc_comment)]
    Btf(TargetOptions),
    /// Write definitions for dissect.cstruct, a Python library that reads structures.
    ///
    ///     etw export cstruct 2004-x64 > layouts.h
    ///     python3 -c 'from dissect.cstruct import cstruct; cstruct(pointer="uint64").loadfile("layouts.h")'
    ///
    /// All padding is declared, so the parser does not need to align members. Some pointer types cannot be expressed and are given
    /// as comments: pointers to functions, and pointers to structures that are declared later or not at all.
    #[command(verbatim_doc_comment)]
    Cstruct(TargetOptions),
    Offsets(offsets::Args),
    Json(json::Args),
    Layouts(layouts::Args),
    /// Write the map of the structures as a graph for Graphviz, like `etw map --format dot`.
    ///
    ///     etw export dot 1709-x64 | dot -Tsvg > map.svg
    #[command(verbatim_doc_comment)]
    Dot(TargetOptions),
    /// Write the map of the structures as an SVG picture, like `etw map --format svg`. Graphviz is not needed.
    ///
    ///     etw export svg 1709-x64 > map.svg
    #[command(verbatim_doc_comment)]
    Svg(TargetOptions),
}

#[derive(clap::Args)]
struct C {
    #[command(flatten)]
    kernels: TargetOptions,
    /// Prefix the names of all types and constants with TEXT, to avoid conflicts with windows.h or other headers.
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    /// Write C11 without compiler extensions: all padding is declared, and alignment is not specified. To enable the assertions of sizes and
    /// offsets, define ETW_LAYOUTS_ASSERTIONS as 1; they require pointers of the target's size. For parsers that accept no comments or
    /// directives, such as pycparser, preprocess the header: gcc -E -P layouts.h.
    #[arg(long)]
    plain: bool,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    match &args.format {
        Format::C(C { kernels, prefix, plain }) => {
            if !prefix.is_empty() && !is_identifier(prefix) {
                return Err(format!("invalid --prefix `{prefix}`: not a C identifier; use letters, digits and `_`").into());
            }
            kernels.write(project, Among::All, "h", |kernel| {
                let ExportTarget { layouts, choice, only, .. } = kernel;
                let confidence = kernel.confidence();
                let style = Style { prefix, plain: *plain, notes: Some(&confidence.types) };
                format!("{}{}", confidence.comment(&kernel.note()), c::header(layouts, choice.target(), *only, style))
            })
        }
        Format::Isf(kernels) => kernels.write(project, Among::Symbols, "json", |kernel| {
            let ExportTarget { layouts, choice, only, .. } = kernel;
            let (placed, of) = match kernel.placed() {
                Ok((seen, of)) => (Some(seen), of),
                Err(why) => (None, format!("no symbols: {why}")),
            };
            let confidence = kernel.confidence();
            let note = format!("etw-layouts: {}{}; {}", kernel.note(), confidence.list(), of);
            isf::table(layouts, choice.target(), *only, placed, &note)
        }),
        Format::Btf(kernels) => kernels
            .write(project, Among::Symbols, "btf", |kernel| btf::types(kernel.layouts, kernel.choice.target(), kernel.only)),
        // A folder can have the headers of both formats.
        Format::Cstruct(kernels) => kernels.write(project, Among::All, "cstruct.h", |kernel| {
            let ExportTarget { layouts, choice, only, .. } = kernel;
            let confidence = kernel.confidence();
            let text = cstruct::definitions(layouts, choice.target(), *only, &confidence.types);
            format!("{}{text}", confidence.comment(&kernel.note()))
        }),
        Format::Dot(kernels) => kernels.write(project, Among::Symbols, "dot", |kernel| {
            let ExportTarget { layouts, choice, only, .. } = kernel;
            map::dot(&Map::of(layouts, choice.target(), *only), &layouts.spec.axis, choice)
        }),
        Format::Svg(kernels) => kernels.write(project, Among::Symbols, "svg", |kernel| {
            let ExportTarget { layouts, choice, only, .. } = kernel;
            map::svg(&Map::of(layouts, choice.target(), *only), &layouts.spec.axis, choice)
        }),
        Format::Offsets(args) => offsets::run(args, project),
        Format::Json(args) => json::run(args, project),
        Format::Layouts(args) => layouts::run(args, project),
    }
}
