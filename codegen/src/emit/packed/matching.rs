//! Compares a table of layouts from a file with the layouts of specs.

use etw_layouts_runtime::packed::{Layout, Layouts, Structure, Type};

/// Checks that a table has the layouts of another table, of the same builds, for each structure of that table.
///
/// # Errors
///
/// The first structure that differs.
pub fn matching(of_specs: &Layouts, of_file: &Layouts) -> Result<(), String> {
    let differs = |own: &Structure| !of_file.structure(own.name).is_some_and(|other| has_same_history(own, &other));
    match of_specs.structures().find(differs) {
        Some(own) => Err(format!("`{}` has other layouts or builds in the table than in the specs", own.name)),
        None => Ok(()),
    }
}

fn has_same_history(one: &Structure, other: &Structure) -> bool {
    let is_same = |one: Option<Layout>, other: Option<Layout>| match (one, other) {
        (Some(one), Some(other)) => is_same(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    let [mut own, mut others] = [one.history(), other.history()];
    loop {
        match (own.next(), others.next()) {
            (None, None) => return true,
            (Some((build, arch, layout)), Some((other_build, other_arch, other))) => {
                let layouts = (layout.map(|layout| layout.layout()), other.map(|layout| layout.layout()));
                if build.build != other_build.build || arch != other_arch || !is_same(layouts.0, layouts.1) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

fn is_same(one: Layout, other: Layout) -> bool {
    let head = |layout: Layout| (layout.size, layout.align, layout.members().count());
    let mut members = one.members().zip(other.members());
    head(one) == head(other)
        && members.all(|(one, other)| {
            let place =
                (one.name, one.offset, one.size, one.bits, one.c) == (other.name, other.offset, other.size, other.bits, other.c);
            place && is_same_type(one.ty, other.ty)
        })
}

fn is_same_type(one: Type, other: Type) -> bool {
    match (one, other) {
        (Type::Layout(one), Type::Layout(other)) => is_same(one, other),
        (Type::Array(one), Type::Array(other)) => is_same_type(one.ty(), other.ty()),
        (Type::Values(one), Type::Values(other)) => {
            (one.name(), one.flags(), one.signed()) == (other.name(), other.flags(), other.signed())
                && one.constants().eq(other.constants())
        }
        (one, other) => std::mem::discriminant(&one) == std::mem::discriminant(&other),
    }
}
