//! Concrete layouts: every offset is computed, and every distinct layout is stored once.

use crate::axis::{PerTarget, TargetId, TargetSet};
use crate::ctype::CType;
use crate::source::Span;
use crate::spec::{Body, Definition, Kind, Member, Provenance, Spec, Unknown};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The layouts of a spec set.
#[derive(Clone, Debug)]
pub struct Layouts {
    /// The spec that they come from.
    pub spec: Spec,
    /// Each distinct layout once, by name, then by the first target that has it.
    pub layouts: Vec<Layout>,
    /// For each target, the layout of each type by name.
    pub by_target: PerTarget<BTreeMap<String, LayoutId>>,
    /// For each target, the type of each global variable that has one, by name.
    pub globals: PerTarget<BTreeMap<String, Type>>,
}

/// Index of a layout in [`Layouts::layouts`].
pub type LayoutId = usize;

/// One layout of a named type.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Microsoft's name of the type.
    pub name: String,
    /// The targets that have this layout.
    pub targets: TargetSet,
    /// Its form.
    pub form: Form,
}

/// The form of a named type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A structure or union.
    Aggregate(Aggregate),
    /// An enumeration.
    Enumeration(Enumeration),
}

/// A structure or union with its offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    /// Structure or union.
    pub kind: Kind,
    /// Size, alignment, and the part of the alignment that is explicit.
    pub extent: Extent,
    /// Explicit packing.
    pub pack: Option<u64>,
    /// Explicit alignment of the declaration itself.
    pub align: Option<u64>,
    /// The members, in the order of the declaration.
    pub fields: Vec<Field>,
}

/// Size and alignment of a type, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Extent {
    /// The size, tail padding included.
    pub size: u64,
    /// The alignment.
    pub align: u64,
    /// The alignment that packing cannot lower; 1 if none is explicit.
    pub required: u64,
}

/// A member with its offset.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name; absent for an anonymous structure or union.
    pub name: Option<String>,
    /// Bytes from the start of the enclosing structure or union.
    pub offset: u64,
    /// Size in bytes; for a bit field, the size of the whole unit.
    pub size: u64,
    /// Its type.
    pub ty: Type,
    /// The type in the spelling of the spec.
    pub ctype: Option<CType>,
    /// Position and width of a bit field within its unit.
    pub bits: Option<Bits>,
    /// Explicit alignment.
    pub align: Option<u64>,
    /// The enumeration or flags of its values.
    pub values: Option<String>,
    /// The information on the member, which the fields of other layouts share.
    pub info: Arc<Info>,
}

/// The bits of a bit field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The lowest bit within the unit.
    pub position: u64,
    /// The number of bits; 0 for a bit field that only ends a unit.
    pub width: u64,
}

/// A resolved type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// An integer.
    Scalar {
        /// Bytes.
        size: u64,
        /// Whether it holds negative values.
        signed: bool,
        /// Its spelling in C, without typedefs.
        c: String,
    },
    /// A pointer.
    Pointer {
        /// Bytes.
        size: u64,
        /// The type that it points to.
        to: Box<Type>,
    },
    /// An array; without elements if it is flexible.
    Array {
        /// The type of the elements.
        of: Box<Type>,
        /// The number of elements.
        count: u64,
    },
    /// A type with a layout of its own.
    Layout(LayoutId),
    /// An unnamed structure or union.
    Inline(Box<Aggregate>),
    /// `void`; only behind a pointer.
    Void,
    /// A function; only behind a pointer.
    Function,
    /// A type by its name; only behind a pointer.
    Named(String),
}

/// The information on a member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Info {
    /// Description.
    pub doc: String,
    /// The targets that have it.
    pub scope: TargetSet,
    /// The source.
    pub source: Provenance,
    /// Whether a published reference states its offset.
    pub documented: bool,
    /// Whether the source covers the target: published references end with the releases that they describe.
    pub covered: bool,
    /// The facts that are unknown.
    pub unknown: Option<Unknown>,
    /// The structures that it references, if its type does not show them: `STRUCTURE`, or `STRUCTURE.MEMBER` for the entries of a
    /// list and their link.
    pub leads_to: Vec<String>,
    /// The errata of published references as text.
    pub errata: Vec<String>,
    /// The place in the spec.
    pub span: Span,
}

/// An enumeration at some targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// Bytes.
    pub size: u64,
    /// Whether it holds negative values.
    pub signed: bool,
    /// The C spelling of the integer type of its values.
    pub c: String,
    /// Names and values.
    pub constants: Vec<(String, i64)>,
}

/// A member as symbol files list it: members of anonymous structures and unions belong to the enclosing structure.
#[derive(Clone, Copy, Debug)]
pub struct Flat<'a> {
    /// The name.
    pub name: &'a str,
    /// Bytes from the start of the outermost structure.
    pub offset: u64,
    /// The member.
    pub field: &'a Field,
}

impl Layouts {
    /// The layout of a type at a target.
    pub fn get(&self, target: TargetId, name: &str) -> Option<&Layout> {
        self.by_target.get(target)?.get(name).map(|&id| &self.layouts[id])
    }

    /// The layouts of a type, by their first target.
    pub fn of(&self, name: &str) -> &[Layout] {
        let at = |is_before: &dyn Fn(&str) -> bool| self.layouts.partition_point(|layout| is_before(&layout.name));
        &self.layouts[at(&|own| own < name)..at(&|own| own <= name)]
    }

    /// The types that a structure embeds, and the enumerations and flags of its members.
    pub fn used<'a>(&'a self, aggregate: &'a Aggregate) -> Vec<&'a str> {
        let mut names = Vec::new();
        for field in &aggregate.fields {
            names.extend(field.values.as_deref());
            match field.ty.element() {
                Type::Layout(id) => names.push(self.layouts[*id].name.as_str()),
                Type::Inline(inner) => names.extend(self.used(inner)),
                _ => {}
            }
        }
        names
    }

    /// The flags or constants of a set at a target, in the order of the spec. The layout of a set has no constants, because they
    /// are the same for all targets that have them.
    pub fn macros<'a>(&'a self, target: TargetId, name: &str) -> impl Iterator<Item = (&'a str, i64)> {
        let values = self.spec.definitions.get(name).and_then(|definition| match &definition.body {
            Body::Values(values) => Some(values),
            Body::Aggregate(_) => None,
        });
        let constants = values.into_iter().flat_map(|values| &values.constants).filter(move |one| one.scope.contains(target));
        constants.filter_map(move |one| Some((one.name.value.as_str(), one.value.get(target)?.value)))
    }

    /// Whether a definition is part of a user's specs, which the standard specs complete.
    pub fn is_own(&self, name: &str) -> bool {
        let file = self.spec.definitions.get(name).map(|definition| self.spec.sources.file(definition.name.span));
        self.spec.axis.is_standard && file.is_some_and(|file| !file.standard)
    }

    /// The reason why no public symbols can verify a type at a target, if its spec or its release states one.
    pub fn unverifiable(&self, name: &str, target: TargetId) -> Option<&str> {
        let axis = &self.spec.axis;
        let release = axis.revision_of(target).release;
        let stated = self.spec.definitions.get(name)?.unverifiable.get(target).map(|piece| &piece.value);
        stated.or(axis.releases[release].unverifiable.as_ref()).map(String::as_str)
    }
}

impl Layout {
    /// Size and alignment.
    pub fn extent(&self) -> Extent {
        match &self.form {
            Form::Aggregate(aggregate) => aggregate.extent,
            Form::Enumeration(e) => Extent { size: e.size, align: e.size, required: 1 },
        }
    }
}

impl Type {
    /// The type of an array's elements, or the type itself.
    pub fn element(&self) -> &Type {
        let mut ty = self;
        while let Type::Array { of, .. } = ty {
            ty = of;
        }
        ty
    }
}

impl Aggregate {
    /// Adds the information from the same layout at another target.
    pub(crate) fn learn(&mut self, other: &Self) {
        for (field, other) in self.fields.iter_mut().zip(&other.fields) {
            let (info, new) = (Arc::make_mut(&mut field.info), &other.info);
            info.source = info.source.min(new.source);
            info.documented |= new.documented;
            info.covered |= new.covered;
            let known: HashSet<&String> = info.errata.iter().collect();
            let errata: Vec<_> = new.errata.iter().filter(|erratum| !known.contains(erratum)).cloned().collect();
            info.errata.extend(errata);
            if let (Type::Inline(inner), Type::Inline(other)) = (&mut field.ty, &other.ty) {
                inner.learn(other);
            }
        }
    }

    /// The C types of all members, including those of unnamed structures and unions.
    pub fn ctypes(&self) -> Vec<&CType> {
        let mut list = Vec::new();
        for field in &self.fields {
            list.extend(&field.ctype);
            if let Type::Inline(inner) = &field.ty {
                list.extend(inner.ctypes());
            }
        }
        list
    }

    /// The named members, including those of anonymous structures and unions, in order.
    pub fn flat(&self) -> Vec<Flat<'_>> {
        let mut list = Vec::new();
        self.flatten(0, &mut list);
        list
    }

    fn flatten<'a>(&'a self, base: u64, list: &mut Vec<Flat<'a>>) {
        for field in &self.fields {
            let offset = base + field.offset;
            match (&field.name, &field.ty) {
                (Some(name), _) => list.push(Flat { name, offset, field }),
                (None, Type::Inline(inner)) => inner.flatten(offset, list),
                (None, _) => {}
            }
        }
    }
}

impl Bits {
    /// The mask within the unit.
    pub fn mask(self) -> u64 {
        let ones = match self.width {
            0 => 0,
            width => u64::MAX >> (64 - width.min(64)),
        };
        ones.checked_shl(self.position as u32).unwrap_or(0)
    }
}

impl Info {
    /// The information on a member at a target. The fields of a layout have the information of its first target.
    pub fn of(spec: &Spec, definition: &Definition, member: &Member, target: TargetId) -> Self {
        let stated = member.source.get(target).or(definition.source.get(target)).map(|piece| piece.value);
        let source = if spec.is_extended(definition, target) { Some(Provenance::Inferred) } else { stated };
        let documented = member.offset.get(target).is_some() || member.mask.get(target).is_some();
        let errata = member.errata.iter().filter(|e| e.scope.contains(target));
        Self {
            doc: member.doc.clone(),
            scope: member.scope.clone(),
            source: source.unwrap_or(Provenance::Document),
            documented,
            // Without a source, the spec itself is the source, and covers all targets in its scope.
            covered: stated.is_none() || spec.axis.documented.contains(target),
            unknown: member.unknown,
            leads_to: member.leads_to.iter().map(|link| link.value.clone()).collect(),
            errata: errata.map(|e| e.sentence(&spec.axis)).collect(),
            span: member.span,
        }
    }

    /// The source as text.
    pub fn known(&self) -> &'static str {
        match (self.unknown, self.source) {
            (Some(Unknown::Use), _) => "unidentified",
            (Some(Unknown::Name), _) => "documented, name unknown",
            (Some(Unknown::Type), _) => "documented, type unknown",
            (Some(Unknown::NameAndType), _) => "documented, name and type unknown",
            (None, Provenance::Document) if self.covered && self.documented => "documented",
            (None, Provenance::Document) if self.covered => "documented, offset inferred",
            (None, Provenance::Document) => "inferred from published references about other builds",
            (None, Provenance::Symbols) => "from symbols",
            (None, Provenance::Inferred) => "inferred",
        }
    }
}

/// Members are equal if they are equal to the compiler; their documentation and evidence do not distinguish layouts.
impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        let shape = |field: &Self| {
            let Self { offset, size, bits, align, .. } = *field;
            (offset, size, bits, align)
        };
        let Self { name, ty, ctype, values, .. } = self;
        shape(self) == shape(other) && (name, values) == (&other.name, &other.values) && (ty, ctype) == (&other.ty, &other.ctype)
    }
}

impl Eq for Field {}
