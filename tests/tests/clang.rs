//! Compares every layout with clang for the targets of the Microsoft ABI. A wrong layout must be detected.

use etw_layouts_codegen::axis::{Arch, TargetId};
use etw_layouts_codegen::compile;
use etw_layouts_codegen::emit::c;
use etw_layouts_codegen::layouts::{Aggregate, Form, Layouts, Type};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Output, Stdio};
use test_support::installed::{self, Program};
use tests::project;

#[test]
fn clang_agrees_with_every_layout() {
    let Some(program) = installed::program("clang") else { return };
    let clang = |target: &str, text: &str, flags: &[&str]| clang(&program, target, text, flags);
    let layouts = project().layouts().expect("the specs resolve");
    layouts.by_target.ids().collect::<Vec<_>>().into_par_iter().for_each(|target| {
        let name = layouts.spec.axis.target_name(target);
        let header = c::header(&layouts, target, None, c::Style::default());
        let output = clang(&name, &header, &[]);
        assert!(output.status.success(), "{name}:\n{}", String::from_utf8_lossy(&output.stderr));
        bit_fields_agree(&program, &layouts, target, &header);
    });
    let header = c::header(&layouts, TargetId::FIRST, None, c::Style::default()).replacen(
        "LoggerStatus) == 0x3c",
        "LoggerStatus) == 0x40",
        1,
    );
    assert!(!clang("5.0.2195-x86", &header, &[]).status.success(), "clang accepts a wrong offset");
}

/// Every scalar and typedef has the size, alignment and sign of the headers of the SDK.
#[test]
fn scalars_equal_those_of_the_sdk() {
    let Some(program) = installed::program("clang") else { return };
    let clang = |target: &str, text: &str, flags: &[&str]| clang(&program, target, text, flags);
    let spec = project().layouts().expect("the specs resolve").spec;
    let names: Vec<_> = spec.scalars.keys().chain(spec.typedefs.keys()).filter(|name| *name != "VOID").collect();
    let members: String = names.iter().map(|name| format!("\n[[member]]\nname = \"{name}\"\ntype = \"{name}\"\n")).collect();
    let mut sources = project().sources().expect("the specs");
    sources.add("ALL.toml", format!("[struct]\nname = \"ALL_SCALARS\"\n{members}"));
    let layouts = compile(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    for arch in Arch::ALL {
        let target = layouts.spec.axis.filter(|target| target.arch == arch).iter().next().expect("a target");
        let Some(Form::Aggregate(all)) = layouts.get(target, "ALL_SCALARS").map(|layout| &layout.form) else {
            panic!("no layout")
        };
        let mut text = include_str!("sdk.h").to_owned();
        for field in &all.fields {
            let (name, size) = (field.name.as_deref().expect("a name"), field.size);
            text += &format!("_Static_assert(sizeof({name}) == {size} && _Alignof({name}) == {size}, \"size\");\n");
            if let Type::Scalar { signed, .. } = field.ty {
                text += &format!("_Static_assert((({name})-1 < 1) == {}, \"sign\");\n", u8::from(signed));
            }
        }
        assert_eq!(all.fields.len(), names.len());
        let name = layouts.spec.axis.target_name(target);
        let output = clang(&name, &text, &[]);
        assert!(output.status.success(), "{name}:\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Compares bit fields. They have no address, so their positions are read from clang's dump of the layouts.
fn bit_fields_agree(program: &Program, layouts: &Layouts, target: TargetId, header: &str) {
    let name = layouts.spec.axis.target_name(target);
    let mut text = header.to_owned();
    let types = layouts.by_target[target].iter().filter_map(|(name, &id)| match &layouts.layouts[id].form {
        Form::Aggregate(aggregate) => Some((name, aggregate)),
        Form::Enumeration(_) => None,
    });
    let types: Vec<_> = types.into_iter().collect();
    for (name, _) in &types {
        text.push_str(&format!("{name} variable_{name};\n"));
    }
    let output = clang(program, &name, &text, &["-Xclang", "-fdump-record-layouts-complete"]);
    let theirs = dumped(&String::from_utf8_lossy(&output.stdout));
    for (name, aggregate) in types {
        let mut ours = Vec::new();
        bit_fields(aggregate, 0, &mut ours);
        let found = theirs.get(name.as_str()).cloned().unwrap_or_default();
        for field in ours {
            assert!(
                found.contains(&field),
                "{name} {} at {}: clang has {found:?}",
                field.0,
                layouts.spec.axis.target_name(target)
            );
        }
    }
}

/// Name; first byte that the bit field touches; its first bit, and its last bit, both counted from this byte.
type BitField = (String, u64, u64, u64);

fn bit_fields(aggregate: &Aggregate, base: u64, list: &mut Vec<BitField>) {
    for field in &aggregate.fields {
        let offset = base + field.offset;
        if let (Some(bits), Some(name)) = (field.bits, &field.name) {
            let first = bits.position % 8;
            list.push((name.clone(), offset + bits.position / 8, first, first + bits.width - 1));
        } else if let Type::Inline(inner) = &field.ty {
            bit_fields(inner, offset, list);
        }
    }
}

/// Lines such as `     8:0-2 |   ULONG Flags`, by the record that precedes them.
fn dumped(text: &str) -> BTreeMap<String, Vec<BitField>> {
    let mut records: BTreeMap<String, Vec<BitField>> = BTreeMap::new();
    let mut record = String::new();
    for line in text.lines() {
        let Some((place, what)) = line.split_once('|') else { continue };
        let indent = what.len() - what.trim_start().len();
        if indent == 1 && place.trim() == "0" {
            record = what.trim().trim_start_matches("struct ").trim_start_matches("union ").trim_start_matches('_').to_owned();
        }
        let Some((byte, bits)) = place.trim().split_once(':') else { continue };
        let name = what.split_whitespace().last().unwrap_or_default().to_owned();
        let bits: Vec<u64> = bits.split('-').filter_map(|b| b.trim().parse().ok()).collect();
        if let (Ok(byte), [first, last]) = (byte.trim().parse(), &bits[..]) {
            records.entry(record.clone()).or_default().push((name, byte, *first, *last));
        }
    }
    records
}

fn clang(program: &Program, target: &str, text: &str, flags: &[&str]) -> Output {
    let triple = match target.rsplit('-').next() {
        Some("x86") => "i686-pc-windows-msvc",
        Some("x64") => "x86_64-pc-windows-msvc",
        _ => "aarch64-pc-windows-msvc",
    };
    let mut child = program
        .command()
        .args(["-target", triple, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c"])
        .args(flags)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("clang starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("clang reads");
    drop(stdin);
    child.wait_with_output().expect("clang ends")
}
