//! The history of a structure as a picture: bytes from top to bottom, versions from left to right. Members that stay adjacent
//! form one ribbon.

use crate::facts::{Atlas, Structure};
use crate::frame::scrolled;
use crate::matrix::span;
use etw_layouts_project::history::TargetFact;
use etw_layouts_project::matrix::{Matrix, Row};
use maud::{Markup, html};
use std::fmt::Write;

/// The width of a column; half of it is the slope to the next column. It is larger for longer labels.
const COLUMN: u64 = 88;
/// The width of a letter.
const LETTER: u64 = 8;
/// The height of the largest size.
const HEIGHT: u64 = 250;
/// The height of the labels.
const TOP: u64 = 34;
/// The left margin.
const LEFT: u64 = 8;

/// The picture, if the structure has a history.
pub fn draw(atlas: &Atlas, structure: &Structure, matrix: &Matrix) -> Markup {
    let columns = matrix.columns.len();
    let greatest = matrix.columns.iter().map(|column| column.extent.size).max().unwrap_or(0).max(1);
    if columns < 2 {
        return Markup::default();
    }
    let longest = matrix.columns.iter().map(|column| span(atlas, column).chars().count() as u64).max().unwrap_or(0);
    let column_width = COLUMN.max(longest * LETTER).next_multiple_of(2);
    let (width, height) = (LEFT * 2 + column_width * columns as u64, TOP + HEIGHT + 24);
    let y = |offset: u64| TOP as f64 + offset as f64 * HEIGHT as f64 / greatest as f64;
    let scale = HEIGHT as f64 / greatest as f64;
    let (name, arch) = (structure.name(), matrix.arch);
    let label = format!("Size and members of {name} on {arch} over time");
    let picture = html! {
        svg viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img" aria-label=(label) {
            @for (index, column) in (0..).zip(&matrix.columns) {
                @let x = LEFT + index * column_width;
                @let bottom = y(column.extent.size);
                text x=(x) y="12" { (span(atlas, column)) }
                @if let Some(&(first, _)) = column.targets.first().filter(|(first, _)| atlas.is_update(*first)) {
                    text x=(x) y="25" class="dim" { (revision(&atlas.build(first))) }
                }
                rect.whole x=(x) y=(TOP) width=(column_width / 2) height=(format_args!("{:.1}", bottom - TOP as f64)) {}
                text x=(x) y=(format_args!("{:.0}", bottom + 14.0)) class="number" { (format_args!("{:#x}", column.extent.size)) }
            }
            g transform=(format_args!("translate({LEFT} {TOP}) scale({} {scale:.5})", column_width / 2)) {
                @for block in blocks(matrix) {
                    path class={ "age" (block.first * 5 / columns) } d=(block.path()) { title { (block.title()) } }
                }
            }
        }
    };
    html! {
        figure.ribbons {
            (scrolled(format_args!("Size and members of {name} over time, {arch}"), &picture))
            figcaption {
                "Offsets increase from top to bottom. Each band is a group of members that stay adjacent; its color shows the \
                 version that added it. Point at a band to list its members."
            }
        }
    }
}

/// Members that are adjacent in every column that has them.
struct Block<'a> {
    members: Vec<&'a str>,
    /// The start and end offset in each column.
    places: Vec<Option<(u64, u64)>>,
    /// The first column with these members.
    first: usize,
}

fn blocks(matrix: &Matrix) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block> = Vec::new();
    for row in matrix.rows.iter().filter(|row| !row.member.contains('.')) {
        let places = places(row, matrix.columns.len());
        let Some(first) = places.iter().position(Option::is_some) else { continue };
        let follows = |block: &Block| {
            block.places.iter().zip(&places).all(|(a, b)| match (a, b) {
                // Members of a union, and bits of a unit, begin within the block.
                (Some((from, to)), Some((start, end))) => (*start == *to || (*start >= *from && *end <= *to)) && start >= from,
                (None, None) => true,
                _ => false,
            })
        };
        match blocks.last_mut().filter(|block| follows(block)) {
            Some(block) => {
                block.members.push(&row.member);
                for (own, new) in block.places.iter_mut().zip(&places) {
                    if let (Some((_, to)), Some((_, end))) = (own.as_mut(), new) {
                        *to = (*to).max(*end);
                    }
                }
            }
            None => blocks.push(Block { members: vec![&row.member], places, first }),
        }
    }
    blocks
}

fn places(row: &Row, columns: usize) -> Vec<Option<(u64, u64)>> {
    let mut places = vec![None; columns];
    for run in &row.runs {
        if let TargetFact::Member { offset, size, .. } = run.fact {
            places
                .iter_mut()
                .take(run.columns.end)
                .skip(run.columns.start)
                .for_each(|place| *place = Some((offset, offset + size)));
        }
    }
    places
}

impl Block<'_> {
    /// The outline, in half columns and bytes: along the upper edge, and back along the lower edge.
    fn path(&self) -> String {
        let mut path = String::new();
        let mut at = 0;
        while at < self.places.len() {
            let run: Vec<_> = self.places[at..].iter().map_while(|place| *place).collect();
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                at += 1;
                continue;
            };
            let _ = write!(path, "M{} {}", at * 2, first.0);
            edge(run.iter().map(|place| place.0), 1, &mut path);
            let _ = write!(path, "V{}", last.1);
            edge(run.iter().rev().map(|place| place.1), -1, &mut path);
            path.push('Z');
            at += run.len();
        }
        path
    }

    fn title(&self) -> String {
        let places: Vec<_> = self.places.iter().flatten().collect();
        let last = places.last().map_or(0, |place| place.0);
        let names = match &self.members[..] {
            [one] => (*one).to_owned(),
            [one, two] => format!("{one}, {two}"),
            [first, .., last] => format!("{} members, {first} to {last}", self.members.len()),
            [] => String::new(),
        };
        format!("{names}: last at {last:#06x}")
    }
}

/// An edge from the current point of the path. It is level over a column and slopes to the next one.
fn edge(offsets: impl Iterator<Item = u64>, way: i64, path: &mut String) {
    let mut level = 0;
    let mut before = None;
    for offset in offsets {
        match before.map(|before| i128::from(offset) - i128::from(before)) {
            None => {}
            Some(0) => level += way,
            Some(down) => {
                let _ = write!(path, "h{level}l{way} {down}");
                level = 0;
            }
        }
        level += way;
        before = Some(offset);
    }
    let _ = write!(path, "h{level}");
}

/// The revision of a build, with its dot.
fn revision(build: &str) -> String {
    build.rsplit_once('.').map_or_else(String::new, |(_, revision)| format!(".{revision}"))
}
