//! The users of each type.

use etw_layouts_codegen::ctype::CType;
use etw_layouts_codegen::layouts::{Aggregate, Form, Layouts, Type};
use std::collections::{BTreeMap, BTreeSet};

/// For each type, the members that use it: members of the type, pointers to it, lists of it, and members with its values.
pub type Uses = BTreeMap<String, BTreeSet<(String, String)>>;

/// The users of each type, at any target.
pub fn uses(layouts: &Layouts) -> Uses {
    let mut uses = Uses::new();
    for layout in &layouts.layouts {
        if let Form::Aggregate(aggregate) = &layout.form {
            collect(&layout.name, "", aggregate, &mut uses);
        }
    }
    uses
}

fn collect(structure: &str, path: &str, aggregate: &Aggregate, uses: &mut Uses) {
    for field in &aggregate.fields {
        let own = format!("{path}{}", field.name.as_deref().unwrap_or_default());
        if let Type::Inline(inner) = &field.ty {
            let path = if field.name.is_some() { format!("{own}.") } else { path.to_owned() };
            collect(structure, &path, inner, uses);
        }
        let listed = field.info.leads_to.iter().map(|to| to.split('.').next().unwrap_or(to));
        let names = field.ctype.iter().flat_map(CType::names).chain(field.values.as_deref()).chain(listed);
        for name in names.filter(|name| *name != structure) {
            uses.entry(name.to_owned()).or_default().insert((structure.to_owned(), own.clone()));
        }
    }
}
