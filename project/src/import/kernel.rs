//! The version axis: a kernel's row in `windows.toml`.

use super::splice::{Splices, line_end, line_start};
use crate::Error;
use core::ops::Range;
use etw_layouts_codegen::axis::{Arch, Axis, Build, Release};
use etw_layouts_codegen::syntax::{Node, Table, Tree};

/// The kernel that a build is: several builds may be one kernel line.
pub fn kernel_of(build: Build, axis: &Axis) -> Build {
    let release = axis.releases.iter().find(|release| release.same.iter().any(|same| same.number == build.number));
    let number = release.map_or(build.number, |release| release.build.number);
    axis.canonical(Build { number, ..build })
}

/// The text of `windows.toml` with a kernel on an architecture.
///
/// # Errors
///
/// A text that is no version axis.
pub fn entered(path: &str, text: &str, axis: &Axis, build: Build, arch: Arch) -> Result<String, Error> {
    let (tree, errors) = Tree::parse(text);
    if let Some(error) = errors.first() {
        return Err(format!("{path}: {error}").into());
    }
    let mut splices = Splices::default();
    let versions = tree.root().tables("version");
    let known = axis.kernels.iter().find(|kernel| kernel.build == build);
    let all: Vec<(Build, Table)> = versions.iter().flat_map(|version| rows(*version)).collect();
    if let (Some(kernel), Some((_, row))) = (known, all.iter().find(|(other, _)| *other == build)) {
        let with = |list: &[Arch]| Arch::ALL.into_iter().filter(|a| *a == arch || list.contains(a)).collect::<Vec<_>>();
        if !kernel.architectures.contains(&arch)
            && let Some(architectures) = row.get("architectures")
        {
            splices.replace(architectures.value.span(), list(&with(&kernel.architectures)));
        }
        return Ok(splices.apply(text));
    }
    // An update makes the row.
    if known.is_some_and(|kernel| kernel.architectures.contains(&arch)) {
        return Ok(text.to_owned());
    }
    let home = versions.iter().find(|version| rows(**version).iter().any(|(other, _)| other.number == build.number));
    if let Some(version) = home {
        // What follows the architecture in kernels of this build follows it in this one.
        let of_build = |other: &Arch| {
            axis.follows.get(other) == Some(&arch)
                && axis.kernels.iter().any(|kernel| kernel.build.number == build.number && kernel.architectures.contains(other))
        };
        let has =
            |other: &Arch| *other == arch || of_build(other) || known.is_some_and(|kernel| kernel.architectures.contains(other));
        let architectures = Arch::ALL.into_iter().filter(has).collect();
        let row = Row { build, architectures, same: &[], module: module(axis, build) };
        return Ok(lined_up(&row.within(text, *version), build));
    }
    let release = axis.releases.iter().find(|release| release.build.number == build.number);
    let block = version(axis, release, build, arch);
    // What a release was to be called, its version is called now.
    let mut releases = tree.root().tables("release").into_iter();
    if let Some(table) =
        releases.find(|table| table.text("build").and_then(|b| b.parse().ok()).is_some_and(|b: Build| b.number == build.number))
    {
        let end = line_end(text, table.extent());
        let blank = text[end..].starts_with('\n');
        splices.replace(table.span().start..end + usize::from(blank), "");
    }
    let before = versions.iter().rev().find(|version| rows(**version).iter().any(|(other, _)| other.number < build.number));
    match (before, versions.first()) {
        (Some(version), _) => splices.insert(line_end(text, version.extent()), format!("\n{block}")),
        (None, Some(version)) => splices.insert(version.span().start, format!("{block}\n")),
        (None, None) => splices.insert(text.len(), format!("\n{block}")),
    }
    Ok(splices.apply(text))
}

/// The text with the row of a kernel for fewer architectures.
pub fn without(text: &str, axis: &Axis, build: Build, fewer: &[Arch]) -> String {
    let (tree, _) = Tree::parse(text);
    let versions = tree.root().tables("version");
    let row = versions.iter().flat_map(|version| rows(*version)).find(|(other, _)| *other == build);
    let kernel = axis.kernels.iter().find(|kernel| kernel.build == build);
    let Some(kernel) = kernel else { return text.to_owned() };
    let left: Vec<_> = kernel.architectures.iter().copied().filter(|arch| !fewer.contains(arch)).collect();
    let Some((_, row)) = row else {
        // An update makes the row; one of its own says itself what it has.
        let home = versions.iter().find(|version| rows(**version).iter().any(|(other, _)| other.number == build.number));
        let row = Row { build, architectures: left, same: &[], module: kernel.module.clone() };
        return home.map_or_else(|| text.to_owned(), |version| row.within(text, *version));
    };
    let mut splices = Splices::default();
    match (row.get("architectures"), row.get("module")) {
        (Some(architectures), _) => splices.replace(architectures.value.span(), list(&left)),
        (None, Some(module)) => splices.insert(module.name_span.start, format!("architectures = {}, ", list(&left))),
        (None, None) => {}
    }
    splices.apply(text)
}

/// The block of a version whose first kernel is entered.
fn version(axis: &Axis, release: Option<&Release>, build: Build, arch: Arch) -> String {
    let (label, name) = match release {
        Some(release) => (release.label.clone(), release.release.clone()),
        None => (build.number[2].to_string(), format!("Windows build {}", build.number[2])),
    };
    let same = release.map_or(&[][..], |release| &release.same);
    let row = Row { build, architectures: vec![arch], same, module: module(axis, build) };
    format!("[[version]]\nlabel   = \"{label}\"\nrelease = \"{name}\"\nkernels = [\n  {}\n]\n", row.line())
}

/// A new row.
struct Row<'a> {
    build: Build,
    architectures: Vec<Arch>,
    same: &'a [Build],
    module: String,
}

impl Row<'_> {
    /// The text with the row among those of its version.
    fn within(&self, text: &str, version: Table) -> String {
        let rows = rows(version);
        let start = match rows.iter().rev().find(|(other, _)| *other < self.build) {
            Some((_, before)) => line_end(text, before.span().end),
            None => rows.first().map_or(text.len(), |(_, first)| line_start(text, first.span().start)),
        };
        let mut splices = Splices::default();
        splices.insert(start, format!("  {}\n", self.line()));
        splices.apply(text)
    }

    fn line(&self) -> String {
        let Self { build, module, .. } = self;
        let same: Vec<_> = self.same.iter().map(|same| format!("\"{same:#}\"")).collect();
        let same = if same.is_empty() { String::new() } else { format!(", same = [{}]", same.join(", ")) };
        let arch = list(&self.architectures);
        format!("{{ build = \"{build:#}\", module = \"{module}\", architectures = {arch}{same} }},")
    }
}

/// The rows of a version, with the builds of their kernels.
pub fn rows<'a>(version: Table<'a>) -> Vec<(Build, Table<'a>)> {
    let rows = version.tables("kernels").into_iter();
    rows.filter_map(|row| Some((row.text("build")?.parse().ok()?, row))).collect()
}

/// The builds that the updates of an axis name as kernels, with their places.
pub fn updated(axis: Table) -> Vec<(Build, Range<usize>)> {
    let kernels = axis.tables("update").into_iter().filter_map(|update| update.get("kernels")?.value.get_ref().as_array());
    let build = |node: &Node| Some((node.get_ref().as_str()?.parse().ok()?, node.span()));
    kernels.flatten().filter_map(build).collect()
}

/// The text with a new row in the columns of those beside it, where they have columns: their second keys are below each other, and so
/// are the third ones of several, or of one that stands apart.
fn lined_up(text: &str, new: Build) -> String {
    let (tree, _) = Tree::parse(text);
    let versions = tree.root().tables("version").into_iter().map(rows);
    let Some(rows) = versions.into_iter().find(|rows| rows.iter().any(|(build, _)| *build == new)) else {
        return text.to_owned();
    };
    let mut splices = Splices::default();
    for column in 0..2 {
        let cells: Vec<_> = rows.iter().filter_map(|(build, row)| Some((*build, cell(text, *row, column)?))).collect();
        let others: Vec<_> = cells.iter().filter(|(build, _)| *build != new).map(|(_, cell)| cell).collect();
        let below = others.windows(2).all(|pair| pair[0].width == pair[1].width);
        let apart = others.iter().any(|cell| cell.width > cell.key.len() + 1);
        if below && (column == 0 || others.len() > 1 || apart) {
            let width = cells.iter().map(|(_, cell)| cell.key.len() + 1).max().unwrap_or(0);
            for (_, Cell { key, width: old }) in cells.iter().filter(|(_, cell)| cell.width != width) {
                splices.replace(key.end..key.start + old, " ".repeat(width - key.len()));
            }
        }
    }
    splices.apply(text)
}

/// A key of a row, with its comma, before another in the same line.
struct Cell {
    key: Range<usize>,
    /// From its start to that of the next.
    width: usize,
}

fn cell(text: &str, row: Table, column: usize) -> Option<Cell> {
    let mut starts: Vec<_> = row.entries().map(|entry| entry.name_span.start).collect();
    starts.sort();
    let (start, next) = (*starts.get(column)?, *starts.get(column + 1)?);
    let key = text.get(start..next)?.trim_end_matches(' ');
    (!key.contains('\n')).then(|| Cell { key: start..start + key.len(), width: next - start })
}

fn list(arches: &[Arch]) -> String {
    let words: Vec<_> = arches.iter().map(|arch| format!("\"{arch}\"")).collect();
    format!("[{}]", words.join(", "))
}

/// The module of a kernel: that of the build's first kernel or of the service pack, and the revision. The first has none.
fn module(axis: &Axis, build: Build) -> String {
    let of_build: Vec<_> = axis.kernels.iter().filter(|kernel| kernel.build.number == build.number).collect();
    let pack = of_build.iter().rfind(|kernel| kernel.build < build && kernel.service_pack.is_some());
    let first = pack.or(of_build.first());
    let release = axis.releases.iter().find(|release| release.build.number == build.number);
    match (first, release) {
        (Some(kernel), _) => format!("{}_{}", stem(&kernel.module, kernel.build), build.revision),
        (None, Some(release)) => release.module.clone(),
        (None, None) => format!("build_{}", build.number.map(|n| n.to_string()).join("_")),
    }
}

/// The module of a kernel that is another revision from now on.
pub fn module_of(module: &str, from: Build, to: Build) -> String {
    match stem(module, from) {
        stem if stem == module => module.to_owned(),
        stem => format!("{stem}_{}", to.revision),
    }
}

/// A module's name without the revision.
fn stem(module: &str, build: Build) -> &str {
    module.strip_suffix(&format!("_{}", build.revision)).unwrap_or(module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etw_layouts_codegen::{Sources, read};

    /// A new row is in the columns of its neighbours, which give way where it is the widest; what has no columns stays as it is.
    #[test]
    fn a_new_row_lines_up_with_those_beside_it() {
        let cases = [
            (
                "1.0.7.20",
                "\
{ build = \"1.0.7.1\",  module = \"seven\",     service_pack = 0 },
{ build = \"1.0.7.10\", module = \"seven_sp1\", service_pack = 1 },",
                "\
{ build = \"1.0.7.1\",  module = \"seven\",        service_pack = 0 },
{ build = \"1.0.7.10\", module = \"seven_sp1\",    service_pack = 1 },
{ build = \"1.0.7.20\", module = \"seven_sp1_20\", architectures = [\"x64\"] },",
            ),
            (
                "1.0.7.1000",
                "{ build = \"1.0.7.1\", module = \"seven\" },",
                "\
{ build = \"1.0.7.1\",    module = \"seven\" },
{ build = \"1.0.7.1000\", module = \"seven_1000\", architectures = [\"x64\"] },",
            ),
            (
                "1.0.7.3000",
                "\
{ build = \"1.0.7.1\", module = \"seven\", same = [\"1.0.8\"] },
{ build = \"1.0.7.2000\", module = \"seven_2000\", architectures = [\"x64\"] },",
                "\
{ build = \"1.0.7.1\", module = \"seven\", same = [\"1.0.8\"] },
{ build = \"1.0.7.2000\", module = \"seven_2000\", architectures = [\"x64\"] },
{ build = \"1.0.7.3000\", module = \"seven_3000\", architectures = [\"x64\"] },",
            ),
        ];
        for (build, rows, expected) in cases {
            let text = |rows: &str| {
                let rows = rows.replace('{', "  {");
                format!(
                    "architectures = [\"x86\", \"x64\"]\n\n[[version]]\nlabel   = \"1.0\"\nrelease = \"One\"\nkernels = [\n{rows}\n]\n"
                )
            };
            let before = text(rows);
            let mut sources = Sources::default();
            sources.add("windows.toml", before.clone());
            let axis = read(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false))).axis;
            let build = build.parse().expect("a build");
            let after = entered("windows.toml", &before, &axis, build, Arch::X64).expect("an axis");
            assert_eq!(after, text(expected));
        }
    }

    /// The row that an update makes stays the update's, unless other architectures are asked for.
    #[test]
    fn a_kernel_of_an_update() {
        let axis = |text: &str| {
            let mut sources = Sources::default();
            sources.add("windows.toml", text);
            read(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false))).axis
        };
        let build: Build = "1.0.7.5".parse().expect("a build");
        let text = "architectures = [\"x86\", \"x64\"]\n\n[[version]]\nlabel = \"1.0\"\nrelease = \"One\"\nkernels = [\n  \
            { build = \"1.0.7.1\", module = \"seven\" },\n]\n\n[[update]]\nname = \"fix\"\nkernels = [\"1.0.7.5\"]\n";
        let entered = |text: &str, arch| super::entered("windows.toml", text, &axis(text), build, arch).expect("an axis");
        assert_eq!(entered(text, Arch::X86), text);
        let fewer = without(text, &axis(text), build, &[Arch::X86]);
        let more = entered(&format!("{text}architectures = [\"x64\"]\n"), Arch::X86);
        for (text, arches) in [(text, &[Arch::X86, Arch::X64][..]), (&fewer, &[Arch::X64]), (&more, &[Arch::X86, Arch::X64])] {
            let axis = axis(text);
            let kernel = axis.kernels.iter().find(|kernel| kernel.build == build).expect("a kernel");
            assert_eq!((kernel.module.as_str(), &kernel.architectures[..]), ("seven_5", arches), "{text}");
            assert_eq!(axis.scope("fix.."), axis.scope("1.0.7.5.."));
        }
    }
}
