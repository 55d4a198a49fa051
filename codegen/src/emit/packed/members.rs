//! The layouts of a table, with their members and types. Each distinct one is stored once.

use super::sections::{Sections, number};
use crate::emit::rust::{constants, is_macros, join, spelled, unnamed};
use crate::layouts::{Aggregate, Field, Form, LayoutId, Layouts, Type};
use crate::spec::{Body, ValuesKind};
use etw_layouts_runtime::packed::format::{self, DEPTH, DIMENSIONS, Record};
use std::collections::HashMap;
use std::hash::Hash;

/// The layouts, shapes, types and values that a table has so far.
pub struct Members<'a> {
    layouts: &'a Layouts,
    ids: HashMap<LayoutId, u16>,
    /// The layouts, by name, alignment and size, and by their members.
    written: HashMap<(u16, u16, u32, Vec<format::Member>), u16>,
    /// The depth of each layout of the table.
    depths: Vec<u8>,
    shapes: HashMap<format::Shape, u16>,
    types: HashMap<format::Type, u16>,
    values: HashMap<(u16, u8, Vec<format::Constant>), u16>,
}

/// A type, the depth of structures in it, and the number of its dimensions if it is an array.
#[derive(Clone, Copy)]
struct Typed {
    index: u16,
    depth: u8,
    dimensions: usize,
}

impl<'a> Members<'a> {
    pub fn new(layouts: &'a Layouts) -> Self {
        let (ids, written, depths) = (HashMap::new(), HashMap::new(), Vec::new());
        Self { layouts, ids, written, depths, shapes: HashMap::new(), types: HashMap::new(), values: HashMap::new() }
    }

    /// The index of a structure's layout.
    pub fn layout(&mut self, id: LayoutId, out: &mut Sections) -> Result<u16, String> {
        if let Some(index) = self.ids.get(&id) {
            return Ok(*index);
        }
        let layouts = self.layouts;
        let layout = &layouts.layouts[id];
        let Form::Aggregate(aggregate) = &layout.form else { return Err(format!("{} is not a structure", layout.name)) };
        let index = self.aggregate(&layout.name, aggregate, out)?;
        self.ids.insert(id, index);
        Ok(index)
    }

    /// The index of the layout of a structure, or of a named member without a named type.
    fn aggregate(&mut self, name: &str, aggregate: &Aggregate, out: &mut Sections) -> Result<u16, String> {
        let mut members = Vec::new();
        let mut depth = 0;
        self.fields(name, "", aggregate, 0, out, &mut |member, nested: u8| {
            members.push(member);
            depth = depth.max(nested);
        })?;
        if depth > DEPTH {
            return Err(format!("{name} has more than {DEPTH} levels of structures in structures; split it"));
        }
        let extent = aggregate.extent;
        let key = (out.name(name), number("bytes of alignment", extent.align as usize)?, bytes(extent.size)?, members);
        if let Some(index) = self.written.get(&key) {
            return Ok(*index);
        }
        let (name, align, size, members) = &key;
        let record = format::Layout {
            name: *name,
            align: *align,
            size: *size,
            member_count: number("members of a structure", members.len())?,
            members: out.count::<format::Member>()?,
            depth,
        };
        members.iter().try_for_each(|member| out.add(member).map(|_| ()))?;
        let index = number("layouts", out.add(&record)? as usize)?;
        self.depths.push(depth);
        self.written.insert(key, index);
        Ok(index)
    }

    /// Passes on each member, with those of unnamed parts, and the depth that its structure has because of it.
    fn fields(
        &mut self,
        structure: &str,
        path: &str,
        aggregate: &Aggregate,
        base: u64,
        out: &mut Sections,
        add: &mut impl FnMut(format::Member, u8),
    ) -> Result<(), String> {
        for (field, own) in aggregate.fields.iter().zip(unnamed(&aggregate.fields)) {
            let offset = base + field.offset;
            let path = join(path, &own);
            match (&field.name, &field.ty) {
                (None, Type::Inline(inner)) => self.fields(structure, &path, inner, offset, out, add)?,
                (None, _) => {}
                (Some(name), _) => {
                    let Typed { index, depth, .. } = self.member_type(&join(structure, &path), field, out)?;
                    let shape = format::Shape {
                        name: out.name(name),
                        c: out.name(&spelled(field)),
                        ty: index,
                        bit: field.bits.map_or(Ok(0), |bits| number("bits", bits.position as usize))?,
                        bits: field.bits.map_or(Ok(0), |bits| number("bits", bits.width as usize))?,
                        size: bytes(field.size)?,
                    };
                    let shape = interned(&mut self.shapes, shape, "members", out)?;
                    add(format::Member { shape, offset: bytes(offset)? }, depth);
                }
            }
        }
        Ok(())
    }

    /// The type of a member; its enumeration or flags replace the integer. `part` names the type if it has no name.
    fn member_type(&mut self, part: &str, field: &Field, out: &mut Sections) -> Result<Typed, String> {
        let holds = |values: &str, width: u64| {
            self.layouts.layouts.iter().any(|layout| layout.name == values && layout.extent().size * 8 >= width)
        };
        match (&field.values, &field.ty) {
            (Some(values), Type::Scalar { .. }) if field.bits.is_none_or(|bits| holds(values, bits.width)) => {
                let of = self.macros(values, out)?;
                self.plain(3, of, out)
            }
            _ => self.ty(part, &field.ty, out),
        }
    }

    fn ty(&mut self, part: &str, ty: &Type, out: &mut Sections) -> Result<Typed, String> {
        match ty {
            Type::Scalar { signed, .. } => self.plain(u8::from(*signed), 0, out),
            Type::Pointer { .. } => self.plain(2, 0, out),
            Type::Void | Type::Function | Type::Named(_) => self.plain(0, 0, out),
            Type::Inline(inner) => {
                let index = self.aggregate(part, inner, out)?;
                self.nested(index, out)
            }
            Type::Layout(id) => match &self.layouts.layouts[*id].form {
                Form::Enumeration(enumeration) => {
                    let constants = enumeration.constants.iter().map(|(name, value)| (name.as_str(), *value));
                    let kind = if enumeration.signed { 2 } else { 0 };
                    let of = self.values(&self.layouts.layouts[*id].name, kind, constants, out)?;
                    self.plain(3, of, out)
                }
                Form::Aggregate(_) => {
                    let index = self.layout(*id, out)?;
                    self.nested(index, out)
                }
            },
            Type::Array { of, .. } => {
                let Typed { index, depth, dimensions } = self.ty(part, of, out)?;
                if dimensions == DIMENSIONS {
                    return Err(format!("{part} is an array with more than {DIMENSIONS} dimensions; merge some of them"));
                }
                let record = format::Type { kind: 5, of: index, element: bytes(self.size(of))? };
                let index = interned(&mut self.types, record, "types", out)?;
                Ok(Typed { index, depth, dimensions: dimensions + 1 })
            }
        }
    }

    fn plain(&mut self, kind: u8, of: u16, out: &mut Sections) -> Result<Typed, String> {
        let index = interned(&mut self.types, format::Type { kind, of, element: 0 }, "types", out)?;
        Ok(Typed { index, depth: 0, dimensions: 0 })
    }

    fn nested(&mut self, layout: u16, out: &mut Sections) -> Result<Typed, String> {
        Ok(Typed { depth: self.depths[usize::from(layout)] + 1, ..self.plain(4, layout, out)? })
    }

    /// The index of a set of macros, with the constants of all targets.
    fn macros(&mut self, name: &str, out: &mut Sections) -> Result<u16, String> {
        let layouts = self.layouts;
        let definition = layouts.spec.definitions.get(name).filter(|definition| is_macros(definition));
        let Some(Body::Values(values)) = definition.map(|definition| &definition.body) else {
            return Err(format!("{name} is not a set of macros"));
        };
        let signed = layouts.layouts.iter().find_map(|layout| match &layout.form {
            Form::Enumeration(enumeration) if layout.name == name => Some(enumeration.signed),
            _ => None,
        });
        let kind = u8::from(values.kind == ValuesKind::Flags) | u8::from(signed == Some(true)) << 1;
        let constants = constants(&layouts.spec.axis, values);
        self.values(name, kind, constants.iter().map(|(name, _, piece)| (name.as_str(), piece.value)), out)
    }

    fn values<'n>(
        &mut self,
        name: &str,
        kind: u8,
        constants: impl Iterator<Item = (&'n str, i64)>,
        out: &mut Sections,
    ) -> Result<u16, String> {
        let constants: Vec<_> = constants.map(|(name, value)| format::Constant { name: out.name(name), value }).collect();
        let key = (out.name(name), kind, constants);
        if let Some(index) = self.values.get(&key) {
            return Ok(*index);
        }
        let record = format::Values {
            name: key.0,
            kind,
            constant_count: number("constants", key.2.len())?,
            constants: out.count::<format::Constant>()?,
        };
        key.2.iter().try_for_each(|constant| out.add(constant).map(|_| ()))?;
        let index = number("sets of values", out.add(&record)? as usize)?;
        self.values.insert(key, index);
        Ok(index)
    }

    fn size(&self, ty: &Type) -> u64 {
        match ty {
            Type::Scalar { size, .. } | Type::Pointer { size, .. } => *size,
            Type::Array { of, count } => self.size(of) * count,
            Type::Layout(id) => self.layouts.layouts[*id].extent().size,
            Type::Inline(aggregate) => aggregate.extent.size,
            Type::Void | Type::Function | Type::Named(_) => 1,
        }
    }
}

/// The index of a record that is added if it is new.
fn interned<R: Record + Eq + Hash>(
    known: &mut HashMap<R, u16>,
    record: R,
    what: &str,
    out: &mut Sections,
) -> Result<u16, String> {
    if let Some(index) = known.get(&record) {
        return Ok(*index);
    }
    let index = number(what, out.add(&record)? as usize)?;
    known.insert(record, index);
    Ok(index)
}

fn bytes(count: u64) -> Result<u32, String> {
    u32::try_from(count).map_err(|_| format!("{count:#x} bytes exceed 4 GB, the limit of a table of layouts"))
}
