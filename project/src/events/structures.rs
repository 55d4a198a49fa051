//! Compares the C structure of an event with the spec: offsets and sizes of the members before the first variable part.

use super::facts::pair;
use super::{Difference, Known, Statement};
use etw_layouts_codegen::event::Field;

/// A member: name, type, and offsets with pointers of 4 and of 8 bytes.
#[derive(Clone, Copy)]
struct Member<'a> {
    name: &'a str,
    ty: &'a str,
    offsets: [u64; 2],
}

/// The differences at a version, and the number of members that agree.
pub(super) fn differences(statement: &Statement, known: Known, version: u8) -> (Vec<Difference>, u64) {
    let members = members(statement);
    let fixed = fixed(known, version);
    let end = fixed.last().map_or([0, 0], |(_, at, sizes)| [at[0] + sizes[0], at[1] + sizes[1]]);
    let sizes_of = pointers(&statement.class);
    let (mut list, mut equal) = (Vec::new(), 0);
    for (place, member) in members.iter().enumerate() {
        // Offsets after the first field of variable size are meaningless. An array of one element at the end has variable size.
        let is_behind = sizes_of.iter().all(|&i| member.offsets[i] >= end[i]);
        if is_behind && (!is_whole(known, version) || member.ty.ends_with("[1]")) {
            break;
        }
        let next = members.get(place + 1).map(|next| next.offsets);
        match of_member(&fixed, sizes_of, *member, next) {
            Some(difference) => list.push(difference),
            None => equal += 1,
        }
    }
    let is_open = members.last().is_none_or(|last| last.ty.ends_with("[1]"));
    for (field, at, sizes) in fixed.iter().filter(|_| !is_open) {
        let is_beyond = |i: &usize| size_of(statement).is_some_and(|size| sizes[*i] > 0 && at[*i] >= size[*i]);
        if sizes_of.iter().all(is_beyond) {
            list.push(Difference {
                field: field.name.value.clone(),
                states: "absent".to_owned(),
                spec: field.spelled(),
                is_slight: false,
                is_unsettled: !field.unsettled.is_empty(),
            });
        }
    }
    (list, equal)
}

/// The size of a structure without its trace header.
fn size_of(statement: &Statement) -> Option<[u64; 2]> {
    let header = statement.fields.first().filter(|(_, ty)| ty.contains("TRACE_HEADER@")).and(statement.fields.get(1));
    let start = header.and_then(|(_, ty)| pair(&ty[ty.rfind('@')? + 1..])).unwrap_or([0, 0]);
    let size = statement.size?;
    Some([size[0].saturating_sub(start[0]), size[1].saturating_sub(start[1])])
}

type Placed<'a> = (&'a Field, [u64; 2], [u64; 2]);

/// Compares a member with the field at its offset.
fn of_member(fixed: &[Placed], sizes_of: &[usize], member: Member, next: Option<[u64; 2]>) -> Option<Difference> {
    let is_unsettled = |field: &Field| !field.unsettled.is_empty();
    // A bit field is part of a field. A field of the same name, such as Reserved, is unrelated.
    let is_bits = member.ty.contains(':');
    let elsewhere = fixed.iter().find(|(field, ..)| !is_bits && is_name(&field.name.value, member.name));
    let within = |(_, at, sizes): &&Placed| {
        sizes_of.iter().all(|&i| member.offsets[i] == at[i] || (at[i]..at[i] + sizes[i]).contains(&member.offsets[i]))
    };
    let Some((field, at, sizes)) = fixed.iter().find(within) else {
        let place = |at: &[u64; 2]| match sizes_of {
            [one] => format!("at {:#x}", at[*one]),
            _ => format!("at {:#x} and {:#x}", at[0], at[1]),
        };
        let spec = elsewhere.map_or("absent".to_owned(), |(_, at, _)| place(at));
        let is_unsettled = elsewhere.is_some_and(|(field, ..)| is_unsettled(field));
        let states = if elsewhere.is_some() { place(&member.offsets) } else { spelled(member.ty) };
        return Some(Difference { field: member.name.to_owned(), states, spec, is_slight: false, is_unsettled });
    };
    let own = &field.name.value;
    if let Some((other, ..)) = elsewhere.filter(|(other, ..)| other.name.span != field.name.span) {
        let is_unsettled = is_unsettled(other) || is_unsettled(field);
        let (field, states) = (other.name.value.clone(), format!("at {:#x}", member.offsets[1]));
        return Some(Difference { field, states, spec: format!("{own} there"), is_slight: false, is_unsettled });
    }
    let stated = size(member.ty);
    let begins = sizes_of.iter().all(|&i| member.offsets[i] == at[i]);
    let is_same = begins && stated.is_none_or(|stated| sizes_of.iter().all(|&i| stated[i] == sizes[i]));
    // A bit field, or one of several members that the spec describes as one field, or as an array.
    let more = next.is_some_and(|next| sizes_of.iter().all(|&i| next[i] < at[i] + sizes[i]));
    let is_part = !begins || more && stated.is_none_or(|stated| stated[1] < sizes[1]) || is_bits;
    if !is_same && !is_part {
        let field = own.clone();
        let (states, spec) = (spelled(member.ty), field_size(*sizes));
        let is_unsettled = is_unsettled(fixed.iter().find(within)?.0);
        return Some(Difference { field, states, spec, is_slight: false, is_unsettled });
    }
    // Another name counts as a difference only if an erratum states it.
    let states = format!("named {}", member.name);
    (begins && elsewhere.is_none()).then(|| Difference {
        field: own.clone(),
        states,
        spec: format!("named {own}"),
        is_slight: true,
        is_unsettled: false,
    })
}

/// Whether names are equal. A structure for one pointer size can append `32` or `64` to the name of a member.
fn is_name(own: &str, stated: &str) -> bool {
    let bare = stated.strip_suffix("64").or_else(|| stated.strip_suffix("32")).unwrap_or(stated);
    own.eq_ignore_ascii_case(stated) || own.eq_ignore_ascii_case(bare)
}

/// The pointer sizes that a structure applies to, by the end of its name: 0 for 4 bytes, 1 for 8 bytes.
fn pointers(structure: &str) -> &'static [usize] {
    match structure {
        name if name.ends_with("32") => &[0],
        name if name.ends_with("64") => &[1],
        _ => &[0, 1],
    }
}

/// A C type in the spelling of the specs.
fn spelled(ty: &str) -> String {
    let (base, count) = ty.split_once('[').map_or((ty, String::new()), |(base, count)| (base, format!("[{count}")));
    let name = match base {
        "UCHAR" | "BOOLEAN" => "UInt8",
        "CHAR" | "SCHAR" => "Int8",
        "USHORT" => "UInt16",
        "SHORT" => "Int16",
        "WCHAR" => "UnicodeChar",
        "ULONG" | "ULONG32" => "UInt32",
        "LONG" | "NTSTATUS" => "Int32",
        "ULONGLONG" | "ULONG64" => "UInt64",
        "LONGLONG" | "LONG64" | "LARGE_INTEGER" => "Int64",
        "PVOID" | "ULONG_PTR" | "KAFFINITY" => "Pointer",
        "SIZE_T" => "SizeT",
        other => other,
    };
    format!("{name}{count}")
}

/// A size as text.
fn field_size(sizes: [u64; 2]) -> String {
    match sizes {
        [one, other] if one == other => format!("{one} bytes"),
        [one, other] => format!("{one} or {other} bytes"),
    }
}

/// The members of the structure without those of the header, which is not part of the payload.
fn members(statement: &Statement) -> Vec<Member<'_>> {
    let member = |(name, ty): &'_ (String, String)| -> Option<(usize, usize)> { Some((name.len(), ty.rfind('@')?)) };
    let mut list: Vec<Member> = statement
        .fields
        .iter()
        .filter_map(|field| {
            let (_, at) = member(field)?;
            Some(Member { name: &field.0, ty: &field.1[..at], offsets: pair(&field.1[at + 1..])? })
        })
        .collect();
    if list.first().is_some_and(|first| first.ty.ends_with("TRACE_HEADER")) {
        list.remove(0);
        let start = list.first().map_or([0, 0], |first| first.offsets);
        list.iter_mut().for_each(|member| (0..2).for_each(|i| member.offsets[i] = member.offsets[i].saturating_sub(start[i])));
    }
    list
}

/// The fields before the first variable one, each with its offsets and sizes.
fn fixed<'a>(known: Known<'a>, version: u8) -> Vec<Placed<'a>> {
    let mut at = [0, 0];
    let mut list = Vec::new();
    for field in known.event.of(version) {
        let Some(sizes) = field.size(version) else { break };
        list.push((field, at, sizes));
        at = [at[0] + sizes[0], at[1] + sizes[1]];
    }
    list
}

/// Whether all fields of an event have a fixed size.
fn is_whole(known: Known, version: u8) -> bool {
    known.event.of(version).all(|field| field.size(version).is_some())
}

/// The size of a C type with pointers of 4 and of 8 bytes; `None` for an unknown type.
fn size(ty: &str) -> Option<[u64; 2]> {
    let (base, count) =
        ty.strip_suffix(']').and_then(|ty| ty.split_once('[')).map_or((ty, Some(1)), |(ty, n)| (ty, n.parse().ok()));
    let base = base.split(':').next().unwrap_or(base);
    let one = match base {
        "UCHAR" | "CHAR" | "SCHAR" | "BOOLEAN" | "char" => [1, 1],
        "USHORT" | "SHORT" | "WCHAR" => [2, 2],
        "ULONG" | "LONG" | "ULONG32" | "NTSTATUS" => [4, 4],
        "ULONGLONG" | "LONGLONG" | "ULONG64" | "LONG64" | "LARGE_INTEGER" => [8, 8],
        "PVOID" | "SIZE_T" | "ULONG_PTR" | "KAFFINITY" => [4, 8],
        "GUID" => [16, 16],
        _ => return None,
    };
    let count: u64 = count?;
    Some(one.map(|size| size * count))
}
