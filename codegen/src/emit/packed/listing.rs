//! The listing of a table: what a reader of its bytes finds, as text whose differences can be reviewed.

use etw_layouts_runtime::meta::UpdateFacts as _;
use etw_layouts_runtime::packed::{ExaminedBuild, Layout, Layouts, Structure, Type};
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// The listing of a table. Layouts of a structure are numbered, the oldest first.
pub fn listing(table: &Layouts, header: &str) -> String {
    let mut text = format!("# {header}\n\n# Builds at which layouts change or a release begins\n");
    for revision in table.revisions() {
        let shared = revision.shared().map(|build| format!(" = {build}")).collect::<String>();
        let _ = writeln!(text, "{} {} {}{shared}", revision.build, revision.label, joined(revision.architectures()));
    }
    text.push_str("\n# Updates\n");
    for update in table.updates() {
        let _ = write!(text, "{} {}", update.name, joined(update.revisions()));
        update.without().for_each(|[major, minor, build]| _ = write!(text, " without {major}.{minor}.{build}"));
        update.architectures().for_each(|arch| _ = write!(text, " {arch}"));
        text.push('\n');
    }
    // Structures that are types of members only have no changes of their own.
    let mut layouts: BTreeMap<&str, Vec<Layout>> = BTreeMap::new();
    table.structures().for_each(|structure| structure.layouts().for_each(|layout| collect(layout.layout(), &mut layouts)));
    let number = |layout: Layout| layouts[layout.name].iter().position(|own| *own == layout).unwrap_or_default() + 1;
    text.push_str("\n# Structures\n");
    for (name, own) in &layouts {
        let _ = writeln!(text, "\n{name}");
        if let Some(structure) = table.structure(name) {
            history(structure, number, &mut text);
        }
        for layout in own {
            let _ = writeln!(text, " layout {}: {:#x} bytes, aligned to {}", number(*layout), layout.size, layout.align);
            for member in layout.members() {
                let bits = member.bits.map(|(first, count)| format!(" bits {first}+{count}")).unwrap_or_default();
                let nested = nested(member.ty).map(|layout| format!(" layout {}", number(layout))).unwrap_or_default();
                let values = values(member.ty).map(|name| format!(" as {name}")).unwrap_or_default();
                let _ = writeln!(
                    text,
                    "  {:#x}+{:#x}{bits} {}: {}{nested}{values}",
                    member.offset, member.size, member.name, member.c
                );
            }
        }
    }
    text.push_str("\n# Examined builds\n");
    table.examined().for_each(|seen| examined(seen, &mut text));
    text
}

fn history(structure: Structure, number: impl Fn(Layout) -> usize, text: &mut String) {
    for (revision, arch, layout) in structure.history() {
        let layout = layout.map_or("none".to_owned(), |layout| number(layout.layout()).to_string());
        let _ = writeln!(text, " {} {arch}: {layout}", revision.build);
    }
}

fn examined(seen: ExaminedBuild, text: &mut String) {
    let _ = write!(text, "{} {} {}", seen.build, seen.arch, seen.facts_file.name);
    if let Some(pdb) = seen.pdb {
        let _ = write!(text, " pdb {} {}", pdb.guid, pdb.age);
    }
    if let Some(image) = seen.image {
        let _ = write!(text, " image {:#x} {:#x}", image.time_stamp, image.size);
    }
    seen.globals().for_each(|(name, address)| _ = write!(text, " {name}={address:#x}"));
    text.push('\n');
}

/// Adds a layout, and those of the named parts in it.
fn collect<'a>(layout: Layout<'a>, all: &mut BTreeMap<&'a str, Vec<Layout<'a>>>) {
    let own = all.entry(layout.name).or_default();
    if own.contains(&layout) {
        return;
    }
    own.push(layout);
    layout.members().filter_map(|member| nested(member.ty)).for_each(|layout| collect(layout, all));
}

fn element(mut ty: Type) -> Type {
    while let Type::Array(element) = ty {
        ty = element.ty();
    }
    ty
}

fn nested(ty: Type) -> Option<Layout> {
    if let Type::Layout(layout) = element(ty) { Some(layout) } else { None }
}

fn values(ty: Type<'_>) -> Option<&str> {
    if let Type::Values(values) = element(ty) { Some(values.name()) } else { None }
}

fn joined(items: impl Iterator<Item = impl Display>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}
