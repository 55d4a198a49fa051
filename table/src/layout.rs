//! The columns of an event, by its schema.

use crate::node::Node;
use crate::scalar::Scalar;
use arrow_buffer::NullBufferBuilder;
use etw_layouts_etl::payload::{Count, Field, FieldList, InType, OutType};
use std::collections::HashSet;

/// Maximum number of fields of a schema, including members of structures, and maximum number of nested structures.
const MOST: usize = 1024;
const DEPTH: usize = 16;

/// The columns of the fields of a schema, and whether all fields have columns. Names of columns are unique and differ from those in `taken`, even
/// if case is ignored. The columns end before the first field that is invalid, is a structure without members, or exceeds a limit.
pub(crate) fn nodes(fields: &FieldList<'_>, taken: HashSet<String>) -> (Vec<Node>, bool) {
    let all: Vec<Field<'_>> = fields.iter().take(MOST + 1).collect();
    let end = match fields {
        FieldList::Table { top, .. } => usize::from(*top).min(all.len()),
        _ => all.len(),
    };
    let mut builder = Builder { all: &all, left: MOST };
    let (mut at, mut nodes, mut names) = (0, Vec::new(), Unique(taken));
    while at < end {
        let Some((node, next)) = builder.node(at, &mut names, DEPTH) else { return (nodes, false) };
        nodes.push(node);
        at = next;
    }
    (nodes, true)
}

/// Names of columns, in lower case.
struct Unique(HashSet<String>);

impl Unique {
    /// A unique name for a column: the name itself, or the name with a number.
    fn name(&mut self, name: &str) -> String {
        let name = if name.is_empty() { "field" } else { name };
        let names = |number: usize| if number == 1 { name.to_owned() } else { format!("{name}_{number}") };
        let new = (1..).map(names).find(|name| !self.0.contains(&name.to_lowercase())).unwrap_or_default();
        self.0.insert(new.to_lowercase());
        // Additional columns of a value have these names.
        self.0.extend(["_name", "_tick", "_number"].map(|end| format!("{new}{end}").to_lowercase()));
        new
    }
}

struct Builder<'f, 'a> {
    all: &'f [Field<'a>],
    /// Number of columns that can still be added.
    left: usize,
}

impl Builder<'_, '_> {
    /// The node of the field at an index, and the index of the field after it.
    fn node(&mut self, at: usize, names: &mut Unique, depth: usize) -> Option<(Node, usize)> {
        let field = *self.all.get(at)?;
        self.left = self.left.checked_sub(1)?;
        let name = names.name(field.name);
        let is_list = !matches!(field.count, Count::One | Count::Custom(_)) && !is_character(&field);
        let (node, next) = match field.is_structure() {
            true => self.structure(&field, at, name.clone(), depth.checked_sub(1)?)?,
            false if matches!(field.count, Count::Custom(_)) => {
                (Node::Scalar(Box::new(Scalar::new(name.clone(), &Field::new(field.name, InType::BINARY)))), at + 1)
            }
            false => (Node::Scalar(Box::new(Scalar::new(name.clone(), &field))), at + 1),
        };
        let list = |item| Node::List { name, item: Box::new(item), offsets: vec![0], nulls: NullBufferBuilder::new(0) };
        Some((if is_list { list(node) } else { node }, next))
    }

    fn structure(&mut self, field: &Field<'_>, at: usize, name: String, depth: usize) -> Option<(Node, usize)> {
        let (mut member, mut members) = (field.members.first.map_or(at + 1, usize::from), Vec::new());
        let mut names = Unique(HashSet::new());
        for _ in 0..field.members.count {
            let (node, next) = self.node(member, &mut names, depth)?;
            members.push(node);
            member = next;
        }
        let next = if field.members.first.is_some() { at + 1 } else { member };
        (!members.is_empty()).then_some((Node::Structure { name, members, nulls: NullBufferBuilder::new(0) }, next))
    }
}

/// Whether an array of such fields is a single value, a text.
fn is_character(field: &Field<'_>) -> bool {
    matches!(
        (field.in_type, field.out_type),
        (InType::INT8 | InType::UINT8 | InType::UINT16, OutType::STRING) | (InType::ANSICHAR | InType::UNICODECHAR, _)
    )
}
