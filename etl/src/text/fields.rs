//! The fields of an event as text and as JSON.

use super::{Style, put, values};
use crate::clock::Clock;
use etw_layouts_payload::{Fault, Field, Fields, Step, Steps};
use std::collections::{HashMap, HashSet};

/// An open array or structure.
#[expect(clippy::large_enum_variant, reason = "few are open at a time, and a box would be an allocation for each event")]
enum Level<'a> {
    Array,
    Structure(Members<'a>),
}

/// The keys of the members of a structure so far. In JSON, the second member with a name is `name#2`, or has the next number that is no key yet.
#[derive(Debug, Default)]
pub struct Members<'a> {
    /// The first names. Most structures have no more, and comparing a few names is faster than hashing them.
    first: [&'a str; 16],
    len: usize,
    /// A bit for each class of the first names, by length and last characters. If the bit of a name is not set, the name is new.
    classes: u64,
    others: HashSet<&'a str>,
    /// Keys of members whose names were keys already.
    made: HashSet<String>,
    /// The last number of each such name.
    numbers: HashMap<&'a str, u32>,
}

impl<'a> Members<'a> {
    /// Adds a name. Returns a different key for JSON if the name is the key of an earlier member.
    pub fn add(&mut self, name: &'a str) -> Option<String> {
        let class = class(name);
        if self.has(name, class) {
            return Some(self.make(name));
        }
        match self.first.get_mut(self.len) {
            Some(slot) => {
                *slot = name;
                self.len += 1;
                self.classes |= 1 << class;
            }
            None => {
                self.others.insert(name);
            }
        }
        None
    }

    #[inline]
    fn has(&self, key: &str, class: usize) -> bool {
        let is_first = self.classes >> class & 1 != 0 && self.first.iter().take(self.len).any(|own| *own == key);
        is_first || !self.others.is_empty() && self.others.contains(key) || !self.made.is_empty() && self.made.contains(key)
    }

    #[cold]
    fn make(&mut self, name: &'a str) -> String {
        let mut number = self.numbers.get(name).copied().unwrap_or(1);
        let key = loop {
            number += 1;
            let key = format!("{name}#{number}");
            if !self.has(&key, class(&key)) {
                break key;
            }
        };
        self.numbers.insert(name, number);
        self.made.insert(key.clone());
        key
    }
}

/// The class of a name, below 64.
fn class(name: &str) -> usize {
    name.bytes().rev().take(2).fold(name.len(), |class, byte| class * 5 + usize::from(byte)) % 64
}

/// Writes the fields: `{ProcessId = 4, …}`, or a JSON object. Returns the fault if the payload is not decoded to its last byte.
pub fn fields(fields: &Fields<'_>, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) -> Option<Fault> {
    out.push(b'{');
    members(&mut fields.steps(), Members::default(), true, clock, style, out)
}

/// Writes the rest of the fields, after those with the names in `members`. `is_first` is true if there are none.
pub(super) fn members<'a>(
    steps: &mut Steps<'a>,
    members: Members<'a>,
    is_first: bool,
    clock: Option<&Clock>,
    style: Style,
    out: &mut Vec<u8>,
) -> Option<Fault> {
    inside(steps, Level::Structure(members), is_first, clock, style, out)
}

/// Writes the first field with a name as the cell of a table: text without quotes, an array or structure as a whole. If no field has exactly this
/// name, case is ignored. Returns whether there is such a field.
pub fn cell(fields: &Fields<'_>, name: &str, clock: Option<&Clock>, style: Style, out: &mut Vec<u8>) -> bool {
    let find = |is: &dyn Fn(&str) -> bool| {
        let mut steps = fields.steps();
        let found = steps.by_ref().map_while(Result::ok).find(|step| self::name(step).is_some_and(is));
        found.map(|step| (step, steps))
    };
    let found = find(&|own| own == name).or_else(|| find(&|own| own.eq_ignore_ascii_case(name)));
    let Some((step, mut steps)) = found else { return false };
    match step {
        Step::Value(value) => values::bare(&value, clock, style, out),
        Step::Array(..) => {
            out.push(b'[');
            inside(&mut steps, Level::Array, true, clock, style, out);
        }
        _ => {
            out.push(b'{');
            inside(&mut steps, Level::Structure(Members::default()), true, clock, style, out);
        }
    }
    true
}

/// Writes the rest of an array or structure, with its closing bracket. Returns the fault that ends it early.
fn inside<'a>(
    steps: &mut Steps<'a>,
    level: Level<'a>,
    mut is_first: bool,
    clock: Option<&Clock>,
    style: Style,
    out: &mut Vec<u8>,
) -> Option<Fault> {
    let (mut levels, mut fault) = (vec![level], None);
    while !levels.is_empty() {
        let step = match steps.next() {
            Some(Ok(Step::End)) => {
                close(levels.pop(), out);
                is_first = false;
                continue;
            }
            Some(Ok(step)) => step,
            Some(Err(found)) => {
                fault = Some(found);
                break;
            }
            None => break,
        };
        match (levels.last_mut(), name(&step)) {
            (Some(Level::Structure(members)), Some(name)) => member(members, name, is_first, style, out),
            _ if !is_first => out.extend_from_slice(between(style)),
            _ => {}
        }
        match step {
            Step::Array(..) => {
                out.push(b'[');
                levels.push(Level::Array);
            }
            Step::Structure(_) => {
                out.push(b'{');
                levels.push(Level::Structure(Members::default()));
            }
            Step::Value(value) => values::value(&value, clock, style, out),
            Step::End => {}
        }
        is_first = !matches!(step, Step::Value(_));
    }
    while let Some(level) = levels.pop() {
        close(Some(level), out);
    }
    fault
}

/// Writes the name of a member, with the punctuation before and after it.
pub fn member<'a>(members: &mut Members<'a>, name: &'a str, is_first: bool, style: Style, out: &mut Vec<u8>) {
    if !is_first {
        out.extend_from_slice(between(style));
    }
    match style {
        Style::Text => bare(out, name),
        Style::Json => key(members, name, out),
    }
    out.extend_from_slice(if style == Style::Text { b" = " } else { b":" });
}

fn between(style: Style) -> &'static [u8] {
    if style == Style::Text { b", " } else { b"," }
}

/// Writes the undecoded bytes and the fault, after the fields.
pub fn undecoded(payload: &[u8], fault: &Fault, style: Style, out: &mut Vec<u8>) {
    let rest = payload.get(fault.offset..).unwrap_or_default();
    match style {
        Style::Text => {
            out.extend_from_slice(b" undecoded ");
            put::hex(out, rest);
            put::shown(out, format_args!(" ({})", fault.reason));
        }
        Style::Json => {
            put::shown(
                out,
                format_args!(",\"undecoded\":{{\"message\":\"{}\",\"offset\":{},\"data\":\"", fault.reason, fault.offset),
            );
            put::hex(out, rest);
            out.extend_from_slice(b"\"}");
        }
    }
}

/// The name of the field of a step.
pub fn name<'a>(step: &Step<'a>) -> Option<&'a str> {
    match step {
        Step::Value(value) => Some(value.name()),
        Step::Structure(Field { name, .. }) | Step::Array(Field { name, .. }, _) => Some(name),
        Step::End => None,
    }
}

fn close(level: Option<Level<'_>>, out: &mut Vec<u8>) {
    out.push(if let Some(Level::Array) = level { b']' } else { b'}' });
}

/// Writes the name of a member as a unique key.
pub(super) fn key<'a>(members: &mut Members<'a>, name: &'a str, out: &mut Vec<u8>) {
    match members.add(name) {
        None => put::json_name(out, name),
        Some(other) => put::json(out, other.chars()),
    }
}

/// Writes a name from a file: unquoted if it has only ASCII letters, digits and `_-.?`, otherwise quoted.
fn bare(out: &mut Vec<u8>, name: &str) {
    let is_bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.?".contains(&byte));
    match is_bare {
        true => out.extend_from_slice(name.as_bytes()),
        false => put::quoted(out, name.chars()),
    }
}

/// A string from a file in JSON, or `null`.
pub fn optional(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => put::json_name(out, text),
        None => out.extend_from_slice(b"null"),
    }
}
