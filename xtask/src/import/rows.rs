//! The version axis: the rows of imported kernels in `windows.toml`.
//!
//! A row that import wrote is written again from its build and architectures alone, so it does not depend on what came first.
//! An architecture is on it only if its symbols were read: of another, symbols of this one say nothing.

use super::splice::Splices;
use crate::Error;
use etw_layouts_codegen::axis::{Arch, Axis, Build, Kernel};
use std::collections::{BTreeMap, BTreeSet};
use toml_edit::{Document, Item, Value};

/// Releases by build number: label, module, names, and later builds that are the same kernel. Anything else is labelled with
/// its number.
const RELEASES: [(u32, &str, &str, &str, &[u32]); 5] = [
    (20348, "server-2022", "server2022", "Windows Server 2022", &[]),
    (22000, "11-21H2", "win11_21h2", "Windows 11 version 21H2", &[]),
    (22621, "11-22H2", "win11_22h2", "Windows 11 version 22H2 and 23H2", &[22631]),
    (25398, "server-23H2", "server_23h2", "Windows Server version 23H2", &[]),
    (26100, "11-24H2", "win11_24h2", "Windows 11 version 24H2 and 25H2, Windows Server 2025", &[26200]),
];

/// The kernel that a build is: several builds may be one kernel line.
pub fn kernel_of(build: Build, axis: &Axis) -> Build {
    let on_axis = axis.kernels.iter().find(|kernel| kernel.same.iter().any(|same| same.number == build.number));
    let [major, minor, number] = build.number;
    let known = RELEASES.iter().find(|release| major == 10 && release.4.contains(&number));
    match (on_axis, known) {
        (Some(kernel), _) => Build { number: kernel.build.number, ..build },
        (None, Some(release)) => Build { number: [major, minor, release.0], ..build },
        (None, None) => build,
    }
}

/// The text of `windows.toml` with rows for kernels and architectures.
///
/// # Errors
///
/// A text that is not written as specs/README.md has it.
pub fn with(path: &str, text: &str, axis: &Axis, new: &BTreeSet<(Build, Arch)>) -> Result<String, Error> {
    let mut rows: BTreeMap<Build, Row> = BTreeMap::new();
    for &(build, arch) in new {
        rows.entry(build).or_default().imported.insert(arch);
    }
    // Which row of a version names the other builds depends on which is the first.
    let again = axis.kernels.iter().filter(|k| !k.imported.is_empty() && new.iter().any(|(b, _)| b.number == k.build.number));
    again.for_each(|kernel| {
        rows.entry(kernel.build).or_default();
    });
    let authored = |number| axis.kernels.iter().any(|k| k.build.number == number && k.imported.is_empty());
    let firsts: BTreeSet<Build> = rows.keys().rev().map(|b| (b.number, *b)).collect::<BTreeMap<_, _>>().into_values().collect();
    // The columns are those of the rows that a hand wrote, if there are any.
    let mut columns: BTreeMap<[u32; 3], [usize; 2]> = BTreeMap::new();
    let written = axis.kernels.iter().filter(|kernel| kernel.imported.is_empty()).map(|kernel| kernel.build);
    let new = rows.keys().copied().filter(|build| !authored(build.number));
    for build in written.chain(new) {
        let widths = columns.entry(build.number).or_default();
        *widths = [widths[0].max(build.to_string().len()), widths[1].max(module(build, axis).len())];
    }
    for (build, row) in &mut rows {
        row.first = firsts.contains(build) && !authored(build.number);
        row.columns = columns.get(&build.number).copied().unwrap_or_default();
        if let Some(kernel) = axis.kernels.iter().find(|kernel| kernel.build == *build) {
            row.of(kernel);
        }
    }
    let odd = |what: &str| Error::from(format!("{path}: {what} is not written as import expects it; see specs/README.md"));
    let document = Document::parse(text).map_err(|e| format!("{path}: {e}"))?;
    let versions = document.get("version").and_then(Item::as_array_of_tables);
    let mut splices = Splices::default();
    let mut places = Vec::new();
    for table in versions.into_iter().flatten() {
        let array = table.get("kernels").and_then(Item::as_array).ok_or_else(|| odd("`kernels`"))?;
        let header = table.span().ok_or_else(|| odd("[[version]]"))?.start;
        let mut kernels = Vec::new();
        for value in array {
            let kernel = value.as_inline_table().ok_or_else(|| odd("a kernel"))?;
            let build = kernel.get("build").and_then(Value::as_str).and_then(Build::parse).ok_or_else(|| odd("a build"))?.0;
            let span = value.span().ok_or_else(|| odd("a kernel"))?;
            if let Some(row) = rows.remove(&build) {
                splices.replace(span.clone(), row.changed(&text[span.clone()], build, axis));
            }
            kernels.push((build, span));
        }
        let close = array.span().ok_or_else(|| odd("`kernels`"))?.end;
        places.push((header, kernels, text[close..].find('\n').map_or(text.len(), |length| close + length + 1)));
    }
    let mut versions: BTreeMap<[u32; 3], Vec<(Build, Row)>> = BTreeMap::new();
    for (build, row) in rows {
        let home = places.iter().find(|(_, kernels, _)| kernels.iter().any(|(other, _)| other.number == build.number));
        let Some((_, kernels, _)) = home else {
            versions.entry(build.number).or_default().push((build, row));
            continue;
        };
        let line = format!("{},", row.line(build, axis));
        match kernels.iter().rev().find(|(other, _)| *other < build) {
            Some((_, span)) => {
                let end = text[span.end..].find('\n').map_or(text.len(), |length| span.end + length);
                splices.insert(end, format!("\n  {line}"));
            }
            None => {
                let start = kernels.first().map_or(0, |(_, span)| text[..span.start].rfind('\n').map_or(0, |at| at + 1));
                splices.insert(start, format!("  {line}\n"));
            }
        }
    }
    for (number, rows) in versions {
        let (label, release) = match known(number) {
            Some((_, label, _, release, _)) => (label.to_owned(), release.to_owned()),
            None => (number[2].to_string(), format!("Windows build {}", number[2])),
        };
        let mut block = format!("[[version]]\nlabel   = \"{label}\"\nrelease = \"{release}\"\nkernels = [\n");
        for (build, row) in &rows {
            block += &format!("  {},\n", row.line(*build, axis));
        }
        block += "]\n";
        let before = places.iter().rev().find(|(_, kernels, _)| kernels.iter().any(|(other, _)| other.number < number));
        match (before, places.first()) {
            (Some((_, _, end)), _) => splices.insert(*end, format!("\n{block}")),
            (None, Some((header, ..))) => splices.insert(*header, format!("{block}\n")),
            (None, None) => splices.insert(text.len(), format!("\n{block}")),
        }
    }
    Ok(splices.apply(text))
}

fn known(number: [u32; 3]) -> Option<(u32, &'static str, &'static str, &'static str, &'static [u32])> {
    RELEASES.into_iter().find(|release| number == [10, 0, release.0])
}

/// The architectures of a kernel.
#[derive(Default)]
struct Row {
    imported: BTreeSet<Arch>,
    seen: BTreeSet<Arch>,
    all: BTreeSet<Arch>,
    /// Whether it is the first of its version.
    first: bool,
    /// The widths of the builds and the modules beside it.
    columns: [usize; 2],
}

impl Row {
    fn of(&mut self, kernel: &Kernel) {
        self.imported.extend(&kernel.imported);
        self.seen.extend(&kernel.seen);
        self.all.extend(&kernel.architectures);
    }

    /// A row that import wrote, or one that gets another architecture.
    fn changed(&self, text: &str, build: Build, axis: &Axis) -> String {
        if self.all.is_subset(&self.imported) {
            return self.line(build, axis);
        }
        let seen = list(self.seen.union(&self.imported));
        let mut out = replace_key(text, "seen", &seen);
        if !self.imported.is_subset(&self.all) {
            out = replace_key(&out, "architectures", &list(self.all.union(&self.imported)));
        }
        replace_key(&out, "imported", &list(&self.imported))
    }

    fn line(&self, build: Build, axis: &Axis) -> String {
        let [build_width, module_width] = self.columns.map(|width| width + "\"\", ".len());
        let [name, module] = [build.to_string(), module(build, axis)].map(|text| format!("\"{text}\", "));
        let mut out = format!("{{ build = {name:build_width$}module = {module:module_width$}");
        if self.imported.len() < Arch::ALL.len() {
            out += &format!("architectures = {}, ", list(&self.imported));
        }
        let same = known(build.number).filter(|_| self.first).map_or(&[][..], |release| release.4);
        if !same.is_empty() {
            let list: Vec<_> = same.iter().map(|n| format!("\"10.0.{n}\"")).collect();
            out += &format!("same = [{}], ", list.join(", "));
        }
        out + &format!("seen = {0}, imported = {0} }}", list(&self.imported))
    }
}

fn list<'a>(arches: impl IntoIterator<Item = &'a Arch>) -> String {
    let words: Vec<_> = arches.into_iter().map(|arch| format!("\"{arch}\"")).collect();
    format!("[{}]", words.join(", "))
}

/// A row with another list for a key.
fn replace_key(text: &str, key: &str, list: &str) -> String {
    let found = text.find(&format!("{key} = [")).and_then(|at| Some((at, at + text[at..].find(']')? + 1)));
    match (found, text.trim_end().strip_suffix('}')) {
        (Some((start, end)), _) => format!("{}{key} = {list}{}", &text[..start], &text[end..]),
        (None, Some(open)) => format!("{}, {key} = {list} }}", open.trim_end()),
        (None, None) => text.to_owned(),
    }
}

/// The module of a kernel: that of the build's first revision or service pack, and the revision.
fn module(build: Build, axis: &Axis) -> String {
    if let Some(kernel) = axis.kernels.iter().find(|kernel| kernel.build == build) {
        return kernel.module.clone();
    }
    let mut authored = axis.kernels.iter().filter(|kernel| kernel.imported.is_empty() && kernel.build.number == build.number);
    let first = authored.rfind(|k| (k.build.revision == 0 || k.service_pack.is_some()) && k.build < build);
    let stem = match (first, known(build.number)) {
        (Some(kernel), _) => kernel.module.clone(),
        (None, Some(release)) => release.2.to_owned(),
        (None, None) => format!("build_{}", build.number.map(|n| n.to_string()).join("_")),
    };
    match build.revision {
        0 => stem,
        revision => format!("{stem}_{revision}"),
    }
}
