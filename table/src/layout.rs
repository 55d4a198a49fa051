//! The columns of an event, by all versions of its schema.

use crate::node::Node;
use crate::scalar::Scalar;
use crate::value_type::{Type, Types};
use etw_layouts_etl::payload::{Count, Field, FieldList, InType, OutType};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Maximum number of fields of a schema, including members of structures, maximum number of columns, and maximum number of nested structures.
const MAX_FIELDS: usize = 1024;
const DEPTH: usize = 16;

/// The columns of the fields of an event. A field has one column in all versions of the event: the same field is one with the same name and the same
/// form, which is a value, a list, or a structure with the same members.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    columns: Vec<Column>,
    by_key: HashMap<String, usize>,
}

/// The column of a field.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Value(Types),
    List(Box<Form>),
    Structure(Vec<Column>),
}

impl Layout {
    /// Adds the fields of a version that have no columns yet, and widens the others.
    pub fn add(&mut self, fields: &FieldList<'_>) {
        for (key, column) in columns(fields).0 {
            match self.by_key.get(&key) {
                Some(at) => self.columns[*at].form.widen(&column.form),
                None if self.columns.len() < MAX_FIELDS => {
                    self.by_key.insert(key, self.columns.len());
                    self.columns.push(column);
                }
                None => return,
            }
        }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// The indices of the columns of the fields of a version, and whether all its fields have columns. The columns end before the first field that is
    /// invalid, is a structure without members, or exceeds a limit.
    pub fn of(&self, fields: &FieldList<'_>) -> (Vec<usize>, bool) {
        let (columns, is_whole) = columns(fields);
        let known: Vec<_> = columns.iter().map_while(|(key, _)| self.by_key.get(key).copied()).collect();
        let is_whole = is_whole && known.len() == columns.len();
        (known, is_whole)
    }

    /// The columns. Their names are unique and differ from those in `taken`, which are in lower case, even if case is ignored.
    pub fn nodes(&self, taken: HashSet<String>) -> Vec<Node> {
        let mut names = Unique(taken);
        self.columns.iter().map(|column| column.node(&mut names)).collect()
    }
}

/// The columns of a version, each with a key that is the same in other versions, and whether all its fields have columns.
fn columns(fields: &FieldList<'_>) -> (Vec<(String, Column)>, bool) {
    let all: Vec<Field<'_>> = fields.iter().take(MAX_FIELDS + 1).collect();
    let end = match fields {
        FieldList::Table { top, .. } => usize::from(*top).min(all.len()),
        _ => all.len(),
    };
    let mut builder = Builder { all: &all, left: MAX_FIELDS };
    let (mut at, mut columns, mut same) = (0, Vec::new(), HashMap::new());
    while at < end {
        let Some((column, next)) = builder.column(at, DEPTH) else { return (columns, false) };
        let mut key = column.name.to_lowercase();
        column.form.write_key(&mut key);
        let number = same.entry(key.clone()).or_insert(0);
        *number += 1;
        // Writing to memory cannot fail.
        let _ = write!(key, "#{number}");
        columns.push((key, column));
        at = next;
    }
    (columns, true)
}

impl Form {
    /// Writes what fields of the same form have in common.
    fn write_key(&self, out: &mut String) {
        match self {
            Self::Value(_) => out.push('.'),
            Self::List(item) => {
                out.push('[');
                item.write_key(out);
            }
            Self::Structure(members) => {
                out.push('{');
                for member in members {
                    out.push_str(&member.name.to_lowercase());
                    member.form.write_key(out);
                }
                out.push('}');
            }
        }
    }

    /// Widens the types of values. The other form has the same key.
    fn widen(&mut self, other: &Self) {
        match (self, other) {
            (Self::Value(own), Self::Value(other)) => {
                own.add(other);
            }
            (Self::List(own), Self::List(other)) => own.widen(other),
            (Self::Structure(own), Self::Structure(other)) => {
                own.iter_mut().zip(other).for_each(|(own, other)| own.form.widen(&other.form));
            }
            _ => {}
        }
    }

    fn node(&self, name: String) -> Node {
        match self {
            Self::Value(types) => Node::Scalar(Box::new(Scalar::new(name, types))),
            Self::List(item) => Node::list(name.clone(), item.node(name)),
            Self::Structure(members) => {
                let mut names = Unique(HashSet::new());
                Node::structure(name, members.iter().map(|member| member.node(&mut names)).collect())
            }
        }
    }

    /// The ends of the names of the columns: an empty one, and those of additional columns.
    fn ends(&self) -> Vec<&'static str> {
        match self {
            Self::Value(types) => [Some(""), types.is_named.then_some("_name"), types.ty.raw()].into_iter().flatten().collect(),
            Self::List(item) => item.ends(),
            Self::Structure(_) => vec![""],
        }
    }
}

impl Column {
    fn node(&self, names: &mut Unique) -> Node {
        self.form.node(names.name(&self.name, &self.form.ends()))
    }
}

/// Names of columns, in lower case.
struct Unique(HashSet<String>);

impl Unique {
    /// A unique name for columns with these ends of names: the name itself, or the name with a number.
    fn name(&mut self, name: &str, ends: &[&str]) -> String {
        let name = if name.is_empty() { "field" } else { name };
        let names = |number: usize| if number == 1 { name.to_owned() } else { format!("{name}_{number}") };
        let lower = |name: &str| ends.iter().map(|end| format!("{name}{end}").to_lowercase()).collect::<Vec<_>>();
        let is_new = |name: &String| lower(name).iter().all(|name| !self.0.contains(name));
        let new = (1..).map(names).find(is_new).unwrap_or_default();
        self.0.extend(lower(&new));
        new
    }
}

struct Builder<'f, 'a> {
    all: &'f [Field<'a>],
    /// Number of columns that can still be added.
    left: usize,
}

impl Builder<'_, '_> {
    /// The column of the field at an index, and the index of the field after it.
    fn column(&mut self, at: usize, depth: usize) -> Option<(Column, usize)> {
        let field = *self.all.get(at)?;
        self.left = self.left.checked_sub(1)?;
        let is_custom = matches!(field.count, Count::Custom(_));
        let is_list = !matches!(field.count, Count::One) && !is_custom && !is_character(&field);
        let (form, next) = match field.is_structure() {
            true => self.structure(&field, at, depth.checked_sub(1)?)?,
            false => {
                let ty = if is_custom { Type::Bytes } else { Type::of(field.in_type, field.out_type) };
                (Form::Value(Types::new(ty, field.map.is_some())), at + 1)
            }
        };
        let form = if is_list { Form::List(Box::new(form)) } else { form };
        Some((Column { name: field.name.to_owned(), form }, next))
    }

    fn structure(&mut self, field: &Field<'_>, at: usize, depth: usize) -> Option<(Form, usize)> {
        let (mut member, mut members) = (field.members.first.map_or(at + 1, usize::from), Vec::new());
        for _ in 0..field.members.count {
            let (column, next) = self.column(member, depth)?;
            members.push(column);
            member = next;
        }
        let next = if field.members.first.is_some() { at + 1 } else { member };
        (!members.is_empty()).then_some((Form::Structure(members), next))
    }
}

/// Whether an array of such fields is a single value, a text.
fn is_character(field: &Field<'_>) -> bool {
    matches!(
        (field.in_type, field.out_type),
        (InType::INT8 | InType::UINT8 | InType::UINT16, OutType::STRING) | (InType::ANSICHAR | InType::UNICODECHAR, _)
    )
}
