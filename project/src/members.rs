//! The members of a layout in order, with the padding between them.

use etw_layouts_codegen::axis::{TargetId, TargetSet};
use etw_layouts_codegen::layouts::{Aggregate, Bits, Field, Form, Info, Layout, Layouts, Type};
use etw_layouts_codegen::spec::{self, Body, Definition, Kind, Shape};
use std::iter;

/// A member with its offset, or padding.
pub struct Member<'a> {
    /// Number of structures and unions that enclose it, below the outermost.
    pub depth: usize,
    /// Its name, with those of the enclosing members, as in `u.LowPart`; `None` for padding and unnamed members. In an array it
    /// is that of the first element, as in `Tokens[0].Size`.
    pub path: Option<String>,
    /// Offset from the start of the structure, in bytes.
    pub offset: u64,
    /// Size in bytes; for a bit field, the size of its whole unit.
    pub size: u64,
    /// Position and width of a bit field.
    pub bits: Option<Bits>,
    /// The field; `None` for padding.
    pub field: Option<(&'a Field, Info)>,
    /// The structure or union that declares it, which others may embed.
    pub of: &'a str,
}

impl Member<'_> {
    /// Whether symbol files list it among the members of the structure: it has a name, and no enclosing member has one.
    pub fn flat(&self) -> bool {
        self.path.as_ref().is_some_and(|path| !path.contains('.'))
    }
}

/// The members of a structure or union at a target; empty for other types.
pub fn members<'a>(layouts: &'a Layouts, name: &str, target: TargetId) -> Vec<Member<'a>> {
    expanded(layouts, name, target, 0)
}

/// The members of a structure or union at a target, each followed by the members of embedded structures, up to the given depth.
pub fn expanded<'a>(layouts: &'a Layouts, name: &str, target: TargetId, levels: usize) -> Vec<Member<'a>> {
    let mut walk = Walk { layouts, target, list: Vec::new() };
    if let Some(layout) = layouts.get(target, name) {
        walk.layout(layout, &Place { of: &layout.name, base: 0, depth: 0, path: String::new(), levels });
    }
    walk.list
}

/// The members at an offset of a structure or union, each after the one that encloses it, and padding. In an array, the path names the
/// element at the offset.
pub fn at<'a>(layouts: &'a Layouts, name: &str, target: TargetId, offset: u64) -> Vec<Member<'a>> {
    let mut list = Vec::new();
    for member in members(layouts, name, target) {
        let Some(inside) = offset.checked_sub(member.offset).filter(|inside| *inside < member.size) else { continue };
        let element = member.field.as_ref().and_then(|(field, _)| match field.ty.element() {
            Type::Layout(id) => Some((&layouts.layouts[*id], matches!(field.ty, Type::Array { .. }))),
            _ => None,
        });
        let (base, depth, path) = (member.offset, member.depth, member.path.clone());
        list.push(member);
        let Some((layout, is_array)) = element else { continue };
        let Some(index) = inside.checked_div(layout.extent().size) else { continue };
        let start = index * layout.extent().size;
        let index = if is_array { format!("[{index}]") } else { String::new() };
        for mut inner in at(layouts, &layout.name, target, inside - start) {
            inner.path = inner.path.map(|inner| path.as_ref().map_or(inner.clone(), |path| format!("{path}{index}.{inner}")));
            (inner.offset, inner.depth) = (inner.offset + base + start, inner.depth + depth + 1);
            list.push(inner);
        }
    }
    list
}

/// The type of a member in C.
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
    target: TargetId,
    list: Vec<Member<'a>>,
}

/// Position of an aggregate within the structure.
struct Place<'a> {
    /// The structure whose declaration contains it.
    of: &'a str,
    base: u64,
    depth: usize,
    /// The enclosing named members, each followed by a dot.
    path: String,
    /// Remaining depth of embedded structures.
    levels: usize,
}

/// The unit of the last bit field, and its first unused bit.
struct Unit {
    offset: u64,
    size: u64,
    next: u64,
}

impl<'a> Walk<'a> {
    fn layout(&mut self, layout: &'a Layout, place: &Place<'a>) {
        let definition = self.layouts.spec.definitions.get(&layout.name);
        if let (Some(definition), Form::Aggregate(aggregate)) = (definition, &layout.form)
            && let Body::Aggregate(stated) = &definition.body
        {
            self.aggregate(definition, &stated.members, aggregate, place);
        }
    }

    fn aggregate(&mut self, of: &'a Definition, stated: &'a [spec::Member], aggregate: &'a Aggregate, place: &Place<'a>) {
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
                // Any other bit field continues the unit of the last one.
                if field.bits.is_none_or(|bits| bits.position == 0) {
                    self.rest(unit.take(), place);
                }
                self.padding(end, field.offset, place);
                unit = field.bits.map(|b| Unit { offset: field.offset, size: field.size, next: b.position + b.width });
            }
            self.field(of, member, field, place);
            end = end.max(field.offset + field.size);
        }
        self.rest(unit, place);
        self.padding(end, aggregate.extent.size, place);
    }

    fn field(&mut self, of: &'a Definition, member: &'a spec::Member, field: &'a Field, place: &Place<'a>) {
        let &Place { of: owner, base, depth, ref path, levels } = place;
        let offset = base + field.offset;
        let info = Info::of(&self.layouts.spec, of, member, self.target);
        let own = field.name.as_ref().map(|name| format!("{path}{name}"));
        let mut inner = own.clone().map_or(path.clone(), |own| own + ".");
        let (size, bits) = (field.size, field.bits);
        self.list.push(Member { of: owner, depth, path: own.clone(), offset, size, bits, field: Some((field, info)) });
        if let (Shape::Inline(_, members), Type::Inline(aggregate)) = (&member.shape, &field.ty) {
            self.aggregate(of, members, aggregate, &Place { of: owner, base: offset, depth: depth + 1, path: inner, levels });
        } else if let (Type::Layout(id), Some(levels)) = (field.ty.element(), levels.checked_sub(1)) {
            if let (Type::Array { .. }, Some(own)) = (&field.ty, own) {
                inner = format!("{own}[0].");
            }
            let layout = &self.layouts.layouts[*id];
            self.layout(layout, &Place { of: &layout.name, base: offset, depth: depth + 1, path: inner, levels });
        }
    }

    fn padding(&mut self, from: u64, to: u64, place: &Place<'a>) {
        if from < to {
            let (offset, size) = (place.base + from, to - from);
            let (of, depth) = (place.of, place.depth);
            self.list.push(Member { of, depth, path: None, offset, size, bits: None, field: None });
        }
    }

    fn rest(&mut self, unit: Option<Unit>, place: &Place<'a>) {
        if let Some(Unit { offset, size, next }) = unit.filter(|unit| unit.next < unit.size * 8) {
            let bits = Some(Bits { position: next, width: size * 8 - next });
            let (of, depth) = (place.of, place.depth);
            self.list.push(Member { of, depth, path: None, offset: place.base + offset, size, bits, field: None });
        }
    }
}

/// The targets with a structure.
pub fn has(layouts: &Layouts, name: &str) -> TargetSet {
    layouts.of(name).iter().fold(TargetSet::default(), |set, layout| set.union(&layout.targets))
}
