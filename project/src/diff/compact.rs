//! The sides of all targets in little room, for a program elsewhere that compares any two of them as [`changes`](super::changes) does.

use super::Side;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_symbols::{Aggregate, Enumeration, Member, Type, TypeFacts};
use serde::Serialize;
use std::collections::HashMap;

/// What each target has, every distinct definition once.
#[derive(Debug, Default, Serialize)]
pub struct Compact {
    /// Names, spelled types and the keys of types, to which numbers below lead.
    pub words: Vec<String>,
    /// The definitions.
    pub definitions: Vec<Definition>,
    /// The targets' definitions, by their numbers, in the order of [`names`](Self::names); -1 where there is none.
    pub targets: Vec<Vec<i32>>,
    /// The names of the definitions.
    pub names: Vec<String>,
}

/// A definition: kind, size and members, or kind, size and constants.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Definition(&'static str, u64, Content);

/// What it is made of.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
enum Content {
    Members(Vec<Compacted>),
    Constants(Vec<(usize, i64)>),
}

/// A member: name, offset, type as it is spelled, the key of its type; lowest bit and width of a bit field, or -1; and what is within an
/// unnamed type. Two types are the same to a comparison if their keys are the same.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
struct Compacted(usize, u64, usize, usize, i32, i32, #[serde(skip_serializing_if = "Option::is_none")] Option<Box<Definition>>);

impl Compact {
    /// The sides, one a target, in the order of the targets.
    pub fn of(layouts: &Layouts, sides: &[&Side]) -> Self {
        let names: Vec<String> = layouts.spec.definitions.keys().cloned().collect();
        let mut building = Building::default();
        let mut targets = Vec::new();
        for side in sides {
            let number = |name: &String| side.types.get(name).map_or(-1, |facts| building.number(side, name, facts));
            targets.push(names.iter().map(number).collect());
        }
        let mut definitions: Vec<_> = building.definitions.into_iter().collect();
        definitions.sort_by_key(|(_, number)| *number);
        let definitions = definitions.into_iter().map(|(definition, _)| definition).collect();
        Self { words: building.words, definitions, targets, names }
    }
}

#[derive(Default)]
struct Building {
    words: Vec<String>,
    numbers: HashMap<String, usize>,
    definitions: HashMap<Definition, i32>,
}

impl Building {
    fn number(&mut self, side: &Side, name: &str, facts: &TypeFacts) -> i32 {
        let definition = self.definition(side, name, "", facts);
        let next = i32::try_from(self.definitions.len()).unwrap_or(i32::MAX);
        *self.definitions.entry(definition).or_insert(next)
    }

    fn word(&mut self, text: &str) -> usize {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        self.words.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.words.len() - 1);
        self.words.len() - 1
    }

    fn definition(&mut self, side: &Side, name: &str, path: &str, facts: &TypeFacts) -> Definition {
        match facts {
            TypeFacts::Aggregate(Aggregate { kind, size, members }) => {
                let members = members.iter().map(|member| self.member(side, name, path, member)).collect();
                Definition(kind.as_str(), *size, Content::Members(members))
            }
            TypeFacts::Enumeration(Enumeration { size, signed, constants }) => {
                let kind = if *signed { "enum" } else { "unsigned enum" };
                let constants = constants.iter().map(|(name, value)| (self.word(name), *value)).collect();
                Definition(kind, *size, Content::Constants(constants))
            }
        }
    }

    fn member(&mut self, side: &Side, name: &str, path: &str, member: &Member) -> Compacted {
        let own = format!("{path}{}", member.name);
        let (unit, bit, bits) = match &member.ty {
            Type::Bits { unit, position, width } => (&**unit, *position as i32, *width as i32),
            ty => (ty, -1, -1),
        };
        let spelled = side.c_types.get(name).and_then(|types| types.get(&own)).cloned().unwrap_or_else(|| unit.to_string());
        let inner = unnamed(unit).map(|facts| Box::new(self.definition(side, name, &format!("{own}."), facts)));
        let (own, spelled, key) = (self.word(&member.name), self.word(&spelled), self.word(&key(unit)));
        Compacted(own, member.offset, spelled, key, bit, bits, inner)
    }
}

/// The definition that a member carries without a name for it.
fn unnamed(ty: &Type) -> Option<&TypeFacts> {
    match ty {
        Type::Unnamed(facts) => Some(facts),
        _ => None,
    }
}

/// A text that two types share if they are the same to a comparison. Behind pointers a name is all.
fn key(ty: &Type) -> String {
    match ty {
        Type::Pointer(to) => match &**to {
            Type::Aggregate(name) | Type::Enumeration(name) => format!("*{name}"),
            Type::Unnamed(_) | Type::Opaque => "*?".to_owned(),
            to => format!("*({})", key(to)),
        },
        Type::Array(of, count) => format!("{}[{count}]", key(of)),
        Type::Bits { unit, .. } => key(unit),
        Type::Unnamed(facts) => match &**facts {
            TypeFacts::Aggregate(aggregate) => format!("{} {{}}", aggregate.kind.as_str()),
            TypeFacts::Enumeration(_) => "enum {}".to_owned(),
        },
        Type::Aggregate(name) => format!("struct {name}"),
        Type::Enumeration(name) => format!("enum {name}"),
        Type::Void | Type::Integer(_) | Type::Float(_) | Type::Function | Type::Opaque => ty.to_string(),
    }
}
