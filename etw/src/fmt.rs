//! `fmt`.

use crate::import::diff;
use crate::print::print;
use crate::{Error, Outcome};
use etw_layouts_codegen::Sources;
use etw_layouts_project::Project;
use etw_layouts_project::format::formatted;
use etw_layouts_project::import::Texts;

/// Write specs in their one form.
///
/// A fact has one spelling: members in one list, ranges as short as they can be, a value that differs by architecture under
/// each, lines of 130 characters. Comments stay, before what they speak of. What the specs say does not change.
///
/// scalars.toml, files of global variables, and a windows.toml that extends the axis of Windows are left as they are.
///
///     etw fmt --specs my-specs
///     etw fmt --specs my-specs --check
///
/// Exit status: 0 all files are in their form; 1 with --check, some are not; 2 unusable input.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Write nothing; print what would change as a diff.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    project.folder()?;
    let lock = if args.check { None } else { Some(project.lock("fmt")?) };
    let layouts = project.layouts()?;
    let sources: &Sources = &layouts.spec.sources;
    let changed = formatted(&layouts.spec)?;
    if changed.is_empty() {
        print("all spec files are in their form\n")?;
        return Ok(Outcome::Good);
    }
    let Some(lock) = lock else {
        let files = sources.files().iter().filter(|file| changed.contains_key(&file.path));
        let before: Texts = files.map(|file| (file.path.clone(), file.text.clone())).collect();
        print(&diff(&before, &changed))?;
        print(&match changed.len() {
            1 => "1 spec file is not in its form; `etw fmt` writes it\n".to_owned(),
            count => format!("{count} spec files are not in their form; `etw fmt` writes them\n"),
        })?;
        return Ok(Outcome::Differs);
    };
    let written = match changed.len() {
        1 => "1 spec file written".to_owned(),
        count => format!("{count} spec files written"),
    };
    let paths: String = changed.keys().map(|path| format!("{path}\n")).collect();
    lock.replace(changed.into_iter().map(|(path, text)| (project.root.join(path), Some(text))).collect())?;
    print(&format!("{paths}{written}\n"))?;
    Ok(Outcome::Good)
}
