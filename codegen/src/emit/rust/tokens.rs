//! Tokens: for each structure, the members that it has in any layout.

use super::Emitter;
use super::docs::{literal, quoted};
use super::names::{Taken, join, member, unnamed};
use crate::layouts::{Aggregate, Field, Form, LayoutId, Type};
use heck::ToShoutySnakeCase;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The members of each structure over all its layouts, and of each named part, in the order of their first occurrence.
pub(super) type Tokens = BTreeMap<String, Vec<Token>>;

/// A member over all layouts of its structure.
pub(super) struct Token {
    /// Microsoft's name.
    name: String,
    /// The structure that the member is in the oldest layout. Newer layouts do not change the type of a token.
    nested: Option<String>,
    /// The selected layouts that have it.
    layouts: Vec<LayoutId>,
    /// Those of them in which the member is not `nested`.
    others: Vec<LayoutId>,
    /// The newest description of the member.
    doc: String,
}

impl Emitter<'_> {
    /// The members of the selected layouts.
    pub(super) fn collect(&self) -> Tokens {
        let mut tokens = Tokens::new();
        for (id, layout) in self.layouts.layouts.iter().enumerate().filter(|(id, _)| !self.wanted[*id].is_empty()) {
            if let Form::Aggregate(aggregate) = &layout.form {
                self.collect_of(id, &layout.name, aggregate, &mut tokens);
                self.collect_parts(id, &layout.name, "", aggregate, &mut tokens);
            }
        }
        tokens
    }

    /// Collects the members of named parts. No other structure has these parts, so their tokens are named by structure and path.
    fn collect_parts(&self, id: LayoutId, structure: &str, path: &str, aggregate: &Aggregate, tokens: &mut Tokens) {
        for (field, name) in aggregate.fields.iter().zip(unnamed(&aggregate.fields)) {
            let Type::Inline(part) = field.ty.element() else { continue };
            let path = join(path, &name);
            if field.name.is_some() {
                self.collect_of(id, &join(structure, &path), part, tokens);
            }
            self.collect_parts(id, structure, &path, part, tokens);
        }
    }

    fn collect_of(&self, id: LayoutId, name: &str, aggregate: &Aggregate, tokens: &mut Tokens) {
        let list = tokens.entry(name.to_owned()).or_default();
        for flat in aggregate.flat() {
            let nested = self.nested(flat.field);
            let index = list.iter().position(|token| token.name == flat.name).unwrap_or_else(|| {
                let nested = nested.map(str::to_owned);
                list.push(Token {
                    name: flat.name.to_owned(),
                    nested,
                    layouts: Vec::new(),
                    others: Vec::new(),
                    doc: String::new(),
                });
                list.len() - 1
            });
            let token = &mut list[index];
            if !flat.field.info.doc.is_empty() {
                token.doc.clone_from(&flat.field.info.doc);
            }
            let is_other = token.nested.as_deref() != nested;
            for list in [Some(&mut token.layouts), is_other.then_some(&mut token.others)].into_iter().flatten() {
                if list.last() != Some(&id) {
                    list.push(id);
                }
            }
        }
    }

    /// The tokens of each structure, one per member.
    pub(super) fn tokens(&self) -> String {
        let mut text = self.header(
            "A token for each member that a structure has in any layout. It reads the member from a `View` with any of these layouts.",
        );
        let _ = writeln!(text, "#[allow(unused_imports)]\nuse {} as runtime;", self.options.runtime);
        for (name, tokens) in &self.tokens {
            let _ = write!(text, "\nruntime::tokens! {{\n    {name} {{\n");
            let mut taken = Taken::of([]);
            for token in tokens {
                let constant = taken.numbered(token.name.to_shouty_snake_case());
                let scope = quoted(&self.scope(&token.layouts));
                let _ = write!(text, "        {} {}", member(&token.name), member(&constant));
                let _ = match &token.nested {
                    Some(nested) if token.others.is_empty() => write!(text, ": {nested}, {scope}"),
                    Some(nested) => {
                        let own: Vec<_> = token.layouts.iter().copied().filter(|id| !token.others.contains(id)).collect();
                        let value = taken.numbered(format!("{constant}_VALUE"));
                        write!(text, ": {nested}, {} or {value}, {scope}", quoted(&self.scope(&own)))
                    }
                    None => write!(text, ", {scope}"),
                };
                let doc = if token.doc.is_empty() { String::new() } else { format!(", {}", literal(&token.doc)) };
                let _ = writeln!(text, "{doc};");
            }
            text.push_str("    }\n}\n");
        }
        text
    }

    /// The targets that have one of these layouts, in words.
    fn scope(&self, layouts: &[LayoutId]) -> String {
        let sets = layouts.iter().map(|&id| self.layouts.layouts[id].targets.clone());
        let all = sets.reduce(|all, set| all.union(&set)).unwrap_or_default();
        self.layouts.spec.axis.words(&all)
    }

    /// The structure that is the type of a member.
    fn nested(&self, field: &Field) -> Option<&str> {
        match &field.ty {
            Type::Layout(id) if !self.is_enumeration(*id) => Some(&self.layouts.layouts[*id].name),
            _ => None,
        }
    }
}
