//! The command `atlas`.

use crate::print::{GREEN, RED, YELLOW};
use crate::{Error, Outcome, diff, no_folder, no_stdout, print};
use etw_layouts_project::Project;
use etw_layouts_project::diff::{Side, changes};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Write a website of all layouts: HTML pages that open from disk, without a server or a network.
///
/// The atlas has one page per structure (its members in all versions), per layout (a map of its bytes), per target (its
/// evidence) and per class of kernel events (the fields of their payloads in all versions), pages of enumerations and flags,
/// global variables, maps of references, the events of the providers in the catalogue with the names of their fields, and a
/// comparison of any two targets. The page of a structure decodes bytes, pasted or from a file, with the layout of a build.
/// Search, decoders and comparison need JavaScript; all other pages work without it.
///
///     etw atlas -o pages
///
/// Creates the folder if it does not exist. Refuses a folder with other content, or with an atlas file that was changed. Removes
/// unchanged pages of an earlier atlas that are no longer part of it.
///
/// `cargo xtask atlas` does the same with the specs of the workspace.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Write the atlas to this folder; it is created if it does not exist.
    #[arg(short, long, value_name = "DIR", value_parser = no_stdout())]
    output: PathBuf,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let files = files(project)?;
    let bytes: usize = files.values().map(String::len).sum();
    fs::create_dir_all(&args.output).map_err(|error| no_folder(&args.output, &error))?;
    etw_layouts_atlas::write(&args.output, &files)?;
    let pages = files.keys().filter(|path| path.ends_with(".html")).count();
    let index = args.output.join("index.html");
    print::print(&format!("{pages} pages, {:.1} MB: open {}\n", bytes as f64 / 1e6, index.display()))?;
    Ok(Outcome::Good)
}

/// The files of the atlas, each with its path from the atlas' folder.
pub fn files(project: &Project) -> Result<BTreeMap<String, String>, Error> {
    etw_layouts_atlas::files(project, lines)
}

/// The lines of `etw diff`, each with the class of its style in the style sheet of the atlas.
pub(crate) fn lines(a: &Side, b: &Side) -> Vec<(&'static str, String)> {
    let class = |style| [(GREEN, "new"), (RED, "gone"), (YELLOW, "moved")].into_iter().find(|(of, _)| *of == style);
    let lines = diff::lines(a, b, &changes(a, b)).into_iter();
    lines.map(|(style, line)| (class(style).map_or("", |(_, class)| class), line)).collect()
}
