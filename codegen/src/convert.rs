//! Conversion of spec files with keys of an earlier form of the language.

use crate::axis;
use crate::emit::toml::quoted;
use crate::syntax::{Node, TableKind};
use core::ops::Range;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// What an old key of a kind of table is now, for a message. `None` if the table never had the key.
pub(crate) fn new_key(kind: TableKind, name: &str) -> Option<&'static str> {
    Some(match (kind, name) {
        (TableKind::Axis | TableKind::File, "version") => "`[[release]]`",
        (TableKind::Axis | TableKind::File, "group") => "in `labels` of releases",
        (TableKind::Axis, "follows") => "`ranges`",
        (TableKind::Axis, "documents") => "`documented_range`",
        (TableKind::Release, "label") => "`labels`",
        (TableKind::Release, "release") => "`name`",
        (TableKind::Release, "kernels") | (TableKind::Update, "kernels") => "`revisions`",
        (TableKind::Release | TableKind::Revision, "same") => "`releases`",
        (TableKind::Erratum, "witness") => "`evidence`",
        _ => return None,
    })
}

/// The text of a spec file with the keys of the language; `None` if it has no old keys. Each line keeps its number.
///
/// # Errors
///
/// A `[[group]]` has no equivalent in the language.
pub fn converted(text: &str) -> Result<Option<String>, String> {
    let (root, _) = DeTable::parse_recoverable(text);
    let root = root.get_ref();
    let mut edits = Edits { text, list: Vec::new(), appended: String::new() };
    errata(root, &mut edits);
    let is_old = |key: &str| ["version", "group", "follows", "documents"].contains(&key);
    if root.iter().any(|(key, _)| is_old(key.get_ref()) || ["release", "update"].contains(&&**key.get_ref())) {
        axis(root, &mut edits)?;
    }
    Ok(edits.applied())
}

/// Renames `witness` in all errata below a table.
fn errata(table: &DeTable, edits: &mut Edits) {
    for (key, node) in table {
        let is_errata = key.get_ref() == "errata";
        for (table, _) in tables(node) {
            if is_errata && table.contains_key("what") {
                edits.rename(table, "witness", "evidence");
            }
            errata(table, edits);
        }
    }
}

/// Converts the tables of a version axis.
fn axis(root: &DeTable, edits: &mut Edits) -> Result<(), String> {
    let list = |key: &str| root.get(key).map(tables).unwrap_or_default();
    let (versions, releases, groups) = (list("version"), list("release"), list("group"));
    let kernels = versions.iter().flat_map(|(version, _)| version.get("kernels").map(tables).unwrap_or_default());
    let sharing = kernels.map(|(kernel, _)| kernel).chain(releases.iter().map(|(release, _)| *release));
    let shared: Vec<String> = sharing.flat_map(|table| strings(table, "same")).collect();
    let mut labels = Labels::default();
    for (group, _) in &groups {
        labels.add(group, &shared)?;
    }
    for (key, new) in [("follows", "ranges"), ("documents", "documented_range")] {
        edits.rename(root, key, new);
    }
    // In an inline list, the key has the only name. Otherwise each header has it.
    let is_inline = versions.first().is_some_and(|(_, span)| !edits.text[span.clone()].starts_with('['));
    if is_inline {
        edits.rename(root, "version", "release");
    }
    for (table, span) in versions.iter().chain(&releases) {
        edits.header(span, "[[release]]");
        for (key, new) in [("release", "name"), ("kernels", "revisions")] {
            edits.rename(table, key, new);
        }
        let own = table.get("label").and_then(|node| node.get_ref().as_str());
        if let (Some(own), Some((key, node))) = (own, table.get_key_value("label")) {
            let all = [own.to_owned()].into_iter().chain(labels.of_releases.remove(own).unwrap_or_default());
            edits.replace(key.span(), "labels".into());
            edits.replace(node.span(), array(all));
        }
        edits.shared(table, &labels);
        for (kernel, span) in table.get("kernels").map(tables).unwrap_or_default() {
            edits.header(&span, "[[release.revisions]]");
            edits.shared(kernel, &labels);
        }
    }
    for (update, _) in list("update") {
        edits.rename(update, "kernels", "revisions");
    }
    for (group, span) in &groups {
        let is_header = edits.text[span.clone()].starts_with('[');
        let end = group.iter().map(|(_, value)| value.span().end).fold(span.end, usize::max);
        edits.remove(if is_header { span.start..end } else { 0..0 });
    }
    if let Some((key, node)) = root.get_key_value("group").filter(|(_, node)| node.get_ref().is_array()) {
        let inline = edits.text[node.span()].starts_with('[') && !edits.text[node.span()].starts_with("[[");
        edits.remove(if inline { key.span().start..node.span().end } else { 0..0 });
    }
    // Releases of the axis that this file extends.
    for (label, others) in labels.of_releases {
        edits.appended += &format!("\n[[release]]\nlabels = {}\n", array([label].into_iter().chain(others)));
    }
    Ok(())
}

/// The labels of groups.
#[derive(Default)]
struct Labels {
    /// By the first label of a release.
    of_releases: BTreeMap<String, Vec<String>>,
    /// By a build number that shares the kernel of another one, with the names.
    of_builds: BTreeMap<[u32; 3], (Vec<String>, Option<String>)>,
}

impl Labels {
    fn add(&mut self, group: &DeTable, shared: &[String]) -> Result<(), String> {
        let text = |key: &str| group.get(key).and_then(|node| node.get_ref().as_str()).map(str::to_owned);
        let Some(label) = text("label") else { return Ok(()) };
        let of = strings(group, "of");
        let number = text("build").and_then(|build| axis::build(&build)).map(|(build, _)| build.number);
        let is_shared = |number| shared.iter().filter_map(|build| axis::build(build)).any(|(build, _)| build.number == number);
        match number {
            Some(number) if of.len() == 1 && is_shared(number) => {
                let (labels, name) = self.of_builds.entry(number).or_default();
                labels.push(label);
                *name = name.take().or(text("release"));
                Ok(())
            }
            Some(_) => Err(format!(
                "cannot convert group `{label}`: its build is not in `same` of this file; give the build a [[version]] of its own, or remove `build`"
            )),
            None if group.contains_key("release") => {
                Err(format!("cannot convert group `{label}`: it has `release` without `build`; remove `release`"))
            }
            None => {
                of.into_iter().for_each(|first| self.of_releases.entry(first).or_default().push(label.clone()));
                Ok(())
            }
        }
    }
}

/// Replacements in a text.
struct Edits<'a> {
    text: &'a str,
    list: Vec<(Range<usize>, String)>,
    appended: String,
}

impl Edits<'_> {
    fn replace(&mut self, span: Range<usize>, new: String) {
        self.list.push((span, new));
    }

    fn rename(&mut self, table: &DeTable, key: &str, new: &str) {
        if let Some((key, _)) = table.get_key_value(key) {
            self.replace(key.span(), new.to_owned());
        }
    }

    /// Replaces the header of a table, if it has one.
    fn header(&mut self, span: &Range<usize>, new: &str) {
        let rest = &self.text[span.start..];
        if let (true, Some(end)) = (rest.starts_with('['), rest.find("]]")) {
            self.replace(span.start..span.start + end + 2, new.to_owned());
        }
    }

    /// Removes a text, except for its line breaks.
    fn remove(&mut self, span: Range<usize>) {
        let lines = self.text[span.clone()].matches('\n').count();
        self.replace(span, "\n".repeat(lines));
    }

    /// Converts the key `same` of a table.
    fn shared(&mut self, table: &DeTable, labels: &Labels) {
        let Some((key, node)) = table.get_key_value("same") else { return };
        let release = |build: String| {
            let own = axis::build(&build).and_then(|(build, _)| labels.of_builds.get(&build.number));
            let labels = own.map(|(labels, _)| format!(", labels = {}", array(labels.iter().cloned()))).unwrap_or_default();
            let name = own.and_then(|(_, name)| name.as_deref()).map(|name| format!(", name = {}", quoted(name)));
            format!("{{ build = {}{labels}{} }}", quoted(&build), name.unwrap_or_default())
        };
        let all: Vec<_> = strings(table, "same").into_iter().map(release).collect();
        self.replace(key.span(), "releases".into());
        self.replace(node.span(), format!("[{}]", all.join(", ")));
    }

    fn applied(mut self) -> Option<String> {
        self.list.retain(|(span, new)| self.text[span.clone()] != **new);
        if self.list.is_empty() && self.appended.is_empty() {
            return None;
        }
        self.list.sort_by_key(|(span, _)| span.start);
        let (mut out, mut done) = (String::new(), 0);
        for (span, new) in self.list {
            out += &self.text[done..span.start];
            out += &new;
            done = span.end;
        }
        Some(out + &self.text[done..] + &self.appended)
    }
}

/// The tables in a value, each with its place.
fn tables<'a>(node: &'a Node) -> Vec<(&'a DeTable<'a>, Range<usize>)> {
    match node.get_ref() {
        DeValue::Table(table) => vec![(table, node.span())],
        DeValue::Array(list) => list.iter().flat_map(tables).collect(),
        _ => Vec::new(),
    }
}

/// The strings in a list.
fn strings(table: &DeTable, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(|node| node.get_ref().as_array());
    list.into_iter().flatten().filter_map(|node| node.get_ref().as_str().map(str::to_owned)).collect()
}

fn array(list: impl Iterator<Item = String>) -> String {
    format!("[{}]", list.map(|text| quoted(&text)).collect::<Vec<_>>().join(", "))
}
