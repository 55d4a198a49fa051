//! The sentences of specs/README.md about ranges, as predicates of a single target. This code is naive on purpose, and uses nothing
//! of the reader: it parses scopes and builds itself.

use super::axis::{Arch, Axis, Build, Update};
use super::file::{File, Item, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A row of the axis on an architecture: build, revision and architecture.
pub type Target = ([u32; 3], u32, Arch);

pub type Targets = BTreeSet<Target>;

/// The facts of a file: the targets of the structure and of each member, and the values at each target.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub scopes: BTreeMap<String, Targets>,
    pub values: BTreeMap<String, BTreeMap<Target, String>>,
}

/// The document has an error.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong;

/// The targets of an axis.
pub fn targets(axis: &Axis) -> Result<Targets, Wrong> {
    let mut all = Targets::new();
    for version in &axis.versions {
        let of_version = version.architectures.as_ref().unwrap_or(&axis.architectures);
        for row in &version.rows {
            for &arch in row.architectures.as_ref().unwrap_or(of_version) {
                all.insert((row.build.number, row.build.revision.unwrap_or(0), arch));
            }
        }
    }
    let stated = all.clone();
    for update in &axis.updates {
        if update.kernels.is_empty() {
            return Err(Wrong);
        }
        for build in &update.kernels {
            let revision = build.revision.unwrap_or(0);
            let first = stated.iter().filter(|target| target.0 == build.number).map(|target| target.1).min().ok_or(Wrong)?;
            if revision < first || update.without.contains(&build.number) {
                return Err(Wrong);
            }
            // A revision with a row has the architectures of the row, every other one those of the first row of its build.
            let has_row = stated.iter().any(|target| target.0 == build.number && target.1 == revision);
            let row = if has_row { revision } else { first };
            let of_row = stated.iter().filter(|target| target.0 == build.number && target.1 == row).map(|target| target.2);
            let common: Vec<Arch> = of_row.filter(|arch| is_of(update, arch)).collect();
            if common.is_empty() {
                return Err(Wrong);
            }
            if !has_row {
                all.extend(common.into_iter().map(|arch| (build.number, revision, arch)));
            }
        }
    }
    Ok(all)
}

/// The targets that published references cover.
pub fn documented(axis: &Axis, all: &Targets) -> Result<Targets, Wrong> {
    let Some(documents) = &axis.documents else { return Ok(all.clone()) };
    let covered = scope(&Axis { follows: false, ..axis.clone() }, all, documents)?;
    let released = |target: &&Target| {
        axis.versions.iter().any(|version| {
            let is_it = |row: &super::axis::Row| (row.build.number, row.build.revision.unwrap_or(0)) == (target.0, target.1);
            version.rows.iter().enumerate().any(|(index, row)| is_it(row) && (index == 0 || row.pack.is_some()))
        })
    };
    Ok(covered.iter().filter(released).copied().collect())
}

/// The targets of a scope.
pub fn scope(axis: &Axis, all: &Targets, text: &str) -> Result<Targets, Wrong> {
    let parts: Vec<Vec<&str>> = text.split(',').map(|part| part.split_whitespace().collect()).collect();
    let follows = |arch: Arch| axis.follows && arch == "arm64";
    let names_arm64 = parts.iter().any(|part| part.contains(&"arm64"));
    let mut found = Targets::new();
    let mut is_range = false;
    for part in parts {
        if part[..] == ["no", "arm64"] && axis.follows {
            continue;
        }
        let (words, arch) = match part.split_last() {
            Some((last, words)) if is_arch(last) => (words, Some(*last)),
            _ => (&part[..], None),
        };
        if words.is_empty() && arch.is_none() {
            return Err(Wrong);
        }
        is_range = true;
        let mut within = all.clone();
        for word in words {
            within = within.intersection(&range(axis, all, word)?).copied().collect();
        }
        if within.is_empty() {
            return Err(Wrong);
        }
        found.extend(within.into_iter().filter(|target| match (arch, target.2) {
            (Some(arch), own) if arch == own => true,
            (_, own) if follows(own) && names_arm64 => false,
            (Some(arch), own) => follows(own) && arch == "x64",
            (None, _) => true,
        }));
    }
    if is_range { Ok(found) } else { Err(Wrong) }
}

/// What the end of a range denotes.
enum End<'a> {
    Open,
    Update(&'a Update),
    Rows(BTreeSet<([u32; 3], u32)>),
    /// A build without a row.
    Absent([u32; 3], u32),
}

fn range(axis: &Axis, all: &Targets, text: &str) -> Result<Targets, Wrong> {
    let Some((first, last)) = text.split_once("..") else {
        let End::Rows(rows) = end(axis, all, text)? else { return Err(Wrong) };
        return Ok(all.iter().filter(|target| rows.contains(&(target.0, target.1))).copied().collect());
    };
    let open = |text: &str| if text.is_empty() { Ok(End::Open) } else { end(axis, all, text) };
    let (first, last) = (open(first)?, open(last)?);
    let begins = |target: &Target| match &first {
        End::Open => true,
        End::Update(update) => has(update, target),
        End::Rows(rows) => rows.iter().any(|row| *row <= (target.0, target.1)),
        End::Absent(number, revision) => (*number, *revision) <= (target.0, target.1),
    };
    let ends = |target: &Target| match &last {
        End::Open => true,
        End::Update(update) => !has(update, target),
        End::Rows(rows) => rows.iter().any(|row| *row >= (target.0, target.1)),
        End::Absent(number, revision) => (*number, *revision) >= (target.0, target.1),
    };
    let found: Targets = all.iter().filter(|target| begins(target) && ends(target)).copied().collect();
    if found.is_empty() { Err(Wrong) } else { Ok(found) }
}

fn end<'a>(axis: &'a Axis, all: &Targets, text: &str) -> Result<End<'a>, Wrong> {
    if let Some(update) = axis.updates.iter().find(|update| update.name == text) {
        return Ok(End::Update(update));
    }
    // Rows of updates belong to the version of their build.
    let of_version = |label: &str| {
        let version = axis.versions.iter().find(|version| version.label == label)?;
        Some(version.rows.iter().map(|row| row.build.number).collect::<BTreeSet<_>>())
    };
    let rows = |number: [u32; 3]| all.iter().filter(move |target| target.0 == number).map(|target| (target.0, target.1));
    let group = axis.groups.iter().find(|group| group.label == text);
    let labels = group.map_or(vec![text], |group| group.of.iter().map(String::as_str).collect());
    let numbers: BTreeSet<[u32; 3]> = labels.into_iter().filter_map(of_version).flatten().collect();
    if !numbers.is_empty() {
        return Ok(End::Rows(numbers.into_iter().flat_map(rows).collect()));
    }
    if let Some((build, pack)) = text.split_once("-sp") {
        let stated = axis.versions.iter().flat_map(|version| &version.rows);
        let is_it = |row: &&super::axis::Row| {
            Some(row.build.number) == number(build) && row.pack.is_some_and(|own| own.to_string() == pack)
        };
        let row = stated.into_iter().find(is_it).ok_or(Wrong)?;
        return Ok(End::Rows([(row.build.number, row.build.revision.unwrap_or(0))].into()));
    }
    if let Some(release) = axis.releases.iter().find(|release| release.label == text) {
        let number = canonical(axis, release.build.number);
        let rows: BTreeSet<_> = rows(number).collect();
        return Ok(if rows.is_empty() { End::Absent(number, 0) } else { End::Rows(rows) });
    }
    let (build, revision) = match text.match_indices('.').nth(2) {
        Some((at, _)) => (&text[..at], Some(text[at + 1..].parse::<u32>().map_err(|_| Wrong)?)),
        None => (text, None),
    };
    let written = number(build).ok_or(Wrong)?;
    let number = canonical(axis, written);
    let rows: BTreeSet<_> = rows(number).collect();
    Ok(match revision {
        None if rows.is_empty() => End::Absent(number, 0),
        None => End::Rows(rows),
        Some(revision) if rows.contains(&(number, revision)) => End::Rows([(number, revision)].into()),
        Some(0) if !rows.is_empty() => End::Rows(rows.into_iter().take(1).collect()),
        Some(revision) if rows.iter().all(|row| revision < row.1) => End::Absent(number, revision),
        Some(_) => return Err(Wrong),
    })
}

/// The number of a kernel that has several build numbers.
fn canonical(axis: &Axis, number: [u32; 3]) -> [u32; 3] {
    let rows = axis.versions.iter().flat_map(|version| &version.rows);
    let found = rows.into_iter().find(|row| row.same.iter().any(|same| same.number == number));
    found.map_or(number, |row| row.build.number)
}

fn number(text: &str) -> Option<[u32; 3]> {
    let numbers: Vec<u32> = text.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

fn is_arch(word: &str) -> bool {
    ["x86", "x64", "arm64"].contains(&word)
}

fn is_of(update: &Update, arch: Arch) -> bool {
    update.architectures.as_ref().is_none_or(|of| of.contains(&arch))
}

/// Whether a target has an update.
fn has(update: &Update, &(number, revision, arch): &Target) -> bool {
    let is_later = update.kernels.iter().all(|build| build.number < number);
    let own = update.kernels.iter().find(|build| build.number == number);
    is_of(update, arch)
        && match own {
            Some(Build { revision: first, .. }) => first.unwrap_or(0) <= revision,
            None => is_later && !update.without.contains(&number),
        }
}

/// The facts of a file.
pub fn facts(axis: &Axis, all: &Targets, file: &File) -> Result<Facts, Wrong> {
    let mut facts = Facts::default();
    let own = within(axis, all, file.scope.as_deref(), all)?;
    facts.values.insert("reason".into(), values(axis, all, &file.reason, &own, &Targets::clone)?);
    let documented = if file.source { documented(axis, all)? } else { all.clone() };
    let covered = |scope: &Targets| {
        let of = |test: &dyn Fn(&Target) -> bool| scope.iter().filter(|target| test(target)).copied().collect::<Targets>();
        let own = [of(&|target| documented.contains(target)), of(&|target| !(axis.follows && target.2 == "arm64"))];
        own.into_iter().find(|own| !own.is_empty()).unwrap_or_else(|| scope.clone())
    };
    let number = |text: String| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap_or_default().to_string(),
        None => text,
    };
    let sizes = values(axis, all, &file.size, &own, &covered)?;
    facts.values.insert("size".into(), sizes.into_iter().map(|(target, text)| (target, number(text))).collect());
    items(axis, all, &file.items, &own, &mut facts)?;
    facts.scopes.insert("S".into(), own);
    Ok(facts)
}

fn items(axis: &Axis, all: &Targets, list: &[Item], around: &Targets, facts: &mut Facts) -> Result<(), Wrong> {
    for item in list {
        match item {
            Item::Member { name, scope, ty } => {
                let own = within(axis, all, scope.as_deref(), around)?;
                let types = values(axis, all, ty, &own, &Targets::clone)?;
                if types.len() < own.len() {
                    return Err(Wrong);
                }
                facts.values.insert(name.clone(), types);
                facts.scopes.insert(name.clone(), own);
            }
            Item::Group { scope, items: inner } => {
                let own = within(axis, all, Some(scope), around)?;
                items(axis, all, inner, &own, facts)?;
            }
        }
    }
    Ok(())
}

/// A scope within that of the parent.
fn within(axis: &Axis, all: &Targets, text: Option<&str>, around: &Targets) -> Result<Targets, Wrong> {
    let Some(text) = text else { return Ok(around.clone()) };
    let own: Targets = scope(axis, all, text)?.intersection(around).copied().collect();
    if own.is_empty() { Err(Wrong) } else { Ok(own) }
}

/// A piecewise value at each target. `covered` are the targets of a scope that a value applies to.
fn values(
    axis: &Axis,
    all: &Targets,
    value: &Value,
    within: &Targets,
    covered: &dyn Fn(&Targets) -> Targets,
) -> Result<BTreeMap<Target, String>, Wrong> {
    let entries = match value {
        Value::One(value) => return Ok(covered(within).into_iter().map(|target| (target, value.clone())).collect()),
        Value::Table(entries) => entries,
    };
    if entries.is_empty() {
        return Err(Wrong);
    }
    let scopes = entries.iter().map(|(text, _)| scope(axis, all, text)).collect::<Result<Vec<_>, _>>()?;
    let names_arm64 = |text: &str| axis.follows && text.split([',', ' ']).any(|word| word == "arm64");
    let takes = |index: usize, target: &Target| {
        let precedes = |other: usize| other != index && names_arm64(&entries[other].0) && scopes[other].contains(target);
        let is_preceded = target.2 == "arm64" && !names_arm64(&entries[index].0) && (0..entries.len()).any(precedes);
        scopes[index].contains(target) && !is_preceded
    };
    let mut found = BTreeMap::new();
    for (index, (text, inner)) in entries.iter().enumerate() {
        let own: Targets = within.iter().filter(|target| takes(index, target)).copied().collect();
        if own.is_empty() {
            // An architecture without builds can be in every table for the whole axis.
            if within == all && is_arch(text) {
                continue;
            }
            return Err(Wrong);
        }
        for (target, value) in values(axis, all, inner, &own, covered)? {
            if found.insert(target, value).is_some() {
                return Err(Wrong);
            }
        }
    }
    Ok(found)
}
