//! Reads the version axis: `windows.toml`.

use super::merge::merge;
use super::names::{arch_words, build, check_label, existing, identifier};
use super::reader::{Reader, Table};
use super::updates;
use crate::axis::{Arch, Axis, Build, Release, Revision, SharedRelease, Target, TargetSet, Unimported};
use crate::source::At;
use crate::syntax::{self, Node, TableKind};
use toml::de::DeValue;

/// A label that is not the first one of a release, with its owner.
struct Label {
    text: At<String>,
    owner: Owner,
}

enum Owner {
    /// The release with this first label.
    Release(String),
    /// The release that shares a kernel under this build number.
    Shared([u32; 3]),
}

pub(super) fn read<'a>(reader: &mut Reader, roots: impl Iterator<Item = (usize, syntax::TomlTable<'a>)>, axis: &mut Axis) {
    let (mut labels, mut updates, mut documents, mut ranges) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut last, mut all) = (0, Vec::new());
    // Files that extend an axis are read after it.
    let (whole, extending): (Vec<_>, Vec<_>) = roots.partition(|(_, root)| root.get("extends").is_none());
    let added: Vec<usize> = extending.iter().map(|(file, _)| *file).collect();
    for (file, root) in whole.into_iter().chain(extending) {
        (reader.file, last) = (file, file);
        let table = reader.known(root);
        let extends = table.get("extends").inspect(|node| extended(reader, node, axis)).is_some();
        let architectures = if extends { table.get("architectures") } else { table.require(reader, "architectures") };
        all = architectures.map(|node| existing(reader, node)).unwrap_or(all);
        if !extends {
            axis.architectures.clone_from(&all);
            axis.documented_range = table.get("documented_range").and_then(|node| node.get_ref().as_str()).map(str::to_owned);
            comments(reader, &table, axis);
        }
        let known = if extends { axis.releases.len() } else { 0 };
        for table in reader.tables(&table, "release", TableKind::Release) {
            release(reader, &table, &all, known, axis, &mut labels);
        }
        updates.extend(reader.tables(&table, "update", TableKind::Update).into_iter().map(|table| (file, table)));
        documents.extend(table.get("documented_range").map(|node| (file, node)));
        ranges.extend(table.get("ranges").map(|node| (file, node)));
    }
    reader.file = last;
    if axis.revisions.is_empty() && !reader.has_old_keys {
        reader.error(
            reader.span(0..0),
            "spec set has no version axis",
            "here",
            "add a windows.toml with [[release]] tables that list builds in `revisions`",
        );
    }
    axis.revisions.iter_mut().for_each(|revision| revision.added = added.contains(&(revision.span.file as usize)));
    for pair in axis.revisions.windows(2) {
        let begins = pair[1].added && pair[0].span.file != pair[1].span.file;
        if pair[0].build >= pair[1].build && !begins {
            let title = format!("builds out of order: {:#} after {:#}", pair[1].build, pair[0].build);
            reader.error_also(
                (pair[0].span, "a newer or the same build"),
                pair[1].span,
                title,
                "out of order",
                "list each build once, oldest first",
            );
        }
    }
    if !added.is_empty() {
        merge(reader, axis);
    }
    other_labels(reader, labels, axis);
    // Skip updates after other errors: their builds can belong to a release that was rejected.
    updates.retain(|(file, _)| !reader.has_error(*file));
    for (file, table) in updates {
        reader.file = file;
        updates::update(reader, &table, axis);
    }
    let mut targets = Vec::new();
    for (index, revision) in axis.revisions.iter().enumerate() {
        targets.extend(revision.architectures.iter().map(|&arch| Target { revision: index, arch }));
        let count = |build: &Build| {
            let all = axis.revisions.iter().flat_map(|other| &other.shared);
            all.filter(|shared| shared.build.number == build.number).count()
        };
        if let Some(twice) = revision.shared.iter().map(|shared| shared.build).find(|build| count(build) > 1) {
            let title = format!("duplicate build `{twice:#}` in `releases`");
            reader.error(revision.span, title, "here", "list each build once, with its first revision");
        }
        let own = |k: &&Revision| revision.shared.iter().any(|shared| shared.build.number == k.build.number);
        if let Some(own) = axis.revisions.iter().find(own) {
            let title = format!("build `{:#}` is in `revisions` and in `releases` of {:#}", own.build, revision.build);
            let help = "write it as a revision of that build, or remove it from `releases`";
            reader.error_also((revision.span, "in `releases` here"), own.span, title, "in `revisions` here", help);
        }
        if let Some(twin) = axis.revisions[..index].iter().find(|k| k.module == revision.module) {
            let title = format!("duplicate module `{}`", revision.module);
            let (first, second) = if twin.added { (revision, twin) } else { (twin, revision) };
            reader.error_also((first.span, "the first"), second.span, title, "the second", "give each build its own module");
        }
    }
    axis.targets = targets.into_iter().collect();
    documents.retain(|(file, _)| !reader.has_error(*file));
    // Read `documented_range` before `ranges`: it does not include architectures with the ranges of another one.
    axis.documented = documented(reader, documents, &added, axis);
    for (file, node) in ranges {
        reader.file = file;
        self::ranges(reader, node, axis);
    }
}

/// The comments of an axis, each with the item after it.
fn comments(reader: &mut Reader, root: &Table, axis: &mut Axis) {
    reader.read_comments(root);
    for (name, end) in root.parts() {
        let lines = reader.comments(end);
        axis.comments.insert(name, lines);
    }
}

/// Checks that there is an axis to extend.
fn extended(reader: &mut Reader, node: &Node, axis: &Axis) {
    if reader.word(node, &[("windows", ())]).is_some() && axis.releases.is_empty() {
        let help = "add the specs of etw-layouts, or list all builds here and remove `extends`";
        reader.error(reader.span(node.span()), "no version axis to extend", "here", help);
    }
}

/// The targets that published references cover: the first builds of releases and service packs, but no updates. `documented_range` of a
/// file applies to the builds of that file.
fn documented(reader: &mut Reader, stated: Vec<(usize, &Node)>, added: &[usize], axis: &Axis) -> TargetSet {
    let mut all = None;
    for (file, node) in stated {
        reader.file = file;
        let own = |revision: &Revision| added.contains(&file) || !revision.added;
        let scope = reader.string(node).and_then(|text| reader.scope(axis, &text)).unwrap_or_default();
        let scope = scope.intersection(&axis.filter(|target| own(&axis.revisions[target.revision])));
        all = Some(scope.union(&all.unwrap_or_default()));
    }
    let Some(all) = all else { return axis.all() };
    // All other revisions of a release are updates, which published references do not cover.
    let first = |revision: &Revision| {
        let mut listed = axis.revisions.iter().filter(|other| (other.release, other.added) == (revision.release, revision.added));
        listed.next().is_some_and(|first| first.build == revision.build)
    };
    let released = |revision: &Revision| revision.service_pack.is_some() || first(revision);
    all.intersection(&axis.filter(|target| released(&axis.revisions[target.revision])))
}

/// The architectures that have the ranges of another one where no scope names them.
fn ranges(reader: &mut Reader, node: &Node, axis: &mut Axis) {
    let DeValue::Table(table) = node.get_ref() else {
        return reader.error(reader.span(node.span()), "expected a table", "not a table", "write { arm64 = \"x64\" }");
    };
    for (name, node) in table {
        let span = reader.span(name.span());
        match (name.get_ref().parse::<Arch>(), reader.word(node, &arch_words())) {
            (Ok(arch), Some(other)) => _ = axis.ranges.insert(arch, other),
            (Err(_), _) => {
                reader.error(span, format!("unknown architecture `{}`", name.get_ref()), "here", "write x86, x64 or arm64");
            }
            (Ok(_), None) => {}
        }
    }
    if axis.ranges.values().any(|other| axis.ranges.contains_key(other)) {
        let title = "architecture has the ranges of an architecture without ranges of its own";
        let help = "name an architecture that is not a key of `ranges`";
        reader.error(reader.span(node.span()), title, "here", help);
        axis.ranges.clear();
    }
}

/// A release and its revisions. If its first label is that of a `known` release, the revisions and labels are added to that release.
fn release(reader: &mut Reader, table: &Table, all: &[Arch], known: usize, axis: &mut Axis, labels: &mut Vec<Label>) {
    let labels_node = table.require(reader, "labels");
    let mut own = strings(reader, labels_node).into_iter();
    let Some(label) = own.next() else {
        if let Some(node) = labels_node.filter(|node| matches!(node.get_ref(), DeValue::Array(list) if list.is_empty())) {
            reader.error(
                reader.span(node.span()),
                "release has no label",
                "empty list",
                "write a label that no other release has",
            );
        }
        return;
    };
    if table.get("build").is_some() {
        axis.unimported.extend(unimported(reader, table, label.value, own));
        return;
    }
    let of = table.get("architectures").map(|n| existing(reader, n)).unwrap_or(all.to_vec());
    let known = axis.releases[..known].iter().position(|release| release.label() == label.value);
    let wrong = known.and_then(|_| ["name", "unverifiable"].into_iter().find(|key| table.get(key).is_some()));
    if let (Some(release), Some(key)) = (known, wrong) {
        let title = format!("duplicate label `{}`: already used by {}", label.value, axis.releases[release].name);
        let help = format!("choose another label; or remove `{key}` to add these revisions to that release");
        reader.error(label.span, title, "here", help);
    }
    let owner = label.value.clone();
    labels.extend(own.map(|text| Label { text, owner: Owner::Release(owner.clone()) }));
    let release = known.unwrap_or(axis.releases.len());
    if known.is_none() {
        check_label(reader, &label, axis);
        axis.releases.push(Release {
            labels: vec![label.value],
            name: table.text(reader, "name").replace(char::is_control, " "),
            unverifiable: Some(table.text(reader, "unverifiable")).filter(|t| !t.is_empty()),
            architectures: of.clone(),
        });
    }
    for key in ["module", "releases"].into_iter().filter(|key| table.get(key).is_some()) {
        let help = "write it in an entry of `revisions`; or add `build` for a release without revisions";
        reader.error(table.span, format!("release with revisions has `{key}`"), "here", help);
    }
    // A release of the extended axis can get another label only.
    if known.is_none() || table.get("revisions").is_some() {
        table.require(reader, "revisions");
    }
    for row in reader.tables(table, "revisions", TableKind::Revision) {
        axis.revisions.extend(revision(reader, &row, release, &of, labels));
    }
}

fn revision(reader: &mut Reader, table: &Table, release: usize, all: &[Arch], labels: &mut Vec<Label>) -> Option<Revision> {
    let module = table.require(reader, "module").and_then(|n| identifier(reader, n))?;
    let build = table.require(reader, "build").and_then(|n| build(reader, n))?;
    let architectures = table.get("architectures").map(|n| existing(reader, n)).unwrap_or(all.to_vec());
    let mut revision = Revision {
        build,
        service_pack: pack(reader, table),
        module,
        release,
        architectures,
        shared: Vec::new(),
        of_update: false,
        added: false,
        span: table.span,
    };
    for (release, own) in shared(reader, table) {
        let owner = release.build.number;
        labels.extend(own.into_iter().map(|text| Label { text, owner: Owner::Shared(owner) }));
        revision.shared.push(release);
    }
    Some(revision)
}

/// The releases that share a kernel, each with its labels.
fn shared(reader: &mut Reader, table: &Table) -> Vec<(SharedRelease, Vec<At<String>>)> {
    let tables = reader.tables(table, "releases", TableKind::SharedRelease).into_iter();
    let release = tables.filter_map(|table| {
        let build = table.require(reader, "build").and_then(|n| build(reader, n))?;
        let name = table.text(reader, "name").replace(char::is_control, " ");
        Some((SharedRelease { build, labels: Vec::new(), name }, strings(reader, table.get("labels"))))
    });
    release.collect()
}

/// A release without a revision on the axis. Its labels are checked when it gets one.
fn unimported(reader: &mut Reader, table: &Table, label: String, others: impl Iterator<Item = At<String>>) -> Option<Unimported> {
    for key in ["revisions", "architectures", "unverifiable"].into_iter().filter(|key| table.get(key).is_some()) {
        let help = format!("remove `build` from a release with revisions, or remove `{key}`");
        reader.error(table.span, format!("release without revisions has `{key}`"), "here", help);
    }
    let named = |(release, labels): (SharedRelease, Vec<At<String>>)| {
        let labels = labels.into_iter().map(|label| label.value).collect();
        SharedRelease { labels, ..release }
    };
    Some(Unimported {
        build: table.require(reader, "build").and_then(|n| build(reader, n))?,
        labels: [label].into_iter().chain(others.map(|label| label.value)).collect(),
        name: table.text(reader, "name"),
        module: table.require(reader, "module").and_then(|n| identifier(reader, n))?,
        shared: shared(reader, table).into_iter().map(named).collect(),
    })
}

fn strings(reader: &mut Reader, list: Option<&Node>) -> Vec<At<String>> {
    let nodes: Vec<_> = list.map(|node| reader.array(node)).into_iter().flatten().collect();
    nodes.into_iter().filter_map(|node| reader.string(node)).collect()
}

fn pack(reader: &mut Reader, table: &Table) -> Option<u32> {
    let node = table.get("service_pack")?;
    reader.count(node, 0).and_then(|n| u32::try_from(n).ok())
}

/// Adds the labels after the first one of each release. Several releases can share a label, if they are adjacent: a range with the
/// label includes every build in between.
fn other_labels(reader: &mut Reader, labels: Vec<Label>, axis: &mut Axis) {
    let place = |label: &Label| match &label.owner {
        Owner::Release(first) => axis.releases.iter().position(|release| release.label() == first),
        Owner::Shared(number) => axis.shared(Build { number: *number, revision: 0 }).map(|(revision, _)| revision.release),
    };
    let mut labels: Vec<_> = labels.into_iter().filter_map(|label| Some((place(&label)?, label))).collect();
    labels.sort_by_key(|(release, _)| *release);
    for (release, Label { text, owner }) in labels {
        let Owner::Release(_) = owner else {
            check_label(reader, &text, axis);
            let shared = axis.revisions.iter_mut().flat_map(|revision| &mut revision.shared);
            let own = shared.into_iter().find(|shared| matches!(owner, Owner::Shared(number) if number == shared.build.number));
            own.into_iter().for_each(|shared| shared.labels.push(text.value.clone()));
            continue;
        };
        let other = axis.releases.iter().rposition(|other| other.labels[1..].contains(&text.value));
        match other {
            Some(other) if other + 1 == release => {}
            Some(other) if other < release => gap(reader, &text, (other, release), axis),
            _ => check_label(reader, &text, axis),
        }
        axis.releases[release].labels.push(text.value);
    }
}

/// Reports a label of two releases that are not adjacent.
fn gap(reader: &mut Reader, label: &At<String>, (first, last): (usize, usize), axis: &Axis) {
    let title = format!("releases with label `{}` are not adjacent", label.value);
    let between = axis.revisions.iter().find(|own| own.added && (first + 1..last).contains(&own.release));
    match between {
        Some(revision) => {
            let help = "give this build the label of one of these releases: the label includes all builds in between";
            reader.error_also((label.span, "the label"), revision.span, title, "build in between", help);
        }
        None => reader.error(label.span, title, "here", "add the label to the releases in between, or choose another one"),
    }
}
