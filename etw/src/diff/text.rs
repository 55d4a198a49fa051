//! Differences as text: one row for each changed member, and one row for each run of members that only moved.

use crate::print::{GREEN, HEADING, RED, YELLOW};
use crate::text_table::{self, Row, counted, paragraph, styled};
use anstyle::Style;
use etw_layouts_project::diff::{Changes, Entry, Side, SideFact, Verdict};
use etw_layouts_symbols::{Member, Type, TypeFacts};
use std::collections::BTreeMap;

/// A line with its style: green for added, red for removed, yellow for changed.
type Line = (Style, String);

/// The differences as text.
pub fn text(a: &Side, b: &Side, changes: &Changes) -> String {
    styled(&lines(a, b, changes))
}

/// The lines of [`text`].
pub fn lines(a: &Side, b: &Side, changes: &Changes) -> Vec<Line> {
    let mut out: Vec<Line> = [a, b].iter().flat_map(|side| &side.notes).map(|note| plain(note.to_string())).collect();
    out.push((HEADING, format!("{} -> {}", a.label, b.label)));
    let structures = structures(changes);
    let Verdict { equal, differ, unknown, inferred } = Verdict::of(a, b, changes);
    for (name, structure) in &structures {
        out.push(plain(String::new()));
        let certainty = match (unknown.contains(name), inferred.contains(name)) {
            (true, _) => " (can also be equal: inferred or uncertain)",
            (_, true) => " (inferred or uncertain)",
            _ => "",
        };
        structure.lines(name, certainty, a.types.get(*name), &mut out);
    }
    let count = |number: usize, word: &str| if number == 0 { String::new() } else { format!(", {number} {word}") };
    let whole = |word: &str, list: fn(&Entry) -> bool| count(changes.sizes.iter().filter(|entry| list(entry)).count(), word);
    let whole = whole("added", |entry| entry.a.is_none()) + &whole("removed", |entry| entry.b.is_none());
    let all = equal.len() + differ.len() + unknown.len();
    out.push(plain(String::new()));
    let unknowns = count(unknown.len(), "unknown");
    out.push(plain(format!("structures and enumerations: {} of {all} equal{whole}{unknowns}", equal.len())));
    if !changes.is_empty() {
        out.push(plain(changes.lists().map(|(list, entries)| format!("{list} {}", entries.len())).join(", ")));
    }
    if !unknown.is_empty() {
        let names = unknown.iter().copied().collect::<Vec<_>>().join(", ");
        let names = paragraph(&format!("unknown, because a layout is inferred or uncertain: {names}"), Some(WIDTH), "  ");
        out.extend(names.lines().map(|line| plain(line.to_owned())));
    }
    out
}

/// The width of a list of names, in characters.
const WIDTH: usize = 120;

fn plain(line: String) -> Line {
    (Style::new(), line)
}

/// The differences of one structure as text, without the names of the two sides; empty if there are none.
pub fn of(name: &str, a: &Side, changes: &Changes) -> String {
    let mut out = Vec::new();
    if let Some(structure) = structures(changes).get(name) {
        structure.lines(name, "", a.types.get(name), &mut out);
    }
    styled(&out)
}

fn structures(changes: &Changes) -> BTreeMap<&str, Structure<'_>> {
    let mut structures: BTreeMap<&str, Structure> = BTreeMap::new();
    for (list, entries) in changes.lists() {
        for entry in entries {
            structures.entry(&entry.structure).or_default().add(list, entry);
        }
    }
    structures
}

/// The differences of one structure.
#[derive(Default)]
struct Structure<'a> {
    whole: Option<&'a Entry>,
    members: BTreeMap<&'a str, Change<'a>>,
}

/// The difference of a member, and the lists that contain it.
struct Change<'a> {
    lists: Vec<&'static str>,
    entry: &'a Entry,
}

/// Consecutive members that moved by the same number of bytes.
struct Run<'a> {
    delta: i64,
    members: Vec<&'a Entry>,
}

/// Rows, with the place in B by which they are sorted.
type Rows = Vec<(Place, Row)>;

/// Offset, or value of a constant, and bit.
type Place = (i64, u32);

impl<'a> Structure<'a> {
    fn add(&mut self, list: &'static str, entry: &'a Entry) {
        match entry.member.as_deref() {
            None => self.whole = Some(entry),
            Some(member) => self.members.entry(member).or_insert(Change { lists: Vec::new(), entry }).lists.push(list),
        }
    }

    /// Kind, size and number of members of a structure that one side lacks.
    fn extent(&self, fact: &SideFact) -> String {
        let SideFact::Whole { size, kind } = fact else { return String::new() };
        let noun = if kind.ends_with("enum") { "constant" } else { "member" };
        format!("{kind}, {size:#x} bytes, {}", counted(self.members.len(), noun))
    }

    fn lines(&self, name: &str, certainty: &str, before: Option<&TypeFacts>, out: &mut Vec<Line>) {
        let (style, heading) = match self.whole.map(|entry| (&entry.a, &entry.b)) {
            Some((None, Some(new))) => (GREEN, format!("added ({})", self.extent(new))),
            Some((Some(old), None)) => (RED, format!("removed ({})", self.extent(old))),
            Some((Some(SideFact::Whole { size: old, kind: was }), Some(SideFact::Whole { size: new, kind }))) => (
                HEADING,
                format!(
                    "{}, {} bytes",
                    turned(was.to_string(), kind.to_string()),
                    turned(format!("{old:#x}"), format!("{new:#x}"))
                ),
            ),
            _ => (HEADING, String::new()),
        };
        let comma = if heading.is_empty() { "" } else { ": " };
        out.push((style, format!("{name}{comma}{heading}{certainty}")));
        if style != HEADING {
            return;
        }
        let mut rows = Rows::new();
        if let Some(TypeFacts::Aggregate(aggregate)) = before {
            self.in_order(&aggregate.members, &mut rows);
        }
        // Add the rows of names that A does not list: new members, constants, members of unnamed types.
        let known = |path: &str| matches!(before, Some(TypeFacts::Aggregate(a)) if a.members.iter().any(|m| m.name == path));
        for change in self.members.iter().filter(|(path, _)| !known(path)).map(|(_, change)| change) {
            rows.push((place(change.entry.b.as_ref().or(change.entry.a.as_ref())), row(change.entry)));
        }
        rows.sort_by_key(|(at, _)| *at);
        let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
        out.extend(text_table::lines(&[], &rows, None));
    }

    /// The members of A: a row for each removed or changed member, and one for each run of members that only moved.
    fn in_order(&self, members: &[Member], rows: &mut Rows) {
        let bit = |ty: &Type| if let Type::Bits { position, .. } = ty { *position } else { 0 };
        let mut members: Vec<_> = members.iter().collect();
        members.sort_by_key(|member| (member.offset, bit(&member.ty)));
        let mut run = Run { delta: 0, members: Vec::new() };
        for member in members {
            let change = self.members.get(member.name.as_str());
            if let Some(Change { entry: entry @ Entry { b: None, .. }, .. }) = change {
                let (at, bit) = place(entry.a.as_ref());
                rows.push(((at.saturating_add(run.delta), bit), row(entry)));
                continue;
            }
            let delta = change.map_or(0, |c| place(c.entry.b.as_ref()).0 - place(c.entry.a.as_ref()).0);
            if delta != run.delta {
                run.end(false, rows);
                run.delta = delta;
            }
            match change {
                Some(change) if change.lists == ["moved"] => run.members.push(change.entry),
                Some(change) => rows.push((place(change.entry.b.as_ref()), row(change.entry))),
                None => {}
            }
        }
        run.end(true, rows);
    }
}

impl Run<'_> {
    /// Ends the run; `last` means that it reaches the end of the structure.
    fn end(&mut self, last: bool, rows: &mut Rows) {
        let members = std::mem::take(&mut self.members);
        let [first, .., end] = members[..] else {
            rows.extend(members.iter().map(|entry| (place(entry.b.as_ref()), row(entry))));
            return;
        };
        let name = |entry: &Entry| entry.member.clone().unwrap_or_default();
        let to = if last { "to the end".to_owned() } else { format!("to {}", name(end)) };
        let what = format!("moved by {} from {} {to}", signed(self.delta), name(first));
        let mut row = row(first);
        row.cells.truncate(2);
        row.cells.extend([format!("{} members", members.len()), what]);
        rows.push((place(first.b.as_ref()), row));
    }
}

/// The row of one member or constant.
fn row(entry: &Entry) -> Row {
    let (style, mark) = match (&entry.a, &entry.b) {
        (None, _) => (GREEN, "+"),
        (_, None) => (RED, "-"),
        _ => (YELLOW, "~"),
    };
    let both = |text: fn(&SideFact) -> String| match (&entry.a, &entry.b) {
        (Some(a), Some(b)) => turned(text(a), text(b)),
        (a, b) => a.as_ref().or(b.as_ref()).map(text).unwrap_or_default(),
    };
    let at = |fact: &SideFact| if let SideFact::Member { offset, .. } = fact { format!("{offset:#06x}") } else { String::new() };
    let cells = vec![mark.to_owned(), both(at), entry.member.clone().unwrap_or_default(), both(described)];
    Row { style, cells }
}

/// A fact without its offset.
fn described(fact: &SideFact) -> String {
    match fact {
        SideFact::Constant { value } => value.to_string(),
        SideFact::Whole { size, kind } => format!("{kind} of {size:#x} bytes"),
        SideFact::Member { r#type, bit: Some(bit), bits: Some(1), .. } => format!("{type}, bit {bit}"),
        SideFact::Member { r#type, bit: Some(bit), bits: Some(bits), .. } => {
            format!("{type}, bits {bit}-{}", bit.saturating_add(bits.saturating_sub(1)))
        }
        SideFact::Member { r#type, size: Some(bytes), .. } => format!("{type} of {bytes:#x} bytes"),
        SideFact::Member { r#type, .. } => r#type.clone(),
    }
}

fn turned(old: String, new: String) -> String {
    if old == new { old } else { format!("{old} -> {new}") }
}

fn place(fact: Option<&SideFact>) -> Place {
    match fact {
        Some(SideFact::Member { offset, bit, .. }) => (i64::try_from(*offset).unwrap_or(i64::MAX), bit.unwrap_or(0)),
        Some(SideFact::Constant { value }) => (*value, 0),
        _ => (0, 0),
    }
}

fn signed(delta: i64) -> String {
    format!("{}{:#x}", if delta < 0 { '-' } else { '+' }, delta.unsigned_abs())
}
