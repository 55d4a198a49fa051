//! Verification of event specs against the statements of each source.

pub mod catalog;
mod compare;
mod facts;
mod structures;

pub use facts::{Stated, Statement, Statements};

use etw_layouts_codegen::event::{Class, Erratum, Event, EventType};
use etw_layouts_codegen::spec::Spec;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The verification of event specs.
#[derive(Default, Serialize)]
pub struct Report {
    /// The counts of each source.
    pub sources: BTreeMap<String, Counts>,
    /// The errata, each with its place in the specs.
    pub errata: Vec<String>,
    /// The differences.
    pub differences: Vec<EventMismatch>,
}

/// The number of statements of a source, by result of the comparison.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Counts {
    /// Event types, counted once per version; for structures without a version, once.
    pub events: u64,
    /// Fields that agree.
    pub fields: u64,
    /// Errata of this source.
    pub errata: u64,
    /// Differences in fields that the specs mark as `unsettled`.
    pub unsettled: u64,
    /// Other differences.
    pub differences: u64,
}

/// A difference between a spec and a source.
#[derive(Clone, Serialize)]
pub struct EventMismatch {
    /// The event, such as `Process/Start, version 2`.
    pub event: String,
    /// The field; empty if the difference concerns the whole event.
    pub field: String,
    /// The source.
    pub source: String,
    /// The statement of the source.
    pub states: String,
    /// The statement of the spec.
    pub spec: String,
    /// The place in the spec: path, line and column.
    pub place: Option<String>,
    /// The place in the facts: path and line.
    pub stated: Option<String>,
}

impl EventMismatch {
    /// The difference as one line of text.
    pub fn line(&self) -> String {
        let Self { event, field, source, states, spec, .. } = self;
        let field = if field.is_empty() { String::new() } else { format!(", field {field}") };
        let places: String = [&self.place, &self.stated].into_iter().flatten().map(|place| format!("  {place}")).collect();
        format!("{event}{field}: the spec has {spec}, {source} states {states}{places}")
    }
}

/// An event type of the specs.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Its class.
    pub class: &'a Class,
    /// Its fields.
    pub event: &'a Event,
    /// Its name and number.
    pub ty: &'a EventType,
}

impl Known<'_> {
    /// The name, as in `Process/Start`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.class.name.value, self.ty.name.value)
    }
}

/// A difference in a field.
#[derive(Clone)]
struct Difference {
    field: String,
    states: String,
    spec: String,
    /// Whether it counts as a difference only if an erratum states it: the member of a C structure has another name.
    is_slight: bool,
    /// Whether the specs mark the field or event as `unsettled`.
    is_unsettled: bool,
}

/// Verifies the event specs against the statements of all sources.
pub fn verify(spec: &Spec, statements: &Statements) -> Report {
    let index = Index::of(spec);
    let mut report = Report::default();
    let mut used: BTreeSet<(usize, usize, usize)> = BTreeSet::new();
    for statement in &statements.list {
        for &ty in &statement.types {
            check(spec, &index, statement, ty, &mut used, &mut report);
        }
    }
    versions(spec, &index, statements, &mut report);
    for (class, event, number, erratum) in errata(spec) {
        let name = event_name(&spec.classes[class].events[event], &spec.classes[class]);
        let place = spec.sources.place(erratum.span);
        let (field, source, states, actual) =
            (&erratum.field.value, &erratum.source.value, &erratum.states.value, &erratum.actual.value);
        let doc = if erratum.doc.is_empty() { String::new() } else { format!(" {}", erratum.doc) };
        report.sources.entry(source.clone()).and_modify(|counts| counts.errata += 1);
        report.errata.push(format!("{name}, {field}: {source} states {states}; actual: {actual}.{doc}  {place}"));
        if covered(&index, statements, class, event, source) && !used.contains(&(class, event, number)) {
            report.differences.push(EventMismatch {
                event: name,
                field: field.clone(),
                source: source.clone(),
                states: "no such difference".to_owned(),
                spec: format!("an erratum by which the source states {states}"),
                place: Some(place),
                stated: None,
            });
        }
    }
    report
}

/// Whether a source has a statement about an event.
fn covered(index: &Index, statements: &Statements, class: usize, event: usize, source: &str) -> bool {
    statements.list.iter().filter(|statement| statement.source == source).any(|statement| {
        let of_event = |ty: u8| index.get(statement, ty).iter().any(|known| (known.0, known.1) == (class, event));
        statement.types.iter().copied().any(of_event)
    })
}

/// The name of an event: its class and its first event type.
fn event_name(event: &Event, class: &Class) -> String {
    let first = event.types.first().map_or("", |ty| &ty.name.value);
    format!("{}/{first}", class.name.value)
}

/// All errata, each with the indices of its class, event and erratum.
fn errata(spec: &Spec) -> impl Iterator<Item = (usize, usize, usize, &Erratum)> {
    spec.classes.iter().enumerate().flat_map(|(class, of)| {
        of.events.iter().enumerate().flat_map(move |(event, of)| {
            of.errata.iter().enumerate().map(move |(number, erratum)| (class, event, number, erratum))
        })
    })
}

/// An event type, with the indices of its class and of its event.
type Numbered<'a> = (usize, usize, Known<'a>);

/// The event types of a spec, by GUID and number, and by group and number.
struct Index<'a> {
    by_guid: BTreeMap<(String, u8), Vec<Numbered<'a>>>,
    by_hook: BTreeMap<(u8, u8), Vec<Numbered<'a>>>,
}

/// The comparison of a statement with one version of an event.
struct Fit<'a> {
    wrong: usize,
    judged: Vec<Judged>,
    equal: u64,
    of: Numbered<'a>,
    version: u8,
}

impl<'a> Index<'a> {
    fn of(spec: &'a Spec) -> Self {
        let mut index = Self { by_guid: BTreeMap::new(), by_hook: BTreeMap::new() };
        for (number, class) in spec.classes.iter().enumerate() {
            let guid = class.guid.as_ref().map(|guid| guid.value.clone());
            let guid = guid.or_else(|| spec.guid_of(class.group.as_ref()?)).unwrap_or_default().to_ascii_lowercase();
            for (event_number, event) in class.events.iter().enumerate() {
                for ty in &event.types {
                    let known = (number, event_number, Known { class, event, ty });
                    index.by_guid.entry((guid.clone(), ty.number)).or_default().push(known);
                    let group = ty.group.as_ref().or(class.group.as_ref()).and_then(|group| spec.group(&group.value));
                    if let Some(piece) = group.and_then(|group| group.value.0.first()) {
                        index.by_hook.entry(((piece.value >> 8) as u8, ty.number)).or_default().push(known);
                    }
                }
            }
        }
        index
    }

    fn get(&self, statement: &Statement, ty: u8) -> &[Numbered<'a>] {
        let found = match &statement.of {
            Stated::Guid(guid) => self.by_guid.get(&(guid.clone(), ty)),
            Stated::Group(group) => self.by_hook.get(&(*group, ty)),
        };
        found.map_or(&[], Vec::as_slice)
    }
}

/// Compares a statement with the spec of an event type, at the stated version or else at the version that it fits best.
fn check(
    spec: &Spec,
    index: &Index,
    statement: &Statement,
    ty: u8,
    used: &mut BTreeSet<(usize, usize, usize)>,
    report: &mut Report,
) {
    let counts = report.sources.entry(statement.source.clone()).or_default();
    counts.events += 1;
    let mut best: Option<Fit> = None;
    for &(class, event, known) in index.get(statement, ty) {
        for version in known.event.versions_of(known.ty).iter() {
            if statement.version.is_some_and(|stated| stated != version) {
                continue;
            }
            let (differences, equal) = differences(statement, known, version);
            let judged: Vec<_> = differences.into_iter().map(|one| judge(known, version, &statement.source, one)).collect();
            let wrong = judged.iter().filter(|one| one.is_wrong()).count();
            if best.as_ref().is_none_or(|best| (wrong, judged.len()) < (best.wrong, best.judged.len())) {
                best = Some(Fit { wrong, judged, equal, of: (class, event, known), version });
            }
        }
    }
    let Some(Fit { judged, equal, of: (class, event, known), version, .. }) = best else {
        counts.differences += 1;
        let version = statement.version.map(|version| format!(", version {version}")).unwrap_or_default();
        report.differences.push(EventMismatch {
            event: format!("{} type {ty}{version}", statement.class),
            field: String::new(),
            source: statement.source.clone(),
            states: "it".to_owned(),
            spec: "no such event".to_owned(),
            place: None,
            stated: Some(statement.place.clone()),
        });
        return;
    };
    counts.fields += equal;
    for one in judged {
        match one.erratum {
            Some(erratum) => {
                used.insert((class, event, erratum));
            }
            None if one.difference.is_slight => {}
            None if one.difference.is_unsettled => counts.unsettled += 1,
            None => {
                counts.differences += 1;
                let field = known.event.fields.iter().find(|field| field.name.value == one.difference.field);
                let span = field.map_or(known.ty.name.span, |field| field.name.span);
                report.differences.push(EventMismatch {
                    event: format!("{}, version {version}", known.name()),
                    field: one.difference.field,
                    source: statement.source.clone(),
                    states: one.difference.states,
                    spec: one.difference.spec,
                    place: Some(spec.sources.place(span)),
                    stated: Some(statement.place.clone()),
                });
            }
        }
    }
}

/// The differences between a statement and the spec of a version, and the number of fields that agree.
fn differences(statement: &Statement, known: Known, version: u8) -> (Vec<Difference>, u64) {
    match statement.is_structure() {
        false => compare::differences(statement, known, version),
        true => structures::differences(statement, known, version),
    }
}

/// A difference, and the number of the erratum that states it.
struct Judged {
    difference: Difference,
    erratum: Option<usize>,
}

impl Judged {
    fn is_wrong(&self) -> bool {
        self.erratum.is_none() && !self.difference.is_slight && !self.difference.is_unsettled
    }
}

/// Finds the erratum that states a difference. An erratum of `*` covers the whole event. A statement in free text matches any
/// difference of its field.
fn judge(known: Known, version: u8, source: &str, difference: Difference) -> Judged {
    let states = |erratum: &Erratum| {
        let stated = &erratum.states.value;
        let is_words = stated.contains(' ') && !stated.starts_with("named ");
        erratum.field.value.eq_ignore_ascii_case(&difference.field)
            && (is_words || stated.eq_ignore_ascii_case(&difference.states))
    };
    let erratum = known.event.errata.iter().position(|erratum| {
        let covers = erratum.versions.as_ref().is_none_or(|versions| versions.value.contains(version));
        erratum.source.value == source && covers && (erratum.field.value == "*" || states(erratum))
    });
    Judged { difference, erratum }
}

/// Reports versions that only the specs have, for event types of which sources state versions.
fn versions(spec: &Spec, index: &Index, statements: &Statements, report: &mut Report) {
    let mut stated: BTreeMap<(&str, u8), BTreeSet<u8>> = BTreeMap::new();
    for statement in &statements.list {
        let Stated::Guid(guid) = &statement.of else { continue };
        for &ty in &statement.types {
            if let Some(version) = statement.version {
                stated.entry((guid, ty)).or_default().insert(version);
            }
        }
    }
    for ((guid, ty), list) in &index.by_guid {
        let Some(versions) = stated.get(&(guid.as_str(), *ty)) else { continue };
        for (_, _, known) in list.iter().filter(|(_, _, known)| known.event.unsettled.is_empty()) {
            let range = known.event.versions_of(known.ty);
            if let Some(version) = range.iter().find(|version| !versions.contains(version)) {
                report.differences.push(EventMismatch {
                    event: format!("{}, version {version}", known.name()),
                    field: String::new(),
                    source: "no source".to_owned(),
                    states: "it".to_owned(),
                    spec: format!("versions {range}"),
                    place: Some(spec.sources.place(known.ty.name.span)),
                    stated: None,
                });
            }
        }
    }
}

impl Report {
    /// Whether anything differs.
    pub fn differs(&self) -> bool {
        !self.differences.is_empty()
    }
}
