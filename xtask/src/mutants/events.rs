//! Mutants of event specs: wrong types, orders, counts, versions and numbers, verified against the sources of events.

use super::facts::{FactKind, Finder, Mutant};
use super::{Bench, Fate};
use etw_layouts_codegen::reread_events;
use etw_layouts_codegen::spec::Spec;
use etw_layouts_codegen::syntax::TomlTable;
use etw_layouts_project::events::{self, EventMismatch, Known, Statements, catalog};
use std::collections::BTreeSet;

/// The statements of sources about events, and their differences from the original specs.
pub(super) struct Events {
    statements: Statements,
    differences: BTreeSet<String>,
}

impl Events {
    pub fn of(spec: &Spec, statements: Statements) -> Self {
        let differences = keys(&events::verify(spec, &statements).differences).collect();
        Self { statements, differences }
    }
}

/// Differences without their positions, which a mutant may shift.
fn keys(differences: &[EventMismatch]) -> impl Iterator<Item = String> {
    differences.iter().map(|difference| EventMismatch { place: None, stated: None, ..difference.clone() }.line())
}

impl Finder<'_> {
    /// The mutants of `[[event]]`.
    pub(super) fn event(&mut self, event: TomlTable) {
        for entry in event.entries() {
            match entry.name {
                "types" => {
                    for (_, number) in entry.value.get_ref().as_table().into_iter().flat_map(|table| table.iter()) {
                        let text = &self.text[number.span()];
                        let other = text.parse::<u64>().map_or(99, |number| if number < 200 { number + 55 } else { number - 55 });
                        self.add(FactKind::Constant, number.span(), other.to_string());
                    }
                }
                "version" => self.versions(entry.value.span(), false),
                "fields" => {
                    let fields = entry.tables();
                    self.rows(fields.iter().map(|field| field.span()).collect(), true);
                    fields.into_iter().for_each(|field| self.field(field));
                }
                _ => {}
            }
        }
    }

    fn field(&mut self, field: TomlTable) {
        for entry in field.entries() {
            let span = entry.value.span();
            match entry.name {
                "name" => self.add(FactKind::Name, span.end - 1..span.end - 1, "X"),
                "type" => {
                    let other = match &self.text[span.start + 1..span.end - 1] {
                        "UInt8" => "Int8",
                        "Int8" => "UInt8",
                        "UInt16" => "Int16",
                        "Int16" => "UInt16",
                        "UInt32" | "HexInt32" => "Int32",
                        "UInt64" | "HexInt64" => "Int64",
                        "Int64" | "Pointer" | "SizeT" | "FILETIME" => "UInt64",
                        "UnicodeString" => "AnsiString",
                        "AnsiString" => "UnicodeString",
                        _ => "UInt32",
                    };
                    self.add(FactKind::Type, span.start + 1..span.end - 1, other);
                }
                "count" | "length" => {
                    if let Ok(number) = self.text[span.clone()].parse::<u64>() {
                        self.add(FactKind::Count, span, (number + 1).to_string());
                    }
                }
                "version" => self.versions(span, true),
                "fields" => {
                    let fields = entry.tables();
                    self.rows(fields.iter().map(|field| field.span()).collect(), true);
                    fields.into_iter().for_each(|field| self.field(field));
                }
                _ => {}
            }
        }
    }

    /// Changes a range of versions to begin or end one version later or earlier.
    fn versions(&mut self, span: core::ops::Range<usize>, of_field: bool) {
        let text = self.text[span.start + 1..span.end - 1].to_owned();
        let (first, last) = text.split_once("..").unwrap_or((&text, &text));
        let Ok(first) = first.parse::<u8>() else { return };
        let last = last.parse::<u8>().ok();
        let range = |first: u8, last: Option<u8>| format!("{first}..{}", last.map(|last| last.to_string()).unwrap_or_default());
        let mut changed = vec![range(first + 1, last.map(|last| last.max(first + 1)))];
        changed.extend(last.filter(|last| *last > first).map(|last| range(first, Some(last - 1))));
        changed.extend(last.filter(|_| !of_field).map(|last| range(first, Some(last + 1))));
        for new in changed {
            self.add(FactKind::Range, span.start + 1..span.end - 1, new);
        }
    }
}

impl Bench {
    /// Whether a file contains events.
    pub(super) fn is_events(&self, file: usize) -> bool {
        self.original.spec.classes.iter().any(|class| self.original.spec.sources.index(class.name.span) == file)
    }

    /// Applies a mutant to a file of events, and verifies all events.
    pub(super) fn run_event(&self, file: usize, mutant: &Mutant) -> Fate {
        let mut text = self.files()[file].text.clone();
        text.replace_range(mutant.range.clone(), &mutant.with);
        let spec = match reread_events(&self.original.spec, file, text) {
            Ok(spec) => spec,
            Err(errors) => return Fate::Refused(errors.render(false).contains(self.path(file))),
        };
        let differences = events::verify(&spec, &self.events.statements).differences;
        let new: Vec<_> = keys(&differences).filter(|line| !self.events.differences.contains(line)).collect();
        if new.is_empty() {
            return if expanded(&spec) == expanded(&self.original.spec) { Fate::Equivalent } else { self.survived(file, mutant) };
        }
        let class = self.original.spec.classes.iter().find(|class| self.original.spec.sources.index(class.name.span) == file);
        let is_shown = class.is_some_and(|class| new.iter().any(|line| line.contains(&class.name.value)));
        // An event that the mutated specs lack is reported by the name in the source.
        Fate::Differs(is_shown || differences.iter().any(|difference| difference.spec == "no such event"))
    }

    /// The reason why no source detects a change.
    fn survived(&self, file: usize, mutant: &Mutant) -> Fate {
        let spec = &self.original.spec;
        let of_file = catalog::all(spec).into_iter().filter(|known| spec.sources.index(known.event.span) == file);
        let before = of_file.filter(|known| spec.sources.start(known.event.span) <= mutant.range.start);
        let Some(known) = before.max_by_key(|known| spec.sources.start(known.event.span)) else {
            return Fate::Missed(self.path(file).to_owned());
        };
        let versions = known.event.versions_of(known.ty).iter();
        let sources: BTreeSet<_> =
            versions.flat_map(|version| catalog::sources(spec, &self.events.statements, known, version)).collect();
        let is_phnt = |source: &String| source.starts_with("phnt");
        let reason = match () {
            () if &self.files()[file].text[mutant.range.clone()] == "FILETIME" => {
                "sources state a number where the spec has a time"
            }
            () if sources.is_empty() => "no table of a source has the event",
            () if sources.iter().all(|source| is_phnt(source) || source.ends_with("(without fields)")) => {
                "sources state the event without fields, or as a C structure"
            }
            () if !known.event.unsettled.is_empty() => "the specs call the event unsettled",
            () if sources.iter().all(is_phnt) => {
                "only a C structure states the event: no names, signs, versions or parts of variable size"
            }
            () if !known.event.errata.is_empty() => "an erratum states a difference there",
            () if known.event.fields.iter().any(|field| field.optional || !field.unsettled.is_empty()) => {
                "the field is optional or unsettled"
            }
            () if mutant.kind == FactKind::Type
                && sources.iter().all(|source| source.starts_with("windows") || is_phnt(source)) =>
            {
                "only base types of MOF are stated, where `object` and `string` stand for several types, or a C structure"
            }
            () => return Fate::Missed(known.name()),
        };
        Fate::Survived(reason.to_owned())
    }
}

/// Each version of each event type, with its fields.
fn expanded(spec: &Spec) -> BTreeSet<(String, u8, u8, Vec<String>)> {
    let all = catalog::all(spec).into_iter();
    let versions = all.flat_map(|known| known.event.versions_of(known.ty).iter().map(move |version| (known, version)));
    let fields = |known: Known, version| {
        let fields = catalog::placed(known, version).into_iter();
        fields.map(|placed| format!("{} {} {}", placed.depth, placed.field.name.value, placed.field.spelled())).collect()
    };
    versions.map(|(known, version)| (known.name(), known.ty.number, version, fields(known, version))).collect()
}
