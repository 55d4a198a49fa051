//! Piecewise values in a text: what they say, and how they come to say something else of one target.

use super::splice::{Splices, line_start};
use core::ops::Range;
use etw_layouts_codegen::axis::{Arch, Axis, TargetSet};
use etw_layouts_codegen::syntax::{self, Form, Node};

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
    One {
        /// The value.
        value: Value,
        /// Its place.
        span: Range<usize>,
    },
    /// Values by scope.
    Several {
        /// How the table is written.
        form: Form,
        /// The pieces.
        pieces: Vec<Piece>,
    },
}

/// A scope and its value.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The scope's text.
    pub scope: String,
    /// The place of the scope.
    pub scope_span: Range<usize>,
    /// The targets that the scope denotes, within those around it.
    pub denotes: TargetSet,
    /// Those of them that a piece beside it speaks for.
    ceded: TargetSet,
    /// The value.
    pub value: Pieces,
    /// From the scope to the end of the value.
    pub span: Range<usize>,
}

impl Default for Pieces {
    /// Nothing is said yet.
    fn default() -> Self {
        Self::Several { form: Form::Inline, pieces: Vec::new() }
    }
}

/// What a piecewise value has to say.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The axis.
    pub axis: &'a Axis,
    /// The targets that have the thing at all.
    pub within: &'a TargetSet,
    /// The target that it is said of.
    pub target: usize,
    /// What is said of it, if anything is.
    pub value: Option<&'a Value>,
    /// Whether numbers are written in hexadecimal digits.
    pub hexadecimal: bool,
}

impl Value {
    fn read(node: &Node) -> Result<Self, String> {
        let integer = || i64::from_str_radix(node.get_ref().as_integer()?.as_str(), node.get_ref().as_integer()?.radix()).ok();
        let text = || Some(Self::Text(node.get_ref().as_str()?.to_owned()));
        integer().map(Self::Number).or_else(text).ok_or_else(|| "neither a number of 64 bits nor a string".into())
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
    /// Reads a value, for the targets of a set.
    ///
    /// # Errors
    ///
    /// A scope that the axis does not have, or a value that is neither number nor text.
    pub fn read(pieces: &syntax::Pieces, axis: &Axis, within: &TargetSet) -> Result<Self, String> {
        let (form, pieces) = match pieces {
            syntax::Pieces::One(node) => return Ok(Self::One { value: Value::read(node)?, span: node.span() }),
            syntax::Pieces::Several { form, pieces, .. } => (*form, pieces),
        };
        let own: Vec<_> = pieces.iter().map(|piece| axis.scope(piece.scope)).collect::<Result<_, String>>()?;
        let mut settled: Vec<_> = pieces.iter().map(|piece| piece.scope).zip(own.iter().cloned()).collect();
        axis.settle(&mut settled);
        let mut read = Vec::new();
        for (piece, (own, (_, settled))) in pieces.iter().zip(own.iter().zip(&settled)) {
            let denotes = settled.intersection(within);
            let ceded = own.difference(settled).intersection(within);
            let value = Self::read(&piece.value, axis, &denotes)?;
            let end = match &piece.value {
                syntax::Pieces::One(node) => node.span().end,
                syntax::Pieces::Several { span, .. } => span.end,
            };
            let (scope, scope_span) = (piece.scope.to_owned(), piece.scope_span.clone());
            read.push(Piece { scope, span: scope_span.start..end, scope_span, denotes, ceded, value });
        }
        Ok(Self::Several { form, pieces: read })
    }

    /// Says a value of one target more, of which nothing is said. What is said so stands nowhere yet.
    pub fn say(&mut self, target: usize, value: Value) {
        let Self::Several { pieces, .. } = self else { return };
        let same = |piece: &&mut Piece| matches!(&piece.value, Self::One { value: other, .. } if *other == value);
        match pieces.iter_mut().find(same) {
            Some(piece) => piece.denotes.insert(target),
            None => pieces.push(Piece {
                scope: String::new(),
                scope_span: 0..0,
                denotes: with(&TargetSet::default(), target),
                ceded: TargetSet::default(),
                value: Self::One { value, span: 0..0 },
                span: 0..0,
            }),
        }
    }

    /// What is said of the targets of a set, as a new entry has it: one value, or a table of scopes; nothing if nothing is said.
    pub fn toml(&self, axis: &Axis, within: &TargetSet) -> Option<String> {
        let Self::Several { pieces, .. } = self else { return None };
        let mut said: Vec<(TargetSet, String)> = Vec::new();
        for piece in pieces {
            let Self::One { value, .. } = &piece.value else { continue };
            said.push((piece.denotes.intersection(within), value.toml(false)));
        }
        said.retain(|(set, _)| !set.is_empty());
        said.sort_by_key(|(set, _)| first(set));
        match &said[..] {
            [] => None,
            [(set, value)] if set == within => Some(value.clone()),
            _ => {
                let one = |(set, value): &(TargetSet, String)| format!("{} = {value}", key(&axis.spell(within, set).to_string()));
                Some(format!("{{ {} }}", said.iter().map(one).collect::<Vec<_>>().join(", ")))
            }
        }
    }

    /// The value at a target.
    pub fn at(&self, target: usize) -> Option<&Value> {
        match self {
            Self::One { value, .. } => Some(value),
            Self::Several { pieces, .. } => {
                pieces.iter().filter(|piece| piece.denotes.contains(target)).find_map(|piece| piece.value.at(target))
            }
        }
    }

    /// Every value that is said of a target; more than one is an error of the text.
    fn said_of(&self, target: usize) -> Vec<&Value> {
        match self {
            Self::One { value, .. } => vec![value],
            Self::Several { pieces, .. } => {
                let speak = pieces.iter().filter(|piece| piece.denotes.contains(target));
                speak.flat_map(|piece| piece.value.said_of(target)).collect()
            }
        }
    }

    /// The targets of the statement that has a target, of those around it.
    pub fn around(&self, target: usize, within: &TargetSet) -> TargetSet {
        match self {
            Self::One { .. } => within.clone(),
            Self::Several { pieces, .. } => {
                let piece = pieces.iter().find(|piece| piece.denotes.contains(target));
                piece.map(|piece| piece.value.around(target, &piece.denotes.intersection(within))).unwrap_or_default()
            }
        }
    }

    /// Every value.
    pub fn values(&self) -> Vec<&Value> {
        match self {
            Self::One { value, .. } => vec![value],
            Self::Several { pieces, .. } => pieces.iter().flat_map(|piece| piece.value.values()).collect(),
        }
    }

    /// Makes the text say what is wanted. What it says of other targets stays.
    pub fn edit(&self, wanted: &Wanted, text: &str, splices: &mut Splices) {
        let Wanted { axis, within, target, value: new, .. } = *wanted;
        if !within.contains(target) || self.said_of(target).into_iter().eq(new) {
            return;
        }
        match self {
            Self::One { span, .. } => {
                let rest = without(within, target);
                // The new piece speaks for itself, beside one that does not name its architecture.
                let whole = axis.spell(within, within).to_string();
                let old = match new {
                    Some(_) if axis.gives_way(&whole, target) => whole,
                    _ => axis.spell(within, &rest).to_string(),
                };
                let mut pieces = vec![(first(&rest), key(&old), text[span.clone()].to_owned())];
                pieces.extend(new.map(|_| wanted.piece()));
                pieces.retain(|(first, ..)| first.is_some());
                pieces.sort();
                let all: Vec<_> = pieces.iter().map(|(_, key, value)| format!("{key} = {value}")).collect();
                match (&pieces[..], new) {
                    ([(_, _, only)], Some(_)) => splices.replace(span.clone(), only.clone()),
                    _ => splices.replace(span.clone(), format!("{{ {} }}", all.join(", "))),
                }
            }
            Self::Several { pieces, .. } if pieces.iter().all(|piece| piece.scope.parse::<Arch>().is_ok()) => {
                match pieces.iter().find(|piece| piece.denotes.contains(target)) {
                    Some(piece) if new.is_some() && axis.gives_way(&piece.scope, target) => self.add(wanted, text, splices),
                    Some(piece) => {
                        let within = within.intersection(&piece.denotes);
                        piece.value.edit(&Wanted { within: &within, ..*wanted }, text, splices);
                    }
                    None => self.add(wanted, text, splices),
                }
            }
            Self::Several { pieces, .. } => {
                // A kernel that gained an architecture may be in several.
                let mut right = pieces.iter().filter(|piece| piece.value.at(target) == new && piece.denotes.contains(target));
                let right = right.next().map(|piece| piece.span.clone());
                let wrong = |piece: &&Piece| {
                    let gives_way = new.is_some() && axis.gives_way(&piece.scope, target);
                    piece.denotes.contains(target) && right.as_ref() != Some(&piece.span) && !gives_way
                };
                for piece in pieces.iter().filter(wrong) {
                    let rest = without(&piece.denotes.intersection(within), target);
                    match (rest.is_empty(), new) {
                        (false, _) => self.respell(piece, &rest, wanted, text, splices),
                        // It was said of this target alone.
                        (true, Some(new)) => {
                            let value = piece.scope_span.end..piece.span.end;
                            return splices.replace(value, format!(" = {}", new.toml(wanted.hexadecimal)));
                        }
                        (true, None) => {}
                    }
                }
                // A value goes on from the target before, or begins before the one after.
                let goes_on = |piece: &&Piece| {
                    let set = piece.denotes.intersection(within);
                    let says = |t: usize| set.contains(t) && piece.value.at(t) == new;
                    !set.contains(target) && beside(axis, within, target).into_iter().flatten().any(says)
                };
                match pieces.iter().find(goes_on).filter(|_| new.is_some()) {
                    _ if right.is_some() => {}
                    Some(piece) => {
                        let set = with(&piece.denotes.intersection(within), target);
                        self.respell(piece, &set, wanted, text, splices);
                    }
                    None => self.add(wanted, text, splices),
                }
            }
        }
    }

    /// Gives a piece another scope.
    fn respell(&self, piece: &Piece, set: &TargetSet, wanted: &Wanted, text: &str, splices: &mut Splices) {
        let new = key(&wanted.axis.spell(wanted.within, &set.union(&piece.ceded)).to_string());
        match self.column(text) {
            Some(width) => {
                let blank = text[piece.scope_span.end..].len() - text[piece.scope_span.end..].trim_start_matches(' ').len();
                splices.replace(piece.scope_span.start..piece.scope_span.end + blank, padded(&new, width));
            }
            None => splices.replace(piece.scope_span.clone(), new),
        }
    }

    /// Adds a piece behind those of earlier targets.
    fn add(&self, wanted: &Wanted, text: &str, splices: &mut Splices) {
        let Self::Several { form, pieces } = self else { return };
        if wanted.value.is_none() {
            return;
        }
        let (at, key, value) = wanted.piece();
        let earlier = |piece: &&Piece| first(&piece.denotes.intersection(wanted.within)) < at;
        let Some(after) = pieces.iter().rev().find(earlier).or(pieces.last()) else { return };
        let end = after.span.end;
        match form {
            Form::Header => {
                splices.insert(end, format!("\n{}= {value}", padded(&key, self.column(text).unwrap_or(0))));
            }
            Form::Dotted => {
                let stem = &text[line_start(text, after.scope_span.start)..after.scope_span.start];
                splices.insert(end, format!("\n{stem}{key} = {value}"));
            }
            Form::Inline => splices.insert(end, format!(", {key} = {value}")),
        }
    }

    /// Where the values of a table with a header stand, by its first line.
    fn column(&self, text: &str) -> Option<usize> {
        match self {
            Self::Several { form: Form::Header, pieces } => {
                let first = pieces.first()?;
                let key = &text[first.scope_span.end..first.span.end];
                Some(first.scope_span.len() + key.len() - key.trim_start_matches(' ').len())
            }
            _ => None,
        }
    }
}

/// The first target of a piece, its scope and its value.
type New = (Option<usize>, String, String);

impl Wanted<'_> {
    fn piece(&self) -> New {
        let scope = self.axis.spell(self.within, &with(&TargetSet::default(), self.target)).to_string();
        (Some(self.target), key(&scope), self.value.map(|value| value.toml(self.hexadecimal)).unwrap_or_default())
    }
}

/// The targets of the same architecture before and after a target, of those that have the thing.
pub fn beside(axis: &Axis, within: &TargetSet, target: usize) -> [Option<usize>; 2] {
    let same = |other: &usize| within.contains(*other) && axis.targets[*other].arch == axis.targets[target].arch;
    [(0..target).rev().find(same), (target + 1..axis.targets.len()).find(same)]
}

/// A set with a target.
pub fn with(set: &TargetSet, target: usize) -> TargetSet {
    let mut set = set.clone();
    set.insert(target);
    set
}

/// A set without a target.
pub fn without(set: &TargetSet, target: usize) -> TargetSet {
    set.difference(&with(&TargetSet::default(), target))
}

fn first(set: &TargetSet) -> Option<usize> {
    set.iter().next()
}

fn padded(key: &str, width: usize) -> String {
    format!("{key:width$}", width = width.max(key.len() + 1))
}

fn key(scope: &str) -> String {
    match scope.parse::<Arch>() {
        Ok(arch) => arch.to_string(),
        Err(_) => format!("\"{scope}\""),
    }
}
