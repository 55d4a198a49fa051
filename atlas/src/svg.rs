//! A map as an SVG picture: a separate file, or part of an HTML page.

use etw_layouts_codegen::axis::Axis;
use etw_layouts_project::Choice;
use etw_layouts_project::map::{Map, Way};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// The size of a box, and the distance from one to the next.
const BOX: (u64, u64) = (250, 34);
const STEP: (u64, u64) = (340, 44);
/// The height of a line of text, and the width of a letter.
const TEXT: (u64, u64) = (18, 8);

/// The kinds of references, each with its CSS class and its text in the legend.
pub(crate) const WAYS: [(Way, &str, &str); 3] =
    [(Way::Embeds, "holds", "embeds"), (Way::PointsTo, "points", "points to"), (Way::Lists, "lists", "list head of")];

/// The style sheet of a picture file; on a page, the style sheet of the page replaces it.
const STYLE: &str = "svg { background: #fff; font: 12px monospace; } text { fill: #1b2230; } text.head { font-weight: bold; }
path { fill: none; stroke: #566072; } path.holds { stroke-dasharray: 4 3; } path.lists { stroke: #0a5f73; stroke-width: 2.5; }
rect { fill: #fff; stroke: #566072; } .unknown rect { stroke-dasharray: 2 3; } .unknown text { fill: #566072; }";

/// A picture file, with a heading and a legend. The title of a line names its members.
pub fn svg(map: &Map, axis: &Axis, choice: &Choice) -> String {
    let note = choice.note(axis).unwrap_or_default();
    let head = format!("ETW structures in {}", choice.label(axis));
    let words: Vec<&str> = [head.as_str()].into_iter().chain(note.lines()).collect();
    let places = places(map);
    let (columns, rows) = extent(&places);
    let top = (words.len() as u64 + 2) * TEXT.0;
    let longest = words.iter().map(|words| words.chars().count() as u64 * TEXT.1).max().unwrap_or(0);
    let (width, height) = ((columns * STEP.0).max(longest).max(3 * STEP.0) + 20, top + rows * STEP.1 + 20);
    let (x, y) = (WAYS.len() as u64 * 220, top - TEXT.0 - 16);
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "-10 -10 " (width) " " (height) } width=(width) height=(height) {
            title { (head) }
            style { (STYLE) }
            @for (line, words) in (1..).zip(&words) {
                text class=(if line == 1 { "head" } else { "" }) x="0" y=(line * TEXT.0 - 6) { (words) }
            }
            @for (index, (_, class, words)) in (0..).zip(WAYS) {
                path class=(class) d=(format_args!("M{} {}h40", index * 220, top - TEXT.0 - 10)) {}
                text x=(index * 220 + 48) y=(top - TEXT.0 - 6) { (words) }
            }
            g.unknown {
                rect x=(x) y=(y) width="40" height="12" rx="3" {}
                text x=(x + 48) y=(y + 10) { "no known layout" }
            }
            g transform={ "translate(0 " (top) ")" } { (draw(map, &places, |_| None)) }
        }
        "\n"
    };
    picture.into_string()
}

/// The picture as part of a page; `link` returns the address that a structure links to.
pub(crate) fn picture(map: &Map, link: impl Fn(&str) -> Option<String>) -> Markup {
    let places = places(map);
    let (columns, rows) = extent(&places);
    let (width, height) = (columns * STEP.0, rows * STEP.1 + 8);
    html! {
        svg.map viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
            title { "Map of the structures; the table below has the same content" }
            (draw(map, &places, link))
        }
    }
}

/// Column and row of each structure, by its name.
type Places<'a> = BTreeMap<&'a str, (u64, u64)>;

fn extent(places: &Places) -> (u64, u64) {
    let most = |of: fn(&(u64, u64)) -> u64| places.values().map(of).max().map_or(1, |last| last + 1);
    (most(|place| place.0), most(|place| place.1))
}

fn draw(map: &Map, places: &Places, link: impl Fn(&str) -> Option<String>) -> Markup {
    let known: BTreeSet<&str> = map.structures.iter().map(|structure| structure.name.as_str()).collect();
    let mut unknown = BTreeSet::new();
    let mut lines: BTreeMap<(&str, &str, Way), Vec<String>> = BTreeMap::new();
    for structure in &map.structures {
        for link in &structure.links {
            if !link.is_specified && !known.contains(link.to.as_str()) {
                unknown.insert(link.to.as_str());
            }
            let words = format!("{}.{} +{:#x} {} {}", structure.name, link.member, link.offset, link.way.word(), link.to);
            lines.entry((&structure.name, &link.to, link.way)).or_default().push(words);
        }
    }
    let path = |from: (u64, u64), to: (u64, u64)| {
        let (x, y) = (from.0 * STEP.0 + BOX.0, from.1 * STEP.1 + BOX.1 / 2 + 4);
        let (end, below) = (to.0 * STEP.0, to.1 * STEP.1 + BOX.1 / 2 + 4);
        match to.0 > from.0 {
            true => format!("M{x} {y}C{} {y} {} {below} {end} {below}", x + 60, end.saturating_sub(60)),
            // A line to the left or downwards goes around the right side.
            false => format!("M{x} {y}C{} {y} {} {below} {} {below}", x + 70, end + BOX.0 + 70, end + BOX.0),
        }
    };
    let named = |name: &str, (column, row): (u64, u64)| {
        let (x, y) = (column * STEP.0, row * STEP.1 + 4);
        html! {
            rect x=(x) y=(y) width=(BOX.0) height=(BOX.1) rx="4" {}
            text x=(x + 10) y=(y + 22) { (name) }
        }
    };
    html! {
        @for ((from, to, way), words) in lines {
            @if let (Some(from), Some(to)) = (places.get(from), places.get(to)) {
                @let class = WAYS.iter().find(|(of, ..)| *of == way).map_or("", |(_, class, _)| class);
                path class=(class) d=(path(*from, *to)) { title { (words.join("\n")) } }
            }
        }
        @for (name, place) in places {
            @match (link(name), unknown.contains(name)) {
                (Some(to), _) => { a href=(to) { (named(name, *place)) } }
                (None, true) => { g.unknown { (named(name, *place)) } }
                (None, false) => { (named(name, *place)) }
            }
        }
    }
}

/// The column of a structure is its distance from the start of the map; structures in a column are in the order of the links.
fn places(map: &Map) -> Places<'_> {
    let mut depth: BTreeMap<&str, u64> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for structure in &map.structures {
        let own = *depth.entry(&structure.name).or_insert_with(|| {
            order.push(&structure.name);
            0
        });
        for link in &structure.links {
            depth.entry(&link.to).or_insert_with(|| {
                order.push(&link.to);
                own + 1
            });
        }
    }
    let mut rows: BTreeMap<u64, u64> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for name in order {
        let column = depth[name];
        let row = rows.entry(column).or_default();
        places.insert(name, (column, *row));
        *row += 1;
    }
    places
}
