//! Reads the version axis: `windows.toml`.

use super::merge::merge;
use super::names::{arch_words, build, check_label, existing, identifier};
use super::reader::{Reader, Table};
use super::updates;
use crate::axis::{Arch, Axis, Build, Kernel, Release, Target, TargetSet, Version};
use crate::syntax::{self, Node, Sort};
use toml::de::DeValue;

pub(super) fn read<'a>(reader: &mut Reader, roots: impl Iterator<Item = (usize, syntax::TomlTable<'a>)>, axis: &mut Axis) {
    let (mut groups, mut updates, mut documents, mut follow) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
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
            axis.documents = table.get("documents").and_then(|node| node.get_ref().as_str()).map(str::to_owned);
            comments(reader, &table, axis);
        }
        let known = if extends { axis.versions.len() } else { 0 };
        for table in reader.tables(&table, "version", Sort::Version) {
            version(reader, &table, &all, known, axis);
        }
        for table in reader.tables(&table, "release", Sort::Release) {
            axis.releases.extend(release(reader, &table));
        }
        updates.extend(reader.tables(&table, "update", Sort::Update).into_iter().map(|table| (file, table)));
        groups.extend(reader.tables(&table, "group", Sort::Group).into_iter().map(|table| (file, table)));
        documents.extend(table.get("documents").map(|node| (file, node)));
        follow.extend(table.get("follows").map(|node| (file, node)));
    }
    reader.file = last;
    if axis.kernels.is_empty() {
        reader.error(
            reader.span(0..0),
            "spec set has no version axis",
            "here",
            "add a windows.toml with [[version]] tables that list builds in `kernels`",
        );
    }
    axis.kernels.iter_mut().for_each(|kernel| kernel.added = added.contains(&(kernel.span.file as usize)));
    for pair in axis.kernels.windows(2) {
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
    for (file, table) in groups {
        reader.file = file;
        group(reader, &table, axis);
    }
    // Skip updates after other errors: their builds can belong to a version that was rejected.
    updates.retain(|(file, _)| !reader.has_error(*file));
    for (file, table) in updates {
        reader.file = file;
        updates::update(reader, &table, axis);
    }
    let mut targets = Vec::new();
    for (index, kernel) in axis.kernels.iter().enumerate() {
        targets.extend(kernel.architectures.iter().map(|&arch| Target { kernel: index, arch }));
        let has = |list: &[Build], same: &Build| list.iter().filter(|other| other.number == same.number).count();
        let twice = |same: &&Build| axis.kernels.iter().map(|kernel| has(&kernel.same, same)).sum::<usize>() > 1;
        if let Some(same) = kernel.same.iter().find(twice) {
            let title = format!("duplicate build `{same:#}` in `same`");
            reader.error(kernel.span, title, "here", "list each build once, with its first revision");
        }
        let own = |k: &&Kernel| kernel.same.iter().any(|same| same.number == k.build.number);
        if let Some(own) = axis.kernels.iter().find(own) {
            let title = format!("build `{:#}` has its own row and is in `same` of {:#}", own.build, kernel.build);
            let help = "write it as a revision of that build, or remove it from `same`";
            reader.error_also((kernel.span, "in `same` here"), own.span, title, "its own row", help);
        }
        if let Some(twin) = axis.kernels[..index].iter().find(|k| k.module == kernel.module) {
            let title = format!("duplicate module `{}`", kernel.module);
            let (first, second) = if twin.added { (kernel, twin) } else { (twin, kernel) };
            reader.error_also((first.span, "the first"), second.span, title, "the second", "give each build its own module");
        }
    }
    axis.targets = targets.into_iter().collect();
    documents.retain(|(file, _)| !reader.has_error(*file));
    // Read `documents` before `follows`: it does not include architectures that follow another.
    axis.documented = documented(reader, documents, &added, axis);
    for (file, node) in follow {
        reader.file = file;
        follows(reader, node, axis);
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
    if reader.word(node, &[("windows", ())]).is_some() && axis.versions.is_empty() {
        let help = "add the specs of etw-layouts, or list all builds here and remove `extends`";
        reader.error(reader.span(node.span()), "no version axis to extend", "here", help);
    }
}

/// The targets that published references cover: the first builds of versions and service packs, but no updates. `documents` of a
/// file applies to the builds of that file.
fn documented(reader: &mut Reader, stated: Vec<(usize, &Node)>, added: &[usize], axis: &Axis) -> TargetSet {
    let mut all = None;
    for (file, node) in stated {
        reader.file = file;
        let own = |kernel: &Kernel| added.contains(&file) || !kernel.added;
        let scope = reader.string(node).and_then(|text| reader.scope(axis, &text)).unwrap_or_default();
        let scope = scope.intersection(&axis.filter(|target| own(&axis.kernels[target.kernel])));
        all = Some(scope.union(&all.unwrap_or_default()));
    }
    let Some(all) = all else { return axis.all() };
    // All other builds of a label are updates, which published references do not cover.
    let first = |kernel: &Kernel| {
        let mut listed = axis.kernels.iter().filter(|other| (other.version, other.added) == (kernel.version, kernel.added));
        listed.next().is_some_and(|first| first.build == kernel.build)
    };
    let released = |kernel: &Kernel| kernel.service_pack.is_some() || first(kernel);
    all.intersection(&axis.filter(|target| released(&axis.kernels[target.kernel])))
}

/// The architectures that follow another one where no scope names them.
fn follows(reader: &mut Reader, node: &Node, axis: &mut Axis) {
    let DeValue::Table(table) = node.get_ref() else {
        return reader.error(reader.span(node.span()), "expected a table", "not a table", "write { arm64 = \"x64\" }");
    };
    for (name, node) in table {
        let span = reader.span(name.span());
        match (name.get_ref().parse::<Arch>(), reader.word(node, &arch_words())) {
            (Ok(arch), Some(leader)) => _ = axis.follows.insert(arch, leader),
            (Err(_), _) => {
                reader.error(span, format!("unknown architecture `{}`", name.get_ref()), "here", "write x86, x64 or arm64");
            }
            (Ok(_), None) => {}
        }
    }
    if axis.follows.values().any(|leader| axis.follows.contains_key(leader)) {
        let help = "name an architecture that follows no other one";
        reader.error(reader.span(node.span()), "architecture follows an architecture that itself follows another", "here", help);
        axis.follows.clear();
    }
}

/// A version and its builds. If its label is that of a `known` version, the builds are added to that version.
fn version(reader: &mut Reader, table: &Table, all: &[Arch], known: usize, axis: &mut Axis) {
    let Some(label) = table.require(reader, "label").and_then(|n| reader.string(n)) else { return };
    let of = table.get("architectures").map(|n| existing(reader, n)).unwrap_or(all.to_vec());
    let known = axis.versions[..known].iter().position(|version| version.label == label.value);
    let own = known.and_then(|_| ["release", "unverifiable"].into_iter().find(|key| table.get(key).is_some()));
    if let (Some(version), Some(key)) = (known, own) {
        let title = format!("duplicate label `{}`: already used by {}", label.value, axis.versions[version].release);
        let help = format!("choose another label; or remove `{key}` to add these builds to that version");
        reader.error(label.span, title, "here", help);
    }
    let version = known.unwrap_or(axis.versions.len());
    if known.is_none() {
        check_label(reader, &label, axis);
        axis.versions.push(Version {
            label: label.value,
            release: table.text(reader, "release").replace(char::is_control, " "),
            unverifiable: Some(table.text(reader, "unverifiable")).filter(|t| !t.is_empty()),
            architectures: of.clone(),
        });
    }
    table.require(reader, "kernels");
    for row in reader.tables(table, "kernels", Sort::Kernel) {
        axis.kernels.extend(kernel(reader, &row, version, &of));
    }
}

fn kernel(reader: &mut Reader, table: &Table, version: usize, all: &[Arch]) -> Option<Kernel> {
    let module = table.require(reader, "module").and_then(|n| identifier(reader, n))?;
    let build = table.require(reader, "build").and_then(|n| build(reader, n))?;
    let architectures = table.get("architectures").map(|n| existing(reader, n)).unwrap_or(all.to_vec());
    Some(Kernel {
        build,
        service_pack: pack(reader, table),
        module,
        version,
        architectures,
        same: table.get("same").map(|n| reader.array(n)).into_iter().flatten().filter_map(|n| self::build(reader, n)).collect(),
        of_update: false,
        added: false,
        span: table.span,
    })
}

/// The label, release and module of a future version. They are checked when the version is added.
fn release(reader: &mut Reader, table: &Table) -> Option<Release> {
    let same = table.get("same").map(|n| reader.array(n)).into_iter().flatten();
    Some(Release {
        build: table.require(reader, "build").and_then(|n| build(reader, n))?,
        label: table.require(reader, "label").and_then(|n| reader.string(n))?.value,
        release: table.text(reader, "release"),
        module: table.require(reader, "module").and_then(|n| identifier(reader, n))?,
        same: same.filter_map(|n| build(reader, n)).collect(),
    })
}

fn pack(reader: &mut Reader, table: &Table) -> Option<u32> {
    let node = table.get("service_pack")?;
    reader.count(node, 0).and_then(|n| u32::try_from(n).ok())
}

fn group(reader: &mut Reader, table: &Table, axis: &mut Axis) {
    let Some(label) = table.require(reader, "label").and_then(|n| reader.string(n)) else { return };
    let mut of = Vec::new();
    for node in table.require(reader, "of").map(|n| reader.array(n)).into_iter().flatten() {
        let Some(name) = reader.string(node) else { continue };
        match axis.versions.iter().position(|v| v.label == name.value) {
            Some(version) => of.push(version),
            None => reader.error(
                name.span,
                format!("unknown version `{}`", name.value),
                "unknown label",
                "write the labels of versions on the version axis",
            ),
        }
    }
    // Ranges can use the name of a group, and would include every build in between.
    if let Some(pair) = of.windows(2).find(|pair| pair[1] != pair[0] + 1) {
        let title = format!("versions of group `{}` are not adjacent", label.value);
        let between = axis.kernels.iter().find(|kernel| kernel.added && (pair[0] + 1..pair[1]).contains(&kernel.version));
        match between {
            Some(kernel) => {
                let help = "give this build the label of one of these versions: the group includes all builds in between";
                reader.error_also((table.span, "the group"), kernel.span, title, "build in between", help);
            }
            None => reader.error(table.span, title, "here", "list adjacent versions of the version axis, oldest first"),
        }
    }
    check_label(reader, &label, axis);
    if let Some((build, node)) = table.get("build").and_then(|node| Some((build(reader, node)?, node))) {
        let has = |version: &usize| {
            axis.kernels.iter().any(|k| k.version == *version && k.build.number == axis.canonical(build).number)
        };
        if !of.iter().any(has) {
            let title = format!("build `{build:#}` is not in group `{}`", label.value);
            reader.error(
                reader.span(node.span()),
                title,
                "here",
                "write a build of the versions of the group, or a build in their `same`",
            );
        }
        axis.builds.insert(label.value.clone(), build);
    }
    if let Some(release) = table.get("release").and_then(|node| reader.string(node)) {
        axis.names.insert(label.value.clone(), release.value);
    }
    axis.groups.push((label.value, of));
}
