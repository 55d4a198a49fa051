//! A structure at a target, as JSON.

use super::otherwise::Otherwise;
use super::table::{kind, subject_errata};
use crate::object::object;
use crate::target::target;
use etw_layouts_atlas::event::plain_guid;
use etw_layouts_codegen::layouts::{Layouts, Type};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::spec;
use etw_layouts_project::members::{self, c_type, keyword};
use etw_layouts_project::subject::Subject;
use serde::Serialize;

/// A structure or one of its members at a target.
pub fn json<'a>(layouts: &'a Layouts, registry: &Registry, subject: &'a Subject) -> impl Serialize + use<'a> {
    let spec = &layouts.spec;
    let at = subject.choice.target();
    let definition = spec.definitions.get(&subject.structure);
    let extent = layouts.get(at, &subject.structure).map(|layout| layout.extent()).unwrap_or_default();
    let rows = subject.members(layouts);
    let known: Vec<_> = subject.known(layouts, registry, &rows).into_iter().zip(subject.is_sure(layouts, &rows)).collect();
    let others = Otherwise::all(layouts, subject);
    let constant = |constant: &'a spec::Constant| {
        let value = constant.value.get(at)?.value;
        Some(object! {
            name: &constant.name.value,
            value: value,
            r#in: spec.axis.describe(&constant.scope),
            doc: &constant.doc,
            guid: constant.guid.as_deref().map(plain_guid),
        })
    };
    let is_values = definition.is_some_and(|definition| matches!(definition.body, spec::Body::Values(_)));
    let constants = is_values.then(|| subject.constants(layouts).into_iter().filter_map(constant).collect::<Vec<_>>());
    object! {
        structure: &subject.structure,
        // The selected member or constant, if there is one.
        member: &subject.member,
        // The selected offset, if there is one: only the members at this offset are listed.
        #[serde(flatten)] offset: subject.offset.map(|offset| object! { offset: offset }),
        kind: kind(layouts, &subject.structure, at),
        #[serde(flatten)] target: target(&spec.axis, &subject.choice),
        // The versions in which the structure exists.
        r#in: definition.map(|definition| spec.axis.describe(&definition.scope)).unwrap_or_default(),
        size: extent.size,
        align: extent.align,
        doc: definition.map_or("", |definition| &definition.doc),
        // Why no public symbols can verify it.
        unverifiable: layouts.unverifiable(&subject.structure, at),
        // The differences to the layouts of `alternative_targets`.
        #[serde(flatten)] others: (!others.is_empty()).then(|| object! { differences_in_alternatives: others }),
        #[serde(flatten)] members: Members::of(layouts, &rows, &known),
        // The constants of an enumeration or of a set of macros.
        #[serde(flatten)] constants: constants.map(|constants| object! { constants: constants }),
        errata: subject_errata(layouts, subject),
    }
}

/// The members, unnamed structures and unions, and padding of a structure.
#[derive(Serialize)]
struct Members<'a> {
    /// Those of an unnamed structure or union are listed with the members of its parent.
    members: Vec<Member<'a>>,
    unnamed: Vec<Unnamed>,
    padding: Vec<Padding>,
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    /// The name, after the names of the enclosing members.
    path: String,
    offset: u64,
    size: u64,
    r#type: String,
    bit: Option<u64>,
    bits: Option<u64>,
    /// Its evidence level in the build, as text.
    evidence: String,
    /// Whether the offset can be used without checking the data: it is the same in all layouts that the build can have.
    is_sure: bool,
    r#in: String,
    doc: String,
    /// The enumeration or flags of its values.
    values: Option<&'a str>,
    /// Referenced structures that its type does not name; for lists, with the link member of the entries.
    leads_to: Vec<String>,
    /// The members of an expanded structure or union.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<Member<'a>>,
}

/// An unnamed structure or union.
#[derive(Serialize)]
struct Unnamed {
    kind: &'static str,
    offset: u64,
    size: u64,
    /// The paths of the members that it encloses.
    members: Vec<String>,
}

/// Bytes or bits that belong to no member.
#[derive(Serialize)]
struct Padding {
    offset: u64,
    size: u64,
    bit: Option<u64>,
    bits: Option<u64>,
}

impl<'a> Members<'a> {
    fn of(layouts: &'a Layouts, rows: &[members::Member<'a>], known: &[(String, bool)]) -> Self {
        let mut all = Self { members: Vec::new(), unnamed: Vec::new(), padding: Vec::new() };
        all.members = all.nested(layouts, rows, known);
        all
    }

    /// The members as a tree, from rows in which enclosed members follow the member that encloses them.
    fn nested(&mut self, layouts: &'a Layouts, rows: &[members::Member<'a>], known: &[(String, bool)]) -> Vec<Member<'a>> {
        let mut list = Vec::new();
        let (mut rest, mut sources) = (rows, known);
        while let (Some((row, after)), Some(((known, is_sure), further))) = (rest.split_first(), sources.split_first()) {
            let inside = after.iter().take_while(|inner| inner.depth > row.depth).count();
            let (of_inside, further) = further.split_at(inside);
            let (inside, after) = after.split_at(inside);
            (rest, sources) = (after, further);
            let (bit, bits) = (row.bits.map(|bits| bits.position), row.bits.map(|bits| bits.width));
            let (offset, size) = (row.offset, row.size);
            match (&row.field, &row.path) {
                (None, _) => self.padding.push(Padding { offset, size, bit, bits }),
                (Some((field, info)), Some(path)) => list.push(Member {
                    name: field.name.as_deref().unwrap_or_default(),
                    path: path.clone(),
                    offset,
                    size,
                    r#type: c_type(field),
                    bit,
                    bits,
                    evidence: known.clone(),
                    is_sure: *is_sure,
                    r#in: layouts.spec.axis.describe(&info.scope),
                    doc: info.doc.clone(),
                    values: field.values.as_deref(),
                    leads_to: info.leads_to.clone(),
                    members: self.nested(layouts, inside, of_inside),
                }),
                (Some((field, _)), None) => {
                    let kind = if let Type::Inline(inner) = &field.ty { keyword(inner.kind) } else { "" };
                    let members = inside.iter().filter_map(|member| member.path.clone()).collect();
                    self.unnamed.push(Unnamed { kind, offset, size, members });
                    list.extend(self.nested(layouts, inside, of_inside));
                }
            }
        }
        list
    }
}
