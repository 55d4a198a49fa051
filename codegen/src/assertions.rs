//! Verification of every offset, size, mask and erratum in a spec against the computed layouts.

use crate::alike::Alike;
use crate::axis::{Axis, PerTarget, TargetId, TargetSet};
use crate::layouts::{Aggregate, Field, Form, Layout, LayoutId, Type};
use crate::problems::Problems;
use crate::source::{At, Span};
use crate::spec::{
    self, Body, Constant, Definition, Erratum, ErratumKind, ErratumValue, Member, Piecewise, Provenance, Shape, Spec, ValuesKind,
};
use std::collections::{BTreeMap, HashSet};

pub(crate) fn check(
    spec: &Spec,
    alike: &Alike,
    layouts: &[Layout],
    by_target: &PerTarget<BTreeMap<String, LayoutId>>,
    problems: &mut Problems,
) {
    // A result for one target applies to all targets with the same layout.
    let mut agree: HashSet<(&str, TargetId)> = HashSet::new();
    for (target, types) in by_target.iter() {
        let mut checker = Checker { spec, layouts, types, target, problems };
        for (name, &id) in types {
            let first = alike.get(name.as_str()).map_or(target, |first| first[target]);
            let problems = checker.problems.added();
            if !agree.contains(&(name, first)) {
                checker.definition(&spec.definitions[name], &layouts[id]);
            }
            if first == target && checker.problems.added() == problems {
                agree.insert((name, target));
            }
        }
    }
}

struct Checker<'a> {
    spec: &'a Spec,
    layouts: &'a [Layout],
    types: &'a BTreeMap<String, LayoutId>,
    target: TargetId,
    problems: &'a mut Problems,
}

impl Checker<'_> {
    fn definition(&mut self, definition: &Definition, layout: &Layout) {
        let target = self.target;
        match (&definition.body, &layout.form) {
            (Body::Aggregate(stated), Form::Aggregate(laid_out)) => {
                self.size(definition, stated, laid_out);
                self.errata(&definition.errata, &definition.name.span, |what| match what {
                    ErratumKind::Size => Some(number(laid_out.extent.size)),
                    ErratumKind::Name => Some(ErratumValue::Text(definition.name.value.clone())),
                    _ => None,
                });
                self.members(&stated.members, laid_out, 0, &definition.source);
            }
            (Body::Values(stated), Form::Enumeration(_)) => {
                for constant in stated.constants.iter().filter(|c| c.scope.contains(target)) {
                    self.constant(constant);
                }
            }
            _ => {}
        }
    }

    fn size(&mut self, definition: &Definition, stated: &spec::Aggregate, laid_out: &Aggregate) {
        let Some(piece) = stated.size.get(self.target) else { return };
        let size = laid_out.extent.size;
        if piece.value != size {
            let title = format!("size of `{}` is {size:#x}, not {:#x}", definition.name.value, piece.value);
            let label = format!("asserted here: {:#x}", piece.value);
            let missing = piece.value.saturating_sub(size);
            let correct = match missing.is_multiple_of(laid_out.extent.align) {
                _ if missing == 0 => "correct the members or the asserted size".to_owned(),
                false => format!(
                    "correct the asserted size, or add `pack`: {:#x} is not a multiple of the alignment {}",
                    piece.value, laid_out.extent.align
                ),
                true => format!(
                    "{missing:#x} bytes belong to no member: add the missing members, for example \
                     `{{ name = \"Reserved\", type = \"UCHAR [{missing}]\" }}`, or correct the asserted size"
                ),
            };
            let also = self.add(piece.span, &title, &label, &(correct + erratum(&definition.source)));
            if let Some(last) = laid_out.fields.last() {
                let detail = format!("last member: {:#x} bytes at offset {:#x}", last.size, last.offset);
                also.push((last.info.span, detail));
            }
        }
    }

    /// `source` is that of the definition.
    fn members(&mut self, members: &[Member], laid_out: &Aggregate, base: u64, source: &Piecewise<Provenance>) {
        let target = self.target;
        let present = members.iter().filter(|m| m.scope.contains(target));
        let mut before: Option<&Field> = None;
        for (member, field) in present.zip(&laid_out.fields) {
            self.member(member, field, base, before, source);
            if let (Shape::Inline(_, members), Type::Inline(inner)) = (&member.shape, &field.ty) {
                // Members of a named member have offsets relative to it, as in a separate type.
                let start = if member.name.is_some() { 0 } else { base + field.offset };
                self.members(members, inner, start, source);
            }
            before = Some(field);
        }
    }

    fn member(&mut self, member: &Member, field: &Field, base: u64, before: Option<&Field>, source: &Piecewise<Provenance>) {
        let layouts = self.layouts;
        let name = field.name.as_deref().unwrap_or("unnamed member");
        let offset = base + field.offset;
        if let Some(piece) = member.offset.get(self.target).filter(|piece| piece.value != offset) {
            let title = format!("offset of `{name}` is {offset:#x}, not {:#x}", piece.value);
            let label = format!("asserted here: {:#x}", piece.value);
            let source = if member.source.is_empty() { source } else { &member.source };
            let help = format!("correct the order, types, nesting or asserted offset{}", erratum(source));
            let also = self.add(piece.span, &title, &label, &help);
            if let Some(before) = before {
                let of = match before.ty.element() {
                    Type::Layout(id) => format!("{}, ", layouts[*id].name),
                    _ => String::new(),
                };
                let detail = format!("previous member: {of}{:#x} bytes at offset {:#x}", before.size, base + before.offset);
                also.push((before.info.span, detail));
            }
        }
        let mask = field.bits.map_or(0, |bits| bits.mask());
        if let Some(piece) = member.mask.get(self.target).filter(|piece| piece.value != mask) {
            let title = format!("mask of `{name}` is {mask:#x}, not {:#x}", piece.value);
            let label = format!("asserted here: {:#x}", piece.value);
            let also = self.add(piece.span, &title, &label, "correct the order or width of the bit fields, or the asserted mask");
            also.push((member.span, "the bit field".into()));
        }
        if let Some(values) = &member.values {
            self.values(values, field);
        }
        member.leads_to.iter().for_each(|link| self.link(link));
        self.errata(&member.errata, &member.span, |what| match what {
            ErratumKind::Offset => Some(number(offset)),
            ErratumKind::Size => Some(number(field.size)),
            ErratumKind::Type => field.ctype.as_ref().map(|ty| ErratumValue::Text(ty.to_string())),
            ErratumKind::Name => field.name.clone().map(ErratumValue::Text),
            ErratumKind::Mask => Some(number(mask)),
            ErratumKind::Bits => field.bits.map(|bits| number(bits.width)),
            _ => None,
        });
        self.ranges(&member.errata, &member.scope);
    }

    /// Verifies that the enumeration or flags of a member exist, and fit the member.
    fn values(&mut self, values: &At<String>, field: &Field) {
        if self.spec.broken.contains(&values.value) {
            return;
        }
        let Some(definition) = self.spec.definitions.get(&values.value) else {
            self.add(
                values.span,
                &format!("unknown enumeration or flags `{}`", values.value),
                "used here",
                "define them in a file in constants/, or remove `values`",
            );
            return;
        };
        let sort = matches!(&definition.body, Body::Values(v) if v.kind != ValuesKind::Enum);
        let size = self.types.get(&values.value).map(|&id| self.layouts[id].extent().size);
        // Bit fields accept a value type of any size.
        if !sort || size.is_some_and(|size| size != field.size && field.bits.is_none()) {
            let also = self.add(
                values.span,
                &format!("`{}` does not fit this member", values.value),
                "used here",
                "use flags or constants with the size of the member",
            );
            also.push((definition.name.span, "defined here".into()));
        }
    }

    /// Verifies that the target of `leads_to` exists in some version. The standard specs may be present only in part.
    fn link(&mut self, link: &At<String>) {
        let (name, member) = link.value.split_once('.').map_or((&*link.value, None), |(name, member)| (name, Some(member)));
        if self.spec.broken.contains(name) || self.spec.sources.file(link.span).standard {
            return;
        }
        let has = |definition: &Definition| match (&definition.body, member) {
            (Body::Aggregate(aggregate), Some(member)) => names(&aggregate.members).any(|name| name == member),
            (Body::Aggregate(_), None) => true,
            (Body::Values(_), _) => false,
        };
        if !self.spec.definitions.get(name).is_some_and(has) {
            let title = format!("unknown structure or member `{}`", link.value);
            let help = "write a structure, or a structure and its link member, such as \"ETW_GUID_ENTRY.GuidList\"";
            self.add(link.span, &title, "referenced here", help);
        }
    }

    fn constant(&mut self, constant: &Constant) {
        let value = constant.value.get(self.target).map(|piece| ErratumValue::Number(piece.value));
        self.errata(&constant.errata, &constant.name.span, |what| match what {
            ErratumKind::Value => value.clone(),
            ErratumKind::Name => Some(ErratumValue::Text(constant.name.value.clone())),
            _ => None,
        });
        self.ranges(&constant.errata, &constant.scope);
    }

    /// Verifies the statements of errata.
    fn errata(&mut self, errata: &[Erratum], about: &Span, actual: impl Fn(ErratumKind) -> Option<ErratumValue>) {
        let checked = |e: &&Erratum| !matches!(e.what, ErratumKind::In | ErratumKind::Text) && e.checked.contains(self.target);
        for erratum in errata.iter().filter(checked).collect::<Vec<_>>() {
            let Some(is) = actual(erratum.what) else {
                let title = format!("erratum about the {}, which does not exist here", erratum.what.word());
                self.add(erratum.span, &title, "here", "write what = \"text\" if the erratum is not about a fact of this member");
                continue;
            };
            let help = "correct `actual`, or remove the erratum if the published reference is right";
            if erratum.actual != is {
                let title = format!("erratum does not match the layout: the {} is {is}", erratum.what.word());
                let label = format!("erratum states {}", erratum.actual);
                self.add(erratum.span, &title, &label, help).push((*about, format!("computed: {is}")));
            } else if erratum.document == is {
                let title =
                    format!("unnecessary erratum: the published reference is correct; the {} is {is}", erratum.what.word());
                self.add(erratum.span, &title, "not an erratum", help).push((*about, format!("computed: {is}")));
            }
        }
    }

    /// Verifies errata about ranges: `actual` is the scope of the member, within that of the erratum.
    fn ranges(&mut self, errata: &[Erratum], scope: &TargetSet) {
        for erratum in errata.iter().filter(|e| e.what == ErratumKind::In) {
            let axis = &self.spec.axis;
            let sets = [&erratum.document, &erratum.actual].map(|fact| match fact {
                ErratumValue::Text(text) => axis.scope(text).ok(),
                ErratumValue::Number(_) => None,
            });
            let [Some(document), Some(actual)] = sets else {
                self.add(
                    erratum.span,
                    "`document` or `actual` of an erratum about `in` is not a range",
                    "here",
                    "write both as ranges, or write what = \"text\"",
                );
                continue;
            };
            let within = |set: &TargetSet| set.intersection(&erratum.checked);
            if within(&actual) != within(scope) {
                let title = format!("erratum does not match the spec: the range is {}", axis.describe(scope));
                self.add(erratum.span, &title, "here", "correct `actual`, or narrow `in` of the erratum");
            } else if within(&document) == within(&actual) {
                self.add(
                    erratum.span,
                    "unnecessary erratum: the published reference is correct; the range is the same",
                    "not an erratum",
                    "remove the erratum",
                );
            }
        }
    }

    fn add(&mut self, span: Span, title: &str, label: &str, help: &str) -> &mut Vec<(Span, String)> {
        self.problems.add(self.target, span, title, label, help)
    }
}

impl Erratum {
    /// The erratum as a sentence.
    pub fn sentence(&self, axis: &Axis) -> String {
        let note = if self.note.is_empty() { String::new() } else { format!(" ({})", self.note) };
        let shows = match self.evidence {
            spec::Evidence::Symbols => "symbols",
            spec::Evidence::Abi => "order and size of the declaration",
            spec::Evidence::Document => "another published reference",
        };
        let what = match self.what {
            ErratumKind::Text => String::new(),
            ErratumKind::In => "range ".to_owned(),
            what => format!("{} ", what.word()),
        };
        let scope = match self.scope == axis.all() {
            true => String::new(),
            false => format!("{}: ", axis.describe(&self.scope)),
        };
        format!("{scope}published reference: {what}{}; {shows}: {}{note}", self.document, self.actual)
    }
}

/// The remedy for a wrong assertion that repeats a published reference. Other specs, such as those of a driver, have none.
fn erratum(source: &Piecewise<Provenance>) -> &'static str {
    match source.0.iter().any(|piece| piece.value == Provenance::Document) {
        true => "; write an error of a published reference as an erratum",
        false => "",
    }
}

fn number(n: u64) -> ErratumValue {
    ErratumValue::Number(i64::try_from(n).unwrap_or(i64::MAX))
}

/// The names of members, including those of unnamed structures and unions.
fn names(members: &[Member]) -> impl Iterator<Item = &str> {
    let mut pending: Vec<&Member> = members.iter().collect();
    std::iter::from_fn(move || {
        loop {
            let member = pending.pop()?;
            match (&member.name, &member.shape) {
                (Some(name), _) => return Some(name.value.as_str()),
                (None, Shape::Inline(_, inner)) => pending.extend(inner),
                (None, Shape::Type(_)) => {}
            }
        }
    })
}
