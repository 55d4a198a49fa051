//! Events as documents: for JSON, and for pages.

use etw_layouts_codegen::event::{self, Size};
use etw_layouts_codegen::spec::Spec;
use etw_layouts_project::events::catalog::{all, group, guid, placed, sources};
use etw_layouts_project::events::{Known, Statements};
use serde::Serialize;

/// An event type in all its versions.
#[derive(Serialize)]
pub struct Event<'a> {
    /// Class and event, as in `Process/Start`.
    pub name: String,
    /// The event type: the low byte of the hook.
    pub r#type: u8,
    /// The constant of `EVENT_TRACE_GROUP` in the hook.
    pub group: Option<&'a str>,
    /// Group and type.
    pub hook: Option<u16>,
    /// The provider.
    pub guid: String,
    /// The description.
    pub doc: &'a str,
    /// The versions; versions with the same fields are combined.
    pub versions: Vec<Version<'a>>,
    /// Wrong statements in the sources.
    pub errata: Vec<Erratum<'a>>,
}

/// Versions with the same fields.
#[derive(Serialize)]
pub struct Version<'a> {
    /// The first version.
    pub first: u8,
    /// The last version.
    pub last: u8,
    /// The sources that describe any of these versions.
    pub sources: Vec<String>,
    /// An unresolved disagreement of sources.
    pub unsettled: &'a str,
    /// The size with pointers of 4 and of 8 bytes; null if it varies.
    pub size: Option<[u64; 2]>,
    /// The fields.
    pub fields: Vec<Field<'a>>,
}

/// A field.
#[derive(Serialize)]
pub struct Field<'a> {
    /// The name.
    pub name: &'a str,
    /// The number of enclosing structures, which are listed before it.
    pub depth: usize,
    /// The type.
    pub r#type: &'a str,
    /// The number of values, or the name of the field that states it, or `*`.
    pub count: Option<String>,
    /// The length of a value, in the same form.
    pub length: Option<String>,
    /// The display format of values.
    pub out: Option<&'a str>,
    /// The enumeration or flags of the values.
    pub values: Option<&'a str>,
    /// The offset with pointers of 4 and of 8 bytes; null after a field of variable size.
    pub offset: Option<[u64; 2]>,
    /// The pointer size of payloads that contain the field, if not all do.
    pub pointer: Option<u8>,
    /// Whether payloads can end before this field.
    pub optional: bool,
    /// An unresolved disagreement of sources.
    pub unsettled: &'a str,
    /// The description.
    pub doc: &'a str,
}

/// A statement of a source that is wrong.
#[derive(Serialize)]
pub struct Erratum<'a> {
    field: &'a str,
    source: &'a str,
    versions: String,
    states: &'a str,
    actual: &'a str,
    doc: &'a str,
}

impl Version<'_> {
    /// The heading: `Version 2`, `Versions 0 to 3`.
    pub fn heading(&self) -> String {
        let plural = if self.first == self.last { "" } else { "s" };
        format!("Version{plural} {}", range(self.first, self.last))
    }

    /// The size in a phrase.
    pub fn size(&self) -> String {
        match self.size {
            Some([one, other]) if one == other => format!("{one:#x} bytes"),
            Some([one, other]) => format!("{one:#x} bytes in 32-bit traces, {other:#x} in 64-bit traces"),
            None => "variable size".to_owned(),
        }
    }

    /// The sources in a phrase.
    pub fn sources(&self) -> String {
        if self.sources.is_empty() { "none".to_owned() } else { self.sources.join(", ") }
    }
}

impl Field<'_> {
    /// The offset in traces of 32-bit systems (0) or 64-bit systems (1); `-` after a field of variable size, or if the field does
    /// not exist.
    pub fn offset(&self, index: usize) -> String {
        let offset = self.offset.filter(|_| self.pointer.is_none_or(|size| usize::from(size) == 4 * (index + 1)));
        offset.map_or("-".to_owned(), |offset| format!("{:#04x}", offset[index]))
    }

    /// The type with length and count.
    pub fn ty(&self) -> String {
        let length = self.length.as_ref().map(|length| format!("({length})")).unwrap_or_default();
        let count = self.count.as_ref().map(|count| format!("[{count}]")).unwrap_or_default();
        format!("{}{length}{count}", self.r#type)
    }

    /// The description of the field, and unresolved disagreements about it.
    pub fn words(&self) -> String {
        let unsettled = if self.unsettled.is_empty() { String::new() } else { format!(" Unresolved: {}", self.unsettled) };
        let optional = if self.optional { " Optional." } else { "" };
        format!("{}{optional}{unsettled}", self.doc)
    }
}

/// A GUID of a spec in lower case, with hyphens, without braces.
pub fn plain_guid(text: &str) -> String {
    text.trim_matches(['{', '}']).to_ascii_lowercase()
}

/// The versions of an event, with consecutive versions as a range.
pub fn joined(versions: &[Version]) -> String {
    let runs = versions.chunk_by(|one, next| one.last.checked_add(1) == Some(next.first));
    runs.map(|run| range(run[0].first, run[run.len() - 1].last)).collect::<Vec<_>>().join(", ")
}

fn range(first: u8, last: u8) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

impl Erratum<'_> {
    /// The erratum in a sentence.
    pub fn line(&self) -> String {
        let Self { field, source, versions, states, actual, doc } = self;
        let subject = if *field == "*" { "all fields".to_owned() } else { format!("field {field}") };
        let doc = if doc.is_empty() { String::new() } else { format!(" {doc}") };
        format!("{source}, version {versions}, {subject}: states {states}; actual: {actual}.{doc}")
    }
}

/// All events.
pub fn events<'a>(spec: &'a Spec, statements: &Statements) -> Vec<Event<'a>> {
    found(spec, statements, all(spec))
}

/// The selected events in all their versions. If versions of an event type have different names, each name is a separate event.
pub fn found<'a>(spec: &'a Spec, statements: &Statements, mut list: Vec<Known<'a>>) -> Vec<Event<'a>> {
    fn key<'k>(known: &'k Known) -> (&'k str, u8, &'k str) {
        (&known.class.name.value, known.ty.number, &known.ty.name.value)
    }
    list.sort_by(|one, other| key(one).cmp(&key(other)));
    list.chunk_by(|one, other| key(one) == key(other)).map(|known| event(spec, statements, known)).collect()
}

/// An event type. `known` has its lists of fields.
fn event<'a>(spec: &'a Spec, statements: &Statements, known: &[Known<'a>]) -> Event<'a> {
    let first = known[0];
    let group = group(spec, first);
    let docs = known.iter().rev().map(|known| known.event.doc.as_str()).find(|doc| !doc.is_empty());
    let errata = known.iter().flat_map(|known| known.event.errata.iter().map(|erratum| self::erratum(known, erratum)));
    Event {
        name: first.name(),
        r#type: first.ty.number,
        group: group.map(|(name, _)| name),
        hook: group.map(|(_, number)| u16::from(number) << 8 | u16::from(first.ty.number)),
        guid: plain_guid(&guid(spec, first)),
        doc: docs.unwrap_or_default(),
        versions: known.iter().flat_map(|known| versions(spec, statements, *known)).collect(),
        errata: errata.collect(),
    }
}

fn versions<'a>(spec: &'a Spec, statements: &Statements, known: Known<'a>) -> Vec<Version<'a>> {
    let mut list: Vec<Version> = Vec::new();
    let names = |version| known.event.of(version).map(std::ptr::from_ref).collect::<Vec<_>>();
    for version in known.event.versions_of(known.ty).iter() {
        let sources = sources(spec, statements, known, version);
        if let Some(last) = list.last_mut().filter(|last| names(last.last) == names(version)) {
            last.last = version;
            let new: Vec<_> = sources.into_iter().filter(|source| !last.sources.contains(source)).collect();
            last.sources.extend(new);
            continue;
        }
        let size = known.event.of(version).try_fold([0; 2], |sum: [u64; 2], field| {
            let size = field.size(version).filter(|_| !field.optional)?;
            Some([sum[0].saturating_add(size[0]), sum[1].saturating_add(size[1])])
        });
        let fields = placed(known, version).into_iter().map(|placed| field(placed.field, placed.depth, placed.offset));
        let (first, last, unsettled) = (version, version, known.event.unsettled.as_str());
        list.push(Version { first, last, sources, unsettled, size, fields: fields.collect() });
    }
    list
}

fn field(field: &event::Field, depth: usize, offset: Option<[u64; 2]>) -> Field<'_> {
    let size = |size: &Size| size.to_string();
    Field {
        name: &field.name.value,
        depth,
        r#type: field.ty.value.name,
        count: field.count.as_ref().map(|count| size(&count.value)),
        length: field.length.as_ref().map(|length| size(&length.value)),
        out: field.out.as_ref().map(|out| out.value.name),
        values: field.values.as_ref().map(|values| values.value.as_str()),
        offset,
        pointer: field.pointer,
        optional: field.optional,
        unsettled: &field.unsettled,
        doc: &field.doc,
    }
}

fn erratum<'a>(known: &Known, erratum: &'a event::Erratum) -> Erratum<'a> {
    let own = known.event.versions_of(known.ty);
    let versions = erratum.versions.as_ref().map_or(own, |versions| versions.value);
    Erratum {
        field: &erratum.field.value,
        source: &erratum.source.value,
        versions: versions.to_string(),
        states: &erratum.states.value,
        actual: &erratum.actual.value,
        doc: &erratum.doc,
    }
}
