//! The layouts of the specs in the model of symbol files, and their places in the specs.

use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::{self, Form, Layouts};
use etw_layouts_codegen::spec::{Body, Kind, ValuesKind};
use etw_layouts_symbols as symbols;
use symbols::{AggregateKind, Integer, Member, Type, TypeFacts, Types};

/// Whether a definition consists of macros, which symbols do not contain.
pub fn is_macros(layouts: &Layouts, name: &str) -> bool {
    let definition = layouts.spec.definitions.get(name);
    definition.is_some_and(|d| matches!(&d.body, Body::Values(v) if v.kind != ValuesKind::Enum))
}

/// The named types of a target.
pub fn types(layouts: &Layouts, target: TargetId, names: &[&str]) -> Types {
    let list = names.iter().filter_map(|name| Some(((*name).to_owned(), definition(layouts, &layouts.get(target, name)?.form))));
    list.collect()
}

/// The place of a member in the spec, or of the structure if no member has this path.
pub fn place(layouts: &Layouts, target: TargetId, name: &str, path: &str) -> Option<String> {
    let definition = layouts.spec.definitions.get(name)?;
    let mut span = definition.name.span;
    if let Some(Form::Aggregate(aggregate)) = layouts.get(target, name).map(|layout| &layout.form) {
        let mut members = aggregate.flat();
        for part in path.split('.') {
            let Some(found) = members.iter().find(|flat| flat.name == part) else { break };
            span = found.field.info.span;
            members = match &found.field.ty {
                layouts::Type::Inline(inner) => inner.flat(),
                _ => break,
            };
        }
    }
    if let Body::Values(values) = &definition.body {
        span = values.constants.iter().find(|c| c.name.value == path).map_or(span, |c| c.name.span);
    }
    Some(layouts.spec.sources.place(span))
}

fn definition(layouts: &Layouts, form: &Form) -> TypeFacts {
    match form {
        Form::Aggregate(aggregate) => TypeFacts::Aggregate(self::aggregate(layouts, aggregate)),
        Form::Enumeration(enumeration) => TypeFacts::Enumeration(symbols::Enumeration {
            size: enumeration.size,
            signed: enumeration.signed,
            constants: enumeration.constants.clone(),
        }),
    }
}

fn aggregate(layouts: &Layouts, aggregate: &layouts::Aggregate) -> symbols::Aggregate {
    let kind = match aggregate.kind {
        Kind::Struct => AggregateKind::Struct,
        Kind::Union => AggregateKind::Union,
    };
    let members = aggregate.flat().into_iter().map(|flat| {
        let ty = self::ty(layouts, &flat.field.ty);
        let ty = match flat.field.bits {
            Some(bits) => Type::Bits { unit: ty.into(), position: bits.position as u32, width: bits.width as u32 },
            None => ty,
        };
        Member { name: flat.name.to_owned(), offset: flat.offset, ty }
    });
    symbols::Aggregate { kind, size: aggregate.extent.size, members: members.collect() }
}

fn ty(layouts: &Layouts, ty: &layouts::Type) -> Type {
    match ty {
        // A spelling that C does not have, or has with another size or sign, becomes a difference.
        layouts::Type::Scalar { c, size, signed } => Integer::from_c(c)
            .filter(|integer| (integer.size(), integer.is_signed()) == (*size, *signed))
            .map_or(Type::Float(*size), Type::Integer),
        layouts::Type::Pointer { to, .. } => Type::Pointer(self::ty(layouts, to).into()),
        layouts::Type::Array { of, count } => Type::Array(self::ty(layouts, of).into(), *count),
        layouts::Type::Layout(id) => {
            let layout = &layouts.layouts[*id];
            match layout.form {
                Form::Aggregate(_) => Type::Aggregate(layout.name.clone()),
                Form::Enumeration(_) => Type::Enumeration(layout.name.clone()),
            }
        }
        layouts::Type::Inline(inner) => Type::Unnamed(TypeFacts::Aggregate(aggregate(layouts, inner)).into()),
        layouts::Type::Void => Type::Void,
        layouts::Type::Function => Type::Function,
        layouts::Type::Named(name) => Type::Aggregate(name.clone()),
    }
}
