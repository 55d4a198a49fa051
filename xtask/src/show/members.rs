//! The members of a layout in order, with the padding between them.

use etw_layouts_codegen::layouts::{Aggregate, Bits, Field, Form, Info, Layouts, Type};
use etw_layouts_codegen::spec::{self, Body, Definition, Kind, Shape};
use std::iter;

/// A member at its place, or padding.
pub struct Member<'a> {
    /// How many unnamed structures and unions enclose it, those of named members too.
    pub depth: usize,
    /// Its name, with those of the members that enclose it, as in `u.LowPart`; nothing for padding and what has no name.
    pub path: Option<String>,
    /// Bytes from the start of the structure.
    pub offset: u64,
    /// Bytes; those of the whole unit for bits.
    pub size: u64,
    /// Its bits within the unit.
    pub bits: Option<Bits>,
    /// What is there; nothing for padding.
    pub field: Option<(&'a Field, Info)>,
}

impl Member<'_> {
    /// Whether symbol files list it among the members of the structure: it has a name, and nothing with a name encloses it.
    pub fn flat(&self) -> bool {
        self.path.as_ref().is_some_and(|path| !path.contains('.'))
    }
}

/// The members of a structure or union at a target; none of anything else.
pub fn members<'a>(layouts: &'a Layouts, name: &str, target: usize) -> Vec<Member<'a>> {
    let definition = layouts.spec.definitions.get(name);
    let form = layouts.get(target, name).map(|layout| &layout.form);
    let (Some(definition), Some(Form::Aggregate(aggregate))) = (definition, form) else { return Vec::new() };
    let mut walk = Walk { layouts, definition, target, list: Vec::new() };
    if let Body::Aggregate(stated) = &definition.body {
        walk.aggregate(&stated.members, aggregate, &Place { base: 0, depth: 0, path: String::new() });
    }
    walk.list
}

/// The type of a member, as C spells it.
pub fn c_type(field: &Field) -> String {
    match (&field.ctype, &field.ty) {
        (Some(ctype), _) => ctype.to_string(),
        (None, Type::Inline(inner)) => {
            let members: String = inner.fields.iter().map(|field| format!("{} ", declaration(field))).collect();
            format!("{} {{ {members}}}", keyword(inner.kind))
        }
        (None, _) => String::new(),
    }
}

/// `struct` or `union`.
pub fn keyword(kind: Kind) -> &'static str {
    match kind {
        Kind::Struct => "struct",
        Kind::Union => "union",
    }
}

fn declaration(field: &Field) -> String {
    let name = field.name.as_deref().unwrap_or_default();
    let declared = match &field.ctype {
        Some(ctype) => ctype.declare(name),
        None => format!("{} {name}", c_type(field)).trim_end().to_owned(),
    };
    let width = field.bits.map(|bits| format!(" : {}", bits.width)).unwrap_or_default();
    format!("{declared}{width};")
}

struct Walk<'a> {
    layouts: &'a Layouts,
    definition: &'a Definition,
    target: usize,
    list: Vec<Member<'a>>,
}

/// Where an aggregate stands in the structure.
struct Place {
    base: u64,
    depth: usize,
    /// The named members that enclose it, each with a dot behind.
    path: String,
}

/// The unit of the last bit field, and its first bit that is not used yet.
struct Unit {
    offset: u64,
    size: u64,
    next: u64,
}

impl<'a> Walk<'a> {
    fn aggregate(&mut self, stated: &'a [spec::Member], aggregate: &'a Aggregate, place: &Place) {
        let mut end = 0;
        let mut unit: Option<Unit> = None;
        let target = self.target;
        // The layout has a field for each member of the target, in the same order.
        let present = stated.iter().filter(|member| member.scope.contains(target));
        for (member, field) in iter::zip(present, &aggregate.fields) {
            if field.bits.is_some_and(|bits| bits.width == 0) {
                continue;
            }
            if aggregate.kind == Kind::Struct {
                let continues = |unit: &Unit| field.bits.is_some_and(|b| b.position == unit.next && unit.offset == field.offset);
                self.rest(unit.take_if(|unit| !continues(unit)), place);
                self.padding(end, field.offset, place);
                unit = field.bits.map(|b| Unit { offset: field.offset, size: field.size, next: b.position + b.width });
            }
            self.field(member, field, place);
            end = end.max(field.offset + field.size);
        }
        self.rest(unit, place);
        self.padding(end, aggregate.extent.size, place);
    }

    fn field(&mut self, member: &'a spec::Member, field: &'a Field, place: &Place) {
        let Place { base, depth, path } = place;
        let offset = base + field.offset;
        let info = Info::of(&self.layouts.spec, self.definition, member, self.target);
        let own = field.name.as_ref().map(|name| format!("{path}{name}"));
        let inner = own.as_ref().map_or(path.clone(), |own| format!("{own}."));
        let (size, bits) = (field.size, field.bits);
        self.list.push(Member { depth: *depth, path: own, offset, size, bits, field: Some((field, info)) });
        if let (Shape::Inline(_, members), Type::Inline(aggregate)) = (&member.shape, &field.ty) {
            self.aggregate(members, aggregate, &Place { base: offset, depth: depth + 1, path: inner });
        }
    }

    fn padding(&mut self, from: u64, to: u64, place: &Place) {
        if from < to {
            let (offset, size) = (place.base + from, to - from);
            self.list.push(Member { depth: place.depth, path: None, offset, size, bits: None, field: None });
        }
    }

    fn rest(&mut self, unit: Option<Unit>, place: &Place) {
        if let Some(Unit { offset, size, next }) = unit.filter(|unit| unit.next < unit.size * 8) {
            let bits = Some(Bits { position: next, width: size * 8 - next });
            self.list.push(Member { depth: place.depth, path: None, offset: place.base + offset, size, bits, field: None });
        }
    }
}
