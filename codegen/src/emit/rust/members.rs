//! The members of a structure over all its layouts, each stated once.

use super::aggregate::spelled;
use super::docs::{literal, quoted};
use crate::layouts::Field;
use std::fmt::Write;

/// The members of a structure, in the order of their first occurrence.
#[derive(Default)]
pub(super) struct Members(Vec<Member>);

/// A member, by its place and that of its variant.
#[derive(Clone, Copy)]
pub(super) struct MemberId(usize, usize);

/// The variants of a member with the same description.
struct Member {
    name: String,
    text: String,
    variants: Vec<Variant>,
}

struct Variant {
    /// Denotes the variant among all of this name.
    letter: String,
    /// The Rust type.
    ty: String,
    /// The type in C.
    c: String,
    /// The evidence for the member.
    known: String,
    /// The name of the function that replaces it, and its bits; empty if no functions reach it.
    functions: String,
}

impl Members {
    /// A member that is a field of a Rust type.
    pub fn field(&mut self, name: &str, field: &Field, ty: String) -> MemberId {
        self.id(name, field, ty, String::new(), |own, _| !own.contains('['))
    }

    /// A member that functions reach.
    pub fn accessed(&mut self, name: &str, field: &Field, ty: String, functions: String) -> MemberId {
        let can_have = |own: &str, new: &str| own == new || own.is_empty() && !new.contains('[');
        self.id(name, field, ty, functions, can_have)
    }

    /// The variant with the same properties, if it `can_have` these functions beside its own; otherwise a new one.
    fn id(
        &mut self,
        name: &str,
        field: &Field,
        ty: String,
        functions: String,
        can_have: impl Fn(&str, &str) -> bool,
    ) -> MemberId {
        let (text, c, known) = (literal(&field.info.doc), spelled(field), field.info.known().to_owned());
        let same_name: usize = self.0.iter().filter(|member| member.name == name).map(|member| member.variants.len()).sum();
        let place = self.0.iter().position(|member| member.name == name && member.text == text).unwrap_or_else(|| {
            self.0.push(Member { name: name.to_owned(), text, variants: Vec::new() });
            self.0.len() - 1
        });
        let variants = &mut self.0[place].variants;
        let is_same = |own: &Variant| own.ty == ty && own.c == c && own.known == known && can_have(&own.functions, &functions);
        let variant = variants.iter().position(is_same).unwrap_or_else(|| {
            variants.push(Variant { letter: letter(same_name), ty, c, known, functions: String::new() });
            variants.len() - 1
        });
        if !functions.is_empty() {
            variants[variant].functions = functions;
        }
        MemberId(place, variant)
    }

    pub fn name(&self, id: MemberId) -> &str {
        &self.0[id.0].name
    }

    pub fn letter(&self, id: MemberId) -> &str {
        &self.0[id.0].variants[id.1].letter
    }

    /// The members with their variants, a line each.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for Member { name, text, variants } in &self.0 {
            let _ = write!(out, "        {name} {text}:");
            for (place, Variant { letter, ty, c, known, functions }) in variants.iter().enumerate() {
                let gap = match place {
                    0 if variants.len() == 1 => " ",
                    0 => "\n            ",
                    _ => "\n            | ",
                };
                let functions = if functions.is_empty() { String::new() } else { format!(", {functions}") };
                let _ = write!(out, "{gap}{letter} {ty} = {}, {}{functions}", quoted(c), quoted(known));
            }
            out.push_str(";\n");
        }
        out
    }
}

/// Letters in their order; after `z`, also with a number.
fn letter(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}
