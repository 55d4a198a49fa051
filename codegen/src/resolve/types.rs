//! Resolves types by their names: scalars, typedefs, pointers, arrays, layouts, and their extents.

use super::resolver::{Resolver, State, Whole};
use crate::ctype::{CType, Length};
use crate::diagnostic::nearest;
use crate::layouts::*;
use crate::place::LARGEST;
use crate::source::{Span, home, standard_types};
use crate::spec::{self, Body, ValuesKind};

impl Resolver<'_, '_> {
    pub(super) fn ty(&mut self, ctype: &CType, span: Span, depth: usize) -> Option<Type> {
        match ctype {
            CType::Name { name, .. } => self.named(name, span, depth),
            CType::Pointer { to, .. } => Some(self.pointer(to, span, depth)?),
            CType::Function { .. } => {
                self.problem(span, "member has a function type", "here", "write a pointer to the function: `T (*) (…)`");
                None
            }
            CType::Array { of, length } => {
                let of: Box<_> = self.ty(of, span, depth)?.into();
                if self.is_flexible(&of) {
                    let help = "give the inner array a length: only the first of several lengths can be omitted";
                    self.problem(span, "array elements have no fixed size", "each element is or ends in a flexible array", help);
                    return None;
                }
                let count = match *length {
                    Length::Count(n) => n,
                    Length::AnySize => 1,
                    Length::Flexible => 0,
                };
                match self.extent(&of)?.size.checked_mul(count) {
                    Some(size) if size <= LARGEST => Some(Type::Array { of, count }),
                    _ => self.too_large(span),
                }
            }
        }
    }

    fn named(&mut self, name: &str, span: Span, depth: usize) -> Option<Type> {
        let spec = self.spec;
        if let Some(scalar) = spec.scalars.get(name) {
            if scalar.size == 0 {
                self.problem(span, "member has the type void", "here", "write a pointer to void, or another type");
                return None;
            }
            return Some(Type::Scalar { size: scalar.size, signed: scalar.signed, c: scalar.c.clone() });
        }
        if let Some(typedef) = spec.typedefs.get(name) {
            if depth > 16 {
                self.problem(span, &format!("typedef `{name}` refers to itself"), "used here", "fix it in scalars.toml");
                return None;
            }
            let Some(piece) = typedef.get(self.target) else {
                self.problem(
                    span,
                    &format!("typedef `{name}` has no type for these targets"),
                    "used here",
                    "add the type in scalars.toml",
                );
                return None;
            };
            return self.ty(&piece.value, piece.span, depth + 1);
        }
        if spec.broken.contains(name) {
            return None;
        }
        let Some((name, definition)) = spec.definitions.get_key_value(name) else {
            let known = self.remedies.get(name).cloned();
            let help = known.unwrap_or_else(|| self.remedy(name));
            self.remedies.entry(name.to_owned()).or_insert_with(|| help.clone());
            self.problem(span, &format!("unknown type `{name}`"), "used here", &help);
            return None;
        };
        if self.is_macros(name, span) {
            return None;
        }
        if !definition.scope.contains(self.target) {
            self.problem_also(
                definition.name.span,
                "defined here, for other targets",
                span,
                &format!("type `{name}` does not exist for these targets"),
                "used here",
                "widen `in` of the type, or narrow `in` of the member",
            );
            return None;
        }
        match self.definition(name, definition) {
            State::Done(id) => Some(Type::Layout(id)),
            State::Failed => None,
            State::Begun => {
                self.problem(span, &format!("type `{name}` contains itself"), "used here", "write a pointer to the type");
                None
            }
        }
    }

    /// Whether a type name is that of a set of macros, which is not a type.
    fn is_macros(&mut self, name: &str, span: Span) -> bool {
        let spec = self.spec;
        let Some(definition) = spec.definitions.get(name) else { return false };
        let held = match &definition.body {
            Body::Values(values) if values.kind != ValuesKind::Enum => &values.ty.value,
            _ => return false,
        };
        let help = format!("write an integer type and the name of the set: `type = \"{held}\"`, `values = \"{name}\"`");
        let title = format!("`{name}` is a set of constants, not a type");
        self.problem_also(definition.name.span, "defined here", span, &title, "used here", &help);
        true
    }

    /// The remedy for an undefined type.
    fn remedy(&self, name: &str) -> String {
        if let Some(path) = home(name) {
            let copy = format!("or copy {path} of etw-layouts, and the types that it embeds, to your specs");
            return format!("to use the built-in type, begin your windows.toml with `extends = \"windows\"`; {copy}");
        }
        let spec = self.spec;
        // Digits are widths or versions: a name with different digits is a different type, not a spelling error.
        let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
        let own = spec.definitions.keys().chain(spec.scalars.keys()).chain(spec.typedefs.keys()).map(String::as_str);
        let known = own.chain(standard_types());
        let same_digits = |known: &&str| digits(known) == digits(name);
        let near = nearest(name, known.filter(same_digits));
        let near = near.map(|near| format!("did you mean `{near}`? Otherwise, ")).unwrap_or_default();
        format!("{near}define it in a file of its own, or add a typedef in scalars.toml, such as `DWORD = \"ULONG\"`")
    }

    fn pointer(&mut self, to: &CType, span: Span, depth: usize) -> Option<Type> {
        let size = self.spec.axis.targets[self.target].arch.pointer_size();
        let to = match to {
            // Headers also declare the types that a function type names.
            CType::Function { .. } if to.names().into_iter().any(|name| self.is_macros(name, span)) => return None,
            CType::Function { .. } => Type::Function,
            CType::Pointer { to, .. } => self.pointer(to, span, depth)?,
            CType::Array { .. } => self.ty(to, span, depth)?,
            CType::Name { name, .. } => match self.spec.scalars.get(name) {
                Some(scalar) if scalar.size == 0 => Type::Void,
                Some(_) => self.named(name, span, depth)?,
                None if self.spec.typedefs.contains_key(name) => self.named(name, span, depth)?,
                None if self.is_macros(name, span) => return None,
                None => Type::Named(name.clone()),
            },
        };
        Some(Type::Pointer { size, to: to.into() })
    }

    pub(super) fn enumeration(&mut self, values: &spec::Values) -> Option<Enumeration> {
        let ctype = CType::parse(&values.ty.value).ok();
        let ty = ctype.and_then(|ctype| self.ty(&ctype, values.ty.span, 0));
        let Some(Type::Scalar { size, signed, c }) = ty else {
            self.problem(
                values.ty.span,
                "type of the values is not an integer",
                "not an integer type",
                "write ULONG, USHORT, LONG …",
            );
            return None;
        };
        let mut constants = Vec::new();
        let target = self.target;
        for constant in values.constants.iter().filter(|c| c.scope.contains(target)) {
            let Some(piece) = constant.value.get(self.target) else { continue };
            // The range of the type. With 64 bits it includes every value that a spec can state.
            let unused = 64 - size * 8;
            let fits = match signed {
                true => (i64::MIN >> unused..=i64::MAX >> unused).contains(&piece.value),
                false => unused == 0 || piece.value >= 0 && piece.value as u64 <= u64::MAX >> unused,
            };
            if !fits {
                let label = format!("does not fit into {}", values.ty.value);
                self.problem_also(
                    values.ty.span,
                    "the type",
                    piece.span,
                    "value is out of range for its type",
                    &label,
                    "use a larger type, or correct the value",
                );
            }
            // Macros are the same for all targets and stay in the spec. Their layout only has the integer type.
            if values.kind == ValuesKind::Enum {
                constants.push((constant.name.value.clone(), piece.value));
            }
        }
        Some(Enumeration { size, signed, c, constants })
    }

    pub(super) fn extent(&self, ty: &Type) -> Option<Extent> {
        let natural = |size: u64| Extent { size, align: size.max(1), required: 1 };
        Some(match ty {
            Type::Scalar { size, .. } | Type::Pointer { size, .. } => natural(*size),
            Type::Array { of, count } => {
                let one = self.extent(of)?;
                Extent { size: one.size.checked_mul(*count)?, ..one }
            }
            Type::Layout(id) => self.layouts[*id].extent(),
            Type::Inline(aggregate) => aggregate.extent,
            Type::Void | Type::Function | Type::Named(_) => return None,
        })
    }

    /// Whether a type is a flexible array, or ends in one.
    pub(super) fn is_flexible(&self, ty: &Type) -> bool {
        self.whole(ty).flexible
    }

    /// The totals of a type. An array counts as one element.
    pub(super) fn whole(&self, ty: &Type) -> Whole {
        match ty {
            Type::Array { of, count } => Whole { flexible: *count == 0, ..self.whole(of) },
            Type::Layout(id) => self.wholes[*id],
            Type::Inline(aggregate) => self.whole_of(aggregate),
            _ => Whole { members: 1, flexible: false },
        }
    }

    pub(super) fn whole_of(&self, aggregate: &Aggregate) -> Whole {
        aggregate.fields.iter().map(|field| self.whole(&field.ty)).fold(Whole::default(), |all, whole| Whole {
            members: all.members + whole.members,
            flexible: all.flexible || whole.flexible,
        })
    }

    pub(super) fn is_aggregate(&self, ty: &Type) -> bool {
        matches!(ty, Type::Layout(id) if matches!(self.layouts[*id].form, Form::Aggregate(_)))
    }
}
