//! The command `import`.

use crate::diff::text;
use crate::print::{GREEN, HEADING, RED, print};
use crate::symbol_options::SymbolOptions;
use crate::{Error, Outcome, lock};
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Project;
use etw_layouts_project::diff::{changes, sides};
use etw_layouts_project::import::{self, Border, MARK, Plan, Refused, Request, Texts};
use etw_layouts_project::tables;
use similar::{ChangeTag, TextDiff};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// Import the layouts of new Windows builds into the specs, from the symbols of their kernels.
///
/// Compares each symbol file with the specs, and edits specs/*.toml where they differ: it closes or splits ranges, adds
/// members, bits, constants and types, and adds the build to windows.toml. Everything else stays as it is. Adds the reduced
/// symbol tables to the facts. For known layouts, only a line is added to the facts.
///
/// The layouts do not depend on the order of the symbol files, nor on whether they are imported together or one by one. If the
/// result does not verify, the change is printed as a diff, and nothing is written. Comments that begin with `# import:` mark
/// places in the specs that symbols do not
/// determine; the output lists these places. If the specs define no structures at all, all types of the file are imported, or
/// only those of --add. Types that a spec cannot define are left out and listed.
///
/// A structure of --add, and all types that it embeds, are added for all builds in the given symbol files, including known
/// builds. Other builds get the layout of a neighbouring build. If a structure changes between two builds of the version axis, the
/// build with the change is added to the axis.
///
///     etw import ntkrnlmp.pdb --build 10.0.26100.3915 --arch x64 --specs my-specs --facts my-facts --dry-run
///     etw import symbols/ --specs my-specs --facts my-facts
///     etw import symbols/ --add ETW_REALTIME_CONSUMER --specs my-specs --facts my-facts
///     cargo xtask import --image ntoskrnl.exe --symbol-path 'srv*symbols*https://msdl.microsoft.com/download/symbols'
///
/// In a clone of the source repository, `cargo xtask import` does the same with its specs and facts, and then regenerates the
/// generated crate.
///
/// Exit status: 0 imported, or nothing to import; 2 unusable input, or symbols that the specs cannot express.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Symbol files, or folders of symbol files: program databases (.pdb, .pdz), Volatility 3 ISF (.json, .json.xz), snapshots
    /// (.facts), or tables of kernel images (.tsv), which show the update that introduced a layout.
    #[arg(required_unless_present = "image", value_name = "SYMBOLS")]
    symbols: Vec<PathBuf>,
    #[command(flatten)]
    kernel: SymbolOptions,
    /// Add a structure that the specs do not define yet; a leading underscore is ignored. Repeatable.
    #[arg(long, value_name = "STRUCTURE")]
    add: Vec<String>,
    /// Accept a new build number even if the facts equal those of a known build. Without this option, it is refused as a
    /// probable typing error.
    #[arg(long)]
    new_build: bool,
    /// Write nothing; print the change as a diff.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    project.folders()?;
    if !project.root.join(project.folder()?).exists() {
        // A missing folder cannot be locked. Reading the specs reports it.
        project.layouts()?;
    }
    // Of two imports at the same time, each would miss the changes of the other.
    let lock = if args.dry_run { None } else { Some(lock(project, "import")?) };
    let layouts = project.layouts()?;
    let (symbols, stated) = args.kernel.symbols(&args.symbols, project)?;
    if args.kernel.build.is_some() && tables::files(&symbols)?.len() > 1 {
        return Err("--build applies to a single symbol file; import the files one by one, or omit --build".into());
    }
    // As in `show`, names can be written as in debuggers.
    let added = args.add.iter().map(|name| name.strip_prefix("nt!").unwrap_or(name));
    let added: Vec<String> = added.map(|name| name.strip_prefix('_').unwrap_or(name).to_owned()).collect();
    let request = Request { symbols: &symbols, stated: &stated, added: &added, is_confirmed: args.new_build };
    let import = import::prepare(project, &layouts, &request)?;
    for name in &import.known {
        print(&format!("{name}: already imported\n"))?;
    }
    if let Some(new) = import.images {
        print(&format!("{new} images are not in the facts yet\n"))?;
    }
    if !import.left_out.is_empty() {
        print(&left_out(&import.left_out))?;
    }
    for note in &import.notes {
        print(&format!("{note}\n"))?;
    }
    let plan = import.plan();
    if let Some(Refused { plan, .. }) = plan.as_ref().err().and_then(|error| error.downcast_ref()) {
        print(&summary(&import.texts, plan)?)?;
        print(&diff(&import.texts, &plan.texts))?;
    }
    let Some(plan) = plan? else {
        print("nothing to import\n")?;
        return Ok(Outcome::Good);
    };
    print(&summary(&import.texts, &plan)?)?;
    let Some(lock) = lock else {
        print(&diff(&import.texts, &plan.texts))?;
        return Ok(Outcome::Good);
    };
    let count = import.write(project, lock, &plan)?;
    match project.generated {
        Some(_) => print(&format!(
            "{count} generated files written or removed; check the result with `cargo xtask verify` and `cargo test --workspace`\n"
        ))?,
        None => print(&format!("specs and facts written; check the result with `{}`\n", verify_command(project)?))?,
    }
    Ok(Outcome::Good)
}

/// The command that verifies the specs and facts of the project.
fn verify_command(project: &Project) -> Result<String, Error> {
    let (specs, facts) = project.folders()?;
    let [specs, facts] = [specs, facts].map(|folder| match folder.display().to_string() {
        path if path.contains(char::is_whitespace) => format!("\"{path}\""),
        path => path,
    });
    Ok(format!("etw verify --specs {specs} --facts {facts}"))
}

/// The changes of each new build, the changed files, and the open questions.
pub fn summary(before: &Texts, plan: &Plan) -> Result<String, Error> {
    let mut out = String::new();
    for &target in &plan.new {
        out += &kernel(plan, target)?;
    }
    for Border { build, arch, shown, along } in &plan.borders {
        let _ =
            writeln!(out, "{HEADING}{build}-{arch}{HEADING:#}: the first image with a different layout of {}", shown.join(", "));
        if !along.is_empty() {
            let _ = writeln!(out, "  inferred to change in the same update, without evidence from images: {}", along.join(", "));
        }
    }
    for [before, now] in &plan.moved {
        let _ = match plan.borders.iter().any(|border| border.build == *now) {
            true => writeln!(out, "{HEADING}{now}{HEADING:#}: replaces {before} as the first known build with its layouts"),
            false => writeln!(
                out,
                "{HEADING}{now}{HEADING:#}: already has the layouts of {before}, and replaces it on the version axis"
            ),
        };
    }
    for (&target, builds) in &plan.same {
        let builds: Vec<_> = builds.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "unchanged layouts of {}: {}", plan.layouts.spec.axis.target_name(target), builds.join(", "));
    }
    let changed: Vec<_> = plan.texts.iter().filter(|(path, text)| before.get(*path) != Some(text)).collect();
    let paths: Vec<_> = changed.iter().map(|(path, _)| path.as_str()).collect();
    let _ = match paths[..] {
        [] => writeln!(out, "no spec file changes"),
        [one] => writeln!(out, "1 spec file changes: {one}"),
        _ => writeln!(out, "{} spec files change: {}", paths.len(), paths.join(", ")),
    };
    let open: Vec<_> = changed.iter().flat_map(|(path, text)| marks(path, text)).collect();
    if !open.is_empty() {
        let _ = writeln!(
            out,
            "open questions, marked in the specs; correct the spec there, or delete the remark if the spec is right:"
        );
        open.iter().for_each(|line| out += &format!("  {line}\n"));
    }
    Ok(out)
}

/// The types that are left out, and the reasons.
fn left_out(reasons: &BTreeSet<String>) -> String {
    let count = reasons.len();
    let mut out = format!("{count} {} left out:\n", if count == 1 { "type is" } else { "types are" });
    reasons.iter().for_each(|reason| out += &format!("  {reason}\n"));
    out
}

fn marks(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(i, line)| Some(format!("{path}:{}: {}", i + 1, line.trim_start().strip_prefix(MARK)?))).collect()
}

/// The differences between a new target and the target before it, as `diff` prints them.
fn kernel(plan: &Plan, target: TargetId) -> Result<String, Error> {
    let layouts = &plan.layouts;
    let axis = &layouts.spec.axis;
    let name = axis.target_name(target);
    let same_arch = axis.along(axis.targets[target].arch).map(|(_, other)| other);
    let (mut others, later): (Vec<_>, Vec<_>) = same_arch.filter(|other| *other != target).partition(|other| *other < target);
    others.reverse();
    others.extend(later);
    // Of two identical new targets, only the earlier is compared with known targets. The later is reported as identical to it.
    let mut known = others.iter().filter(|&&t| t < target || !plan.new.contains(&t));
    if let Some(&twin) = known.find(|&&t| layouts.by_target[t] == layouts.by_target[target]) {
        return Ok(format!("{HEADING}{name}{HEADING:#}: identical to {}\n", axis.target_name(twin)));
    }
    let Some(nearest) = others.into_iter().next() else {
        let types = layouts.by_target[target].len();
        return Ok(format!("{HEADING}{name}{HEADING:#}: the first of its architecture, {types} types\n"));
    };
    let [old, new] = sides(layouts, &Registry::default(), [&axis.target_name(nearest), &name], None)?;
    Ok(text(&old, &new, &changes(&old, &new)) + "\n")
}

/// The unified diff of texts, with colors for a terminal.
pub fn diff(before: &Texts, after: &Texts) -> String {
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut out = String::new();
    for path in paths {
        let of = |texts: &Texts| texts.get(path).cloned().unwrap_or_default();
        let (old, new) = (of(before), of(after));
        if old == new {
            continue;
        }
        let relative = path.trim_start_matches('/');
        let _ = writeln!(out, "{HEADING}--- a/{relative}\n+++ b/{relative}{HEADING:#}");
        let diff = TextDiff::from_lines(&old, &new);
        for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
            let _ = writeln!(out, "{}", hunk.header());
            for change in hunk.iter_changes() {
                let line = change.value().trim_end_matches('\n');
                let _ = match change.tag() {
                    ChangeTag::Equal => writeln!(out, " {line}"),
                    ChangeTag::Delete => writeln!(out, "{RED}-{line}{RED:#}"),
                    ChangeTag::Insert => writeln!(out, "{GREEN}+{line}{GREEN:#}"),
                };
            }
        }
    }
    out
}
