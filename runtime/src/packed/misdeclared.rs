//! The errors of declarations that do not compile.

use super::format::{Change, NONE};
use super::layout::Layout;
use super::{Layouts, Located, Shape, Wanted};
use crate::check::Message;

/// Fails, in a constant, if a member exists in no layout of a structure, or has the declared type in none of them.
#[track_caller]
pub(crate) const fn never_fits(table: Layouts, name: &str, path: &str, wanted: &Wanted) {
    let Some((_, structure)) = table.find_structure(name) else {
        Message::of(&["no structure `", name, "` in the table of layouts"]).fail("; generate the table again")
    };
    let changes = table.section_bytes::<Change>();
    let mut other = None;
    let mut near = None;
    // The last layout of each architecture: many changes repeat it.
    let mut last = [NONE; 256];
    let mut i = 0;
    while i < structure.change_count as usize {
        let change = Change::nth(changes, (structure.changes as usize).saturating_add(i));
        i += 1;
        let Some(Change { arch, layout, .. }) = change else { break };
        if layout == NONE || last[arch as usize] == layout {
            continue;
        }
        last[arch as usize] = layout;
        let Some(layout) = Layout::at(table, layout) else { break };
        match layout.find(path, &mut 0) {
            Some(found) if found.fits(wanted) => return,
            Some(found) => other = Some(found),
            None if near.is_none() => near = near_member(&layout, path),
            None => {}
        }
    }
    let Some(found) = other else {
        let message = Message::of(&["`", name, "` has no member `", path, "` in any build; "]);
        match near {
            Some(near) => message.text("did you mean `").text(near).fail("`?"),
            None => message.text("`members::").text(name).fail("` lists its members"),
        }
    };
    let message = Message::of(&["`", name, ".", path, "` is `", found.c(), "` in C, not "]);
    wanted.describe(message).text("; declare it as ").fail(declaration(&found))
}

/// The type to declare for a member.
const fn declaration(found: &Located) -> &'static str {
    match found.declarable() {
        Some(Shape::Integer { bits: Some(1), .. }) => "`bool`",
        Some(Shape::Integer { size, bits, signed }) => {
            let bits = match bits {
                Some(bits) => bits as usize,
                None => size * 8,
            };
            match (bits, signed) {
                (0..=8, false) => "`u8`",
                (9..=16, false) => "`u16`",
                (17..=32, false) => "`u32`",
                (_, false) => "`u64`",
                (0..=8, true) => "`i8`",
                (9..=16, true) => "`i16`",
                (17..=32, true) => "`i32`",
                (_, true) => "`i64`",
            }
        }
        Some(Shape::Pointer(_)) => "`Pointer<T>`, with the declaration of the structure as `T`, or `()`",
        Some(Shape::Array { .. }) => "`[T; N]`, with its number of elements",
        _ if found.is_structure("UNICODE_STRING") => "`UnicodeString`",
        _ if found.is_structure("LIST_ENTRY") => "`ListHead<T>`",
        _ if found.is_structure("GUID") => "`Uuid`",
        _ if found.is_structure("LARGE_INTEGER") => "`i64`",
        _ if found.is_structure("ULARGE_INTEGER") => "`u64`",
        _ => "a structure with `#[derive(Relocated)]`",
    }
}

/// A member of a layout whose name differs in one place of at most two letters, or in the case of its letters.
const fn near_member<'a>(layout: &Layout<'a>, path: &str) -> Option<&'a str> {
    let mut i = 0;
    while let Some(member) = layout.nth(i) {
        if is_near(member.name().as_bytes(), path.as_bytes()) {
            return Some(member.name());
        }
        i += 1;
    }
    None
}

const fn is_near(a: &[u8], b: &[u8]) -> bool {
    let shorter = if a.len() < b.len() { a.len() } else { b.len() };
    let mut start = 0;
    while start < shorter && a[start].eq_ignore_ascii_case(&b[start]) {
        start += 1;
    }
    let mut end = 0;
    while end < shorter - start && a[a.len() - 1 - end].eq_ignore_ascii_case(&b[b.len() - 1 - end]) {
        end += 1;
    }
    start + end > 0 && a.len() - start - end <= 2 && b.len() - start - end <= 2
}
