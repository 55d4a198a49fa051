//! Field-by-field comparison of event specs with MOF classes and similar sources.

use super::{Difference, Known, Statement};
use etw_layouts_codegen::event::{Field, Size};

/// The differences at a version, and the number of fields that agree.
pub(super) fn differences(statement: &Statement, known: Known, version: u8) -> (Vec<Difference>, u64) {
    let mut list = names(statement, known);
    let stated = &statement.fields;
    if stated.is_empty() {
        return (list, 0);
    }
    let ours: Vec<&Field> = known.event.of(version).collect();
    let mut equal = 0;
    for pair in aligned(stated, &ours) {
        match pair {
            Pair::Both((name, ty), field) => {
                let before = list.len();
                list.extend(of_field(known, name, ty, field, statement.source == "windows"));
                equal += u64::from(list.len() == before);
            }
            Pair::Ours(field) if field.optional => {}
            Pair::Ours(field) => {
                let is_unsettled = !field.unsettled.is_empty();
                list.push(difference(&field.name.value, "absent", &field.spelled(), is_unsettled || unsettled(known)));
            }
            Pair::Theirs((name, ty)) => list.push(difference(name, &spelled(ty), "absent", unsettled(known))),
        }
    }
    (list, equal)
}

fn unsettled(known: Known) -> bool {
    !known.event.unsettled.is_empty()
}

fn difference(field: &str, states: &str, spec: &str, is_unsettled: bool) -> Difference {
    Difference { field: field.to_owned(), states: states.to_owned(), spec: spec.to_owned(), is_slight: false, is_unsettled }
}

/// Compares the name of the event type. A name that another type of the class has, or a longer form of our name, is no
/// difference.
fn names(statement: &Statement, known: Known) -> Vec<Difference> {
    let stated = statement.names.iter().find(|(number, name)| *number == known.ty.number && !name.is_empty());
    let Some((_, stated)) = stated else { return Vec::new() };
    let ours = &known.ty.name.value;
    let mut others = known.class.events.iter().flat_map(|event| &event.types);
    let is_taken = others.any(|ty| ty.number != known.ty.number && ty.name.value.eq_ignore_ascii_case(stated));
    let plain = |name: &str| name.replace(['-', '_', '.'], "").to_ascii_lowercase();
    match plain(stated).starts_with(&plain(ours)) || is_taken {
        true => Vec::new(),
        false => vec![difference("", &format!("named {stated}"), &format!("named {ours}"), false)],
    }
}

enum Pair<'a> {
    Both(&'a (String, String), &'a Field),
    Ours(&'a Field),
    Theirs(&'a (String, String)),
}

/// Aligns the fields of a source with ours. Fields with equal names are matched first, by their longest common subsequence. The
/// fields between two matches are paired in order if both sides have the same number of them.
fn aligned<'a>(stated: &'a [(String, String)], ours: &[&'a Field]) -> Vec<Pair<'a>> {
    let same = |i: usize, j: usize| stated[i].0.eq_ignore_ascii_case(&ours[j].name.value);
    let (n, m) = (stated.len(), ours.len());
    // The length of the longest common subsequence after each pair of positions.
    let mut longest = vec![vec![0_u32; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            longest[i][j] = if same(i, j) { longest[i + 1][j + 1] + 1 } else { longest[i + 1][j].max(longest[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    let (mut theirs, mut own) = (Vec::new(), Vec::new());
    let flush = |theirs: &mut Vec<&'a (String, String)>, own: &mut Vec<&'a Field>, pairs: &mut Vec<Pair<'a>>| {
        let both = if theirs.len() == own.len() { theirs.len() } else { 0 };
        let mut rest = own.split_off(both).into_iter();
        pairs.extend(theirs.drain(..both).zip(own.drain(..)).map(|(theirs, own)| Pair::Both(theirs, own)));
        pairs.extend(theirs.drain(..).map(Pair::Theirs));
        pairs.extend(rest.by_ref().map(Pair::Ours));
    };
    while i < n || j < m {
        if i < n && j < m && same(i, j) {
            flush(&mut theirs, &mut own, &mut pairs);
            pairs.push(Pair::Both(&stated[i], ours[j]));
            (i, j) = (i + 1, j + 1);
        } else if j == m || i < n && longest[i + 1][j] == longest[i][j] {
            theirs.push(&stated[i]);
            i += 1;
        } else {
            own.push(ours[j]);
            j += 1;
        }
    }
    flush(&mut theirs, &mut own, &mut pairs);
    pairs
}

/// The differences in a field: name, type, number of values, output format.
fn of_field(known: Known, name: &str, ty: &str, field: &Field, base_only: bool) -> Vec<Difference> {
    let mut list = Vec::new();
    let own = &field.name.value;
    if !name.eq_ignore_ascii_case(own) {
        list.push(difference(own, &format!("named {name}"), &format!("named {own}"), unsettled(known)));
    }
    let (base, count) = ty.strip_suffix(']').and_then(|ty| ty.split_once('[')).map_or((ty, None), |(ty, n)| (ty, Some(n)));
    let types = types(base, base_only);
    let is_address = field.out.as_ref().is_some_and(|out| out.value.name == "IPv4");
    // Sources give some addresses a signed type, which is accepted.
    let fits = types.is_empty() || types.contains(&field.ty.value.name) || is_address && base == "sint32";
    if !fits || !(base_only || base == "object" || fits_count(count, field)) {
        list.push(difference(own, &spelled(ty), &field.spelled(), false));
    } else if let Some(out) = shown(base).filter(|out| field.out.as_ref().is_none_or(|own| own.value.name != *out)) {
        let ours = field.out.as_ref().map_or("shown as it is".to_owned(), |out| format!("shown as {}", out.value.name));
        list.push(difference(own, &format!("shown as {out}"), &ours, false));
    }
    list
}

fn fits_count(count: Option<&str>, field: &Field) -> bool {
    let stated = |size: &Size| match (size, count) {
        (Size::Number(number), Some(count)) => count.parse() == Ok(*number),
        (Size::Field(name), Some(count)) => name.eq_ignore_ascii_case(count),
        (Size::Rest, _) | (_, None) => false,
    };
    match (&field.count, &field.length, count) {
        (None, None, None | Some("unsized")) => true,
        // An IPv6 address has 16 bytes, however a source spells its type.
        (None, Some(length), None) => {
            length.value == Size::Number(16) && field.out.as_ref().is_some_and(|out| out.value.name == "IPv6")
        }
        (Some(size), None, _) | (None, Some(size), _) => stated(&size.value),
        _ => false,
    }
}

/// The spec types that a MOF type can correspond to; empty for any type.
fn types(base: &str, base_only: bool) -> &'static [&'static str] {
    match (base, base_only) {
        ("object", _) => &[],
        ("uint32", true) => &["UInt32", "HexInt32", "Pointer", "SizeT"],
        (pointer, _) if pointer.ends_with('*') => &["Pointer", "SizeT"],
        ("uint8", _) => &["UInt8", "Binary"],
        ("sint8", _) => &["Int8"],
        ("uint16", _) => &["UInt16"],
        ("sint16", _) => &["Int16"],
        ("uint32", _) => &["UInt32", "HexInt32"],
        ("sint32", _) => &["Int32"],
        ("uint64", _) => &["UInt64", "HexInt64", "FILETIME"],
        ("sint64", _) => &["Int64"],
        ("boolean", _) => &["UInt8"],
        ("char16", _) => &["UnicodeChar"],
        ("string", _) => &["UnicodeString", "AnsiString", "UnicodeChar"],
        ("wstring", _) => &["UnicodeString"],
        ("astring", _) => &["AnsiString"],
        ("Sid", _) => &["WbemSid"],
        ("SizeT", _) => &["SizeT"],
        ("Port", _) => &["UInt16"],
        ("IPAddr" | "IPAddrV4", _) => &["UInt32"],
        ("IPAddrV6", _) => &["Binary"],
        ("WmiTime", _) => &["UInt64"],
        ("GUID", _) => &["GUID"],
        _ => &["no such type"],
    }
}

/// The output format of a MOF type.
fn shown(base: &str) -> Option<&'static str> {
    Some(match base {
        "Port" => "Port",
        "IPAddr" | "IPAddrV4" => "IPv4",
        "IPAddrV6" => "IPv6",
        "WmiTime" => "ETWTIME",
        _ => return None,
    })
}

/// A MOF type in the spelling of the specs.
fn spelled(ty: &str) -> String {
    let (base, count) = ty.split_once('[').map_or((ty, String::new()), |(base, count)| (base, format!("[{count}")));
    match types(base, false).first() {
        Some(&"no such type") | None => ty.to_owned(),
        Some(name) => format!("{name}{count}"),
    }
}
