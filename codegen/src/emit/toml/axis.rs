//! The text of `windows.toml`.

use super::form::{Row, Value, quoted};
use crate::axis::{Arch, Axis, Build, Kernel};

/// The text of an axis that lists all its builds.
pub fn axis(axis: &Axis) -> String {
    let mut out = String::new();
    let keys = [
        ("architectures", Some(arches(&axis.architectures))),
        ("follows", (!axis.follows.is_empty()).then(|| follows(axis))),
        ("documents", axis.documents.as_deref().map(quoted)),
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
        let width = row.pairs.iter().map(|(key, _)| key.len()).filter(|width| *width < 8).max().unwrap_or(0);
        out += &row.table(header, width);
    };
    for (index, version) in axis.versions.iter().enumerate() {
        let mut row = commented(axis, &version.label);
        row.pairs.push(("label", Value::Plain(quoted(&version.label))));
        row.pairs.push(("release", Value::Plain(quoted(&version.release))));
        if version.architectures != axis.architectures {
            row.pairs.push(("architectures", Value::Plain(arches(&version.architectures))));
        }
        row.add("unverifiable", version.unverifiable.as_deref().map(|text| Value::Plain(quoted(text))));
        let own = axis.kernels.iter().filter(|kernel| kernel.version == index && !kernel.of_update);
        row.pairs.push(("kernels", Value::Rows(own.map(|kernel| self::kernel(kernel, &version.architectures)).collect())));
        table("[[version]]", row);
    }
    for (label, of) in &axis.groups {
        let mut row = commented(axis, label);
        row.pairs.push(("label", Value::Plain(quoted(label))));
        let of: Vec<_> = of.iter().map(|&version| quoted(&axis.versions[version].label)).collect();
        row.pairs.push(("of", Value::Plain(format!("[{}]", of.join(", ")))));
        row.add("build", axis.builds.get(label).map(|build| Value::Plain(quoted(&format!("{build:#}")))));
        row.add("release", axis.names.get(label).map(|name| Value::Plain(quoted(name))));
        table("[[group]]", row);
    }
    for update in &axis.updates {
        let mut row = commented(axis, &update.name);
        row.pairs.push(("name", Value::Plain(quoted(&update.name))));
        row.pairs.push(("kernels", Value::Plain(builds(&update.kernels))));
        let without: Vec<_> = update.without.iter().map(|&number| Build { number, revision: 0 }).collect();
        row.add("without", (!without.is_empty()).then(|| Value::Plain(builds(&without))));
        row.add("architectures", update.architectures.as_deref().map(|of| Value::Plain(arches(of))));
        row.doc(&update.doc);
        table("[[update]]", row);
    }
    for release in &axis.releases {
        let mut row = commented(axis, &release.label);
        row.pairs.push(("build", Value::Plain(builds(&[release.build]).trim_matches(['[', ']']).to_owned())));
        row.pairs.push(("label", Value::Plain(quoted(&release.label))));
        row.pairs.push(("release", Value::Plain(quoted(&release.release))));
        row.pairs.push(("module", Value::Plain(quoted(&release.module))));
        row.add("same", (!release.same.is_empty()).then(|| Value::Plain(builds(&release.same))));
        table("[[release]]", row);
    }
    out
}

fn commented(axis: &Axis, name: &str) -> Row {
    Row { comments: axis.comments.get(name).cloned().unwrap_or_default(), pairs: Vec::new() }
}

fn kernel(kernel: &Kernel, all: &[Arch]) -> Row {
    let mut row = Row::default();
    row.pairs.push(("build", Value::Plain(quoted(&format!("{:#}", kernel.build)))));
    row.pairs.push(("module", Value::Plain(quoted(&kernel.module))));
    row.add("service_pack", kernel.service_pack.map(|pack| Value::Plain(pack.to_string())));
    row.add("architectures", (kernel.architectures != all).then(|| Value::Plain(arches(&kernel.architectures))));
    row.add("same", (!kernel.same.is_empty()).then(|| Value::Plain(builds(&kernel.same))));
    row
}

fn follows(axis: &Axis) -> String {
    let all: Vec<_> = axis.follows.iter().map(|(arch, leader)| format!("{arch} = \"{leader}\"")).collect();
    format!("{{ {} }}", all.join(", "))
}

fn arches(list: &[Arch]) -> String {
    format!("[{}]", list.iter().map(|arch| format!("\"{arch}\"")).collect::<Vec<_>>().join(", "))
}

fn builds(list: &[Build]) -> String {
    format!("[{}]", list.iter().map(|build| format!("\"{build:#}\"")).collect::<Vec<_>>().join(", "))
}
