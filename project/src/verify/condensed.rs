//! Differences of a structure in as few lines as possible: a renamed member and a shift of several members are one line each.

use super::mismatch::{Mismatch, MismatchKind};
use etw_layouts_symbols::compare::DifferenceKind;
use std::ptr;

/// A line for one or several differences. Lines of several tables that differ only in the fact can be merged without it.
#[derive(Clone)]
pub struct Line {
    /// The text before the fact.
    pub start: String,
    /// The fact.
    pub fact: String,
    /// The text after the fact.
    pub end: String,
}

impl Line {
    /// A line without a separate fact.
    pub fn new(text: String) -> Self {
        Self { start: text, fact: String::new(), end: String::new() }
    }
}

/// A line for each difference of a structure. A member that only the spec has and a member that only the symbols have at the same place
/// are one difference: a renamed member.
pub fn each(name: &str, differences: &[Mismatch]) -> Vec<Line> {
    lines(name, differences, &[])
}

/// As [`each`], with one line for consecutive members that are shifted by the same distance.
pub fn condensed(name: &str, differences: &[Mismatch]) -> Vec<Line> {
    lines(name, differences, &shifts(differences))
}

fn lines(name: &str, differences: &[Mismatch], shifts: &[Shift]) -> Vec<Line> {
    let renamed = |gone: &Mismatch| {
        let mut extra = differences.iter().filter(|extra| is(extra, DifferenceKind::Extra) && extra.symbols == gone.spec);
        let only = differences.iter().filter(|other| is(other, DifferenceKind::Missing) && other.spec == gone.spec).count() == 1;
        let (found, more) = (extra.next()?, extra.next());
        (is(gone, DifferenceKind::Missing) && only && more.is_none()).then_some(found)
    };
    let pairs: Vec<_> = differences.iter().filter_map(|gone| Some((gone, renamed(gone)?))).collect();
    let is_paired = |mismatch: &Mismatch| pairs.iter().any(|(_, new)| ptr::eq(*new, mismatch));
    let line = |mismatch: &Mismatch| {
        if let Some(shift) = shifts.iter().find(|shift| shift.members.iter().any(|&member| ptr::eq(member, mismatch))) {
            return ptr::eq(shift.members[0], mismatch).then(|| shift.line(name, differences));
        }
        if shifts.iter().any(|shift| shift.size.is_some_and(|size| ptr::eq(size, mismatch))) {
            return None;
        }
        Some(match pairs.iter().find(|(gone, _)| ptr::eq(*gone, mismatch)) {
            Some((gone, new)) => Line {
                start: format!("{name}.{}: not in the symbols, which have {}", gone.member, new.member),
                fact: format!(", {}", gone.spec),
                end: format!("; renamed?{}", place(gone)),
            },
            None => Line::new(format!("{name} {}", mismatch.line())),
        })
    };
    differences.iter().filter(|mismatch| !is_paired(mismatch)).filter_map(line).collect()
}

/// Consecutive members of a structure that are shifted by the same distance.
struct Shift<'a> {
    members: Vec<&'a Mismatch>,
    /// The difference in size, if the end is shifted by this distance too.
    size: Option<&'a Mismatch>,
    /// Bytes from the offset in the spec to that in the symbols.
    distance: i128,
}

/// The shifts of at least two members. Members of a nested structure are shifted within it.
fn shifts(differences: &[Mismatch]) -> Vec<Shift<'_>> {
    let mut shifts: Vec<Shift<'_>> = Vec::new();
    for mismatch in differences.iter().filter(|mismatch| is(mismatch, DifferenceKind::Offset)) {
        let Some(distance) = distance(mismatch) else { continue };
        match shifts.last_mut() {
            Some(last) if last.distance == distance && parent(last.members[0]) == parent(mismatch) => last.members.push(mismatch),
            _ => shifts.push(Shift { members: vec![mismatch], size: None, distance }),
        }
    }
    shifts.retain(|shift| shift.members.len() > 1);
    for size in differences.iter().filter(|mismatch| is(mismatch, DifferenceKind::Size)) {
        let of_parent = |shift: &&mut Shift| parent(shift.members[0]) == size.member;
        if let Some(last) = shifts.iter_mut().rfind(of_parent).filter(|last| distance(size) == Some(last.distance)) {
            last.size = Some(size);
        }
    }
    shifts
}

impl Shift<'_> {
    fn line(&self, name: &str, differences: &[Mismatch]) -> Line {
        let (first, last) = (self.members[0], self.members[self.members.len() - 1]);
        let count = self.members.len();
        let members = match self.cause(differences) {
            Some(cause) => format!("{count} members after {cause}"),
            None => format!("{count} members from {} to {}", first.member, last.member),
        };
        let unit = if self.distance.abs() == 1 { "byte" } else { "bytes" };
        let direction = if self.distance < 0 { "earlier" } else { "later" };
        let size = self.size.map(|size| format!(", and the size is {}, not {}", size.symbols, size.spec)).unwrap_or_default();
        let by = self.distance.unsigned_abs();
        Line::new(format!("{name}: {members} are {by} {unit} {direction} in the symbols{size}{}", place(first)))
    }

    /// The member that was inserted directly before the shifted ones, or that was removed there.
    fn cause(&self, differences: &[Mismatch]) -> Option<String> {
        let [ours, theirs] = offsets(self.members[0])?;
        let (kind, space) = match self.distance < 0 {
            true => (DifferenceKind::Missing, theirs..ours),
            false => (DifferenceKind::Extra, ours..theirs),
        };
        let at = |mismatch: &Mismatch| number(if self.distance < 0 { &mismatch.spec } else { &mismatch.symbols });
        let is_here = |mismatch: &&Mismatch| {
            is(mismatch, kind)
                && parent(mismatch) == parent(self.members[0])
                && at(mismatch).is_some_and(|at| space.contains(&at))
        };
        let last = differences.iter().filter(is_here).max_by_key(|mismatch| at(mismatch))?;
        Some(last.member.clone())
    }
}

fn is(mismatch: &Mismatch, kind: DifferenceKind) -> bool {
    mismatch.kind == MismatchKind::Fact(kind)
}

/// The path of the structure with a member; empty for the structure itself.
fn parent(mismatch: &Mismatch) -> &str {
    mismatch.member.rsplit_once('.').map_or("", |(parent, _)| parent)
}

fn distance(mismatch: &Mismatch) -> Option<i128> {
    let [ours, theirs] = offsets(mismatch)?;
    Some(theirs - ours)
}

fn offsets(mismatch: &Mismatch) -> Option<[i128; 2]> {
    Some([number(&mismatch.spec)?, number(&mismatch.symbols)?])
}

/// The hexadecimal number at the end of a fact.
fn number(fact: &str) -> Option<i128> {
    i128::from_str_radix(fact.rsplit("0x").next()?, 16).ok()
}

fn place(mismatch: &Mismatch) -> String {
    mismatch.place.as_deref().map(|place| format!("  {place}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_one_line() {
        let text = |lines: Vec<Line>| lines.into_iter().map(|Line { start, fact, end }| start + &fact + &end).collect::<Vec<_>>();
        let cases: [(&[[&str; 4]], &[&str]); 5] = [
            // Inserted members, and members before them that are not shifted.
            (
                &[
                    ["", "size", "0x20", "0x28"],
                    ["B", "offset", "0x8", "0x10"],
                    ["C", "offset", "0x10", "0x18"],
                    ["X", "extra", "none", "u4 at offset 0x4"],
                    ["Y", "extra", "none", "u8 at offset 0x8"],
                ],
                &[
                    "S: 2 members after Y are 8 bytes later in the symbols, and the size is 0x28, not 0x20",
                    "S X extra: the spec has none, the symbols have u4 at offset 0x4",
                    "S Y extra: the spec has none, the symbols have u8 at offset 0x8",
                ],
            ),
            // A removed member, and an end that is not shifted.
            (
                &[
                    ["", "size", "0x20", "0x18"],
                    ["A", "missing", "u1 at offset 0x4", "none"],
                    ["B", "offset", "0x5", "0x4"],
                    ["C", "offset", "0x6", "0x5"],
                ],
                &[
                    "S size: the spec has 0x20, the symbols have 0x18",
                    "S A missing: the spec has u1 at offset 0x4, the symbols have none",
                    "S: 2 members after A are 1 byte earlier in the symbols",
                ],
            ),
            // A member that has grown.
            (
                &[["A", "type", "u4", "u8"], ["B", "offset", "0x4", "0x8"], ["C", "offset", "0x8", "0xc"]],
                &["S A type: the spec has u4, the symbols have u8", "S: 2 members from B to C are 4 bytes later in the symbols"],
            ),
            // Other distances, and one member.
            (
                &[["A", "offset", "0x4", "0x8"], ["B", "offset", "0x8", "0x10"], ["u.C", "offset", "0x0", "0x8"]],
                &[
                    "S A offset: the spec has 0x4, the symbols have 0x8",
                    "S B offset: the spec has 0x8, the symbols have 0x10",
                    "S u.C offset: the spec has 0x0, the symbols have 0x8",
                ],
            ),
            // Members of a nested structure.
            (
                &[["u", "size", "0x8", "0xc"], ["u.B", "offset", "0x0", "0x4"], ["u.C", "offset", "0x4", "0x8"]],
                &["S: 2 members from u.B to u.C are 4 bytes later in the symbols, and the size is 0xc, not 0x8"],
            ),
        ];
        for (differences, expected) in cases {
            let kinds = ["size", "missing", "extra", "offset", "type"];
            use DifferenceKind::*;
            let kind =
                |name: &str| [Size, Missing, Extra, Offset, Type][kinds.iter().position(|kind| *kind == name).expect("a kind")];
            let mismatch = |[member, of, spec, symbols]: &[&str; 4]| Mismatch {
                member: (*member).to_owned(),
                kind: MismatchKind::Fact(kind(of)),
                spec: (*spec).to_owned(),
                symbols: (*symbols).to_owned(),
                place: None,
            };
            let differences: Vec<_> = differences.iter().map(mismatch).collect();
            assert_eq!(text(condensed("S", &differences)), expected);
            assert_eq!(each("S", &differences).len(), differences.len());
        }
    }
}
