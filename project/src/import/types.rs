//! Types of symbols in the spelling of specs, and comparison of both.

use etw_layouts_codegen::axis::{Arch, TargetId};
use etw_layouts_codegen::ctype::{CType, Length};
use etw_layouts_codegen::spec::Spec;
use etw_layouts_codegen::{is_definable, is_identifier};
use etw_layouts_symbols::compare::DifferenceKind;
use etw_layouts_symbols::{Aggregate, AggregateKind, Integer, Member, Rules, Type, TypeFacts, Types, compare};
use std::collections::BTreeSet;

/// A member of a structure in symbols. The members of an unnamed type within it are not listed.
#[derive(Clone, Debug)]
pub struct SymbolMember {
    /// The name.
    pub name: String,
    /// Offset from the start of the structure, in bytes.
    pub offset: u64,
    /// Position and width of a bit field.
    pub bits: Option<(u64, u64)>,
    /// The type; for a bit field, the type of its unit.
    pub ty: Type,
    /// Size in bytes; for a bit field, the size of its unit.
    pub size: u64,
}

/// Maximum end of a member: 4 GiB, so that bits can be counted.
const FARTHEST: u64 = u32::MAX as u64;

impl SymbolMember {
    /// Alignment of its type in bytes; 1 for a nested structure.
    pub fn least_alignment(&self) -> u64 {
        let (mut ty, mut size) = (&self.ty, self.size);
        while let Type::Array(of, count) = ty {
            (ty, size) = (of, size / (*count).max(1));
        }
        match ty {
            Type::Aggregate(_) | Type::Unnamed(_) | Type::Opaque => 1,
            _ => size.max(1),
        }
    }

    /// The members of an aggregate.
    ///
    /// # Errors
    ///
    /// The table lacks the size of a type, or a member is outside any possible structure.
    pub fn list(aggregate: &Aggregate, types: &Types, arch: Arch) -> Result<Vec<SymbolMember>, String> {
        let one = |member: &Member| {
            let (bits, ty) = match &member.ty {
                Type::Bits { unit, position, width } => (Some((u64::from(*position), u64::from(*width))), (**unit).clone()),
                ty => (None, ty.clone()),
            };
            let size =
                size(&ty, types, arch).ok_or_else(|| format!("`{}` has the type {ty}, whose size is unknown", member.name))?;
            match member.offset.checked_add(size) {
                Some(..=FARTHEST) => Ok(SymbolMember { name: member.name.clone(), offset: member.offset, bits, ty, size }),
                _ => Err(format!("invalid member `{}`: {size:#x} bytes at offset {:#x}", member.name, member.offset)),
            }
        };
        aggregate.members.iter().map(one).collect()
    }

    /// First bit, and the bit after the last, from the start of the structure.
    pub fn extent(&self) -> (u64, u64) {
        let start = self.offset * 8;
        match self.bits {
            Some((position, width)) => (start + position, start + position + width),
            None => (start, start + self.size * 8),
        }
    }

    /// The range of bits that only bit fields of the same unit can use.
    pub fn unit(&self) -> (u64, u64) {
        (self.offset * 8, (self.offset + self.size) * 8)
    }

    /// Whether the two members cannot be consecutive in a structure.
    pub fn conflicts(&self, other: &SymbolMember) -> bool {
        let overlap = |one: (u64, u64), two: (u64, u64)| one.0 < two.1 && two.0 < one.1;
        match self.shares_unit(other) {
            true => overlap(self.extent(), other.extent()),
            false => overlap(self.unit(), other.unit()),
        }
    }

    /// Whether both are bit fields of the same unit.
    pub fn shares_unit(&self, other: &SymbolMember) -> bool {
        self.bits.and(other.bits).is_some() && self.unit() == other.unit()
    }

    /// Whether the other member begins where this one ends.
    pub fn precedes(&self, other: &SymbolMember) -> bool {
        let end = if self.bits.is_some() && other.bits.is_none() { self.unit().1 } else { self.extent().1 };
        end == other.extent().0
    }
}

fn size(ty: &Type, types: &Types, arch: Arch) -> Option<u64> {
    Some(match ty {
        Type::Integer(integer) => integer.size(),
        Type::Float(size) => *size,
        Type::Pointer(_) => arch.pointer_size(),
        Type::Array(of, count) => size(of, types, arch)?.checked_mul(*count)?,
        Type::Bits { unit, .. } => size(unit, types, arch)?,
        Type::Aggregate(name) => extent(types.get(name)?),
        // A type that the table lacks gets its size in compilers. The layouts of the specs are verified against the table later.
        Type::Enumeration(name) => types.get(name).map_or(4, extent),
        Type::Unnamed(definition) => extent(definition),
        Type::Void | Type::Function | Type::Opaque => return None,
    })
}

fn extent(definition: &TypeFacts) -> u64 {
    match definition {
        TypeFacts::Aggregate(aggregate) => aggregate.size,
        TypeFacts::Enumeration(enumeration) => enumeration.size,
    }
}

/// The names that are needed to spell types.
pub struct Names<'a> {
    /// The scalar types and typedefs.
    pub spec: &'a Spec,
    /// Names of the enumerations.
    pub enumerations: BTreeSet<String>,
}

impl Names<'_> {
    /// Whether a type is equal to that of symbols, at a target.
    pub fn agree(&self, ctype: &CType, target: TargetId, ty: &Type, rules: Rules) -> bool {
        self.meaning(ctype, target, 0).is_some_and(|ours| same(ours, ty.clone(), rules))
    }

    /// A type in the spelling of specs, with a note about an open question.
    ///
    /// # Errors
    ///
    /// Specs cannot spell the type.
    pub fn spell(&self, ty: &Type, rules: Rules) -> Result<(CType, Option<&'static str>), String> {
        let mut of = ty;
        while let Type::Array(inner, _) = of {
            of = inner;
        }
        if let Type::Enumeration(name) = of
            && !self.enumerations.contains(name)
        {
            let name = shown(name);
            return Err(format!(
                "its enumeration {name} is not in the symbol table; define it in a file of its own, and import again"
            ));
        }
        let text = self.declared(ty)?;
        let note = match ty {
            ty if function(ty) => Some("parameters and result of the routine are not read from symbols"),
            Type::Pointer(to) if **to == Type::Void && rules == Rules::Converted => {
                Some("possibly a pointer to a routine: this table states `void *` for both")
            }
            _ => None,
        };
        Ok((CType::parse(&text)?, note))
    }

    fn declared(&self, ty: &Type) -> Result<String, String> {
        Ok(match ty {
            Type::Integer(integer) => self.scalar(*integer)?.to_owned(),
            Type::Pointer(to) => match &**to {
                Type::Void => "PVOID".into(),
                Type::Function => "VOID (*) (VOID)".into(),
                to if function(to) => return Err(format!("specs cannot express a pointer to {to}")),
                Type::Pointer(_) | Type::Integer(_) | Type::Aggregate(_) | Type::Enumeration(_) => {
                    let inner = self.declared(to)?;
                    let gap = if inner.ends_with('*') { "" } else { " " };
                    format!("{inner}{gap}*")
                }
                to => return Err(format!("specs cannot express a pointer to {to}")),
            },
            Type::Array(..) => {
                let (mut of, mut lengths) = (ty, String::new());
                while let Type::Array(inner, count) = of {
                    lengths += &if *count == 0 { "[]".into() } else { format!("[{count}]") };
                    of = inner;
                }
                match function(of) {
                    true => format!("VOID (* {lengths}) (VOID)"),
                    false => format!("{} {lengths}", self.declared(of)?),
                }
            }
            Type::Aggregate(of) | Type::Enumeration(of) => {
                spelled(of)?;
                of.clone()
            }
            ty => return Err(format!("specs cannot express the type {ty}")),
        })
    }

    fn scalar(&self, integer: Integer) -> Result<&str, String> {
        let usual = match integer {
            // The name in CodeView; BOOL is an INT.
            Integer::Bool => "BOOL8",
            Integer::SignedChar => "INT8",
            Integer::Int => "INT",
            Integer::Char => "CHAR",
            Integer::UnsignedChar => "UCHAR",
            Integer::Short => "SHORT",
            Integer::UnsignedShort => "USHORT",
            Integer::UnsignedInt => "UINT",
            Integer::Long => "LONG",
            Integer::UnsignedLong => "ULONG",
            Integer::LongLong => "LONGLONG",
            Integer::UnsignedLongLong => "ULONGLONG",
        };
        let is = |name: &str| self.spec.scalars.get(name).is_some_and(|s| Integer::from_c(&s.c) == Some(integer));
        if is(usual) {
            return Ok(usual);
        }
        let found = self.spec.scalars.keys().find(|name| is(name)).map(String::as_str);
        found.ok_or_else(|| {
            let (c, size) = (integer.as_c(), integer.size());
            let signed = if integer.is_signed() { " signed = true," } else { "" };
            let line = format!("{usual} = {{ size = {size},{signed} c = \"{c}\" }}");
            format!("specs/scalars.toml has no scalar type `{c}`; add it under [scalar], with this or another name: {line}  and import again")
        })
    }

    /// The integer type with a name.
    pub fn integer(&self, name: &str, target: TargetId) -> Option<Integer> {
        match self.meaning(&CType::parse(name).ok()?, target, 0)? {
            Type::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// The type in the model of symbols for a spelling, within a number of typedefs.
    fn meaning(&self, ctype: &CType, target: TargetId, depth: usize) -> Option<Type> {
        Some(match ctype {
            CType::Name { name, .. } => {
                if let Some(scalar) = self.spec.scalars.get(name) {
                    if scalar.size == 0 {
                        return Some(Type::Void);
                    }
                    return Integer::from_c(&scalar.c).map(Type::Integer);
                }
                if let Some(typedef) = self.spec.typedefs.get(name) {
                    // The same limit as for layouts: a longer chain is a typedef that refers to itself.
                    if depth > 16 {
                        return None;
                    }
                    return self.meaning(&typedef.get(target)?.value, target, depth + 1);
                }
                match self.enumerations.contains(name) {
                    true => Type::Enumeration(name.clone()),
                    false => Type::Aggregate(name.clone()),
                }
            }
            CType::Pointer { to, .. } => Type::Pointer(self.meaning(to, target, depth)?.into()),
            CType::Function { .. } => Type::Function,
            CType::Array { of, length } => {
                let count = match length {
                    Length::Count(n) => *n,
                    Length::AnySize => 1,
                    Length::Flexible => 0,
                };
                Type::Array(self.meaning(of, target, depth)?.into(), count)
            }
        })
    }
}

/// Verifies that a name is valid in specs.
///
/// # Errors
///
/// The name is not valid.
pub fn spelled(name: &str) -> Result<(), String> {
    match is_identifier(name) {
        true => Ok(()),
        false => {
            let name = shown(name);
            Err(format!(
                "`{name}` is not a valid name in specs: it needs a letter first, then letters, digits and `_`, at most 128"
            ))
        }
    }
}

/// Verifies that all names of a type are valid in specs.
///
/// # Errors
///
/// A name is invalid; the error names the first one.
pub fn spellable(facts: &TypeFacts) -> Result<(), String> {
    match facts {
        TypeFacts::Enumeration(enumeration) => enumeration.constants.iter().try_for_each(|(name, _)| spelled(name)),
        TypeFacts::Aggregate(aggregate) => aggregate.members.iter().try_for_each(|member| {
            spelled(&member.name)?;
            match &member.ty {
                Type::Unnamed(facts) => spellable(facts),
                _ => Ok(()),
            }
        }),
    }
}

/// Verifies that a spec can define a type with this name.
///
/// # Errors
///
/// The name is not valid, or is reserved.
pub fn definable(name: &str) -> Result<(), String> {
    spelled(name)?;
    match is_definable(name) {
        true => Ok(()),
        false => Err(format!("`{name}` is a reserved name of generated code")),
    }
}

/// The start of an arbitrary name, for messages.
pub fn shown(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}

/// Name of the type that a type embeds.
pub fn held(mut ctype: &CType) -> Option<String> {
    loop {
        match ctype {
            CType::Name { name, .. } => return Some(name.clone()),
            CType::Array { of, .. } => ctype = of,
            CType::Pointer { .. } | CType::Function { .. } => return None,
        }
    }
}

/// Names of the types that a structure or union embeds.
pub fn by_value(facts: &TypeFacts) -> Vec<String> {
    let mut found = Vec::new();
    if let TypeFacts::Aggregate(aggregate) = facts {
        aggregate.members.iter().for_each(|member| holds(&member.ty, &mut found));
    }
    found
}

/// The given types of a table, and all types that they embed.
pub fn embraced(types: &Types, mut pending: Vec<String>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if let Some(facts) = types.get(&name)
            && all.insert(name)
        {
            pending.extend(by_value(facts));
        }
    }
    all
}

/// Collects the names of types that a type embeds.
pub fn holds(ty: &Type, found: &mut Vec<String>) {
    match ty {
        Type::Aggregate(name) | Type::Enumeration(name) => found.push(name.clone()),
        Type::Array(of, _) | Type::Bits { unit: of, .. } => holds(of, found),
        Type::Unnamed(definition) => {
            if let TypeFacts::Aggregate(aggregate) = &**definition {
                aggregate.members.iter().for_each(|member| holds(&member.ty, found));
            }
        }
        _ => {}
    }
}

fn function(ty: &Type) -> bool {
    match ty {
        Type::Pointer(to) => **to == Type::Function,
        Type::Array(of, _) => function(of),
        _ => false,
    }
}

/// Whether two types agree by the comparison of `verify`.
fn same(ours: Type, theirs: Type, rules: Rules) -> bool {
    let one = |ty| {
        let members = vec![Member { name: "m".into(), offset: 0, ty }];
        let aggregate = Aggregate { kind: AggregateKind::Struct, size: 0, members };
        Types::from([("t".to_owned(), TypeFacts::Aggregate(aggregate))])
    };
    compare(&one(ours), &one(theirs), rules)
        .iter()
        .all(|report| report.differences.iter().all(|d| d.kind != DifferenceKind::Type))
}
