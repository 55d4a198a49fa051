//! The text of `windows.toml`.

use super::form::{Row, Value, quoted};
use crate::axis::{Arch, Axis, Build, Revision, SharedRelease};

/// The text of an axis that lists all its builds.
pub fn axis(axis: &Axis) -> String {
    let mut out = String::new();
    let keys = [
        ("architectures", Some(arches(&axis.architectures))),
        ("ranges", (!axis.ranges.is_empty()).then(|| ranges(axis))),
        ("documented_range", axis.documented_range.as_deref().map(quoted)),
    ];
    for (key, value) in keys {
        let Some(value) = value else { continue };
        let comments = axis.comments.get(key).map(Vec::as_slice).unwrap_or_default();
        let comments: Vec<&String> = comments.iter().skip_while(|line| line.is_empty()).collect();
        out += if out.is_empty() { "" } else { "\n" };
        comments.iter().for_each(|line| out += &format!("{line}\n"));
        out += &format!("{key} = {value}\n");
    }
    let mut table = |header: &str, row: Row| {
        out += "\n";
        let width = row.pairs.iter().map(|(key, _)| key.len()).filter(|width| *width < 10).max().unwrap_or(0);
        out += &row.table(header, width);
    };
    for (index, release) in axis.releases.iter().enumerate() {
        let mut row = named(axis, &release.labels, &release.name);
        if release.architectures != axis.architectures {
            row.pairs.push(("architectures", Value::Plain(arches(&release.architectures))));
        }
        row.add("unverifiable", release.unverifiable.as_deref().map(|text| Value::Plain(quoted(text))));
        let own = axis.revisions.iter().filter(|revision| revision.release == index && !revision.of_update);
        row.pairs.push(("revisions", Value::Rows(own.map(|own| revision(own, &release.architectures)).collect())));
        table("[[release]]", row);
    }
    for release in &axis.unimported {
        let mut row = named(axis, &release.labels, &release.name);
        row.pairs.push(("build", build(release.build)));
        row.pairs.push(("module", Value::Plain(quoted(&release.module))));
        row.add("releases", shared(&release.shared));
        table("[[release]]", row);
    }
    for update in &axis.updates {
        let mut row = commented(axis, &update.name);
        row.pairs.push(("name", Value::Plain(quoted(&update.name))));
        row.pairs.push(("revisions", builds(&update.revisions)));
        let without: Vec<_> = update.without.iter().map(|&number| Build { number, revision: 0 }).collect();
        row.add("without", (!without.is_empty()).then(|| builds(&without)));
        row.add("architectures", update.architectures.as_deref().map(|of| Value::Plain(arches(of))));
        row.doc(&update.doc);
        table("[[update]]", row);
    }
    out
}

fn commented(axis: &Axis, name: &str) -> Row {
    Row { comments: axis.comments.get(name).cloned().unwrap_or_default(), pairs: Vec::new() }
}

fn named(axis: &Axis, labels: &[String], name: &str) -> Row {
    let mut row = commented(axis, labels.first().map_or("", String::as_str));
    row.pairs.push(("labels", strings(labels.iter().map(|label| quoted(label)))));
    row.pairs.push(("name", Value::Plain(quoted(name))));
    row
}

fn revision(revision: &Revision, all: &[Arch]) -> Row {
    let mut row = Row::default();
    row.pairs.push(("build", build(revision.build)));
    row.pairs.push(("module", Value::Plain(quoted(&revision.module))));
    row.add("service_pack", revision.service_pack.map(|pack| Value::Plain(pack.to_string())));
    row.add("architectures", (revision.architectures != all).then(|| Value::Plain(arches(&revision.architectures))));
    row.add("releases", shared(&revision.shared));
    row
}

fn shared(releases: &[SharedRelease]) -> Option<Value> {
    let rows = releases.iter().map(|release| {
        let mut row = Row::default();
        row.pairs.push(("build", build(release.build)));
        row.add("labels", (!release.labels.is_empty()).then(|| strings(release.labels.iter().map(|label| quoted(label)))));
        row.add("name", (!release.name.is_empty()).then(|| Value::Plain(quoted(&release.name))));
        row
    });
    (!releases.is_empty()).then(|| Value::Rows(rows.collect()))
}

fn ranges(axis: &Axis) -> String {
    let all: Vec<_> = axis.ranges.iter().map(|(arch, other)| format!("{arch} = \"{other}\"")).collect();
    format!("{{ {} }}", all.join(", "))
}

fn arches(list: &[Arch]) -> String {
    format!("[{}]", list.iter().map(|arch| format!("\"{arch}\"")).collect::<Vec<_>>().join(", "))
}

fn build(build: Build) -> Value {
    Value::Plain(quoted(&format!("{build:#}")))
}

fn builds(list: &[Build]) -> Value {
    strings(list.iter().map(|build| quoted(&format!("{build:#}"))))
}

fn strings(list: impl Iterator<Item = String>) -> Value {
    Value::Plain(format!("[{}]", list.collect::<Vec<_>>().join(", ")))
}
