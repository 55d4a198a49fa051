//! A structure at a target, as text.

use super::otherwise::{Otherwise, nearest};
use crate::print::{DIM, HEADING};
use crate::target::named;
use crate::text_table::{Row, aligned, paragraph};
use anstyle::Style;
use etw_layouts_atlas::bit_range;
use etw_layouts_atlas::event::plain_guid;
use etw_layouts_codegen::axis::{TargetId, TargetSet};
use etw_layouts_codegen::layouts::{Form, Layouts, Type};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::spec::{Body, Constant, Definition, Values, ValuesKind};
use etw_layouts_project::Confidence;
use etw_layouts_project::errata;
use etw_layouts_project::evidence::{Confirmed, STATED};
use etw_layouts_project::history::has;
use etw_layouts_project::members::{Member, c_type, keyword};
use etw_layouts_project::subject::Subject;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A structure, member, enumeration or constant at a target. Lines wrap at `width`, if it is given.
pub fn text(layouts: &Layouts, registry: &Registry, subject: &Subject, width: Option<usize>) -> String {
    let Subject { structure, choice, .. } = subject;
    let axis = &layouts.spec.axis;
    let Some(definition) = layouts.spec.definitions.get(structure) else { return String::new() };
    let mut out = String::new();
    let others = Otherwise::all(layouts, subject);
    let agreement = Otherwise::agreement(&others, layouts, subject);
    let agrees = agreement.is_some();
    if let Some(note) = agreement.or_else(|| choice.note(axis)) {
        out += &paragraph(&note, width, "");
    }
    if let Some(nearest) = nearest(layouts, registry, subject) {
        out += &paragraph(&nearest, width, "");
    }
    for other in others.iter().filter(|_| !agrees) {
        out += &other.text(subject);
    }
    if !out.is_empty() {
        out += "\n";
    }
    out += &heading(layouts, subject, &format!("in {}", named(axis, choice, &choice.label(axis))), width);
    let members = subject.members(layouts);
    let exists = match (&subject.member, members.first(), subject.constants(layouts).first()) {
        (None, ..) if subject.offset.is_some() => &definition.scope,
        (None, ..) => {
            out += &paragraph(&definition.doc, width, "");
            &definition.scope
        }
        (Some(_), Some(Member { field: Some((_, info)), .. }), _) => &info.scope,
        (Some(_), _, Some(constant)) => &constant.scope,
        (Some(_), _, None) => &definition.scope,
    };
    let known = if choice.is_stand_in(axis) { String::new() } else { format!("; at this target: {}", known(layouts, subject)) };
    out += &paragraph(&format!("Versions: {}{known}", axis.words(exists)), width, "");
    match &definition.body {
        Body::Aggregate(_) => aggregate(&members, &subject.known(layouts, registry, &members), width, &mut out),
        Body::Values(values) => constants(layouts, definition, values, subject, width, &mut out),
    }
    let list = subject_errata(layouts, subject);
    if !list.is_empty() {
        let _ = writeln!(out, "\n{HEADING}Errata of published references{HEADING:#}");
    }
    for erratum in list {
        out += &paragraph(&erratum, width, "  ");
    }
    out
}

/// The errata that apply to the target, of the whole structure or of the selected members.
pub fn subject_errata(layouts: &Layouts, subject: &Subject) -> Vec<String> {
    let Some(definition) = layouts.spec.definitions.get(&subject.structure) else { return Vec::new() };
    let mut here = TargetSet::default();
    here.insert(subject.choice.target());
    let mut list = errata::of(layouts, definition, &here);
    let at_offset = || subject.members(layouts).into_iter().filter_map(|member| member.path).collect();
    let members: Option<Vec<String>> =
        subject.member.clone().map(|member| vec![member]).or_else(|| subject.offset.map(|_| at_offset()));
    if let Some(members) = members {
        let about: Vec<String> = members.iter().map(|member| format!("{}.{member},", subject.structure)).collect();
        list.retain(|erratum| about.iter().any(|about| erratum.starts_with(about)));
    }
    list
}

/// The confidence in a layout as text, and the reason why public symbols cannot verify it.
pub fn known(layouts: &Layouts, subject: &Subject) -> String {
    let Subject { structure, choice, .. } = subject;
    let sentence = choice.sentence(&layouts.spec.axis);
    let sentence = match choice.confidence {
        Confidence::Documented { unverifiable: false } => {
            let word = if layouts.is_own(structure) { STATED } else { "documented" };
            sentence.replacen("documented or stated by the specs", word, 1)
        }
        _ => sentence,
    };
    match layouts.unverifiable(structure, choice.target()) {
        Some(reason) => format!("{sentence}: {reason}"),
        None => sentence,
    }
}

/// The targets for which symbols verify a structure.
pub fn confirmed_in(layouts: &Layouts, confirmed: &Confirmed, name: &str) -> TargetSet {
    let seen = has(layouts, name).intersection(&confirmed.targets(name));
    seen.iter().filter(|&target| layouts.unverifiable(name, target).is_none()).collect()
}

/// `struct`, `union`, `enum`, `flags` or `constants`.
pub fn kind(layouts: &Layouts, name: &str, target: TargetId) -> &'static str {
    let body = layouts.spec.definitions.get(name).map(|definition| &definition.body);
    match (layouts.get(target, name).map(|layout| &layout.form), body) {
        (Some(Form::Aggregate(aggregate)), _) => keyword(aggregate.kind),
        (_, body) => body.map_or("", definition_kind),
    }
}

/// The kind of a definition; a structure can be a union at some targets.
pub fn definition_kind(body: &Body) -> &'static str {
    match body {
        Body::Aggregate(aggregate) => keyword(aggregate.kind),
        Body::Values(values) => match values.kind {
            ValuesKind::Enum => "enum",
            ValuesKind::Flags => "flags",
            ValuesKind::Constants => "constants",
        },
    }
}

/// The name and the target; for a whole structure also its kind, size and alignment.
fn heading(layouts: &Layouts, subject: &Subject, place: &str, width: Option<usize>) -> String {
    let Subject { structure, member, choice, .. } = subject;
    let (name, extent) = match (member, subject.offset) {
        (Some(member), _) => (format!("{structure}.{member}"), String::new()),
        (None, Some(offset)) => (format!("{structure}+{offset:#x}"), String::new()),
        (None, None) => {
            let extent = layouts.get(choice.target(), structure).map(|layout| layout.extent()).unwrap_or_default();
            let name = format!("{} {structure}", kind(layouts, structure, choice.target()));
            (name, format!("{:#x} bytes, aligned to {}, ", extent.size, extent.align))
        }
    };
    paragraph(&format!("{name}, {extent}{place}"), width, "  ").replacen(&name, &format!("{HEADING}{name}{HEADING:#}"), 1)
}

/// The members, and the evidence for each.
fn aggregate(members: &[Member], known: &[String], width: Option<usize>, out: &mut String) {
    // Print the most frequent evidence once, and only exceptions at the members.
    let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
    let both = || members.iter().zip(known);
    let own = both().filter(|(member, _)| (member.flat() || members.len() == 1) && member.field.is_some());
    own.for_each(|(_, known)| *sources.entry(known).or_default() += 1);
    let usual = sources.iter().max_by_key(|(known, count)| (**count, Reverse(known.len()))).map_or("", |(known, _)| *known);
    if !usual.is_empty() {
        let unusual = |(member, known): (&Member, &String)| member.path.is_some() && known != usual;
        let others = if both().any(unusual) { ", except where brackets state other evidence" } else { "" };
        let subject = if members.len() == 1 { "Member:" } else { "Members:" };
        *out += &paragraph(&format!("{subject} {usual}{others}."), width, "");
    }
    let rows: Vec<_> = both().map(|(member, known)| row(member, known, usual)).collect();
    *out += "\n";
    *out += &aligned(&["offset", "size", "member", "type", "bits"], &rows, width);
}

fn row(member: &Member, known: &str, usual: &str) -> Row {
    let indent = "  ".repeat(member.depth);
    let place = |size: u64| vec![format!("{:#06x}", member.offset), format!("{size:#x}")];
    let bits = member.bits.map(bit_range).unwrap_or_default();
    let Some((field, info)) = &member.field else {
        let cells = [place(member.size), vec![format!("{indent}padding"), String::new(), bits]].concat();
        return Row { style: DIM, cells };
    };
    let (label, ty) = match (&field.name, &field.ty) {
        (Some(name), Type::Inline(inner)) => (name.as_str(), keyword(inner.kind).to_owned()),
        (Some(name), _) => (name.as_str(), c_type(field)),
        (None, Type::Inline(inner)) => (keyword(inner.kind), String::new()),
        (None, _) => ("unnamed", c_type(field)),
    };
    let mut doc = info.doc.clone();
    if let Some(values) = &field.values {
        doc += &format!(" Values: {values}.");
    }
    if !info.leads_to.is_empty() {
        doc += &format!(" References {}.", info.leads_to.join(", "));
    }
    // An unnamed structure or union has no evidence of its own.
    let style = if field.name.is_some() { Style::new() } else { DIM };
    if field.name.is_some() && known != usual {
        doc += &format!(" [{known}]");
    }
    let doc = doc.trim_start().to_owned();
    Row { style, cells: [place(member.size), vec![format!("{indent}{label}"), ty, bits, doc]].concat() }
}

fn constants(
    layouts: &Layouts,
    definition: &Definition,
    values: &Values,
    subject: &Subject,
    width: Option<usize>,
    out: &mut String,
) {
    let axis = &layouts.spec.axis;
    let target = subject.choice.target();
    let digits = layouts.get(target, &definition.name.value).map_or(4, |layout| layout.extent().size) as usize * 2 + 2;
    let value = |constant: &Constant| {
        let value = constant.value.get(target)?.value;
        Some(if values.kind == ValuesKind::Enum { value.to_string() } else { format!("{value:#0digits$x}") })
    };
    let guided = |constant: &Constant| match &constant.guid {
        Some(guid) => format!("{} {}", plain_guid(guid), constant.doc),
        None => constant.doc.clone(),
    };
    let present = subject.constants(layouts);
    // Leave the column empty if all constants exist in the same versions as the enumeration: the heading has these.
    let all = present.len() > 1 && present.iter().all(|constant| constant.scope == definition.scope);
    let row = |constant: &&Constant| {
        let exists = if all { String::new() } else { axis.words(&constant.scope) };
        // One column, because only the last one wraps.
        let between = if exists.is_empty() || guided(constant).is_empty() { "" } else { ": " };
        let cells = vec![value(constant)?, constant.name.value.clone(), format!("{exists}{between}{}", guided(constant))];
        Some(Row { style: Style::new(), cells })
    };
    let rows: Vec<_> = present.iter().filter_map(row).collect();
    let heading = match rows.len() {
        1 => format!("constant of type {}", values.ty.value),
        count => format!("{count} constants of type {}", values.ty.value),
    };
    *out += "\n";
    *out += &aligned(&["value", &heading, if all { "description" } else { "versions: description" }], &rows, width);
    let others = values.constants.len() - rows.len();
    if others > 0 && subject.member.is_none() {
        let _ = writeln!(out, "\n{others} more in other builds: see --history.");
    }
}
