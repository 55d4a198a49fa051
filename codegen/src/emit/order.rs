//! The types of a target in an order in which each can be declared.

use crate::axis::TargetId;
use crate::ctype::CType;
use crate::layouts::{Form, Layout, Layouts};
use crate::spec::{Body, Kind, ValuesKind};
use std::collections::BTreeSet;

/// The types of a target, or one type and the types that it needs. A type follows the types that it embeds, and the
/// enumerations and flags of its members. An enumeration is needed behind a pointer too, because C cannot declare one without its
/// constants.
pub(super) fn ordered<'a>(layouts: &'a Layouts, target: TargetId, only: Option<&'a str>) -> Vec<&'a Layout> {
    let mut order = Order { layouts, target, known: BTreeSet::new(), list: Vec::new() };
    match only {
        Some(only) => order.visit(only),
        None => layouts.by_target[target].keys().for_each(|name| order.visit(name)),
    }
    order.list
}

/// The types that are declared for a target: all, or one type and the types that it needs. Sets of macros declare none.
pub fn types<'a>(layouts: &'a Layouts, target: TargetId, only: Option<&'a str>) -> Vec<&'a Layout> {
    let all = ordered(layouts, target, only).into_iter();
    all.filter(|layout| !is_macros(layouts, layout)).collect()
}

/// Whether the constants of a layout are macros, and not a C enumeration.
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
    target: TargetId,
    known: BTreeSet<&'a str>,
    list: Vec<&'a Layout>,
}

impl<'a> Order<'a> {
    fn visit(&mut self, name: &'a str) {
        let Some(layout) = self.layouts.get(self.target, name).filter(|_| self.known.insert(name)) else { return };
        if let Form::Aggregate(aggregate) = &layout.form {
            self.layouts.used(aggregate).into_iter().for_each(|name| self.visit(name));
            aggregate.ctypes().into_iter().flat_map(CType::names).for_each(|name| self.enumeration(name));
        }
        self.list.push(layout);
    }

    /// Visits the enumeration with a name, or those behind a typedef.
    fn enumeration(&mut self, name: &'a str) {
        let layout = self.layouts.get(self.target, name);
        if layout.is_some_and(|layout| matches!(layout.form, Form::Enumeration(_))) {
            self.visit(name);
        } else if let Some(piece) = self.layouts.spec.typedefs.get(name).and_then(|types| types.get(self.target)) {
            piece.value.names().into_iter().for_each(|name| self.enumeration(name));
        }
    }
}
