//! The types of a target in an order in which each can be declared.

use crate::ctype::CType;
use crate::layouts::{Aggregate, Form, Layout, Layouts, Type};
use crate::spec::{Body, Kind, ValuesKind};
use std::collections::BTreeSet;

/// The types of a target, each after those that it embeds or whose values its members hold; all, or one with what it needs. An
/// enumeration is needed behind a pointer too, since C has no declaration of one without its constants.
pub(super) fn ordered<'a>(layouts: &'a Layouts, target: usize, only: Option<&'a str>) -> Vec<&'a Layout> {
    let mut order = Order { layouts, target, known: BTreeSet::new(), list: Vec::new() };
    match only {
        Some(only) => order.visit(only),
        None => layouts.by_target[target].keys().for_each(|name| order.visit(name)),
    }
    order.list
}

/// Whether the constants of a layout are macros, and no enumeration of the C language.
pub(super) fn is_macros(layouts: &Layouts, layout: &Layout) -> bool {
    let definition = layouts.spec.definitions.get(&layout.name);
    definition.is_some_and(|d| matches!(&d.body, Body::Values(v) if v.kind != ValuesKind::Enum))
}

/// `struct` or `union`.
pub(super) fn keyword(kind: Kind) -> &'static str {
    match kind {
        Kind::Struct => "struct",
        Kind::Union => "union",
    }
}

struct Order<'a> {
    layouts: &'a Layouts,
    target: usize,
    known: BTreeSet<&'a str>,
    list: Vec<&'a Layout>,
}

impl<'a> Order<'a> {
    fn visit(&mut self, name: &'a str) {
        let Some(layout) = self.layouts.get(self.target, name).filter(|_| self.known.insert(name)) else { return };
        if let Form::Aggregate(aggregate) = &layout.form {
            self.layouts.used(aggregate).into_iter().for_each(|name| self.visit(name));
            self.behind(aggregate);
        }
        self.list.push(layout);
    }

    fn behind(&mut self, aggregate: &'a Aggregate) {
        for field in &aggregate.fields {
            if let Some(ctype) = &field.ctype {
                self.enumerations(ctype);
            }
            if let Type::Inline(inner) = &field.ty {
                self.behind(inner);
            }
        }
    }

    fn enumerations(&mut self, ctype: &'a CType) {
        match ctype {
            CType::Pointer { to: of, .. } | CType::Array { of, .. } => self.enumerations(of),
            CType::Function { returns, parameters } => {
                self.enumerations(returns);
                parameters.iter().for_each(|parameter| self.enumerations(parameter));
            }
            CType::Name { name, .. } => {
                let layout = self.layouts.get(self.target, name);
                if layout.is_some_and(|layout| matches!(layout.form, Form::Enumeration(_))) {
                    self.visit(name);
                } else if let Some(piece) = self.layouts.spec.typedefs.get(name).and_then(|types| types.get(self.target)) {
                    self.enumerations(&piece.value);
                }
            }
        }
    }
}
