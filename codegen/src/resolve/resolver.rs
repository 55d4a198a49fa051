//! Computes the layouts of one target after another.

use crate::alike::Alike;
use crate::axis::{PerTarget, TargetId};
use crate::layouts::*;
use crate::place::Placer;
use crate::problems::Problems;
use crate::source::Span;
use crate::spec::{self, Body, Definition, Kind, Member, Shape, Spec};
use std::collections::{BTreeMap, HashMap};

/// Layouts in the order of their first use, and for each target the layouts of its types and the types of its global variables.
pub(super) struct Resolved {
    pub layouts: Vec<Layout>,
    pub by_target: PerTarget<BTreeMap<String, LayoutId>>,
    pub globals: PerTarget<BTreeMap<String, Type>>,
}

/// All types at some targets, each distinct layout once.
pub(super) fn of(spec: &Spec, alike: &Alike, problems: &mut Problems, targets: impl Iterator<Item = TargetId>) -> Resolved {
    let mut resolver = Resolver {
        spec,
        alike,
        problems,
        layouts: Vec::new(),
        wholes: Vec::new(),
        by_name: HashMap::new(),
        computed: HashMap::new(),
        target: TargetId::FIRST,
        done: BTreeMap::new(),
        depth: 0,
        remedies: HashMap::new(),
    };
    let (mut by_target, mut globals) = (Vec::new(), Vec::new());
    for target in targets {
        resolver.target = target;
        for (name, definition) in &spec.definitions {
            if definition.scope.contains(target) && !spec.broken.contains(name) {
                resolver.definition(name, definition);
            }
        }
        globals.push(resolver.globals());
        let done = core::mem::take(&mut resolver.done).into_iter();
        let laid_out = done.filter_map(|(name, state)| match state {
            State::Done(id) => Some((name, id)),
            State::Begun | State::Failed => None,
        });
        by_target.push(laid_out.collect());
    }
    Resolved { layouts: resolver.layouts, by_target: by_target.into_iter().collect(), globals: globals.into_iter().collect() }
}

/// The limit of types that are embedded in each other, against endless recursion.
const DEEPEST: usize = 64;

/// The limit of members of a type, including those of embedded types. Each level of unions can double their number, and compilers check
/// every member. The largest type of a kernel has 2,500.
const MOST_MEMBERS: usize = 1 << 14;

pub(super) struct Resolver<'s, 'p> {
    pub spec: &'s Spec,
    alike: &'s Alike<'s>,
    pub problems: &'p mut Problems,
    pub layouts: Vec<Layout>,
    /// For each layout, its totals including all types that it embeds.
    pub wholes: Vec<Whole>,
    by_name: HashMap<&'s str, Vec<LayoutId>>,
    /// The layouts that were computed without an error, by target.
    computed: HashMap<(&'s str, TargetId), LayoutId>,
    pub target: TargetId,
    /// Types of the current target.
    done: BTreeMap<String, State>,
    /// The number of types in progress, each embedded in the one before.
    depth: usize,
    /// The remedy for each undefined type.
    pub remedies: HashMap<String, String>,
}

/// The totals of a type, including all types that it embeds.
#[derive(Clone, Copy, Default)]
pub(super) struct Whole {
    /// The number of members that embed no others.
    pub members: usize,
    /// Whether it is a flexible array, or ends in one.
    pub flexible: bool,
}

/// The state of a type at a target.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum State {
    /// Its layout is being computed.
    Begun,
    /// Its layout is computed.
    Done(LayoutId),
    /// Its layout cannot be computed, and an error was reported.
    Failed,
}

impl<'s> Resolver<'s, '_> {
    pub(super) fn definition(&mut self, name: &'s str, definition: &'s Definition) -> State {
        if let Some(state) = self.done.get(name) {
            return *state;
        }
        let first = self.alike.get(name).map_or(self.target, |first| first[self.target]);
        if let Some(&id) = self.computed.get(&(name, first)) {
            self.layouts[id].targets.insert(self.target);
            self.done.insert(name.to_owned(), State::Done(id));
            return State::Done(id);
        }
        if self.depth == DEEPEST {
            self.problem(
                definition.name.span,
                "types are nested too deeply",
                "more than 64 levels",
                "reduce the number of levels",
            );
            return State::Failed;
        }
        self.done.insert(name.to_owned(), State::Begun);
        let problems = self.problems.added();
        self.depth += 1;
        let form = match &definition.body {
            Body::Aggregate(aggregate) => self.aggregate(definition, aggregate).map(Form::Aggregate),
            Body::Values(values) => self.enumeration(values).map(Form::Enumeration),
        };
        self.depth -= 1;
        let state = form.map_or(State::Failed, |form| State::Done(self.intern(name, form)));
        self.done.insert(name.to_owned(), state);
        if let (State::Done(id), true) = (state, self.problems.added() == problems) {
            self.computed.insert((name, self.target), id);
        }
        state
    }

    /// The types of the target's global variables.
    fn globals(&mut self) -> BTreeMap<String, Type> {
        let spec = self.spec;
        let of = spec.globals.values().filter_map(|global| Some((&global.name.value, global.ty.get(self.target)?)));
        let of: Vec<_> = of.collect();
        of.into_iter().filter_map(|(name, piece)| Some((name.clone(), self.ty(&piece.value, piece.span, 0)?))).collect()
    }

    fn intern(&mut self, name: &'s str, form: Form) -> LayoutId {
        let known = self.by_name.get(name).and_then(|known| known.iter().rev().find(|&&id| self.layouts[id].form == form));
        let id = match known.copied() {
            Some(id) => {
                if let (Form::Aggregate(known), Form::Aggregate(new)) = (&mut self.layouts[id].form, &form) {
                    known.learn(new);
                }
                id
            }
            None => {
                self.by_name.entry(name).or_default().push(self.layouts.len());
                let whole = match &form {
                    Form::Aggregate(aggregate) => self.whole_of(aggregate),
                    Form::Enumeration(_) => Whole { members: 1, flexible: false },
                };
                self.wholes.push(whole);
                self.layouts.push(Layout { name: name.to_owned(), targets: Default::default(), form });
                self.layouts.len() - 1
            }
        };
        self.layouts[id].targets.insert(self.target);
        id
    }

    fn aggregate(&mut self, definition: &Definition, aggregate: &spec::Aggregate) -> Option<Aggregate> {
        let at = |piecewise: &spec::Piecewise<u64>, target| piecewise.get(target).map(|piece| piece.value);
        let pack = at(&aggregate.pack, self.target);
        let align = at(&aggregate.align, self.target);
        let laid_out = self.inline(definition, aggregate.kind, &aggregate.members, pack, align, definition.name.span)?;
        // Skip follow-on errors for duplicates.
        self.unique(&laid_out).then_some(laid_out)
    }

    /// Checks that no two members have the same name.
    fn unique(&mut self, aggregate: &Aggregate) -> bool {
        let mut unique = true;
        let mut names = BTreeMap::new();
        for flat in aggregate.flat() {
            if let Some(first) = names.insert(flat.name, flat.field.info.span) {
                unique = false;
                let (title, help) = (format!("duplicate member `{}`", flat.name), "make their ranges disjoint, or rename one");
                self.problem_also(first, "the first", flat.field.info.span, &title, "the second", help);
            }
        }
        for field in &aggregate.fields {
            if let (Some(_), Type::Inline(inner)) = (&field.name, &field.ty) {
                unique &= self.unique(inner);
            }
        }
        unique
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
        let (mut failed, mut whole) = (false, 0);
        let target = self.target;
        for member in members.iter().filter(|m| m.scope.contains(target)) {
            if let Some(last) = fields.last()
                && kind == Kind::Struct
                && self.is_flexible(&last.ty)
            {
                let (title, help) = ("flexible array must be the last member", "give the array a length, or move it to the end");
                self.problem_also(
                    last.info.span,
                    "the flexible array, or a type that ends in one",
                    member.span,
                    title,
                    "member after it",
                    help,
                );
            }
            // Continue with the other members, to report all errors in one run.
            match self.field(definition, member, pack, &mut placer) {
                Some(field) => {
                    let before = whole;
                    whole += self.whole(&field.ty).members;
                    if before <= MOST_MEMBERS && whole > MOST_MEMBERS {
                        let title = format!("type has more than {MOST_MEMBERS} members, including those of embedded types");
                        let help = "split the type, or write embedded types as bytes: `UCHAR [N]`";
                        self.problem(member.span, &title, "limit reached here", help);
                        failed = true;
                    }
                    fields.push(field);
                }
                None => failed = true,
            }
        }
        if failed {
            return None;
        }
        if fields.is_empty() {
            self.problem(
                span,
                "structure has no members",
                "no members here",
                "narrow `in` of the structure, or widen that of a member",
            );
            return None;
        }
        match placer.finish(align) {
            Some(extent) if extent.size == 0 => {
                self.problem(span, "structure has size 0", "all members have size 0", "add a member that has a size");
                None
            }
            Some(extent) => Some(Aggregate { kind, extent, pack, align, fields }),
            None => self.too_large(span),
        }
    }

    fn field(&mut self, definition: &Definition, member: &Member, pack: Option<u64>, placer: &mut Placer) -> Option<Field> {
        let mut align = member.align.get(self.target).map(|piece| piece.value);
        let stated = align;
        let (ty, ctype) = match &member.shape {
            Shape::Type(types) => {
                let piece = types.get(self.target)?;
                (self.ty(&piece.value, piece.span, 0)?, Some(piece.value.clone()))
            }
            // Packing also applies to types that are declared inside, like `#pragma pack`.
            Shape::Inline(kind, members) => {
                (Type::Inline(self.inline(definition, *kind, members, pack, align.take(), member.span)?.into()), None)
            }
        };
        let extent = self.extent(&ty)?;
        let (offset, bits) = match member.bits.get(self.target) {
            None => match placer.place(extent, align) {
                Some(offset) => (offset, None),
                None => return self.too_large(member.span),
            },
            Some(piece) => {
                let scalar = matches!(ty, Type::Scalar { .. } | Type::Layout(_)) && !self.is_aggregate(&ty);
                if !scalar || piece.value > extent.size * 8 || align.is_some() {
                    let label = match scalar {
                        true => format!("{} bits in a type of {} bytes", piece.value, extent.size),
                        false => format!("{} bits in a type that is not a scalar", piece.value),
                    };
                    self.problem(
                        piece.span,
                        "invalid bit field",
                        &label,
                        "use a scalar type, no `align`, and at most as many bits as the type has",
                    );
                    return None;
                }
                if piece.value == 0 && member.name.is_some() {
                    self.problem(piece.span, "bit field with 0 bits has a name", "here", "remove `name`");
                }
                let Some((offset, bits)) = placer.place_bits(extent.size, piece.value) else {
                    return self.too_large(member.span);
                };
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
            align: stated,
            values: member.values.as_ref().map(|values| values.value.clone()),
            info: Info::of(self.spec, definition, member, self.target).into(),
        })
    }

    pub(super) fn too_large<T>(&mut self, span: Span) -> Option<T> {
        self.problem(span, "structure is larger than 16 MiB", "limit exceeded here", "shorten the array");
        None
    }

    pub(super) fn problem(&mut self, span: Span, title: &str, label: &str, help: &str) {
        self.problems.add(self.target, span, title, label, help);
    }

    pub(super) fn problem_also(&mut self, place: Span, says: &str, span: Span, title: &str, label: &str, help: &str) {
        self.problems.add(self.target, span, title, label, help).push((place, says.to_owned()));
    }
}
