//! Tokens: for each structure, the members that it has in any layout.

use super::Emitter;
use super::docs::quoted;
use super::names::{join, member, unnamed};
use crate::layouts::{Aggregate, Field, Form, LayoutId, Type};
use heck::ToShoutySnakeCase;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The members of each structure over all its layouts, in the order in which they are first seen, and of each part with a name.
pub(super) type Tokens = BTreeMap<String, Vec<Token>>;

/// A member over all layouts of its structure.
pub(super) struct Token {
    /// Microsoft's name.
    name: String,
    /// What it is: the runtime's name of the kind.
    kind: &'static str,
    /// The wanted layouts that have it.
    layouts: Vec<LayoutId>,
}

impl Emitter<'_> {
    /// The members of the wanted layouts.
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

    /// The members of parts that have a name, which no other structure has: their tokens are those of structure and path.
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
            let kind = self.kind(flat.field);
            match list.iter_mut().find(|token| token.name == flat.name) {
                None => list.push(Token { name: flat.name.to_owned(), kind, layouts: vec![id] }),
                Some(token) => {
                    if token.kind != kind {
                        token.kind = "Any";
                    }
                    if token.layouts.last() != Some(&id) {
                        token.layouts.push(id);
                    }
                }
            }
        }
    }

    /// Tokens for each structure, one a member.
    pub(super) fn tokens(&self) -> String {
        let mut text = self.header(
            "A token for each member that a structure has in any layout: what reads it from a `View`, whichever layout that has.",
        );
        let _ = writeln!(text, "use {} as runtime;", self.options.runtime);
        for (name, tokens) in &self.tokens {
            let _ = write!(text, "\nruntime::tokens! {{\n    {name} {{\n");
            let mut taken = Vec::new();
            for token in tokens {
                let constant = member(&unique(&token.name.to_shouty_snake_case(), &mut taken));
                let scope = quoted(&self.scope(token));
                let _ = writeln!(text, "        {} {constant}: {}, {scope};", member(&token.name), token.kind);
            }
            text.push_str("    }\n}\n");
        }
        text
    }

    /// The targets that have a member, as a range.
    fn scope(&self, token: &Token) -> String {
        let sets = token.layouts.iter().map(|&id| self.layouts.layouts[id].targets.clone());
        let all = sets.reduce(|all, set| all.union(&set)).unwrap_or_default();
        self.layouts.spec.axis.describe(&all)
    }

    /// What a member is, as the runtime calls it.
    fn kind(&self, field: &Field) -> &'static str {
        match &field.ty {
            Type::Scalar { .. } if field.values.is_some() => "Named",
            Type::Layout(id) if self.is_enumeration(*id) => "Named",
            Type::Scalar { signed: true, .. } => "Signed",
            Type::Scalar { .. } => "Unsigned",
            Type::Pointer { .. } => "Address",
            Type::Layout(_) | Type::Inline(_) => "Nested",
            Type::Array { .. } | Type::Void | Type::Function | Type::Named(_) => "Any",
        }
    }
}

/// A name that no other has: two that differ in nothing but case are told apart by a number.
fn unique(name: &str, taken: &mut Vec<String>) -> String {
    let free = |name: &String| !taken.contains(name);
    let new = (1..).map(|n| if n == 1 { name.to_owned() } else { format!("{name}_{n}") }).find(free).unwrap_or_default();
    taken.push(new.clone());
    new
}
