//! Exports as BTF, read by pahole.

use super::layouts;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::emit::btf;
use etw_layouts_codegen::layouts::{Aggregate, Form, Layouts, Type};
use std::collections::BTreeMap;
use std::fs;
use test_support::folder::Folder;
use test_support::installed;

/// A member: its name, its offset in bytes with the position of a bit field, and its size in bytes.
type Member = (String, String, u64);

/// pahole prints the sizes and offsets of all members of all targets. It computes the size of a pointer from the file.
#[test]
fn types_are_read_by_pahole() {
    let Some(pahole) = installed::program("pahole") else { return };
    let layouts = layouts();
    let folder = Folder::new("btf");
    let (mut structures, mut members) = (0, 0);
    for target in layouts.spec.axis.targets.ids() {
        let name = layouts.spec.axis.target_name(target);
        let path = folder.0.join(format!("{name}.btf"));
        fs::write(&path, btf::types(&layouts, target, None)).expect("a temporary file");
        let printed = |sizes: Option<&str>| {
            let output = pahole.command().args(["-F", "btf"]).args(sizes).arg(&path).output().expect("pahole runs");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("text")
        };
        let mut read = read(&printed(None), &printed(Some("--sizes")));
        for (structure, (size, own)) in expected(&layouts, target) {
            let (read_size, read) = read.remove(&structure).unwrap_or_else(|| panic!("{name}: {structure} is missing"));
            assert_eq!((read_size, read), (size, own.clone()), "{name}: {structure}");
            structures += 1;
            members += own.len();
        }
        assert!(read.is_empty(), "{name}: {:?}", read.keys());
    }
    assert!(structures > 10_000 && members > 100_000, "{structures} structures, {members} members");
}

/// The structures and unions that pahole prints, by tag: size and members. It prints the sizes of unions only in a list of sizes.
fn read(text: &str, sizes: &str) -> BTreeMap<String, (u64, Vec<Member>)> {
    let mut all = BTreeMap::new();
    for line in sizes.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        all.insert(words[0].to_owned(), (words[1].parse().expect("a size"), Vec::new()));
    }
    let mut tag = "";
    for line in text.lines() {
        if let Some(head) = line.strip_suffix(" {").filter(|head| !head.starts_with('\t')) {
            tag = head.split(' ').next_back().unwrap_or_default();
        } else if let Some((declaration, place)) = line.split_once("; ").filter(|(_, place)| place.contains("/*")) {
            let place: Vec<&str> = place.trim().trim_start_matches("/*").trim_end_matches("*/").split_whitespace().collect();
            let (size, offset) = place.split_last().expect("a place");
            if let Some(name) = name(declaration) {
                let member = (name.to_owned(), offset.concat(), size.parse().expect("a size"));
                all.get_mut(tag).expect("a size").1.push(member);
            }
        }
    }
    all
}

/// The name in a declaration: `ULONG Flags:3`, `ULONG Spare[2]`, `void (*Routine)(void)`, `} Header`.
fn name(declaration: &str) -> Option<&str> {
    let declaration = declaration.split(" __attribute__").next()?;
    let declaration = match declaration.split_once("(*") {
        Some((_, rest)) => rest.split(')').next()?,
        None => declaration.rsplit([' ', '*', '\t', '}']).next()?,
    };
    declaration.split([':', '[']).next().filter(|name| !name.is_empty())
}

fn expected(layouts: &Layouts, target: TargetId) -> BTreeMap<String, (u64, Vec<Member>)> {
    let all = layouts.by_target[target].iter().filter_map(|(name, &id)| match &layouts.layouts[id].form {
        Form::Aggregate(aggregate) => {
            let mut members = Vec::new();
            add(aggregate, 0, &mut members);
            Some((format!("_{name}"), (aggregate.extent.size, members)))
        }
        Form::Enumeration(_) => None,
    });
    all.collect()
}

/// Adds the members in the order in which pahole prints them: an embedded unnamed structure before its own name.
fn add(aggregate: &Aggregate, base: u64, members: &mut Vec<Member>) {
    for field in &aggregate.fields {
        let offset = base + field.offset;
        if let Type::Inline(inner) = &field.ty {
            add(inner, offset, members);
        }
        let Some(name) = &field.name else { continue };
        let offset = match field.bits {
            Some(bits) if bits.width == 0 => continue,
            Some(bits) => format!("{offset}:{}", bits.position),
            None => offset.to_string(),
        };
        members.push((name.clone(), offset, field.size));
    }
}
