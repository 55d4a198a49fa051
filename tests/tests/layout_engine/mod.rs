//! Property: the layout engine and clang place the members of random structures equally, for the three Microsoft targets.
//!
//! Each random declaration is written as a spec for the engine, and as C for clang. The test itself computes no offset.
//! `LAYOUT_SEED` selects other structures.

mod clang;
mod declaration;
mod random;
mod shrink;
mod text;

use clang::Clang;
use declaration::Group;
use etw_layouts_codegen::emit::c;
use etw_layouts_codegen::layouts::{Aggregate, Form, Layouts, Type};
use etw_layouts_codegen::{Sources, compile};
use rayon::prelude::*;
use std::env;
use std::time::Instant;
use test_support::installed::{self, Program};

/// The number of groups of random declarations. Later declarations of a group may embed earlier ones.
const GROUPS: usize = 4000;
/// The number of groups that are laid out together.
const BATCH: usize = 500;
const SEED: u64 = 0x4554_5720_2026;

#[test]
fn random_structures_are_laid_out_as_clang_does() {
    let Some(clang) = installed::program("clang") else { return };
    let seed = env::var("LAYOUT_SEED").map_or(SEED, |text| text.parse().expect("LAYOUT_SEED is a decimal number"));
    let start = Instant::now();
    let groups = random::groups(seed, GROUPS);
    let batches: Vec<_> = groups.chunks(BATCH).collect();
    let found: Vec<_> = batches.par_iter().map(|batch| check(&clang, batch)).collect();
    if let Some((group, _)) = groups.iter().zip(found.iter().flatten()).find(|(_, difference)| difference.is_some()) {
        let smallest = shrink::smallest(group.clone(), |group| alone(&clang, group).is_some());
        let (difference, spec, c) =
            (alone(&clang, &smallest).unwrap_or_default(), text::spec(&smallest, 0), text::c(&smallest, 0));
        panic!("seed {seed}: {difference}\n{spec}\n{c}");
    }
    let named: usize = groups.iter().map(Vec::len).sum();
    let all: usize = groups.iter().flatten().map(|record| record.count()).sum();
    let seconds = start.elapsed().as_secs_f64();
    println!("{named} structures with {} unnamed ones in them, for x86, x64 and arm64, seed {seed}, {seconds:.1} s", all - named);
    assert!(named >= 5000, "only {named} structures");
}

/// The difference in a group, if the engine accepts the group.
fn alone(program: &Program, group: &Group) -> Option<String> {
    compile(sources(std::slice::from_ref(group))).ok()?;
    check(program, std::slice::from_ref(group)).pop()?
}

/// The first difference in each group.
fn check(program: &Program, groups: &[Group]) -> Vec<Option<String>> {
    let layouts = compile(sources(groups)).unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let declarations: String = groups.iter().enumerate().map(|(index, group)| text::c(group, index)).collect();
    let mut differences = vec![None; groups.len()];
    for (target, clang) in layouts.by_target.ids().zip(Clang::all(program)) {
        // The generated header asserts the same layouts.
        clang.compile(&c::header(&layouts, target, None, c::Style::default()), &[]);
        let mut theirs = clang.dump(&format!("{}{declarations}", text::TYPES)).into_iter();
        for (index, group) in groups.iter().enumerate() {
            let mut ours = Vec::new();
            for record in 0..group.len() {
                let layout = layouts.get(target, &text::name(index, record)).expect("every structure has a layout");
                let Form::Aggregate(aggregate) = &layout.form else { panic!("{} is not a structure", layout.name) };
                dump(&layouts, aggregate, &mut ours);
            }
            let theirs: Vec<_> = theirs.by_ref().take(ours.len()).collect();
            if let Some((ours, theirs)) = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs)
                && differences[index].is_none()
            {
                differences[index] = Some(format!("{clang:?}\nours:\n{ours}\nclang's:\n{theirs}"));
            }
        }
        assert_eq!(theirs.next(), None, "clang has more records than the engine");
    }
    differences
}

fn sources(groups: &[Group]) -> Sources {
    let mut sources = Sources::default();
    sources.add("windows.toml", text::AXIS);
    sources.add("scalars.toml", text::SCALARS);
    for (name, ty) in text::ENUMS {
        sources.add(name, text::enumeration(name, ty));
    }
    for (index, group) in groups.iter().enumerate() {
        for record in 0..group.len() {
            sources.add(text::name(index, record), text::record(group, index, record));
        }
    }
    sources
}

/// The dump of an aggregate in the order of clang: first the unnamed aggregates in it, then its own lines.
fn dump(layouts: &Layouts, aggregate: &Aggregate, list: &mut Vec<String>) {
    for field in &aggregate.fields {
        if let Type::Inline(inner) = &field.ty {
            dump(layouts, inner, list);
        }
    }
    let mut lines = String::new();
    members(layouts, aggregate, 0, 1, &mut lines);
    list.push(format!("{lines}sizeof={}, align={}", aggregate.extent.size, aggregate.extent.align));
}

fn members(layouts: &Layouts, aggregate: &Aggregate, base: u64, depth: usize, lines: &mut String) {
    for field in &aggregate.fields {
        let offset = base + field.offset;
        let place = match field.bits {
            None => offset.to_string(),
            Some(bits) if bits.width == 0 => format!("{offset}:-"),
            Some(bits) => {
                let first = bits.position % 8;
                format!("{}:{first}-{}", offset + bits.position / 8, first + bits.width - 1)
            }
        };
        *lines += &clang::line(depth, &place, field.name.as_deref().unwrap_or_default());
        let inner = match &field.ty {
            Type::Inline(inner) => inner,
            Type::Layout(id) => match &layouts.layouts[*id].form {
                Form::Aggregate(inner) => inner,
                Form::Enumeration(_) => continue,
            },
            _ => continue,
        };
        members(layouts, inner, offset, depth + 1, lines);
    }
}
