//! Names of types in text, which lead to their pages, and where each type is used.

use super::facts::Atlas;
use super::sheet::to_type;
use crate::html::Html;
use etw_layouts_codegen::ctype::CType;
use etw_layouts_codegen::layouts::{Aggregate, Form, Layouts, Type};
use std::collections::{BTreeMap, BTreeSet};

/// The members that use each type, by its name: what has it as a type, points to it, lists it, or holds its values.
pub type Uses = BTreeMap<String, BTreeSet<(String, String)>>;

/// A text of a page in a folder: the names in it that are defined lead to their pages.
pub fn linked(atlas: &Atlas, text: &str, html: &mut Html) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c| is_part(c) != rest.starts_with(is_part)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        // Only the exact spelling of a type name is a link. Names of up to three characters are not, because prose contains such words.
        match atlas.layouts.spec.definitions.contains_key(word) && word.len() > 3 {
            true => html.link(to_type(word), word),
            false => html.text(word),
        }
        rest = after;
    }
}

/// Where each type is used, at any target.
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
