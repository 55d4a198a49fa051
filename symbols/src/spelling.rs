//! Text form of types in reports.

use crate::model::{Type, TypeFacts};
use std::fmt::{self, Display, Formatter};

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Void => f.write_str("void"),
            Type::Integer(integer) => f.write_str(integer.as_c()),
            Type::Float(4) => f.write_str("float"),
            Type::Float(8) => f.write_str("double"),
            Type::Float(size) => write!(f, "float of {size} bytes"),
            Type::Function => f.write_str("function"),
            Type::Pointer(to) if matches!(**to, Type::Pointer(_)) => write!(f, "{to}*"),
            Type::Pointer(to) => write!(f, "{to} *"),
            Type::Array(element, count) => array(f, element, *count),
            Type::Bits { unit, position, width } => write!(f, "{unit} : {width} at bit {position}"),
            Type::Aggregate(name) => f.write_str(name),
            Type::Enumeration(name) => write!(f, "enum {name}"),
            Type::Unnamed(definition) => match &**definition {
                TypeFacts::Aggregate(aggregate) => write!(f, "unnamed {}", aggregate.kind.as_str()),
                TypeFacts::Enumeration(_) => f.write_str("unnamed enum"),
            },
            Type::Opaque => f.write_str("unnamed type"),
        }
    }
}

/// As in C, the outermost count of a nested array comes first, after the innermost element.
fn array(f: &mut Formatter<'_>, mut element: &Type, count: u64) -> fmt::Result {
    let mut counts = format!("[{count}]");
    while let Type::Array(inner, count) = element {
        counts += &format!("[{count}]");
        element = inner;
    }
    write!(f, "{element} {counts}")
}
