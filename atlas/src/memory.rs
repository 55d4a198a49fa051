//! A map of the bytes of a layout: 16 bytes per row. Members that share bytes are stacked; bit fields are drawn at their bit
//! positions.

use crate::declaration::{bit_range, names};
use crate::frame::scrolled;
use etw_layouts_project::members::Member;
use maud::{Markup, html};

/// Bytes per row.
const ROW: u64 = 16;
/// The width of a byte, in the units of the picture.
const BYTE: u64 = 56;
/// The height of a lane.
const LANE: u64 = 24;
/// The width of the offset column.
const LEFT: u64 = 64;
/// The height of the column heads.
const TOP: u64 = 20;
/// The width of a letter.
const LETTER: f64 = 7.3;
/// The most rows that are drawn of one member. Further rows are only counted.
const WHOLE: u64 = 3;

/// A member in the map. `from` and `to` count bits from the start of the structure.
struct Piece<'a> {
    index: usize,
    member: &'a Member<'a>,
    from: u64,
    to: u64,
}

/// Draws the members of a structure of this size. Each links to the row of the table with its id.
pub fn draw(members: &[Member], size: u64, ids: &[String]) -> Markup {
    let pieces = pieces(members);
    let mut rows: Vec<(u64, Vec<Vec<&Piece>>)> = Vec::new();
    let mut hidden: Vec<(u64, u64)> = Vec::new();
    let mut at = 0;
    while at < size {
        let (from, to) = (at * 8, (at + ROW) * 8);
        let here: Vec<_> = pieces.iter().filter(|piece| piece.from < to && piece.to > from).collect();
        if let [one] = here[..]
            && one.from <= from.saturating_sub(ROW * 8 * (WHOLE - 1))
            && one.to >= to + ROW * 8 * (WHOLE - 1)
        {
            let end = (one.to / 8) / ROW * ROW - ROW * (WHOLE - 1);
            hidden.push((at, end));
            rows.push((at, Vec::new()));
            at = end.max(at + ROW);
            continue;
        }
        rows.push((at, lanes(here)));
        at += ROW;
    }
    let height = TOP + rows.iter().map(|(_, lanes)| height(lanes)).sum::<u64>();
    let bytes = ROW.min(size.max(8));
    let width = LEFT + bytes * BYTE + 2;
    let tops = rows.iter().scan(TOP, |next, (_, lanes)| {
        let top = *next;
        *next += self::height(lanes);
        Some(top)
    });
    let picture = html! {
        svg.bytes viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
            title { "Map of the bytes: each member links to its row in the table of members" }
            @for byte in 0..bytes {
                text x=(LEFT + byte * BYTE + BYTE / 2) y="12" class="dim middle" { (format_args!("+{byte:x}")) }
            }
            @for ((offset, lanes), y) in rows.iter().zip(tops) {
                text x="0" y=(y + 16) class="dim number" { (format_args!("{offset:#06x}")) }
                @if let Some((_, end)) = hidden.iter().find(|(from, _)| from == offset) {
                    text x=(LEFT + 8) y=(y + 16) class="dim" { "⋮ the same, to " (format_args!("{end:#x}")) }
                }
                @for (lane, pieces) in (0..).zip(lanes) {
                    @for piece in pieces { (self::piece(piece, *offset, y + lane * LANE, ids)) }
                }
            }
        }
    };
    scrolled("Map of the bytes", &picture)
}

/// The height of a row with these lanes.
fn height(lanes: &[Vec<&Piece>]) -> u64 {
    lanes.len().max(1) as u64 * LANE + 4
}

/// The members without nested members.
fn pieces<'a>(members: &'a [Member<'a>]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    for (index, member) in members.iter().enumerate() {
        if members.get(index + 1).is_some_and(|next| next.depth > member.depth) {
            continue;
        }
        let (from, to) = match member.bits {
            Some(bits) => (member.offset * 8 + bits.position, member.offset * 8 + bits.position + bits.width),
            None => (member.offset * 8, (member.offset + member.size) * 8),
        };
        pieces.push(Piece { index, member, from, to });
    }
    pieces
}

/// Puts pieces that share bytes into separate lanes.
fn lanes<'a, 'b>(here: Vec<&'b Piece<'a>>) -> Vec<Vec<&'b Piece<'a>>> {
    let mut lanes: Vec<Vec<&Piece>> = Vec::new();
    for piece in here {
        let is_free = |lane: &&mut Vec<&Piece>| lane.iter().all(|other| other.to <= piece.from || other.from >= piece.to);
        match lanes.iter_mut().find(is_free) {
            Some(lane) => lane.push(piece),
            None => lanes.push(vec![piece]),
        }
    }
    lanes
}

fn piece(piece: &Piece, row: u64, y: u64, ids: &[String]) -> Markup {
    let place = |bit: u64| LEFT as f64 + (bit.clamp(row * 8, (row + ROW) * 8) - row * 8) as f64 * BYTE as f64 / 8.0;
    let (x, end) = (place(piece.from), place(piece.to));
    let (label, ty) = names(piece.member);
    let path = piece.member.path.as_deref().unwrap_or(&label);
    let class = match (piece.member.field.is_some(), piece.member.bits.is_some(), ty.ends_with('*')) {
        (false, ..) => Some("pad"),
        (_, true, _) => Some("bits"),
        (_, _, true) => Some("pointer"),
        _ => None,
    };
    let last = (piece.to - 1) / 8;
    let bits = piece.member.bits.map(|bits| format!(", bits {}", bit_range(bits))).unwrap_or_default();
    let title = format!("{path}: {ty}{}{:#06x} to {last:#06x}{bits}", if ty.is_empty() { "" } else { ", " }, piece.from / 8);
    let letters = ((end - x - 10.0) / LETTER).max(0.0) as usize;
    let text = if piece.from < row * 8 { format!("⋯ {label}") } else { label };
    let shown = match text.chars().count() <= letters {
        true => text,
        false => text.chars().take(letters.saturating_sub(1)).chain(['…']).collect(),
    };
    html! {
        a href={ "#" (ids.get(piece.index).map_or("", String::as_str)) } class=[class] {
            title { (title) }
            // The style sheet sets the height, slightly less than that of a lane.
            rect x=(x) y=(y) width=(format_args!("{:.1}", (end - x - 1.5).max(1.0))) {}
            @if letters >= 3 { text x=(x + 5.0) y=(y + 15) { (shown) } }
        }
    }
}
