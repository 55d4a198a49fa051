//! Reading a snapshot.

use super::text::{build, decimal, hexadecimal, integer, unescape};
use super::{Error, HEADER, Kernel, Snapshot};
use crate::identity::{self, ImageFile, Pdb};
use crate::model::{Aggregate, AggregateKind, Enumeration, Globals, MAX_DEPTH, Member, Offsets, Type, TypeFacts, Types};
use std::collections::BTreeMap;
use std::str::Lines;

/// Prefix of the line of a structure with some known offsets.
const OFFSETS: &str = "offsets ";

/// Reads the whole text.
pub(super) fn snapshot(text: &str) -> Result<Snapshot, Error> {
    let mut lines = text.lines();
    let mut parser = Parser { next: lines.next(), line: 1, lines };
    if parser.peek() != Some(HEADER) {
        return Err(parser.error(format!("expected `{HEADER}` in the first line")));
    }
    parser.advance();
    let producer = parser.peek().and_then(|line| unescape(line.strip_prefix("producer ")?, true));
    let producer = producer.ok_or_else(|| parser.error("expected `producer` and a name"))?;
    parser.advance();
    let mut kernels = Vec::new();
    while let Some(line) = parser.peek().filter(|line| line.starts_with("kernel ")) {
        let kernel = kernel(line).ok_or_else(|| {
            parser.error(
                "expected `kernel`, a version as in 10.0.19041.329, x86, x64 or arm64, then file, GUID and age of the symbols, or `-`, \
                 and then nothing, or file, time stamp and size of the image",
            )
        })?;
        parser.advance();
        kernels.push(Kernel { globals: parser.places("variables")?, ..kernel });
    }
    if kernels.is_empty() {
        return Err(parser.error("expected a `kernel` line"));
    }
    let types = parser.types()?;
    let offsets = parser.offsets()?;
    Ok(Snapshot { producer, kernels, types, offsets })
}

fn kernel(line: &str) -> Option<Kernel> {
    let mut fields = line.strip_prefix("kernel ")?.split(' ');
    let build = build(fields.next()?)?;
    let arch = fields.next()?.parse().ok()?;
    let files: Vec<_> = fields.take(7).collect();
    let (pdb, image) = match files[..] {
        ["-", ref image @ ..] if matches!(image.len(), 0 | 3) => (None, image),
        [name, guid, age, ref image @ ..] => {
            let guid = identity::guid(guid).filter(|guid| !guid.is_nil())?;
            (Some(Pdb { name: unescape(name, false)?, guid, age: decimal(age)? }), image)
        }
        _ => return None,
    };
    let image = match *image {
        [] => None,
        [name, time_stamp, size] => {
            let number = |text| u32::try_from(hexadecimal(text)?).ok();
            Some(ImageFile { name: unescape(name, false)?, time_stamp: number(time_stamp)?, size: number(size)? })
        }
        _ => return None,
    };
    Some(Kernel { build, arch, pdb, image, globals: Globals::new() })
}

struct Parser<'a> {
    /// The next line.
    next: Option<&'a str>,
    /// Its number, from 1.
    line: usize,
    /// The lines after it.
    lines: Lines<'a>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.next
    }

    fn advance(&mut self) {
        self.next = self.lines.next();
        self.line += 1;
    }

    /// The next line without its indentation, if it is indented exactly this far.
    fn peek_at(&self, indent: usize) -> Option<&'a str> {
        let line = self.peek()?;
        let text = line.trim_start_matches(' ');
        (line.len() - text.len() == indent).then_some(text)
    }

    fn error(&self, reason: impl Into<String>) -> Error {
        Error { line: self.line, reason: reason.into() }
    }

    fn types(&mut self) -> Result<Types, Error> {
        let mut types: Vec<(String, TypeFacts)> = Vec::new();
        while self.peek().is_some_and(|line| !line.starts_with(OFFSETS)) {
            let (name, mut definition) = self.peek_at(0).and_then(top).ok_or_else(|| {
                self.error(
                    "expected `struct` or `union`, name and size, or `enum`, name and integer, or `offsets` and name, or a line with less indentation",
                )
            })?;
            if types.last().is_some_and(|(last, _)| *last >= name) {
                return Err(self.error(format!("`{name}` is out of order or duplicate: types are sorted by name")));
            }
            self.advance();
            self.content(&mut definition, 1, 0)?;
            types.push((name, definition));
        }
        Ok(types.into_iter().collect())
    }

    /// Reads the structures with some known offsets.
    fn offsets(&mut self) -> Result<Offsets, Error> {
        let mut all = Offsets::new();
        while let Some(line) = self.peek() {
            let name = line.strip_prefix(OFFSETS).and_then(|name| unescape(name, false));
            let name =
                name.ok_or_else(|| self.error("expected `offsets` and a name, or an offset that begins with 0x and a name"))?;
            if all.last_key_value().is_some_and(|(last, _)| *last >= name) {
                return Err(self.error(format!("`{name}` is out of order or duplicate: structures are sorted by name")));
            }
            self.advance();
            let members = self.places("members")?;
            all.insert(name, members);
        }
        Ok(all)
    }

    /// Reads consecutive lines of a number and a name, indented by one space.
    fn places(&mut self, of: &str) -> Result<BTreeMap<String, u64>, Error> {
        let mut places = BTreeMap::new();
        while let Some((place, name)) = self.peek_at(1).and_then(|text| text.split_once(' ')) {
            let (Some(place), Some(name)) = (hexadecimal(place), unescape(name, false)) else { break };
            if places.last_key_value().is_some_and(|(last, _)| *last >= name) {
                return Err(self.error(format!("`{name}` is out of order or duplicate: {of} are sorted by name")));
            }
            places.insert(name, place);
            self.advance();
        }
        Ok(places)
    }

    /// Reads the lines below a type.
    fn content(&mut self, definition: &mut TypeFacts, indent: usize, depth: usize) -> Result<(), Error> {
        match definition {
            TypeFacts::Aggregate(aggregate) => {
                while let Some(text) = self.peek_at(indent) {
                    aggregate.members.push(self.member(text, indent, depth)?);
                }
            }
            TypeFacts::Enumeration(enumeration) => {
                while let Some(text) = self.peek_at(indent) {
                    let constant = constant(text).ok_or_else(|| self.error("expected a value and a name"))?;
                    enumeration.constants.push(constant);
                    self.advance();
                }
            }
        }
        Ok(())
    }

    fn member(&mut self, text: &str, indent: usize, depth: usize) -> Result<Member, Error> {
        let mut fields = text.splitn(3, ' ');
        let mut field = || fields.next().unwrap_or_default();
        let (offset, name, ty) = (hexadecimal(field()), unescape(field(), false), field());
        let (Some(offset), Some(name)) = (offset, name) else {
            return Err(self.error("expected an offset that begins with 0x, a name and a type"));
        };
        let mut ty = self.ty(ty, depth + 1)?;
        self.advance();
        if let Some(unnamed) = carried(&mut ty) {
            self.content(unnamed, indent + 1, depth + 2)?;
        }
        Ok(Member { name, offset, ty })
    }

    fn ty(&self, text: &str, depth: usize) -> Result<Type, Error> {
        if depth >= MAX_DEPTH {
            return Err(self.error(format!("types nest deeper than {MAX_DEPTH}")));
        }
        let unknown = || self.error(format!("unknown type `{text}`"));
        let nested = |text| self.ty(text, depth + 1).map(Box::new);
        if let Some(to) = text.strip_prefix('*') {
            return Ok(Type::Pointer(nested(to)?));
        }
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            let end = text.find(|char: char| !char.is_ascii_digit()).ok_or_else(unknown)?;
            let (count, rest) = text.split_at(end);
            if let Some(element) = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                return Ok(Type::Array(nested(element)?, decimal(count).ok_or_else(unknown)?));
            }
            let (position, unit) = rest.strip_prefix('@').and_then(|rest| rest.split_once(':')).ok_or_else(unknown)?;
            let (position, width) = decimal(position).zip(decimal(count)).ok_or_else(unknown)?;
            return Ok(Type::Bits { unit: nested(unit)?, position, width });
        }
        leaf(text).ok_or_else(unknown)
    }
}

/// A type that contains no other.
fn leaf(text: &str) -> Option<Type> {
    if let Some(name) = text.strip_prefix('.') {
        return unescape(name, false).map(Type::Aggregate);
    }
    if let Some(name) = text.strip_prefix('#') {
        return unescape(name, false).map(Type::Enumeration);
    }
    match text {
        "void" => Some(Type::Void),
        "fn" => Some(Type::Function),
        "?" => Some(Type::Opaque),
        _ => match text.split_once(' ') {
            Some((keyword, shape)) => head(keyword, shape).map(|head| Type::Unnamed(Box::new(head))),
            None => integer(text).map(Type::Integer).or_else(|| Some(Type::Float(decimal(text.strip_prefix('f')?)?))),
        },
    }
}

/// The first line of a type: its name and its definition without content.
fn top(line: &str) -> Option<(String, TypeFacts)> {
    let mut fields = line.split(' ');
    let (keyword, name, shape) = (fields.next()?, fields.next()?, fields.next()?);
    let definition = head(keyword, shape)?;
    fields.next().is_none().then_some((unescape(name, false)?, definition))
}

fn head(keyword: &str, shape: &str) -> Option<TypeFacts> {
    let kind = match keyword {
        "struct" => AggregateKind::Struct,
        "union" => AggregateKind::Union,
        "enum" => {
            let signed = shape.starts_with('i');
            let size = decimal(shape.strip_prefix(['i', 'u'])?)?;
            return Some(TypeFacts::Enumeration(Enumeration { size, signed, constants: Vec::new() }));
        }
        _ => return None,
    };
    Some(TypeFacts::Aggregate(Aggregate { kind, size: hexadecimal(shape)?, members: Vec::new() }))
}

fn constant(text: &str) -> Option<(String, i64)> {
    let (value, name) = text.split_once(' ')?;
    let digits = value.strip_prefix('-').unwrap_or(value);
    let valid = digits.bytes().all(|byte| byte.is_ascii_digit());
    valid.then(|| Some((unescape(name, false)?, value.parse().ok()?))).flatten()
}

fn carried(ty: &mut Type) -> Option<&mut TypeFacts> {
    match ty {
        Type::Unnamed(definition) => Some(definition),
        Type::Pointer(inner) | Type::Array(inner, _) | Type::Bits { unit: inner, .. } => carried(inner),
        _ => None,
    }
}
