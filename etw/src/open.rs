//! `open`: shows the report of a trace, or one page of the atlas, in a browser, as a file that needs no other file.

use crate::atlas::lines;
use crate::{Error, NewFile, Outcome, no_stdout, print};
use etw_layouts_atlas::{encoded, page};
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::spec::Body;
use etw_layouts_project::Project;
use etw_layouts_project::names::{Among, name};
use etw_layouts_project::subject::Subject;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, process};

/// Open the report of a trace file, or the atlas page of a structure or enumeration, in the web browser.
///
///     etw open trace.etl
///     etw open WMI_LOGGER_CONTEXT
///     etw open WMI_LOGGER_CONTEXT --build 1703
///
/// Writes the page to a self-contained temporary file, prints its path, and opens it in the browser named by BROWSER, or in the
/// default browser. Without a display, it only prints the path. With --build, the page of a structure first shows the layout of that build; other builds can be selected there.
/// `etw etl report` has more options for the report of a trace.
///
/// Exit status: 0 written and opened, 1 the trace has diagnostics, 2 unknown structure or build, a build without the structure,
/// an unusable trace, an existing file, or no browser.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Trace file (NAME.etl); or structure, enumeration or flags.
    #[arg(value_name = "FILE|STRUCTURE")]
    name: String,
    /// Show the layout of this build: a label, a build and revision, or a KB number.
    #[arg(long, value_name = "BUILD")]
    build: Option<String>,
    /// Write the page to this file, and do not open it.
    #[arg(short, long, value_name = "FILE", value_parser = no_stdout())]
    output: Option<PathBuf>,
    /// Print the path of the page, and do not open it.
    #[arg(long)]
    print: bool,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    if Path::new(&args.name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("etl")) {
        return trace(args);
    }
    if Path::new(&args.name).exists() {
        return Err(format!(
            "{}: not the name of a structure or of a trace file (.etl); use `etw etl report` for other names and folders",
            args.name
        )
        .into());
    }
    let layouts = project.shared_layouts()?;
    let structure = name(&layouts, Among::All, &args.name)?.to_owned();
    let registry = project.registry(&layouts.spec.axis)?;
    let build = args.build.as_deref().map(|build| selected(&layouts, &registry, &structure, build)).transpose()?;
    let page = page(&layouts, &registry, &project.statements()?, (&structure, build.as_deref()), lines)?;
    let path = match &args.output {
        Some(path) => path.clone(),
        None => (0..100)
            .map(|number| env::temp_dir().join(format!("etw-{structure}-{}-{number}.html", process::id())))
            .find(|path| path.symlink_metadata().is_err())
            .ok_or("no free name for a temporary file; name a file with --output")?,
    };
    let at = |fault: String| format!("{}: {fault}", path.display());
    let file = NewFile::create(&path).map_err(at)?;
    file.file().write_all(page.as_bytes()).map_err(|error| at(error.to_string()))?;
    file.finish().map_err(at)?;
    written(args, &path)?;
    Ok(Outcome::Good)
}

/// The report of a trace.
#[cfg(feature = "embedded")]
fn trace(args: &Args) -> Result<Outcome, Error> {
    if args.build.is_some() {
        return Err("--build has no effect on the report of a trace; remove --build".into());
    }
    // A trace can be confidential: other users cannot read the folder.
    let folder = if args.output.is_none() { Some(private_folder()?) } else { None };
    let path = args.output.clone().or_else(|| Some(folder.as_ref()?.path().join("report.html"))).unwrap_or_default();
    let outcome = crate::etl::report(args.name.clone().into(), path.clone())?;
    // Without a report, the folder is removed.
    if path.exists() {
        folder.map(tempfile::TempDir::keep);
    }
    written(args, &path)?;
    Ok(outcome)
}

/// A new temporary folder that only the user can read. On Windows, the temporary folder is already that of the user.
#[cfg(feature = "embedded")]
fn private_folder() -> Result<tempfile::TempDir, Error> {
    let mut folder = tempfile::Builder::new();
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    #[cfg(unix)]
    folder.permissions(permissions);
    Ok(folder.prefix("etw-").tempdir()?)
}

#[cfg(not(feature = "embedded"))]
fn trace(_: &Args) -> Result<Outcome, Error> {
    Err("this program cannot read traces; use `etw open`".into())
}

/// Prints the path of a page, and opens the page.
fn written(args: &Args, path: &Path) -> Result<(), Error> {
    print::print(&format!("{}\n", path.display()))?;
    if args.output.is_some() || args.print {
        return Ok(());
    }
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(any(windows, target_os = "macos")) || ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(is_set) {
        return show(path);
    }
    crate::note(Some("no display: open the file in a web browser"));
    Ok(())
}

/// The build to show, as the script of the page reads it.
fn selected(layouts: &Layouts, registry: &Registry, structure: &str, build: &str) -> Result<String, Error> {
    let subject = Subject::find(layouts, registry, structure, Some(build), None)?;
    match layouts.spec.definitions.get(structure).map(|definition| &definition.body) {
        Some(Body::Values(_)) => {
            Err(format!("the page of {structure} always shows the constants of all builds; remove --build").into())
        }
        _ => Ok(subject.choice.asked.name),
    }
}

fn show(path: &Path) -> Result<(), Error> {
    let path = path.display().to_string().replace('\\', "/");
    let address = format!("file:///{}", encoded(path.trim_start_matches('/'), "./:"));
    let named = env::var_os("BROWSER").filter(|name| !name.is_empty());
    let mut command = match named {
        Some(program) => Command::new(program),
        None if cfg!(windows) => Command::new("rundll32"),
        None if cfg!(target_os = "macos") => Command::new("open"),
        None => Command::new("xdg-open"),
    };
    if command.get_program() == "rundll32" {
        command.arg("url.dll,FileProtocolHandler");
    }
    let started = command.arg(&address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    match started {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(format!("no web browser: {}: {error}; open the file, or set BROWSER", command.get_program().display()).into())
        }
    }
}
