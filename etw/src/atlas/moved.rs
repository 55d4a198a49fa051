//! Two layouts side by side, with lines between the places of members that moved.

use super::facts::Atlas;
use super::html::Html;
use super::matrix::span;
use etw_layouts_project::history::Fact;
use etw_layouts_project::matrix::{Column, Matrix};

/// The height of a member.
const LINE: u64 = 19;
/// The width of a side.
const SIDE: u64 = 430;
/// The room between them.
const BETWEEN: u64 = 120;
/// The room of the headings.
const TOP: u64 = 26;

/// A member on one side, or several that did not change.
struct Place<'a> {
    members: Vec<&'a str>,
    offset: u64,
    /// What it has become, or what it was.
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Same,
    Moved,
    Retyped,
    Alone,
}

/// Draws a column of a matrix beside the one before it.
pub fn draw(atlas: &Atlas, matrix: &Matrix, before: &Column, now: &Column, html: &mut Html) {
    let number = |column: &Column| matrix.columns.iter().position(|other| std::ptr::eq(other, column)).unwrap_or_default();
    let [old, new] = [number(before), number(now)];
    let sides = [side(matrix, old, new), side(matrix, new, old)];
    let rows = sides.iter().map(Vec::len).max().unwrap_or(0) as u64;
    let (width, height) = (SIDE * 2 + BETWEEN + 2, TOP + rows * LINE + 6);
    let names = [before, now].map(|column| span(atlas, column));
    let kernel = |column: &Column| column.targets.first().map_or("", |&(target, _)| atlas.kernels[target].name.as_str());
    html.leaf("h2", &[("id", &format_args!("before-{}", matrix.arch))], format_args!("Before and now, {}", matrix.arch));
    super::frame::scrolled(html, "Before and now, side by side", |html| {
        let view = format!("0 0 {width} {height}");
        let label = format!(
            "{} beside {}: members that moved are joined by lines; the table by version says the same",
            kernel(before),
            kernel(now)
        );
        html.el(
            "svg",
            &[
                ("class", &"moved"),
                ("viewBox", &view),
                ("width", &width),
                ("height", &height),
                ("role", &"img"),
                ("aria-label", &label),
            ],
            |html| {
                let starts = [0, SIDE + BETWEEN];
                for ((x, column), name) in starts.into_iter().zip([before, now]).zip(&names) {
                    let first = column.targets.first().map_or_else(String::new, |&(target, _)| atlas.build(target));
                    html.leaf("text", &[("x", &x), ("y", &14), ("class", &"head")], format_args!("{name}, from {first}"));
                }
                let y = |index: usize| TOP + index as u64 * LINE;
                for (index, place) in sides[0].iter().enumerate() {
                    let other = sides[1].iter().position(|other| other.members.first() == place.members.first());
                    if let Some(other) = other.filter(|_| place.kind != Kind::Alone) {
                        let (a, b, middle) = (y(index) + LINE / 2, y(other) + LINE / 2, SIDE + BETWEEN / 2);
                        let path = format!("M{SIDE} {a}C{middle} {a} {middle} {b} {} {b}", SIDE + BETWEEN);
                        html.void("path", &[("class", &class(place.kind, 0)), ("d", &path)]);
                    }
                }
                for (side, (x, places)) in starts.into_iter().zip(&sides).enumerate() {
                    for (index, place) in places.iter().enumerate() {
                        html.el("g", &[("class", &class(place.kind, side))], |html| {
                            html.void(
                                "rect",
                                &[("x", &x), ("y", &(y(index) + 1)), ("width", &SIDE), ("height", &(LINE - 2)), ("rx", &2)],
                            );
                            let text = y(index) + 14;
                            html.leaf(
                                "text",
                                &[("x", &(x + 6)), ("y", &text), ("class", &"number")],
                                format_args!("{:#06x}", place.offset),
                            );
                            html.leaf("text", &[("x", &(x + 64)), ("y", &text)], words(place));
                        });
                    }
                }
            },
        );
    });
}

fn class(kind: Kind, side: usize) -> &'static str {
    match (kind, side) {
        (Kind::Same, _) => "same",
        (Kind::Moved, _) => "moved",
        (Kind::Retyped, _) => "typed",
        (Kind::Alone, 0) => "gone",
        (Kind::Alone, _) => "new",
    }
}

fn words(place: &Place) -> String {
    let mark = match place.kind {
        Kind::Retyped => "~ ",
        _ => "",
    };
    match &place.members[..] {
        [one] => format!("{mark}{one}"),
        [first, .., last] => format!("{} members, {first} to {last}", place.members.len()),
        [] => String::new(),
    }
}

/// The members of a column, those together that are the same or moved by the same number of bytes.
fn side(matrix: &Matrix, own: usize, other: usize) -> Vec<Place<'_>> {
    let at = |row: &'_ etw_layouts_project::matrix::Row, column: usize| {
        row.runs.iter().find(|run| run.columns.contains(&column)).map(|run| run.fact.clone())
    };
    let mut list: Vec<(u64, u64, &str, Kind, i128)> = Vec::new();
    for row in matrix.rows.iter().filter(|row| !row.member.contains('.')) {
        let Some(Fact::Member { offset, r#type, bit, bits, .. }) = at(row, own) else { continue };
        let (kind, delta) = match at(row, other) {
            Some(Fact::Member { r#type: t, bit: b, bits: n, offset: o, .. }) => {
                let delta = i128::from(offset) - i128::from(o);
                let same = (&t, b, n) == (&r#type, bit, bits);
                (
                    if !same {
                        Kind::Retyped
                    } else if delta == 0 {
                        Kind::Same
                    } else {
                        Kind::Moved
                    },
                    delta,
                )
            }
            _ => (Kind::Alone, 0),
        };
        list.push((offset, bit.unwrap_or(0), &row.member, kind, delta));
    }
    list.sort_by_key(|&(offset, bit, ..)| (offset, bit));
    let mut places: Vec<(Place, i128)> = Vec::new();
    for (offset, _, member, kind, delta) in list {
        match places.last_mut() {
            Some((last, by)) if last.kind == kind && *by == delta && matches!(kind, Kind::Same | Kind::Moved) => {
                last.members.push(member)
            }
            _ => places.push((Place { members: vec![member], offset, kind }, delta)),
        }
    }
    places.into_iter().map(|(place, _)| place).collect()
}
