//! The command `fmt`.

use crate::import::diff;
use crate::print::print;
use crate::text_table::counted;
use crate::{Error, Outcome, lock};
use etw_layouts_project::Project;
use etw_layouts_project::format::formatted;
use etw_layouts_project::import::Texts;

/// Format spec files.
///
/// Keys are in the order of the language, members are in one list, entries of lists form columns, and lines have at most 130
/// characters. Comments stay before the lines that they describe. Ranges, numbers, types, groups and the order of entries stay as
/// written.
///
/// Keys of earlier versions of this program are converted, such as `[[version]]` to `[[release]]`.
///
/// Some files are not formatted: scalars.toml and files of global variables.
///
///     etw fmt --specs my-specs
///     etw fmt --specs my-specs --check
///
/// Exit status: 0 all files are formatted; 1 with --check, some files are not formatted; 2 unusable input.
#[derive(clap::Args)]
#[command(verbatim_doc_comment, override_usage = "etw fmt --specs <DIR> [--check]")]
pub struct Args {
    /// Write nothing; print the changes as a diff.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    if !project.root.join(project.folder()?).exists() {
        // A missing folder cannot be locked. Reading the specs reports it.
        project.layouts()?;
    }
    let lock = if args.check { None } else { Some(lock(project, "fmt")?) };
    let changed = formatted(project)?;
    if changed.is_empty() {
        print("all spec files are formatted\n")?;
        return Ok(Outcome::Good);
    }
    let Some(lock) = lock else {
        let sources = project.sources()?;
        let files = sources.files().iter().filter(|file| changed.contains_key(&file.path));
        let before: Texts = files.map(|file| (file.path.clone(), file.text.clone())).collect();
        print(&diff(&before, &changed))?;
        let (files, verb) = (counted(changed.len(), "spec file"), if changed.len() == 1 { "is" } else { "are" });
        print(&format!("{files} {verb} not formatted; run this command without --check\n"))?;
        return Ok(Outcome::Differs);
    };
    let written = counted(changed.len(), "spec file");
    let paths: String = changed.keys().map(|path| format!("{path}\n")).collect();
    lock.replace(changed.into_iter().map(|(path, text)| (project.root.join(path), Some(text.into_bytes()))).collect())?;
    print(&format!(
        "{paths}{written} formatted
"
    ))?;
    Ok(Outcome::Good)
}
