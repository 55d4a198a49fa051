//! Forgets an examined build in the texts of specs and facts, as an author would who never read its tables.

use super::forget::{Known, Target};
use etw_layouts_codegen::axis::{Arch, Build, Revision};
use std::collections::BTreeMap;
use std::fs;
use tests::root;

/// The version axis.
const AXIS: &str = "specs/windows.toml";

/// The spec files and facts files, each with its path.
pub type Texts = BTreeMap<String, String>;

/// The texts without a target, and the removed tables as snapshots.
pub struct Without {
    pub specs: Texts,
    pub facts: Texts,
    pub tables: Vec<String>,
}

/// The texts of the workspace.
pub struct Workspace<'a> {
    known: &'a Known,
    specs: Texts,
    facts: Texts,
}

impl<'a> Workspace<'a> {
    pub fn read(known: &'a Known) -> Self {
        let files = known.layouts.spec.sources.files().iter();
        let specs = files.map(|file| (file.path.clone(), file.text.clone())).collect();
        let paths = fs::read_dir(root().join("facts")).expect("the facts").map(|entry| entry.expect("an entry").path());
        let facts = paths.filter(|path| path.extension().is_some_and(|extension| extension == "facts"));
        let named =
            |path: &std::path::Path| format!("facts/{}", path.file_name().and_then(|name| name.to_str()).expect("a name"));
        let facts = facts.map(|path| (named(&path), fs::read_to_string(&path).expect("a facts file"))).collect();
        Self { known, specs, facts }
    }

    /// The texts without a target; the reason if no text is the obvious one.
    pub fn without(&self, target: Target) -> Result<Without, &'static str> {
        let specs = self.specs_without(target)?;
        let mut facts = Texts::new();
        let mut tables = Vec::new();
        for (path, text) in &self.facts {
            let (left, table) = self.divided(text, target);
            facts.extend(left.map(|text| (path.clone(), text)));
            tables.extend(table);
        }
        Ok(Without { specs, facts, tables })
    }

    /// A facts file without a target, if other builds are left, and with this target alone, if it has the target.
    fn divided(&self, text: &str, target: Target) -> (Option<String>, Option<String>) {
        let (mut left, mut table) = (String::new(), String::new());
        let (mut has_left, mut has_target) = (false, false);
        let mut is_of = None;
        for line in text.split_inclusive('\n') {
            match line.strip_prefix("kernel ") {
                Some(rest) => is_of = Some(self.target(rest) == target),
                // Addresses of variables follow the line of their build.
                None if line.starts_with(' ') => {}
                None => is_of = None,
            }
            has_target |= is_of == Some(true);
            has_left |= is_of == Some(false);
            if is_of != Some(true) {
                left += line;
            }
            if is_of != Some(false) {
                table += line;
            }
        }
        (has_left.then_some(left), has_target.then_some(table))
    }

    fn target(&self, words: &str) -> Target {
        let mut words = words.split_whitespace();
        let build = words.next().and_then(|word| word.parse().ok()).expect("a build");
        let arch = words.next().and_then(|word| word.parse().ok()).expect("an architecture");
        (self.known.layouts.spec.axis.canonical(build), arch)
    }

    /// The specs, in which the row of a target begins with the next examined build of its branch. If there is none before the next
    /// row, the architecture has no such row.
    fn specs_without(&self, target: Target) -> Result<Texts, &'static str> {
        let axis = &self.known.layouts.spec.axis;
        let kernels = &axis.revisions;
        let of_branch = |row: &Revision| row.build.number == target.0.number && row.architectures.contains(&target.1);
        let earlier = kernels.iter().rposition(|row| of_branch(row) && row.build <= target.0);
        let Some(index) = earlier else { return Ok(self.specs.clone()) };
        let row = &kernels[index];
        let next_row = kernels[index + 1..].iter().find(|next| of_branch(next)).map(|next| next.build);
        let within = self.known.examined.keys().filter(|(build, _)| {
            build.number == row.build.number && *build >= row.build && next_row.is_none_or(|next| *build < next)
        });
        if row.build != target.0 {
            // The row comes from another architecture. Without facts of its own, only an architecture that follows another has it.
            let is_only = within.filter(|other| other.1 == target.1).count() == 1 && !axis.ranges.contains_key(&target.1);
            return if is_only { self.split(index, target.1, None) } else { Ok(self.specs.clone()) };
        }
        let later = within.filter(|(build, _)| *build > row.build);
        let next = later.clone().find(|(_, arch)| *arch == target.1).map(|next| next.0);
        let is_of_version = |(build, _): &(Build, _)| kernels.iter().any(|it| it.build == *build && it.release == row.release);
        let is_first = axis.along(target.1).find(is_of_version).is_some_and(|first| first.0 == row.build);
        if next.is_none() && is_first {
            return Err("ranges name the version on this architecture");
        }
        let others = |arch: &Arch| *arch != target.1 && self.known.examined.contains_key(&(row.build, *arch));
        if row.architectures.iter().any(others) {
            return self.split(index, target.1, next);
        }
        let is_earlier = |next: Build| later.clone().any(|(build, arch)| *build < next && row.architectures.contains(arch));
        match (next, next_row) {
            (Some(next), _) if is_earlier(next) => Err("another architecture was examined earlier"),
            (None, _) if later.clone().next().is_some() => Err("another architecture has the row"),
            (Some(next), _) => self.renamed(&self.specs, row.build, next),
            (None, Some(next)) => self.renamed(&self.removed(row)?, row.build, next),
            (None, None) => {
                let left = self.removed(row)?;
                let is_named = left.values().any(|text| replaced(text, &format!("{:#}", row.build), "") != *text);
                if is_named { Err("ranges name the last row of a branch") } else { Ok(left) }
            }
        }
    }

    /// The specs with another build instead of one.
    fn renamed(&self, specs: &Texts, from: Build, to: Build) -> Result<Texts, &'static str> {
        let (from, to) = (format!("{from:#}"), format!("{to:#}"));
        if from.split('.').count() < 4 {
            return Err("the name of the build is that of its branch");
        }
        Ok(specs.iter().map(|(path, text)| (path.clone(), replaced(text, &from, &to))).collect())
    }

    /// The specs without the entry of a row in the list of its version.
    fn removed(&self, row: &Revision) -> Result<Texts, &'static str> {
        if row.service_pack.is_some() {
            return Err("ranges name the service pack");
        }
        let mut specs = self.specs.clone();
        let text = specs.get_mut(AXIS).expect("the axis");
        if let Some(place) = entry(text, row.build) {
            text.replace_range(place, "");
        }
        Ok(specs)
    }

    /// The specs in which a row begins on one architecture with another build, or does not exist there.
    fn split(&self, index: usize, arch: Arch, next: Option<Build>) -> Result<Texts, &'static str> {
        let kernels = &self.known.layouts.spec.axis.revisions;
        let row = &kernels[index];
        let is_first = kernels[..index].last().is_none_or(|before| before.build.number != row.build.number);
        if is_first && kernels.get(index + 1).is_some_and(|later| later.build.number == row.build.number) {
            return Err("updates have the architectures of the first row of the branch, and published references describe it");
        }
        let mut specs = self.specs.clone();
        let text = specs.get_mut(AXIS).expect("the axis");
        let others: Vec<Arch> = row.architectures.iter().copied().filter(|other| *other != arch).collect();
        let new = |build: Build, architectures: &[Arch]| {
            let module = format!("{}_{}", row.module, if architectures == [arch] { "later" } else { "others" });
            line(build, &module, architectures)
        };
        let end = match entry(text, row.build) {
            Some(place) => {
                let mut left = text[place.clone()].to_owned();
                if let Some(start) = left.find("architectures = [") {
                    let end = start + left[start..].find(']').expect("the end of the list") + 1;
                    left.replace_range(start..end, &format!("architectures = [{}]", list(&others)));
                } else {
                    let end = left.rfind(" }").expect("the end of an entry");
                    left.insert_str(end, &format!(", architectures = [{}]", list(&others)));
                }
                text.replace_range(place.clone(), &left);
                place.start + left.len()
            }
            // An update lists the row. The version lists it for the other architectures.
            None => {
                let before = kernels[..index].iter().rev().find_map(|before| Some(entry(text, before.build)?.end));
                let end = before.expect("an earlier row");
                let left = new(row.build, &others);
                text.insert_str(end, &left);
                end + left.len()
            }
        };
        if let Some(next) = next {
            text.insert_str(end, &new(next, &[arch]));
        }
        Ok(specs)
    }
}

/// The entry of a row in the list of its version.
fn line(build: Build, module: &str, architectures: &[Arch]) -> String {
    format!("  {{ build = \"{build:#}\", module = \"{module}\", architectures = [{}] }},\n", list(architectures))
}

fn list(architectures: &[Arch]) -> String {
    architectures.iter().map(|arch| format!("\"{arch}\"")).collect::<Vec<_>>().join(", ")
}

/// The place of the entry of a build in the list of a version, with its line ends.
fn entry(axis: &str, build: Build) -> Option<std::ops::Range<usize>> {
    let start = axis.find(&format!("  {{ build = \"{build:#}\","))?;
    // An entry can list releases, in lines of their own. The next entry or the end of the list follows.
    let after = ["\n  {", "\n]"].map(|next| axis[start..].find(next));
    let end = start + after.into_iter().flatten().min().expect("the end of an entry") + "\n".len();
    Some(start..end)
}

/// A text with another build instead of one, not within longer numbers.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit();
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(from) {
        let (before, after) = (&rest[..start], &rest[start + from.len()..]);
        // The two dots of a range can follow or precede a build.
        let is_whole =
            !before.ends_with(is_part) && (!before.ends_with('.') || before.ends_with("..")) && !after.starts_with(is_part);
        out = out + before + if is_whole { to } else { from };
        rest = after;
    }
    out + rest
}
