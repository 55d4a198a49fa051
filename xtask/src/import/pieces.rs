//! Piecewise values in a text: what they say, and how they come to say something else.

use super::scope::spell;
use super::splice::Splices;
use core::ops::Range;
use etw_layouts_codegen::axis::{Arch, Axis, TargetSet};
use std::collections::BTreeMap;
use toml_edit::{Item, TableLike, Value as Toml};

/// A number or a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// A piecewise value and its place.
#[derive(Clone, Debug)]
pub enum Pieces {
    /// One value for all.
    Plain {
        /// The value.
        value: Value,
        /// Its place.
        span: Range<usize>,
    },
    /// Values by scope.
    Table {
        /// How the table is written.
        form: Form,
        /// The pieces.
        pieces: Vec<Piece>,
    },
}

/// How a piecewise table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `{ "6.1" = 1, … }`
    Inline,
    /// `[struct.size]`, and a line for each.
    Header,
    /// `offset.x86 = …`
    Dotted,
}

/// A scope and its value.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The scope's text.
    pub key: String,
    /// The place of the scope.
    pub key_span: Range<usize>,
    /// What the scope denotes, with those around it.
    pub denotes: TargetSet,
    /// The value.
    pub value: Pieces,
    /// From the scope to the end of the value.
    pub span: Range<usize>,
}

/// See [`Pieces::units`].
pub struct Unit<'a> {
    /// The value.
    pub pieces: &'a Pieces,
    /// The targets that it covers.
    pub covers: TargetSet,
    /// The targets that it stands in.
    pub within: TargetSet,
    /// Its scope.
    pub key: Option<&'a str>,
}

/// What a piecewise value has to say.
pub struct Wanted<'a> {
    /// The axis.
    pub axis: &'a Axis,
    /// The targets that have the thing at all.
    pub within: &'a TargetSet,
    /// Of those that are being imported, the values.
    pub values: &'a BTreeMap<usize, Value>,
    /// Those that are being imported.
    pub imported: &'a TargetSet,
    /// How numbers are written.
    pub hexadecimal: bool,
}

impl Value {
    pub(super) fn read(value: &Toml) -> Option<Self> {
        value.as_integer().map(Self::Number).or_else(|| value.as_str().map(|text| Self::Text(text.into())))
    }

    /// The number.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(n) => Some(*n),
            Self::Text(_) => None,
        }
    }

    /// The text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) => None,
        }
    }

    /// As TOML has it.
    pub fn toml(&self, hexadecimal: bool) -> String {
        match self {
            Self::Text(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Self::Number(n) if !hexadecimal => n.to_string(),
            Self::Number(n) if *n > 0xFF => format!("0x{n:04X}"),
            Self::Number(n) => format!("0x{n:02X}"),
        }
    }
}

impl Pieces {
    /// Reads a value; `None` if it is no piecewise value.
    pub fn read(item: &Item, axis: &Axis, within: &TargetSet) -> Option<Self> {
        if let Some(value) = item.as_value().and_then(Value::read) {
            return Some(Self::Plain { value, span: item.span()? });
        }
        let form = match item {
            Item::Table(table) if table.is_dotted() => Form::Dotted,
            Item::Table(_) => Form::Header,
            _ => Form::Inline,
        };
        let table: &dyn TableLike = item.as_table_like()?;
        let mut pieces = Vec::new();
        for (key, _) in table.iter() {
            let (place, item) = table.get_key_value(key)?;
            let key_span = place.span()?;
            let denotes = axis.scope(key).ok()?.intersection(within);
            let value = Self::read(item, axis, &denotes)?;
            pieces.push(Piece { key: key.into(), span: key_span.start..value.end(item)?, key_span, denotes, value });
        }
        pieces.sort_by_key(|piece| piece.span.start);
        Some(Self::Table { form, pieces })
    }

    fn end(&self, item: &Item) -> Option<usize> {
        Some(item.span()?.end)
    }

    /// The value at a target.
    pub fn at(&self, target: usize) -> Option<&Value> {
        match self {
            Self::Plain { value, .. } => Some(value),
            Self::Table { pieces, .. } => {
                pieces.iter().filter(|piece| piece.denotes.contains(target)).find_map(|piece| piece.value.at(target))
            }
        }
    }

    /// Every value.
    pub fn values(&self) -> Vec<&Value> {
        match self {
            Self::Plain { value, .. } => vec![value],
            Self::Table { pieces, .. } => pieces.iter().flat_map(|piece| piece.value.values()).collect(),
        }
    }

    /// Removes the pieces that hold for no target of a set; `false` if none is left.
    pub fn prune(&self, set: &TargetSet, text: &str, splices: &mut Splices) -> bool {
        let Self::Table { form, pieces } = self else { return true };
        let lives: Vec<_> = pieces.iter().map(|p| p.value.lives(&p.denotes.intersection(set))).collect();
        let Some(first) = lives.iter().position(|lives| *lives) else { return false };
        for (i, piece) in pieces.iter().enumerate() {
            if lives[i] {
                piece.value.prune(&piece.denotes.intersection(set), text, splices);
            } else if *form != Form::Inline {
                splices.remove_lines(text, piece.span.clone());
            } else if i > first {
                splices.replace(pieces[i - 1].span.end..piece.span.end, "");
            } else if i + 1 == first {
                splices.replace(pieces[0].span.start..pieces[first].span.start, "");
            }
        }
        true
    }

    /// Whether it has a value for some target of a set.
    fn lives(&self, set: &TargetSet) -> bool {
        match self {
            Self::Plain { .. } => !set.is_empty(),
            Self::Table { pieces, .. } => pieces.iter().any(|piece| piece.value.lives(&piece.denotes.intersection(set))),
        }
    }

    /// Makes the text say what is wanted. What it says of others than the imported stays.
    pub fn edit(&self, wanted: &Wanted, text: &str, splices: &mut Splices) {
        let Wanted { axis, within, values, imported, .. } = *wanted;
        match self {
            Self::Plain { value, span } => {
                let wrong = |t: usize| imported.contains(t) && values.get(&t) != Some(value);
                let right: Vec<_> = within.iter().filter(|&t| !wrong(t)).collect();
                if right.len() == within.iter().count() {
                    return;
                }
                let mut pieces: Vec<_> = new_pieces(wanted, |t| !right.contains(&t));
                let set = set(right);
                let kept = (set.iter().next(), key(&spell(axis, &set, within, None)), text[span.clone()].to_owned());
                pieces.push(kept);
                pieces.sort();
                let list: Vec<_> = pieces.into_iter().map(|(_, key, value)| format!("{key} = {value}")).collect();
                splices.replace(span.clone(), format!("{{ {} }}", list.join(", ")));
            }
            Self::Table { pieces, .. } if !pieces.is_empty() && pieces.iter().all(|p| Arch::parse(&p.key).is_some()) => {
                for piece in pieces {
                    let within = within.intersection(&piece.denotes);
                    piece.value.edit(&Wanted { within: &within, ..*wanted }, text, splices);
                }
                let covered = pieces.iter().fold(TargetSet::default(), |all, piece| all.union(&piece.denotes));
                self.add(new_pieces(wanted, |t| !covered.contains(t)), wanted, text, splices);
            }
            Self::Table { pieces, .. } => {
                let mut sets: Vec<_> = pieces.iter().map(|p| p.denotes.intersection(within).difference(imported)).collect();
                let mut placed = TargetSet::default();
                // A value goes on from the target before or begins before the one after; one that comes back is a new piece.
                loop {
                    let next =
                        values.iter().filter(|(t, _)| within.contains(**t) && !placed.contains(**t)).find_map(|(&t, value)| {
                            let same =
                                |other: &usize| within.contains(*other) && axis.targets[*other].arch == axis.targets[t].arch;
                            let beside = [(0..t).rev().find(same), (t + 1..axis.targets.len()).find(same)];
                            let says = |i: &usize| pieces[*i].value.at(t) == Some(value);
                            let near = |i: &usize| beside.iter().flatten().any(|&other| sets[*i].contains(other));
                            Some((t, (0..pieces.len()).filter(says).find(near)?))
                        });
                    let Some((target, i)) = next else { break };
                    sets[i].insert(target);
                    placed.insert(target);
                }
                for (piece, set) in pieces.iter().zip(&sets) {
                    if piece.denotes.intersection(within) != *set && !set.is_empty() {
                        let new = key(&spell(axis, set, within, Some(&piece.key)));
                        let gap = text[piece.key_span.end..].len() - text[piece.key_span.end..].trim_start_matches(' ').len();
                        match self.column(text) {
                            Some(width) => splices.replace(piece.key_span.start..piece.key_span.end + gap, padded(&new, width)),
                            None => splices.replace(piece.key_span.clone(), new),
                        }
                    }
                }
                self.add(new_pieces(wanted, |t| !placed.contains(t)), wanted, text, splices);
            }
        }
    }

    /// Where the values of a table with a header stand, by its first line.
    fn column(&self, text: &str) -> Option<usize> {
        match self {
            Self::Table { form: Form::Header, pieces } => {
                let first = pieces.first()?;
                text[first.key_span.start..first.span.end].find('=')
            }
            _ => None,
        }
    }

    /// What changes as a whole when a witness no longer holds: a value for all, or a piece whose scope is no architecture.
    /// With each the targets that it covers, those that it stands in, and its scope.
    pub fn units(&self, within: &TargetSet) -> Vec<Unit<'_>> {
        match self {
            Self::Plain { .. } => vec![Unit { pieces: self, covers: within.clone(), within: within.clone(), key: None }],
            Self::Table { pieces, .. } => {
                let unit = |piece: &'_ Piece| {
                    let covers = piece.denotes.intersection(within);
                    (Arch::parse(&piece.key).is_some(), covers)
                };
                let list = pieces.iter().flat_map(|piece| match unit(piece) {
                    (true, covers) => piece.value.units(&covers),
                    (false, covers) => {
                        vec![Unit { pieces: &piece.value, covers, within: within.clone(), key: Some(&piece.key) }]
                    }
                });
                list.collect()
            }
        }
    }

    fn add(&self, new: Vec<New>, wanted: &Wanted, text: &str, splices: &mut Splices) {
        let Self::Table { form, pieces } = self else { return };
        for (first, key, value) in new {
            let after = pieces.iter().rev().find(|p| p.denotes.intersection(wanted.within).iter().next() < first);
            let at = after.or(pieces.last()).map_or(0, |piece| piece.span.end);
            match (form, after.or(pieces.last())) {
                (Form::Header, _) => {
                    splices.insert(at, format!("\n{}= {value}", padded(&key, self.column(text).unwrap_or(0))));
                }
                (Form::Dotted, Some(piece)) => {
                    let line = text[..piece.key_span.start].rfind('\n').map_or(0, |at| at + 1);
                    splices.insert(at, format!("\n{}{key} = {value}", &text[line..piece.key_span.start]));
                }
                _ => splices.insert(at, format!(", {key} = {value}")),
            }
        }
    }
}

/// The first target of a new piece, its scope and its value.
type New = (Option<usize>, String, String);

/// The pieces for the imported targets that pass a test: kernels whose architectures have the same values share one.
pub fn new_pieces(wanted: &Wanted, test: impl Fn(usize) -> bool) -> Vec<New> {
    let Wanted { axis, within, values, hexadecimal, .. } = *wanted;
    let mut kernels: BTreeMap<usize, BTreeMap<Arch, &Value>> = BTreeMap::new();
    for (&target, value) in values.iter().filter(|(t, _)| within.contains(**t) && test(**t)) {
        let target = axis.targets[target];
        kernels.entry(target.kernel).or_default().insert(target.arch, value);
    }
    let mut groups: BTreeMap<Vec<(Option<Arch>, &Value)>, TargetSet> = BTreeMap::new();
    for (kernel, by_arch) in kernels {
        let list: Vec<_> = by_arch.iter().map(|(arch, value)| (*arch, *value)).collect();
        let group = match list[..] {
            [(_, one), (_, two)] if one == two => vec![(None, one)],
            [(_, one)] => vec![(None, one)],
            _ => list.iter().map(|(arch, value)| (Some(*arch), *value)).collect(),
        };
        let targets = axis.filter(|t| t.kernel == kernel && by_arch.contains_key(&t.arch));
        let set = groups.entry(group).or_default();
        *set = set.union(&targets);
    }
    let mut list: Vec<_> = groups
        .into_iter()
        .map(|(group, set)| {
            let of = |(arch, value): &(Option<Arch>, &Value)| match arch {
                Some(arch) => format!("{arch} = {}", value.toml(hexadecimal)),
                None => value.toml(hexadecimal),
            };
            let value = match &group[..] {
                [one] => of(one),
                several => format!("{{ {} }}", several.iter().map(of).collect::<Vec<_>>().join(", ")),
            };
            (set.iter().next(), key(&spell(axis, &set, within, None)), value)
        })
        .collect();
    list.sort();
    list
}

/// The text of a whole piecewise value for new targets.
pub fn text(wanted: &Wanted) -> String {
    let Wanted { axis, within, values, hexadecimal, .. } = *wanted;
    let all: Vec<_> = within.iter().collect();
    let mut distinct: Vec<_> = values.values().collect();
    distinct.dedup();
    if distinct.len() == 1 && all.iter().all(|t| values.contains_key(t)) {
        return distinct[0].toml(hexadecimal);
    }
    let of = |arch: Arch| -> Option<&Value> {
        let mut list = all.iter().filter(|&&t| axis.targets[t].arch == arch).map(|t| values.get(t));
        let first = list.next()??;
        list.all(|value| value == Some(first)).then_some(first)
    };
    if let (Some(x86), Some(x64)) = (of(Arch::X86), of(Arch::X64)) {
        return format!("{{ x86 = {}, x64 = {} }}", x86.toml(hexadecimal), x64.toml(hexadecimal));
    }
    let list: Vec<_> = new_pieces(wanted, |_| true).into_iter().map(|(_, key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", list.join(", "))
}

fn padded(key: &str, width: usize) -> String {
    format!("{key:width$}", width = width.max(key.len() + 1))
}

fn key(scope: &str) -> String {
    match Arch::parse(scope) {
        Some(arch) => arch.to_string(),
        None => format!("\"{scope}\""),
    }
}

/// The set of some targets.
pub fn set(targets: impl IntoIterator<Item = usize>) -> TargetSet {
    let mut set = TargetSet::default();
    targets.into_iter().for_each(|target| set.insert(target));
    set
}
