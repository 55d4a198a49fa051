//! Writing a snapshot.

use super::text::{escape, integer_code};
use super::{HEADER, Kernel, Snapshot};
use crate::model::{Definition, Enumeration, Type};
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
            Definition::Aggregate(aggregate) => {
                writeln!(f, "{} {name} {:#x}", aggregate.kind.as_str(), aggregate.size)?;
            }
            Definition::Enumeration(enumeration) => {
                writeln!(f, "enum {name} {}", enumeration_code(enumeration))?;
            }
        }
        write_content(f, definition, 1)?;
    }
    Ok(())
}

fn write_kernel(f: &mut Formatter<'_>, Kernel { build, arch, pdb }: &Kernel) -> Result {
    let [major, minor, build, revision] = build;
    write!(f, "kernel {major}.{minor}.{build}.{revision} {} ", arch.as_str())?;
    match pdb {
        Some(pdb) => writeln!(f, "{} {:032X} {}", escape(&pdb.name, false), pdb.guid, pdb.age),
        None => writeln!(f, "-"),
    }
}

/// Writes the lines below a type, so many spaces in.
fn write_content(f: &mut Formatter<'_>, definition: &Definition, indent: usize) -> Result {
    match definition {
        Definition::Aggregate(aggregate) => {
            for member in &aggregate.members {
                write!(f, "{:indent$}{:#x} {} ", "", member.offset, escape(&member.name, false))?;
                write_type(f, &member.ty)?;
                writeln!(f)?;
                if let Some(unnamed) = member.ty.carried() {
                    write_content(f, unnamed, indent + 1)?;
                }
            }
        }
        Definition::Enumeration(enumeration) => {
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
            Definition::Aggregate(aggregate) => write!(f, "{} {:#x}", aggregate.kind.as_str(), aggregate.size),
            Definition::Enumeration(enumeration) => write!(f, "enum {}", enumeration_code(enumeration)),
        },
        Type::Opaque => f.write_str("?"),
    }
}

fn enumeration_code(enumeration: &Enumeration) -> String {
    format!("{}{}", if enumeration.signed { 'i' } else { 'u' }, enumeration.size)
}
