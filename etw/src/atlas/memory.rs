//! A map of the bytes of a layout: 16 bytes per row. Members that share bytes are stacked; bit fields are drawn at their bit
//! positions.

use crate::html::Html;
use etw_layouts_codegen::layouts::Type;
use etw_layouts_project::members::{Member, c_type, keyword};
use std::fmt::Display;

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
pub fn draw(members: &[Member], size: u64, ids: &[String], html: &mut Html) {
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
    let height = TOP + rows.iter().map(|(_, lanes)| lanes.len().max(1) as u64 * LANE + 4).sum::<u64>();
    let width = LEFT + ROW.min(size.max(8)) * BYTE + 2;
    super::frame::scrolled(html, "Map of the bytes", |html| {
        let view = format!("0 0 {width} {height}");
        html.el("svg", &[("class", &"bytes"), ("viewBox", &view), ("width", &width), ("height", &height)], |html| {
            html.leaf("title", &[], "Map of the bytes: each member links to its row in the table of members");
            for byte in 0..ROW.min(size.max(8)) {
                let x = LEFT + byte * BYTE + BYTE / 2;
                html.leaf("text", &[("x", &x), ("y", &12), ("class", &"dim middle")], format_args!("+{byte:x}"));
            }
            let mut y = TOP;
            for (offset, lanes) in rows {
                html.leaf("text", &[("x", &0), ("y", &(y + 16)), ("class", &"dim number")], format_args!("{offset:#06x}"));
                if let Some((_, end)) = hidden.iter().find(|(from, _)| *from == offset) {
                    html.leaf(
                        "text",
                        &[("x", &(LEFT + 8)), ("y", &(y + 16)), ("class", &"dim")],
                        format_args!("⋮ the same, to {end:#x}"),
                    );
                }
                for (lane, pieces) in lanes.iter().enumerate() {
                    for piece in pieces {
                        self::piece(piece, offset, y + lane as u64 * LANE, ids, html);
                    }
                }
                y += lanes.len().max(1) as u64 * LANE + 4;
            }
        });
    });
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

/// The name of a row, and its type.
pub fn names(member: &Member) -> (String, String) {
    match &member.field {
        None => ("padding".into(), String::new()),
        Some((field, _)) => match (&field.name, &field.ty) {
            (Some(name), Type::Inline(inner)) => (name.clone(), keyword(inner.kind).into()),
            (Some(name), _) => (name.clone(), c_type(field)),
            (None, Type::Inline(inner)) => (keyword(inner.kind).into(), String::new()),
            (None, _) => ("unnamed".into(), c_type(field)),
        },
    }
}

fn piece(piece: &Piece, row: u64, y: u64, ids: &[String], html: &mut Html) {
    let place = |bit: u64| LEFT as f64 + (bit.clamp(row * 8, (row + ROW) * 8) - row * 8) as f64 * BYTE as f64 / 8.0;
    let (x, end) = (place(piece.from), place(piece.to));
    let width = format!("{:.1}", (end - x - 1.5).max(1.0));
    let (label, ty) = names(piece.member);
    let path = piece.member.path.as_deref().unwrap_or(&label);
    let class = match (piece.member.field.is_some(), piece.member.bits.is_some(), ty.ends_with('*')) {
        (false, ..) => "pad",
        (_, true, _) => "bits",
        (_, _, true) => "pointer",
        _ => "",
    };
    let last = (piece.to - 1) / 8;
    let bits = piece.member.bits.map(|bits| format!(", bits {}", crate::show::range(bits))).unwrap_or_default();
    let title = format!("{path}: {ty}{}{:#06x} to {last:#06x}{bits}", if ty.is_empty() { "" } else { ", " }, piece.from / 8);
    let to = ids.get(piece.index).map_or("", String::as_str);
    let link: [(&str, &dyn Display); 2] = [("href", &format_args!("#{to}")), ("class", &class)];
    html.el("a", &link[..1 + usize::from(!class.is_empty())], |html| {
        html.leaf("title", &[], title);
        // The style sheet sets the height, slightly less than that of a lane.
        html.void("rect", &[("x", &x), ("y", &y), ("width", &width)]);
        let room = ((end - x - 10.0) / LETTER).max(0.0) as usize;
        let text = if piece.from < row * 8 { format!("⋯ {label}") } else { label };
        let shown: String =
            if text.chars().count() <= room { text } else { text.chars().take(room.saturating_sub(1)).chain(['…']).collect() };
        if room >= 3 {
            html.leaf("text", &[("x", &(x + 5.0)), ("y", &(y + 15))], shown);
        }
    });
}
