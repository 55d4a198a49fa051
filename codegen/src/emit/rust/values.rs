//! Enumerations, flags and constants: transparent newtypes with named values.

use super::Emitter;
use super::docs::{comment, literal};
use super::names::{Taken, member, name_since};
use crate::axis::Axis;
use crate::layouts::{Enumeration, LayoutId};
use crate::spec::{Constant, Definition, Piece, Values, ValuesKind};
use std::fmt::Write;

impl Emitter<'_> {
    /// The enumeration of some targets.
    pub(super) fn enumeration(&self, id: LayoutId, enumeration: &Enumeration, out: &mut String) {
        let layout = &self.layouts.layouts[id];
        let definition = &self.layouts.spec.definitions[&layout.name];
        let doc = format!("`{}` {}.\n\n{}", layout.name, self.since(&layout.targets), definition.doc);
        let rows: Vec<_> = enumeration
            .constants
            .iter()
            .map(|(name, value)| Row { name: name.clone(), value: *value, doc: self.constant_doc(definition, name, *value) })
            .collect();
        let ty = format!("{}{}", if enumeration.signed { 'i' } else { 'u' }, enumeration.size * 8);
        newtype(self.type_name(id), &layout.name, &doc, &ty, ValuesKind::Enum, &rows, out);
    }

    /// A set of macros, with the constants of all targets.
    pub(super) fn macros(&self, definition: &Definition, values: &Values, out: &mut String) {
        let rows: Vec<_> = constants(&self.layouts.spec.axis, values)
            .into_iter()
            .map(|(name, constant, piece)| self.constant(name, constant, piece))
            .collect();
        let ty = self.layouts.layouts.iter().find_map(|l| match &l.form {
            crate::layouts::Form::Enumeration(e) if l.name == definition.name.value => Some(e),
            _ => None,
        });
        let ty = ty.map_or("u32".to_owned(), |e| format!("{}{}", if e.signed { 'i' } else { 'u' }, e.size * 8));
        let name = &definition.name.value;
        let doc = if definition.doc.is_empty() { format!("`{name}`.") } else { definition.doc.clone() };
        newtype(name, name, &doc, &ty, values.kind, &rows, out);
        guids(&definition.name.value, values, out);
    }

    /// One value of a constant.
    fn constant(&self, name: String, constant: &Constant, piece: &Piece<i64>) -> Row {
        let axis = &self.layouts.spec.axis;
        let scope = axis.words(&piece.targets);
        let mut doc = match (piece.targets == axis.all(), &constant.guid) {
            (false, _) => format!("{scope}."),
            (true, _) => String::new(),
        };
        if !constant.doc.is_empty() {
            let _ = write!(doc, " {}", constant.doc);
        }
        if let Some(guid) = &constant.guid {
            let _ = write!(doc, " GUID `{guid}`.");
        }
        let doc = if doc.trim().is_empty() { format!("`{}`.", constant.name.value) } else { doc.trim().to_owned() };
        Row { name, value: piece.value, doc }
    }

    fn constant_doc(&self, definition: &Definition, name: &str, value: i64) -> String {
        let crate::spec::Body::Values(values) = &definition.body else { return String::new() };
        let found = values.constants.iter().find_map(|constant| {
            let piece = constant.value.0.iter().find(|piece| constant.name.value == name && piece.value == value)?;
            Some(self.constant(name.to_owned(), constant, piece).doc)
        });
        found.unwrap_or_default()
    }
}

/// The constants of a set of macros at all targets. A constant that has several values has the builds in its names.
pub fn constants<'a>(axis: &Axis, values: &'a Values) -> Vec<(String, &'a Constant, &'a Piece<i64>)> {
    let mut rows: Vec<(String, &Constant, &Piece<i64>)> = Vec::new();
    let single = |constant: &&Constant| constant.value.0.len() == 1;
    let mut taken = Taken::of(values.constants.iter().filter(single).map(|constant| constant.name.value.clone()));
    for constant in &values.constants {
        for piece in &constant.value.0 {
            let name = &constant.name.value;
            let several = constant.value.0.len() > 1 || rows.iter().any(|row| row.0 == *name);
            let name = match several {
                true => name_since(axis, name, "", &piece.targets, &mut taken),
                false => name.clone(),
            };
            rows.push((name, constant, piece));
        }
    }
    rows
}

/// A function for the GUIDs of values.
fn guids(name: &str, values: &Values, out: &mut String) {
    let digits = |guid: &str| guid.trim_matches(['{', '}']).to_ascii_lowercase().replace('-', "_");
    let arms: Vec<_> = values
        .constants
        .iter()
        .filter_map(|constant| Some((constant.value.0.first()?.value, digits(constant.guid.as_ref()?))))
        .collect();
    if arms.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "\nimpl {name} {{\n    /// The GUID of the value; `None` if it has none.\n    \
         pub const fn guid(self) -> Option<runtime::Uuid> {{\n        match self.0 {{\n"
    );
    for (value, guid) in arms {
        let _ = writeln!(out, "            {value:#x} => Some(runtime::Uuid::from_u128(0x{guid})),");
    }
    out.push_str("            _ => None,\n        }\n    }\n}\n");
}

/// A named value in Rust.
struct Row {
    name: String,
    value: i64,
    doc: String,
}

fn newtype(name: &str, shown: &str, doc: &str, ty: &str, kind: ValuesKind, rows: &[Row], out: &mut String) {
    let kind = if kind == ValuesKind::Flags { "flags" } else { "value" };
    let _ = write!(out, "\nruntime::values! {{\n{}    pub {kind} {name}: {ty} = \"{shown}\" {{\n", comment(doc, "    "));
    for Row { name, value, doc } in rows {
        let value = if *value < 0 && ty.starts_with('i') { value.to_string() } else { format!("{value:#x}") };
        let _ = writeln!(out, "        {} = {value}, {};", member(name), literal(doc));
    }
    out.push_str("    }\n}\n");
}
