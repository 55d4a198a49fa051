//! Reads keys that definitions, members and constants share: scope, numbers, provenance, errata.

use super::reader::{Reader, Table};
use crate::axis::{Axis, TargetSet};
use crate::spec::*;
use crate::syntax::{Node, TableKind};
use toml::de::DeValue;

const PROVENANCES: [Provenance; 3] = [Provenance::Document, Provenance::Symbols, Provenance::Inferred];

const WHAT: [ErratumKind; 9] = [
    ErratumKind::Offset,
    ErratumKind::Size,
    ErratumKind::Type,
    ErratumKind::Name,
    ErratumKind::Value,
    ErratumKind::Mask,
    ErratumKind::Bits,
    ErratumKind::In,
    ErratumKind::Text,
];

/// The scope in `in`, limited to the scope of the parent.
pub(super) fn scope(reader: &mut Reader, axis: &Axis, table: &Table, within: &TargetSet) -> TargetSet {
    let Some(node) = table.get("in") else { return within.clone() };
    let Some(text) = reader.string(node) else { return within.clone() };
    let Some(scope) = reader.scope(axis, &text) else { return within.clone() };
    let inside = scope.intersection(within);
    if inside.is_empty() {
        let help = format!("choose a range within that of the parent, which exists in {}", axis.describe(within));
        reader.error(text.span, format!("range `{}` has no target here", text.value), "empty range", help);
        return within.clone();
    }
    inside
}

/// A piecewise number; empty if the key is absent.
pub(super) fn number(
    reader: &mut Reader,
    axis: &Axis,
    table: &Table,
    scope: &TargetSet,
    key: &str,
    read: &mut dyn FnMut(&mut Reader, &Node) -> Option<u64>,
) -> Piecewise<u64> {
    table.pieces(key).map(|pieces| reader.piecewise(axis, scope, &pieces, read)).unwrap_or_default()
}

/// A piecewise number that is verified against the computed one; empty if the key is absent.
pub(super) fn assertion(
    reader: &mut Reader,
    axis: &Axis,
    table: &Table,
    scope: &TargetSet,
    key: &str,
    least: u64,
) -> Piecewise<u64> {
    let pieces = table.pieces(key);
    pieces.map(|pieces| reader.assertions(axis, scope, &pieces, &mut |r, n| r.count(n, least))).unwrap_or_default()
}

pub(super) fn source(reader: &mut Reader, axis: &Axis, table: &Table, scope: &TargetSet) -> Piecewise<Provenance> {
    let pieces = table.pieces("source");
    let words = PROVENANCES.map(|provenance| (provenance.word(), provenance));
    pieces.map(|pieces| reader.piecewise(axis, scope, &pieces, &mut |r, n| r.word(n, &words))).unwrap_or_default()
}

pub(super) fn unverifiable(reader: &mut Reader, axis: &Axis, table: &Table, scope: &TargetSet) -> Piecewise<String> {
    let pieces = table.pieces("unverifiable");
    pieces.map(|pieces| reader.piecewise(axis, scope, &pieces, &mut |r, n| r.string(n).map(|t| t.value))).unwrap_or_default()
}

pub(super) fn errata(reader: &mut Reader, axis: &Axis, table: &Table, scope: &TargetSet) -> Vec<Erratum> {
    let rows = reader.tables(table, "errata", TableKind::Erratum);
    rows.iter().filter_map(|row| erratum(reader, axis, scope, row)).collect()
}

/// An entry of `errata`.
fn erratum(reader: &mut Reader, axis: &Axis, scope: &TargetSet, table: &Table) -> Option<Erratum> {
    let words = WHAT.map(|what| (what.word(), what));
    let evidence = [Evidence::Symbols, Evidence::Abi, Evidence::Document].map(|w| (w.word(), w));
    let what = table.require(reader, "what").and_then(|n| reader.word(n, &words));
    let document = table.require(reader, "document").and_then(|n| fact(reader, n));
    let actual = table.require(reader, "actual").and_then(|n| fact(reader, n));
    let evidence = table.require(reader, "evidence").and_then(|n| reader.word(n, &evidence));
    // The range is not limited to that of the parent: some errata are about versions that lack the item.
    let within = match what {
        Some(ErratumKind::In | ErratumKind::Text) => axis.all(),
        _ => scope.clone(),
    };
    let scope = self::scope(reader, axis, table, &within);
    Some(Erratum {
        checked: reader.bounded(axis, &scope),
        scope,
        note: table.text(reader, "note"),
        span: table.span,
        what: what?,
        document: document?,
        actual: actual?,
        evidence: evidence?,
    })
}

fn fact(reader: &mut Reader, node: &Node) -> Option<ErratumValue> {
    match node.get_ref() {
        DeValue::String(_) => reader.string(node).map(|text| ErratumValue::Text(text.value)),
        _ => reader.integer(node).map(|n| ErratumValue::Number(n.value)),
    }
}
