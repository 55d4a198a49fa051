//! Two versions of a structure side by side, with lines between the places of what both have. The script draws any two in the same way.

use super::facts::Atlas;
use crate::html::Html;
use etw_layouts_codegen::axis::TargetId;
use etw_layouts_project::diff::{Side, changes};
use etw_layouts_symbols::{Type, TypeFacts};
use std::collections::{HashMap, HashSet};

/// The height of a member.
const LINE: u64 = 19;
/// The width of a side.
const SIDE: u64 = 430;
/// The room between them.
const BETWEEN: u64 = 120;
/// The room of the headings.
const TOP: u64 = 26;

/// A member on both sides or one, or several that lie one behind the other on both and are the same or moved by as many bytes.
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

/// Draws a structure at a target beside what it is at another one.
pub fn draw(atlas: &Atlas, name: &str, [before, now]: [TargetId; 2], html: &mut Html) {
    let kernels = [before, now].map(|target| &atlas.kernels[target]);
    let sides = kernels.map(|kernel| kernel.side.only(name));
    let places = places(name, &sides);
    let rows = places.iter().map(Vec::len).max().unwrap_or(0) as u64;
    let (width, height) = (SIDE * 2 + BETWEEN + 2, TOP + rows * LINE + 6);
    super::frame::scrolled(html, "Side by side", |html| {
        let view = format!("0 0 {width} {height}");
        let label = format!("{name} in {} beside {}: lines join what both have", kernels[0].name, kernels[1].name);
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
                for ((x, kernel), side) in starts.into_iter().zip(kernels).zip(&sides) {
                    let size = match side.types.get(name) {
                        Some(TypeFacts::Aggregate(aggregate)) => aggregate.size,
                        _ => 0,
                    };
                    html.leaf(
                        "text",
                        &[("x", &x), ("y", &14), ("class", &"head")],
                        format_args!("{}, {size:#x} bytes", kernel.name),
                    );
                }
                let y = |index: usize| TOP + index as u64 * LINE;
                let [left, right] = &places;
                for (index, place) in left.iter().enumerate().filter(|(_, place)| place.kind != Kind::Alone) {
                    let Some(other) = right.iter().position(|other| other.members == place.members) else { continue };
                    let (a, b, middle) = (y(index) + LINE / 2, y(other) + LINE / 2, SIDE + BETWEEN / 2);
                    let path = format!("M{SIDE} {a}C{middle} {a} {middle} {b} {} {b}", SIDE + BETWEEN);
                    html.void("path", &[("class", &class(place.kind, 0)), ("d", &path)]);
                }
                for (side, (x, places)) in starts.into_iter().zip(&places).enumerate() {
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

/// What the colours and signs of the picture mean.
pub fn legend(html: &mut Html) {
    html.el("p", &[("class", &"legend")], |html| {
        for (class, words) in [("gone", "removed"), ("new", "added"), ("moved", "moved"), ("typed", "another type or other bits")]
        {
            html.leaf("span", &[("class", &format_args!("change {class}"))], words);
        }
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

/// Both sides from top to bottom, by what `etw diff` says of them.
fn places<'a>(name: &str, sides: &'a [Side; 2]) -> [Vec<Place<'a>>; 2] {
    let found = changes(&sides[0], &sides[1]);
    let (mut typed, mut moved) = (HashSet::new(), HashSet::new());
    for (list, entries) in found.lists() {
        for path in entries.iter().filter_map(|entry| entry.member.as_deref()) {
            // What differs within a member is another type of it.
            let (own, inner) = path.split_once('.').map_or((path, false), |(own, _)| (own, true));
            match list {
                _ if inner => typed.insert(own),
                "retyped" | "bits" => typed.insert(own),
                "moved" => moved.insert(own),
                _ => false,
            };
        }
    }
    let lists = [members(name, &sides[0]), members(name, &sides[1])];
    let number = |list: &[(&'a str, u64)]| list.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();
    let numbers: [HashMap<&str, usize>; 2] = [number(&lists[0]), number(&lists[1])];
    [0, 1].map(|own| {
        let other = 1 - own;
        let mut places: Vec<Place> = Vec::new();
        let mut before = None;
        for &(member, offset) in &lists[own] {
            let there = numbers[other].get(member).copied();
            let kind = match there {
                None => Kind::Alone,
                Some(_) if typed.contains(member) => Kind::Retyped,
                Some(_) if moved.contains(member) => Kind::Moved,
                Some(_) => Kind::Same,
            };
            let by = there.map(|there| (there, i128::from(lists[other][there].1) - i128::from(offset)));
            let follows = matches!((before, by), (Some((last, a)), Some((there, b))) if there == last + 1 && a == b);
            match places.last_mut().filter(|last| follows && last.kind == kind && matches!(kind, Kind::Same | Kind::Moved)) {
                Some(last) => last.members.push(member),
                None => places.push(Place { members: vec![member], offset, kind }),
            }
            before = by;
        }
        places
    })
}

/// The members with their offsets, from first to last.
fn members<'a>(name: &str, side: &'a Side) -> Vec<(&'a str, u64)> {
    let Some(TypeFacts::Aggregate(aggregate)) = side.types.get(name) else { return Vec::new() };
    let bit = |ty: &Type| if let Type::Bits { position, .. } = ty { *position } else { 0 };
    let mut list: Vec<_> = aggregate.members.iter().collect();
    list.sort_by_key(|member| (member.offset, bit(&member.ty)));
    list.into_iter().map(|member| (member.name.as_str(), member.offset)).collect()
}
