//! `import`.

use crate::diff::text;
use crate::kernel::Kernel;
use crate::print::{GREEN, HEADING, RED, print};
use crate::{Error, Outcome};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_project::Project;
use etw_layouts_project::diff::{changes, sides};
use etw_layouts_project::import::{self, Border, MARK, Plan, Texts};
use etw_layouts_project::tables;
use similar::{ChangeTag, TextDiff};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// Enter the layouts of new Windows builds into the specs, from their kernels' symbols.
///
/// Compares each symbol file with the specs and edits specs/*.toml where it differs, keeping all else as it is: ranges are
/// closed or split, members, bits, constants and types added, the build entered in windows.toml. Adds the reduced tables to
/// facts and writes the generated crate anew. If its layouts are known already, a kernel is a line in facts and nothing else.
///
/// Several files in any order, at once or one after the other, give the same layouts. Nothing is written unless the outcome
/// verifies. What symbols cannot tell is marked in the specs with `# import:` and listed. If the specs define no structure
/// yet, every type of the file that a spec can define is entered, and the others are listed; or with --add only some.
///
/// A structure that is added, and what it embeds, is entered for all kernels whose symbols are given, known ones too. Its
/// ranges are open, and closed where the symbols of a kernel lack it; a kernel that nobody has symbols of has what its
/// neighbours have. Where it changes between two kernels of the axis, the axis gets one more.
///
///     cargo xtask import --image ntoskrnl.exe --symbol-path 'srv*symbols*https://msdl.microsoft.com/download/symbols'
///     cargo xtask import ntkrnlmp.pdb --build 10.0.26100.3915 --arch x64 --dry-run
///     cargo xtask import symbols/
///     cargo xtask import symbols/ --add ETW_REALTIME_CONSUMER
///
/// Exit status: 0 done, or nothing to do; 2 unusable input, or symbols that the specs cannot express.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Symbol files, or folders of them: program databases (.pdb, .pdz), Volatility 3 ISF (.json, .json.xz), snapshots
    /// (.facts), or tables of kernel images (.tsv), which tell from which update on a layout is so.
    #[arg(required_unless_present = "image", value_name = "SYMBOLS")]
    symbols: Vec<PathBuf>,
    #[command(flatten)]
    kernel: Kernel,
    /// Specify a structure that no spec has yet. Repeatable.
    #[arg(long, value_name = "STRUCTURE")]
    add: Vec<String>,
    /// Write nothing; print the change as a diff.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    project.folders()?;
    // Two imports at once would each know nothing of the other's.
    let lock = if args.dry_run { None } else { Some(project.lock("import")?) };
    let layouts = project.layouts()?;
    let (symbols, stated) = args.kernel.symbols(&args.symbols, project)?;
    if args.kernel.build.is_some() && tables::files(&symbols)?.len() > 1 {
        return Err("--build is said of one symbol file; import the others without it".into());
    }
    let import = import::prepare(project, &layouts, &symbols, &stated, &args.add)?;
    for name in &import.known {
        print(&format!("{name}: known already\n"))?;
    }
    if let Some(new) = import.images {
        print(&format!("{new} images are new to the facts\n"))?;
    }
    if !import.left_out.is_empty() {
        print(&left_out(&import.left_out))?;
    }
    for note in &import.notes {
        print(&format!("{note}\n"))?;
    }
    let Some(plan) = import.plan()? else {
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
            "{count} generated files written or removed; `cargo xtask verify` and `cargo test --workspace` prove the rest\n"
        ))?,
        None => print("the specs and facts are written; `etw verify` proves them\n")?,
    }
    Ok(Outcome::Good)
}

/// What each new kernel brings, which files change, and what is left open.
///
/// # Errors
///
/// None that a plan can cause.
pub fn summary(before: &Texts, plan: &Plan) -> Result<String, Error> {
    let mut out = String::new();
    for &target in &plan.new {
        out += &kernel(plan, target)?;
    }
    for Border { build, arch, shown, along } in &plan.borders {
        let _ = writeln!(out, "{HEADING}{build}-{arch}{HEADING:#}: the first image that has another {}", shown.join(", "));
        if !along.is_empty() {
            let _ = writeln!(out, "  inferred, as images neither show nor deny it: with it changes {}", along.join(", "));
        }
    }
    for [before, now] in &plan.moved {
        let _ = match plan.borders.iter().any(|border| border.build == *now) {
            true => writeln!(out, "{HEADING}{now}{HEADING:#}: the row of {before} begins with it"),
            false => writeln!(out, "{HEADING}{now}{HEADING:#}: the layouts of {before} are known from it on"),
        };
    }
    for name in &plan.updates {
        let update = plan.layouts.spec.axis.update(name);
        let kernels: Vec<_> = update.iter().flat_map(|update| &update.kernels).map(|build| format!("{build:#}")).collect();
        let kernels = kernels.join(", ");
        let _ = writeln!(out, "{HEADING}update {name}{HEADING:#}: begins with {kernels}, as the ranges of the specs suggest");
    }
    for (&target, builds) in &plan.same {
        let builds: Vec<_> = builds.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "{}, as is: {}", plan.layouts.spec.axis.target_name(target), builds.join(", "));
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
        let _ = writeln!(out, "left open, and marked in the specs; mend it there, or delete the remark if it is right:");
        open.iter().for_each(|line| out += &format!("  {line}\n"));
    }
    Ok(out)
}

/// The types that are left out, and why.
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

/// What a new kernel has otherwise than the one before it, in the words of `diff`.
fn kernel(plan: &Plan, target: usize) -> Result<String, Error> {
    let layouts = &plan.layouts;
    let axis = &layouts.spec.axis;
    let name = axis.target_name(target);
    let same_arch = |&t: &usize| axis.targets[t].arch == axis.targets[target].arch && t != target;
    let before = (0..target).rev().filter(same_arch);
    let others = before.chain((target + 1..axis.targets.len()).filter(same_arch));
    // Of two new kernels the later is identical to the earlier, and that one is held against what was known.
    let mut known = others.clone().filter(|t| *t < target || !plan.new.contains(t));
    if let Some(twin) = known.find(|&t| layouts.by_target[t] == layouts.by_target[target]) {
        return Ok(format!("{HEADING}{name}{HEADING:#}: identical to {}\n", axis.target_name(twin)));
    }
    let Some(nearest) = others.into_iter().next() else {
        let types = layouts.by_target[target].len();
        return Ok(format!("{HEADING}{name}{HEADING:#}: the first of its architecture, {types} types\n"));
    };
    let [old, new] = sides(layouts, &Registry::default(), [&axis.target_name(nearest), &name], None)?;
    Ok(text(&old, &new, &changes(&old, &new)) + "\n")
}

/// The texts' difference, with colour for a terminal.
pub fn diff(before: &Texts, after: &Texts) -> String {
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut out = String::new();
    for path in paths {
        let of = |texts: &Texts| texts.get(path).cloned().unwrap_or_default();
        let (old, new) = (of(before), of(after));
        if old == new {
            continue;
        }
        let _ = writeln!(out, "{HEADING}--- a/{path}\n+++ b/{path}{HEADING:#}");
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
