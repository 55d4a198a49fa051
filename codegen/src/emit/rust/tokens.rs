//! Tokens: for each structure, the members that it has in any layout.

use super::Emitter;
use super::names::member;
use crate::layouts::{Aggregate, Field, Form, LayoutId, Type};
use heck::ToShoutySnakeCase;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The members of each structure over all its layouts, in the order in which they are first seen.
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
            let Form::Aggregate(aggregate) = &layout.form else { continue };
            let list = tokens.entry(layout.name.clone()).or_default();
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
        tokens
    }

    /// Where a layout has each member of its structure, counted from 1; 0 where it has not.
    pub(super) fn places(&self, name: &str, aggregate: &Aggregate) -> String {
        let flat = aggregate.flat();
        let place = |token: &Token| flat.iter().position(|f| f.name == token.name).map_or(0, |place| place + 1);
        let places = self.tokens.get(name).into_iter().flatten().map(|token| place(token).to_string());
        places.collect::<Vec<_>>().join(", ")
    }

    /// A module for each structure, a constant for each member.
    pub(super) fn tokens(&self) -> String {
        let mut text = self.header(
            "A token for each member that a structure has in any layout: what reads it from a `View`, whichever layout that has.",
        );
        let runtime = &self.options.runtime;
        let _ = writeln!(text, "use {runtime}::meta::Members;");
        for (name, tokens) in &self.tokens {
            let names: Vec<_> = tokens.iter().map(|token| format!("\"{}\"", token.name)).collect();
            let _ = write!(
                text,
                "\n/// The members of `{name}`.\npub static {name}: Members = Members {{ names: &[{}] }};\n",
                names.join(", ")
            );
            let _ = write!(text, "\n/// Tokens for the members of `{name}`.\npub mod {name} {{\n");
            let _ = writeln!(
                text,
                "    #[allow(unused_imports)]\n    use {runtime}::{{Token, token::*}};\n    use super::{name} as OF;\n"
            );
            let mut taken: Vec<String> = vec!["OF".into()];
            for (index, token) in tokens.iter().enumerate() {
                let constant = unique(&token.name.to_shouty_snake_case(), &mut taken);
                let _ = writeln!(
                    text,
                    "    /// `{}`, in `{}`.\n    pub const {}: Token<{}> = Token::new(&OF, {index});",
                    token.name,
                    self.scope(token),
                    member(&constant),
                    token.kind
                );
            }
            text.push_str("}\n");
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
