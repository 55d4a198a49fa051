//! Writing a snapshot.

use super::text::{escape, integer_code};
use super::{HEADER, Kernel, Snapshot};
use crate::identity::ImageFile;
use crate::model::{Enumeration, Type, TypeFacts};
use std::collections::BTreeMap;
use std::fmt::{Formatter, Result};

/// Writes the whole text.
pub(super) fn snapshot(f: &mut Formatter<'_>, snapshot: &Snapshot) -> Result {
    writeln!(f, "{HEADER}")?;
    writeln!(f, "producer {}", escape(&snapshot.producer, true))?;
    for kernel in &snapshot.kernels {
        write_kernel(f, kernel)?;
    }
    for (name, definition) in &snapshot.types {
        let name = escape(name, false);
        match definition {
            TypeFacts::Aggregate(aggregate) => {
                writeln!(f, "{} {name} {:#x}", aggregate.kind.as_str(), aggregate.size)?;
            }
            TypeFacts::Enumeration(enumeration) => {
                writeln!(f, "enum {name} {}", enumeration_code(enumeration))?;
            }
        }
        write_content(f, definition, 1)?;
    }
    for (name, members) in &snapshot.offsets {
        writeln!(f, "offsets {}", escape(name, false))?;
        write_places(f, members)?;
    }
    Ok(())
}

/// Writes a line for each name, indented by one space.
fn write_places(f: &mut Formatter<'_>, places: &BTreeMap<String, u64>) -> Result {
    places.iter().try_for_each(|(name, place)| writeln!(f, " {place:#x} {}", escape(name, false)))
}

fn write_kernel(f: &mut Formatter<'_>, Kernel { build, arch, pdb, image, globals }: &Kernel) -> Result {
    let [major, minor, build, revision] = build;
    write!(f, "kernel {major}.{minor}.{build}.{revision} {} ", arch.as_str())?;
    match pdb {
        Some(pdb) => write!(f, "{} {:X} {}", escape(&pdb.name, false), pdb.guid.simple(), pdb.age)?,
        None => write!(f, "-")?,
    }
    if let Some(ImageFile { name, time_stamp, size }) = image {
        write!(f, " {} {time_stamp:#x} {size:#x}", escape(name, false))?;
    }
    writeln!(f)?;
    write_places(f, globals)
}

/// Writes the lines below a type, with the given indentation.
fn write_content(f: &mut Formatter<'_>, definition: &TypeFacts, indent: usize) -> Result {
    match definition {
        TypeFacts::Aggregate(aggregate) => {
            for member in &aggregate.members {
                write!(f, "{:indent$}{:#x} {} ", "", member.offset, escape(&member.name, false))?;
                write_type(f, &member.ty)?;
                writeln!(f)?;
                if let Some(unnamed) = member.ty.carried() {
                    write_content(f, unnamed, indent + 1)?;
                }
            }
        }
        TypeFacts::Enumeration(enumeration) => {
            for (name, value) in &enumeration.constants {
                writeln!(f, "{:indent$}{value} {}", "", escape(name, false))?;
            }
        }
    }
    Ok(())
}

fn write_type(f: &mut Formatter<'_>, ty: &Type) -> Result {
    match ty {
        Type::Void => f.write_str("void"),
        Type::Integer(integer) => f.write_str(integer_code(*integer)),
        Type::Float(size) => write!(f, "f{size}"),
        Type::Function => f.write_str("fn"),
        Type::Pointer(to) => {
            f.write_str("*")?;
            write_type(f, to)
        }
        Type::Array(element, count) => {
            write!(f, "{count}[")?;
            write_type(f, element)?;
            f.write_str("]")
        }
        Type::Bits { unit, position, width } => {
            write!(f, "{width}@{position}:")?;
            write_type(f, unit)
        }
        Type::Aggregate(name) => write!(f, ".{}", escape(name, false)),
        Type::Enumeration(name) => write!(f, "#{}", escape(name, false)),
        Type::Unnamed(definition) => match &**definition {
            TypeFacts::Aggregate(aggregate) => write!(f, "{} {:#x}", aggregate.kind.as_str(), aggregate.size),
            TypeFacts::Enumeration(enumeration) => write!(f, "enum {}", enumeration_code(enumeration)),
        },
        Type::Opaque => f.write_str("?"),
    }
}

fn enumeration_code(enumeration: &Enumeration) -> String {
    format!("{}{}", if enumeration.signed { 'i' } else { 'u' }, enumeration.size)
}
