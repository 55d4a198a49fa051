//! From [`Spec`] to [`Layouts`]: every type at every target, every witness held against it.

use crate::ctype::{CType, Length};
use crate::diagnostic::{Diagnostic, Errors, nearest};
use crate::layouts::*;
use crate::place::{LARGEST, Placer};
use crate::problems::Problems;
use crate::read::{Reading, read_all};
use crate::source::{Sources, Span};
use crate::spec::{self, Body, Definition, Kind, Member, Shape, Source, Spec, ValuesKind};
use crate::witness;
use std::collections::{BTreeMap, HashMap};

/// Reads a spec set and computes its layouts, with the errors of both in one run.
///
/// # Errors
///
/// As [`read`](crate::read()) and [`resolve`].
pub fn compile(sources: Sources) -> Result<Layouts, Errors> {
    let Reading { spec, mut errors, sound } = read_all(sources);
    if !sound {
        return Err(Errors::new(spec.sources, errors));
    }
    let (layouts, problems) = resolve_all(spec);
    errors.extend(problems);
    match errors.is_empty() {
        true => Ok(layouts),
        false => Err(Errors::new(layouts.spec.sources, errors)),
    }
}

/// Computes the layouts of a spec set.
///
/// # Errors
///
/// Every fact that disagrees with another, and every type that cannot be laid out, each with the targets concerned.
pub fn resolve(spec: Spec) -> Result<Layouts, Errors> {
    match resolve_all(spec) {
        (layouts, problems) if problems.is_empty() => Ok(layouts),
        (layouts, problems) => Err(Errors::new(layouts.spec.sources, problems)),
    }
}

fn resolve_all(spec: Spec) -> (Layouts, Vec<Diagnostic>) {
    let mut problems = Problems::default();
    let mut resolver = Resolver {
        spec: &spec,
        problems: &mut problems,
        layouts: Vec::new(),
        interned: HashMap::new(),
        target: 0,
        done: BTreeMap::new(),
    };
    let mut by_target = Vec::new();
    for target in 0..spec.axis.targets.len() {
        resolver.target = target;
        for (name, definition) in &spec.definitions {
            if definition.scope.contains(target) && !spec.broken.contains(name) {
                resolver.definition(name, definition);
            }
        }
        let done = core::mem::take(&mut resolver.done).into_iter();
        by_target.push(
            done.filter_map(|(name, state)| match state {
                State::Done(id) => Some((name, id)),
                State::Begun | State::Failed => None,
            })
            .collect(),
        );
    }
    let (layouts, by_target) = sorted(resolver.layouts, by_target);
    witness::check(&spec, &layouts, &by_target, &mut problems);
    let list = problems.into_list(&spec.axis);
    (Layouts { spec, layouts, by_target }, list)
}

/// Sorts the layouts by name, then by first target, and renumbers them.
fn sorted(
    layouts: Vec<Layout>,
    mut by_target: Vec<BTreeMap<String, LayoutId>>,
) -> (Vec<Layout>, Vec<BTreeMap<String, LayoutId>>) {
    let mut order: Vec<_> = (0..layouts.len()).collect();
    order.sort_by_key(|&id| (&layouts[id].name, layouts[id].targets.iter().next()));
    let mut new = vec![0; layouts.len()];
    for (index, &id) in order.iter().enumerate() {
        new[id] = index;
    }
    let mut slots: Vec<_> = layouts.into_iter().map(Some).collect();
    let mut result: Vec<Layout> = order.iter().filter_map(|&id| slots[id].take()).collect();
    for layout in &mut result {
        if let Form::Aggregate(aggregate) = &mut layout.form {
            renumber(aggregate, &new);
        }
    }
    for id in by_target.iter_mut().flat_map(BTreeMap::values_mut) {
        *id = new[*id];
    }
    (result, by_target)
}

fn renumber(aggregate: &mut Aggregate, new: &[LayoutId]) {
    for field in &mut aggregate.fields {
        let mut ty = &mut field.ty;
        while let Type::Array { of, .. } = ty {
            ty = of;
        }
        match ty {
            Type::Layout(id) => *id = new[*id],
            Type::Inline(inner) => renumber(inner, new),
            _ => {}
        }
    }
}

struct Resolver<'s, 'p> {
    spec: &'s Spec,
    problems: &'p mut Problems,
    layouts: Vec<Layout>,
    interned: HashMap<(String, Form), LayoutId>,
    target: usize,
    /// Types of the current target.
    done: BTreeMap<String, State>,
}

/// How far a type is at a target.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Its members are being laid out.
    Begun,
    /// It is laid out.
    Done(LayoutId),
    /// It cannot be, and an error says why.
    Failed,
}

impl Resolver<'_, '_> {
    fn definition(&mut self, name: &str, definition: &Definition) -> State {
        if let Some(state) = self.done.get(name) {
            return *state;
        }
        self.done.insert(name.to_owned(), State::Begun);
        let form = match &definition.body {
            Body::Aggregate(aggregate) => self.aggregate(definition, aggregate).map(Form::Aggregate),
            Body::Values(values) => self.enumeration(values).map(Form::Enumeration),
        };
        let state = form.map_or(State::Failed, |form| State::Done(self.intern(name, form)));
        self.done.insert(name.to_owned(), state);
        state
    }

    fn intern(&mut self, name: &str, form: Form) -> LayoutId {
        let id = *self.interned.entry((name.to_owned(), form.clone())).or_insert_with(|| {
            let name = name.to_owned();
            self.layouts.push(Layout { name, targets: Default::default(), form });
            self.layouts.len() - 1
        });
        self.layouts[id].targets.insert(self.target);
        id
    }

    fn aggregate(&mut self, definition: &Definition, aggregate: &spec::Aggregate) -> Option<Aggregate> {
        let at = |piecewise: &spec::Piecewise<u64>, target| piecewise.get(target).map(|piece| piece.value);
        let pack = at(&aggregate.pack, self.target);
        let align = at(&aggregate.align, self.target);
        self.inline(definition, aggregate.kind, &aggregate.members, pack, align, definition.name.span)
    }

    fn inline(
        &mut self,
        definition: &Definition,
        kind: Kind,
        members: &[Member],
        pack: Option<u64>,
        align: Option<u64>,
        span: Span,
    ) -> Option<Aggregate> {
        let mut placer = Placer::new(kind, pack);
        let mut fields: Vec<Field> = Vec::new();
        let mut failed = false;
        let target = self.target;
        for member in members.iter().filter(|m| m.scope.contains(target)) {
            if let Some(last) = fields.last()
                && kind == Kind::Struct
                && matches!(last.ty, Type::Array { count: 0, .. })
            {
                self.problem(
                    member.span,
                    "a flexible array is the last member",
                    "this member follows one",
                    "give the array a length",
                );
            }
            // Others may be wrong as well, and are to be told in the same run.
            match self.field(definition, member, pack, &mut placer) {
                Some(field) => fields.push(field),
                None => failed = true,
            }
        }
        if failed {
            return None;
        }
        if fields.is_empty() {
            self.problem(span, "a structure without members", "it has none here", "narrow `in`, or widen that of a member");
            return None;
        }
        match placer.finish(align) {
            Some(extent) => Some(Aggregate { kind, extent, pack, align, fields }),
            None => self.too_large(span),
        }
    }

    fn field(&mut self, definition: &Definition, member: &Member, pack: Option<u64>, placer: &mut Placer) -> Option<Field> {
        let (ty, ctype) = match &member.shape {
            Shape::Type(types) => {
                let piece = types.get(self.target)?;
                (self.ty(&piece.value, piece.span, 0)?, Some(piece.value.clone()))
            }
            // Packing holds for what is declared within, as the pragma does.
            Shape::Inline(kind, members) => {
                (Type::Inline(self.inline(definition, *kind, members, pack, None, member.span)?.into()), None)
            }
        };
        let align = member.align.get(self.target).map(|piece| piece.value);
        let extent = self.extent(&ty)?;
        let (offset, bits) = match member.bits.get(self.target) {
            None => match placer.place(extent, align) {
                Some(offset) => (offset, None),
                None => return self.too_large(member.span),
            },
            Some(piece) => {
                let scalar = matches!(ty, Type::Scalar { .. } | Type::Layout(_)) && !self.is_aggregate(&ty);
                if !scalar || piece.value > extent.size * 8 || align.is_some() {
                    let label = format!("{} bits of {} bytes", piece.value, extent.size);
                    self.problem(
                        piece.span,
                        "no such bit field",
                        &label,
                        "a bit field has a scalar type, no explicit alignment, and at most the bits of its type",
                    );
                    return None;
                }
                if piece.value == 0 && member.name.is_some() {
                    self.problem(piece.span, "a bit field of no bits has no name", "here", "remove `name`");
                }
                let (offset, bits) = placer.place_bits(extent.size, piece.value)?;
                (offset, Some(bits))
            }
        };
        Some(Field {
            name: member.name.as_ref().map(|name| name.value.clone()),
            offset,
            size: extent.size,
            ty,
            ctype,
            bits,
            align,
            values: member.values.as_ref().map(|values| values.value.clone()),
            info: self.info(definition, member),
        })
    }

    fn info(&self, definition: &Definition, member: &Member) -> Info {
        let target = self.target;
        let source = member.source.get(target).or(definition.source.get(target)).map(|piece| piece.value);
        let documented = member.offset.get(target).is_some() || member.mask.get(target).is_some();
        let errata = member.errata.iter().filter(|e| e.scope.contains(target));
        let unverifiable = member.unverifiable.get(target).or(definition.unverifiable.get(target));
        Info {
            doc: member.doc.clone(),
            scope: member.scope.clone(),
            source: source.unwrap_or(Source::Document),
            documented,
            unknown: member.unknown,
            errata: errata.map(|e| e.sentence(&self.spec.axis)).collect(),
            unverifiable: unverifiable.map(|piece| piece.value.clone()),
            span: member.span,
        }
    }

    fn ty(&mut self, ctype: &CType, span: Span, depth: usize) -> Option<Type> {
        match ctype {
            CType::Name { name, .. } => self.named(name, span, depth),
            CType::Pointer { to, .. } => Some(self.pointer(to, span, depth)?),
            CType::Function { .. } => {
                self.problem(span, "a member cannot be a function", "here", "write a pointer to it: `T (*) (…)`");
                None
            }
            CType::Array { of, length } => {
                let of: Box<_> = self.ty(of, span, depth)?.into();
                let count = match *length {
                    Length::Count(n) => n,
                    Length::AnySize => 1,
                    Length::Flexible => 0,
                };
                match self.extent(&of)?.size.checked_mul(count) {
                    Some(size) if size <= LARGEST => Some(Type::Array { of, count }),
                    _ => self.too_large(span),
                }
            }
        }
    }

    fn named(&mut self, name: &str, span: Span, depth: usize) -> Option<Type> {
        let spec = self.spec;
        if let Some(scalar) = spec.scalars.get(name) {
            if scalar.size == 0 {
                self.problem(span, "a member cannot be void", "here", "write a pointer to it, or another type");
                return None;
            }
            return Some(Type::Scalar { size: scalar.size, signed: scalar.signed, c: scalar.c.clone() });
        }
        if let Some(typedef) = spec.typedefs.get(name) {
            if depth > 16 {
                self.problem(span, &format!("the typedef `{name}` leads to itself"), "used here", "mend it in scalars.toml");
                return None;
            }
            let Some(piece) = typedef.get(self.target) else {
                self.problem(span, &format!("the typedef `{name}` has no type here"), "used here", "complete it in scalars.toml");
                return None;
            };
            return self.ty(&piece.value, piece.span, depth + 1);
        }
        if spec.broken.contains(name) {
            return None;
        }
        let Some(definition) = spec.definitions.get(name) else {
            let known = spec.definitions.keys().chain(spec.scalars.keys()).chain(spec.typedefs.keys());
            let help = match nearest(name, known.map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`? Otherwise specify it in a file of its own"),
                None => "specify it in a file of its own".into(),
            };
            self.problem(span, &format!("the type `{name}` is not specified"), "used here", &help);
            return None;
        };
        if !definition.scope.contains(self.target) {
            self.problem_also(
                definition.name.span,
                "specified here, for others only",
                span,
                &format!("`{name}` has no layout here"),
                "used here",
                "widen `in` of the type, or narrow that of the member",
            );
            return None;
        }
        match self.definition(name, definition) {
            State::Done(id) => Some(Type::Layout(id)),
            State::Failed => None,
            State::Begun => {
                self.problem(span, &format!("`{name}` contains itself"), "used here", "write a pointer to it");
                None
            }
        }
    }

    fn pointer(&mut self, to: &CType, span: Span, depth: usize) -> Option<Type> {
        let size = self.spec.axis.targets[self.target].arch.pointer_size();
        let to = match to {
            CType::Function { .. } => Type::Function,
            CType::Pointer { to, .. } => self.pointer(to, span, depth)?,
            CType::Array { .. } => self.ty(to, span, depth)?,
            CType::Name { name, .. } => match self.spec.scalars.get(name) {
                Some(scalar) if scalar.size == 0 => Type::Void,
                Some(_) => self.named(name, span, depth)?,
                None if self.spec.typedefs.contains_key(name) => self.named(name, span, depth)?,
                None => Type::Named(name.clone()),
            },
        };
        Some(Type::Pointer { size, to: to.into() })
    }

    fn enumeration(&mut self, values: &spec::Values) -> Option<Enumeration> {
        let ctype = CType::parse(&values.ty.value).ok();
        let ty = ctype.and_then(|ctype| self.ty(&ctype, values.ty.span, 0));
        let Some(Type::Scalar { size, signed, c }) = ty else {
            self.problem(values.ty.span, "values are held by an integer", "this is none", "write ULONG, USHORT, LONG …");
            return None;
        };
        let mut constants = Vec::new();
        let target = self.target;
        for constant in values.constants.iter().filter(|c| c.scope.contains(target)) {
            let Some(piece) = constant.value.get(self.target) else { continue };
            let bits = size * 8;
            let fits = match signed {
                true => piece.value >= -(1 << (bits - 1)) && (bits == 64 || piece.value < 1 << (bits - 1)),
                false => piece.value >= 0 && (bits == 64 || piece.value < 1 << bits),
            };
            if !fits {
                let label = format!("it does not fit into {}", values.ty.value);
                self.problem_also(
                    values.ty.span,
                    "the type",
                    piece.span,
                    "the value is too large for its type",
                    &label,
                    "widen the type, or mend the value",
                );
            }
            // Macros are the same for all targets; the spec has them, and a layout only says how they are held.
            if values.kind == ValuesKind::Enum {
                constants.push((constant.name.value.clone(), piece.value));
            }
        }
        Some(Enumeration { size, signed, c, constants })
    }

    fn extent(&self, ty: &Type) -> Option<Extent> {
        let natural = |size: u64| Extent { size, align: size.max(1), required: 1 };
        Some(match ty {
            Type::Scalar { size, .. } | Type::Pointer { size, .. } => natural(*size),
            Type::Array { of, count } => {
                let one = self.extent(of)?;
                Extent { size: one.size.checked_mul(*count)?, ..one }
            }
            Type::Layout(id) => self.layouts[*id].extent(),
            Type::Inline(aggregate) => aggregate.extent,
            Type::Void | Type::Function | Type::Named(_) => return None,
        })
    }

    fn is_aggregate(&self, ty: &Type) -> bool {
        matches!(ty, Type::Layout(id) if matches!(self.layouts[*id].form, Form::Aggregate(_)))
    }

    fn too_large<T>(&mut self, span: Span) -> Option<T> {
        self.problem(span, "a structure of over 16 MiB", "here it grows over that", "shorten the array");
        None
    }

    fn problem(&mut self, span: Span, title: &str, label: &str, help: &str) {
        self.problems.add(self.target, span, title, label, help);
    }

    fn problem_also(&mut self, place: Span, says: &str, span: Span, title: &str, label: &str, help: &str) {
        self.problems.add(self.target, span, title, label, help).push((place, says.to_owned()));
    }
}
