//! A structure at a target, as text.

use super::members::{Member, c_type, keyword, members};
use crate::columns::{Row, aligned};
use crate::errata;
use anstyle::Style;
use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::layouts::{Bits, Form, Layouts, Type, WhyNot};
use etw_layouts_codegen::spec::{Body, Constant, Definition, Values, ValuesKind};
use std::fmt::Write;

const HEADING: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The layout, or the constants, with all that is known of it at the target.
pub fn text(layouts: &Layouts, name: &str, target: usize, width: Option<usize>) -> String {
    let spec = &layouts.spec;
    let (Some(definition), Some(layout)) = (spec.definitions.get(name), layouts.get(target, name)) else { return String::new() };
    let extent = layout.extent();
    let kind = match (&layout.form, &definition.body) {
        (Form::Aggregate(aggregate), _) => keyword(aggregate.kind),
        (_, Body::Values(values)) => sort(values.kind),
        _ => "",
    };
    let release = &spec.axis.versions[spec.axis.kernels[spec.axis.targets[target].kernel].version].release;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{HEADING}{kind} {name}{HEADING:#}, {:#x} bytes, aligned to {}, in {} ({release})",
        extent.size,
        extent.align,
        spec.axis.target_name(target)
    );
    for line in definition.doc.lines() {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(
        out,
        "Exists in {}; at this target: {}.",
        spec.axis.describe(&definition.scope),
        confirmed(layouts, name, target)
    );
    out.push('\n');
    match &definition.body {
        Body::Aggregate(_) => {
            let rows: Vec<_> = members(layouts, name, target).iter().map(row).collect();
            out += &aligned(&["offset", "size", "member", "type", "bits", "known from"], &rows, width);
        }
        Body::Values(values) => constants(layouts, definition, values, target, width, &mut out),
    }
    let mut here = TargetSet::default();
    here.insert(target);
    let list = errata::of(layouts, definition, &here);
    if !list.is_empty() {
        let _ = writeln!(out, "\n{HEADING}Errata of the documents{HEADING:#}");
    }
    for erratum in list {
        let _ = writeln!(out, "  {erratum}");
    }
    out
}

/// Whether symbol data confirms a structure at a target, in words.
pub fn confirmed(layouts: &Layouts, name: &str, target: usize) -> String {
    match layouts.why_not(name, target) {
        None => "symbol data confirms it".into(),
        Some(WhyNot::Cannot(reason)) => format!("not verifiable, {reason}"),
        Some(why) => format!("not verified yet, {}", why.text()),
    }
}

fn sort(kind: ValuesKind) -> &'static str {
    match kind {
        ValuesKind::Enum => "enum",
        ValuesKind::Flags => "flags",
        ValuesKind::Constants => "constants",
    }
}

fn row(member: &Member) -> Row {
    let indent = "  ".repeat(member.depth);
    let place = |size: u64| vec![format!("{:#06x}", member.offset), format!("{size:#x}")];
    let bits = member.bits.map(range).unwrap_or_default();
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
        doc = format!("{doc} Values: {values}.").trim_start().to_owned();
    }
    // What has no name of its own is known by its members.
    let (known, style) = match field.name {
        Some(_) => (info.known().to_owned(), Style::new()),
        None => (String::new(), DIM),
    };
    Row { style, cells: [place(member.size), vec![format!("{indent}{label}"), ty, bits, known, doc]].concat() }
}

/// The first and last of bits.
pub fn range(bits: Bits) -> String {
    match bits.width {
        1 => bits.position.to_string(),
        width => format!("{}-{}", bits.position, bits.position + width - 1),
    }
}

fn constants(layouts: &Layouts, definition: &Definition, values: &Values, target: usize, width: Option<usize>, out: &mut String) {
    let axis = &layouts.spec.axis;
    let digits = layouts.get(target, &definition.name.value).map_or(4, |layout| layout.extent().size) as usize * 2 + 2;
    let value = |constant: &Constant| {
        let value = constant.value.get(target)?.value;
        Some(if values.kind == ValuesKind::Enum { value.to_string() } else { format!("{value:#0digits$x}") })
    };
    let guided = |constant: &Constant| match &constant.guid {
        Some(guid) => format!("{guid} {}", constant.doc),
        None => constant.doc.clone(),
    };
    let row = |constant: &Constant| {
        let cells = vec![value(constant)?, constant.name.value.clone(), axis.describe(&constant.scope), guided(constant)];
        Some(Row { style: Style::new(), cells })
    };
    let present: Vec<_> = values.constants.iter().filter(|c| c.scope.contains(target)).filter_map(row).collect();
    let others = values.constants.len() - present.len();
    let heading = format!("{} constants of type {}", present.len(), values.ty.value);
    *out += &aligned(&["value", &heading, "exists in"], &present, width);
    if others > 0 {
        let _ = writeln!(out, "\n{others} more in other kernels: see --history.");
    }
}
