//! BTF (BPF Type Format, version 1): the types of one target, for `pahole`, `bpftool` and other readers.
//!
//! Types have the names of the C header: a structure or union has the tag `_NAME` and the typedef `NAME`, integers have Microsoft's
//! names. Readers take the size of pointers from the size of the integer `unsigned long`, so the file declares one with this size,
//! which no member uses. The format has no place for confidence, sources or flags. It is specified in the documentation of Linux,
//! Documentation/bpf/btf.rst.

use super::order::{is_macros, ordered};
use crate::axis::TargetId;
use crate::ctype::{CType, Length};
use crate::layouts::{Aggregate, Enumeration, Field, Form, Layouts, Type};
use crate::spec::Kind;
use std::collections::HashMap;

/// Writes the types of a target: all, or one type and the types that it needs.
pub fn types(layouts: &Layouts, target: TargetId, only: Option<&str>) -> Vec<u8> {
    let mut writer =
        Writer { layouts, target, records: Vec::new(), ids: HashMap::new(), strings: vec![0], names: HashMap::new() };
    let declared: Vec<_> = ordered(layouts, target, only).into_iter().filter(|layout| !is_macros(layouts, layout)).collect();
    // The identifiers first: types refer to each other by pointers.
    for layout in &declared {
        let id = writer.reserve();
        writer.ids.insert(Key::Tag(&layout.name), id);
    }
    let pointer = layouts.spec.axis.targets[target].arch.pointer_size();
    writer.integer("unsigned long", pointer, false);
    for layout in &declared {
        let id = writer.ids[&Key::Tag(&layout.name)];
        let tag = format!("_{}", layout.name);
        let record = match &layout.form {
            Form::Aggregate(aggregate) => writer.aggregate(&tag, aggregate),
            Form::Enumeration(enumeration) => writer.enumeration(&tag, enumeration),
        };
        writer.set(id, record);
        writer.typedef(&layout.name, id);
    }
    writer.file()
}

/// The identifier of `void`.
const VOID: u32 = 0;

/// Kinds of types.
const INT: u32 = 1;
const PTR: u32 = 2;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const FWD: u32 = 7;
const TYPEDEF: u32 = 8;
const VOLATILE: u32 = 9;
const FUNC_PROTO: u32 = 13;
const ENUM64: u32 = 19;

/// The first word of the file: magic number 0xEB9F, version 1, no flags.
const MAGIC: u32 = 0x0001_EB9F;
/// The size of the header.
const HEADER: u32 = 24;
/// The encoding of a signed integer.
const SIGNED: u32 = 1 << 24;

/// What a type is, so that each is written once.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    /// A structure, union or enumeration with a tag.
    Tag(&'a str),
    /// A scalar or typedef.
    Name(&'a str),
    /// Any other type by its words.
    Words(Vec<u32>),
}

struct Writer<'a> {
    layouts: &'a Layouts,
    target: TargetId,
    /// The types; the first has the identifier 1.
    records: Vec<Vec<u32>>,
    ids: HashMap<Key<'a>, u32>,
    strings: Vec<u8>,
    names: HashMap<String, u32>,
}

impl<'a> Writer<'a> {
    fn reserve(&mut self) -> u32 {
        self.records.push(Vec::new());
        self.records.len() as u32
    }

    fn set(&mut self, id: u32, record: Vec<u32>) {
        self.records[id as usize - 1] = record;
    }

    fn add(&mut self, record: Vec<u32>) -> u32 {
        let id = self.reserve();
        self.set(id, record);
        id
    }

    /// The identifier of a type without members, which is written once.
    fn once(&mut self, record: Vec<u32>) -> u32 {
        match self.ids.get(&Key::Words(record.clone())) {
            Some(&id) => id,
            None => {
                let id = self.add(record.clone());
                self.ids.insert(Key::Words(record), id);
                id
            }
        }
    }

    /// The offset of a name among the strings.
    fn text(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let (strings, names) = (&mut self.strings, &mut self.names);
        *names.entry(name.to_owned()).or_insert_with(|| {
            let at = strings.len() as u32;
            strings.extend_from_slice(name.as_bytes());
            strings.push(0);
            at
        })
    }

    fn integer(&mut self, name: &str, size: u64, signed: bool) -> u32 {
        let encoding = if signed { SIGNED } else { 0 };
        let record = vec![self.text(name), info(INT, 0, false), size as u32, encoding | (size as u32 * 8)];
        self.once(record)
    }

    fn typedef(&mut self, name: &'a str, of: u32) -> u32 {
        let record = vec![self.text(name), info(TYPEDEF, 0, false), of];
        let id = self.once(record);
        self.ids.insert(Key::Name(name), id);
        id
    }

    /// A structure or union. If it has bit fields, the offset of a member has the width in its upper byte.
    fn aggregate(&mut self, tag: &str, aggregate: &'a Aggregate) -> Vec<u32> {
        // Bit fields of width 0 end a unit, and have no place.
        let fields: Vec<&Field> = aggregate.fields.iter().filter(|field| field.bits.is_none_or(|bits| bits.width > 0)).collect();
        let has_bits = fields.iter().any(|field| field.bits.is_some());
        let kind = match aggregate.kind {
            Kind::Struct => STRUCT,
            Kind::Union => UNION,
        };
        let mut record = vec![self.text(tag), info(kind, fields.len(), has_bits), aggregate.extent.size as u32];
        for field in fields {
            let ty = match (&field.ty, &field.ctype) {
                (Type::Inline(inner), _) => {
                    let record = self.aggregate("", inner);
                    self.add(record)
                }
                (_, Some(ctype)) => self.ty(ctype),
                (_, None) => VOID,
            };
            let (position, width) = field.bits.map_or((0, 0), |bits| (bits.position, bits.width));
            let offset = field.offset * 8 + position;
            record.extend([self.text(field.name.as_deref().unwrap_or_default()), ty, (width << 24 | offset) as u32]);
        }
        record
    }

    fn enumeration(&mut self, tag: &str, enumeration: &Enumeration) -> Vec<u32> {
        let Enumeration { size, signed, constants, .. } = enumeration;
        let is_small = |value: i64| if *signed { i32::try_from(value).is_ok() } else { u32::try_from(value).is_ok() };
        let is_small = constants.iter().all(|(_, value)| is_small(*value));
        let kind = if is_small { ENUM } else { ENUM64 };
        let mut record = vec![self.text(tag), info(kind, constants.len(), *signed), *size as u32];
        for (name, value) in constants {
            record.extend([self.text(name), *value as u32]);
            if !is_small {
                record.push((*value >> 32) as u32);
            }
        }
        record
    }

    fn ty(&mut self, ctype: &'a CType) -> u32 {
        match ctype {
            CType::Name { name, volatile } => {
                let id = self.named(name);
                self.volatile(id, *volatile)
            }
            CType::Pointer { to, volatile } => {
                let to = self.ty(to);
                let id = self.once(vec![0, info(PTR, 0, false), to]);
                self.volatile(id, *volatile)
            }
            CType::Array { of, length } => {
                let (of, index) = (self.ty(of), self.integer("ULONG", 4, false));
                let count = match length {
                    Length::Count(count) => *count as u32,
                    Length::AnySize => 1,
                    Length::Flexible => 0,
                };
                self.once(vec![0, info(ARRAY, 0, false), 0, of, index, count])
            }
            CType::Function { returns, parameters } => {
                let returns = self.ty(returns);
                let mut parameters: Vec<_> = parameters.iter().map(|parameter| self.ty(parameter)).collect();
                // A function without parameters has the parameter `VOID`; in BTF, that is a variable number of parameters.
                parameters.retain(|parameter| *parameter != VOID);
                let mut record = vec![0, info(FUNC_PROTO, parameters.len(), false), returns];
                record.extend(parameters.into_iter().flat_map(|parameter| [0, parameter]));
                self.once(record)
            }
        }
    }

    fn volatile(&mut self, id: u32, volatile: bool) -> u32 {
        if volatile { self.once(vec![0, info(VOLATILE, 0, false), id]) } else { id }
    }

    /// A type by its name: a scalar, a typedef, a type of the file, or a type that is only declared.
    fn named(&mut self, name: &'a str) -> u32 {
        if let Some(&id) = self.ids.get(&Key::Name(name)) {
            return id;
        }
        let spec = &self.layouts.spec;
        if let Some(scalar) = spec.scalars.get(name) {
            let id = if scalar.size == 0 { VOID } else { self.integer(name, scalar.size, scalar.signed) };
            self.ids.insert(Key::Name(name), id);
            return id;
        }
        if let Some(piece) = spec.typedefs.get(name).and_then(|types| types.get(self.target)) {
            let of = self.ty(&piece.value);
            return self.typedef(name, of);
        }
        let tagged = self.ids.get(&Key::Tag(name)).copied();
        let of = tagged.unwrap_or_else(|| {
            let layout = self.layouts.get(self.target, name).map(|layout| &layout.form);
            let is_union = matches!(layout, Some(Form::Aggregate(aggregate)) if aggregate.kind == Kind::Union);
            let record = vec![self.text(&format!("_{name}")), info(FWD, 0, is_union), 0];
            self.once(record)
        });
        self.typedef(name, of)
    }

    /// The header, the types and the strings.
    fn file(&self) -> Vec<u8> {
        let length = self.records.iter().map(|record| record.len() as u32 * 4).sum();
        let header = [MAGIC, HEADER, 0, length, length, self.strings.len() as u32];
        let words = header.iter().chain(self.records.iter().flatten());
        words.flat_map(|word| word.to_le_bytes()).chain(self.strings.iter().copied()).collect()
    }
}

/// The second word of a type: its kind, the number of members, and a flag whose meaning depends on the kind.
fn info(kind: u32, count: usize, flag: bool) -> u32 {
    kind << 24 | count as u32 | u32::from(flag) << 31
}
