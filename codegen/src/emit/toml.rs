//! Conversion of a changed [`Spec`] to the text of its files, in the standard format. Ranges and groups are derived from the targets.

mod axis;
mod form;
mod scopes;

pub use self::axis::axis;
pub(crate) use self::form::{Row, Value, quoted};
use self::scopes::Scopes;
use crate::axis::TargetSet;
use crate::spec::*;
use form::hexadecimal;

/// The text of a definition's file.
pub fn definition(spec: &Spec, definition: &Definition) -> String {
    let documented = match definition.source.is_empty() {
        true => spec.axis.all(),
        false => spec.axis.documented.clone(),
    };
    let printer = Printer { spec, scopes: Scopes { axis: &spec.axis, documented, spelled: Default::default() } };
    let (word, row) = match &definition.body {
        Body::Aggregate(aggregate) => {
            let word = match aggregate.kind {
                Kind::Struct => "struct",
                Kind::Union => "union",
            };
            (word, printer.aggregate(definition, aggregate))
        }
        Body::Values(values) => {
            let word = match values.kind {
                ValuesKind::Enum => "enum",
                ValuesKind::Flags => "flags",
                ValuesKind::Constants => "constants",
            };
            (word, printer.values(definition, values))
        }
    };
    let mut out = row.table(&format!("[{word}]"), 6);
    for (index, line) in definition.end.iter().filter(|line| !line.is_empty()).enumerate() {
        out += if index == 0 { "\n" } else { "" };
        out += &format!("{line}\n");
    }
    out
}

struct Printer<'a> {
    spec: &'a Spec,
    scopes: Scopes<'a>,
}

impl Printer<'_> {
    fn aggregate(&self, definition: &Definition, aggregate: &Aggregate) -> Row {
        let within = &definition.scope;
        let mut row = self.head(definition);
        row.add("size", self.scopes.assertion(&aggregate.size, within, |size| self.assertion(size)));
        row.add("align", self.scopes.pieces(&aggregate.align, within, |piece| piece.value.to_string()));
        row.add("pack", self.scopes.pieces(&aggregate.pack, within, |piece| piece.value.to_string()));
        self.tail(&mut row, definition);
        row.pairs.push(("members", Value::Rows(self.groups(&aggregate.members, within))));
        row
    }

    fn values(&self, definition: &Definition, values: &Values) -> Row {
        let mut row = self.head(definition);
        row.pairs.insert(1, ("type", Value::Plain(quoted(&values.ty.value))));
        self.tail(&mut row, definition);
        let digits = self.spec.scalars.get(&values.ty.value).map_or(8, |scalar| 2 * scalar.size as usize);
        let constant = |constant: &Constant| self.constant(constant, values.kind, digits, &definition.scope);
        row.pairs.push(("constants", Value::Rows(values.constants.iter().map(constant).collect())));
        row
    }

    fn head(&self, definition: &Definition) -> Row {
        let mut row = Row { comments: definition.comments.clone(), pairs: Vec::new() };
        row.pairs.push(("name", Value::Plain(quoted(&definition.name.value))));
        row.add("in", self.scopes.range(&definition.scope, &self.spec.axis.all()));
        row
    }

    fn tail(&self, row: &mut Row, definition: &Definition) {
        let within = &definition.scope;
        row.add("source", self.scopes.pieces(&definition.source, within, |piece| quoted(piece.value.word())));
        row.add("unverifiable", self.scopes.pieces(&definition.unverifiable, within, |piece| quoted(&piece.value)));
        row.add("feature", Some(&definition.feature).filter(|name| !name.is_empty()).map(|name| Value::Plain(quoted(name))));
        row.doc(&definition.doc);
        self.errata(row, &definition.errata, within);
    }

    /// The rows of members. Three or more consecutive members with the same range form a group.
    fn groups(&self, members: &[Member], within: &TargetSet) -> Vec<Row> {
        let same = |one: &Member, two: &Member| one.scope == two.scope && one.scope != *within && is_plain(&two.comments);
        let mut rows = Vec::new();
        for group in members.chunk_by(same) {
            if let [first, _, _, ..] = group {
                let mut list: Vec<Row> = group.iter().map(|member| self.member(member, &first.scope)).collect();
                let mut row = Row { comments: core::mem::take(&mut list[0].comments), pairs: Vec::new() };
                row.add("in", self.scopes.range(&first.scope, within));
                row.pairs.push(("members", Value::Rows(list)));
                rows.push(row);
            } else {
                rows.extend(group.iter().map(|member| self.member(member, within)));
            }
        }
        rows
    }

    fn member(&self, member: &Member, around: &TargetSet) -> Row {
        let within = &member.scope;
        let comments = if is_plain(&member.comments) { Vec::new() } else { member.comments.clone() };
        let mut row = Row { comments, pairs: Vec::new() };
        row.add("name", member.name.as_ref().map(|name| Value::Plain(quoted(&name.value))));
        if let Shape::Type(types) = &member.shape {
            row.add("type", self.scopes.pieces(types, within, |piece| quoted(&piece.value.to_string())));
        }
        row.add("bits", self.scopes.pieces(&member.bits, within, |piece| piece.value.to_string()));
        row.add("in", self.scopes.range(within, around));
        row.add("align", self.scopes.pieces(&member.align, within, |piece| piece.value.to_string()));
        row.add("offset", self.scopes.assertion(&member.offset, within, |offset| self.assertion(offset)));
        row.add("mask", self.scopes.assertion(&member.mask, within, |mask| self.assertion(mask)));
        row.add("values", member.values.as_ref().map(|values| Value::Plain(quoted(&values.value))));
        row.add(
            "leads_to",
            match &member.leads_to[..] {
                [] => None,
                [one] => Some(Value::Plain(quoted(&one.value))),
                several => {
                    let all: Vec<_> = several.iter().map(|one| quoted(&one.value)).collect();
                    Some(Value::Plain(format!("[{}]", all.join(", "))))
                }
            },
        );
        row.add("source", self.scopes.pieces(&member.source, within, |piece| quoted(piece.value.word())));
        row.add("unknown", member.unknown.map(|unknown| Value::Plain(quoted(unknown.word()))));
        row.doc(&member.doc);
        self.errata(&mut row, &member.errata, within);
        if let Shape::Inline(kind, members) = &member.shape {
            let word = match kind {
                Kind::Struct => "struct",
                Kind::Union => "union",
            };
            row.pairs.push((word, Value::Rows(self.groups(members, within))));
        }
        row
    }

    /// The number of an assertion, as its author wrote it.
    fn assertion(&self, piece: &Piece<u64>) -> String {
        let own = self.spec.sources.literal(piece.span).filter(|text| number(text) == Some(piece.value));
        own.map_or_else(|| hexadecimal(piece.value, 2), str::to_owned)
    }

    fn constant(&self, constant: &Constant, kind: ValuesKind, digits: usize, around: &TargetSet) -> Row {
        let within = &constant.scope;
        let mut row = Row { comments: constant.comments.clone(), pairs: Vec::new() };
        row.pairs.push(("name", Value::Plain(quoted(&constant.name.value))));
        // A number keeps its base: only the author knows which digits show its meaning.
        let number = |piece: &Piece<i64>| match (self.spec.sources.literal(piece.span), kind) {
            (Some(text), _) => text.to_owned(),
            (None, ValuesKind::Enum) => piece.value.to_string(),
            (None, _) => hexadecimal(piece.value as u64, digits),
        };
        row.add("value", self.scopes.pieces(&constant.value, within, number));
        row.add("in", self.scopes.range(within, around));
        row.add("guid", constant.guid.as_ref().map(|guid| Value::Plain(format!("\"{{{guid}}}\""))));
        row.add("source", self.scopes.pieces(&constant.source, within, |piece| quoted(piece.value.word())));
        row.doc(&constant.doc);
        self.errata(&mut row, &constant.errata, within);
        row
    }

    fn errata(&self, row: &mut Row, errata: &[Erratum], within: &TargetSet) {
        if !errata.is_empty() {
            row.pairs.push(("errata", Value::Rows(errata.iter().map(|erratum| self.erratum(erratum, within)).collect())));
        }
    }

    fn erratum(&self, erratum: &Erratum, within: &TargetSet) -> Row {
        let mut row = Row::default();
        let fact = |fact: &ErratumValue| match (fact, erratum.what) {
            (ErratumValue::Text(text), _) => Value::Plain(quoted(text)),
            (ErratumValue::Number(number), ErratumKind::Bits) => Value::Plain(number.to_string()),
            (ErratumValue::Number(number), _) if *number < 0 => Value::Plain(number.to_string()),
            (ErratumValue::Number(number), _) => Value::Plain(hexadecimal(*number as u64, 2)),
        };
        let all = self.spec.axis.all();
        let around = if matches!(erratum.what, ErratumKind::In | ErratumKind::Text) { &all } else { within };
        row.pairs.push(("what", Value::Plain(quoted(erratum.what.word()))));
        row.add("in", self.scopes.range(&erratum.scope.intersection(around), around));
        row.pairs.push(("document", fact(&erratum.document)));
        row.pairs.push(("actual", fact(&erratum.actual)));
        row.pairs.push(("evidence", Value::Plain(quoted(erratum.evidence.word()))));
        if !erratum.note.is_empty() {
            row.pairs.push(("note", Value::Plain(quoted(&erratum.note))));
        }
        row
    }
}

/// The value of a number of TOML.
fn number(text: &str) -> Option<u64> {
    let digits = text.replace('_', "");
    match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// Whether there are no comments but blank lines.
fn is_plain(comments: &[String]) -> bool {
    comments.iter().all(String::is_empty)
}
