//! Merges rows to events: equal statements are combined.

use super::fields::plain;
use super::report::Report;
use super::rows::{Row, is_same_name};
use etw_layouts_catalog::{Mask, Sources};
use etw_layouts_payload::{InType, OutType};
use etw_layouts_schemas::{Count, Event, Field, Length, Name};
use std::collections::BTreeMap;

/// Fields, and the sources that state them.
struct Statement {
    fields: Vec<Field>,
    sources: Mask,
    is_corrected: bool,
}

/// Counts and lengths of a provider's fields, by the plain name of the field. Source 28000 lacks them.
pub type Sizes = BTreeMap<String, (Count, Length)>;

/// Sources that leave out arrays with a count in another field.
pub fn without_arrays() -> Mask {
    ["22621", "26100", "26200"].into_iter().map(Mask::named).fold(Mask::default(), Mask::union)
}

/// Sources that state only types and names.
fn without_sizes() -> Mask {
    Mask::named("28000")
}

/// Collects the counts and lengths that are in other fields, by the name of the array.
pub fn sizes(rows: &[Row]) -> Sizes {
    let fields = rows.iter().filter_map(|row| row.fields.as_ref()).flatten();
    fields
        .filter(|field| matches!(field.count, Count::Field(_)) || field.length != Length::Type)
        .map(|field| (plain(&field.name), (field.count.clone(), field.length.clone())))
        .collect()
}

/// The events of one ID and version: one event for each distinct statement of the fields. All rows must be of the same provider.
pub fn merge(rows: &[Row], sizes: &Sizes, report: &mut Report) -> Vec<(Event, Sources)> {
    let listed = rows.iter().fold(Mask::default(), |all, row| all.union(row.sources));
    let statements = statements(rows, sizes, report);
    // The runtime has reused the ID of an event of .NET Framework, which Windows has.
    let (dotnet, others): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.sources == Mask::named("dotnet"));
    let event = described(if others.is_empty() { &dotnet } else { &others }, report);
    report.count("events");
    match statements.len() {
        0 => report.count("events without fields"),
        1 => {}
        _ => report.count("events whose sources disagree about fields"),
    }
    if statements.is_empty() {
        return vec![(event, Sources { listed, fields: Mask::default() })];
    }
    let events = statements.into_iter().map(|Statement { fields, mut sources, is_corrected }| {
        report.count("statements of fields");
        let event = if sources == Mask::named("dotnet") { described(&dotnet, report) } else { event.clone() };
        if is_corrected {
            sources = sources.union(Mask::CORRECTED);
        }
        (Event { fields: Some(fields), ..event }, Sources { listed, fields: sources })
    });
    events.collect()
}

fn statements(rows: &[Row], sizes: &Sizes, report: &mut Report) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    // Complete statements first, then those of sources that leave something out.
    let rank = |row: &Row| (row.sources.intersects(without_sizes()), row.sources.intersects(without_arrays()));
    let mut sorted: Vec<(&Row, &Vec<Field>)> = rows.iter().filter_map(|row| Some((row, row.fields.as_ref()?))).collect();
    sorted.sort_by_key(|(row, _)| rank(row));
    for (row, fields) in sorted {
        // If several longer statements match, take the one of the newest source.
        let newest = |statement: &&mut Statement| statement.sources;
        let (is_without_sizes, is_without_arrays) = rank(row);
        let found = statements.iter_mut().filter(|statement| {
            let without = |field: &&Field| !is_without_arrays || !is_counted(field);
            is_same(statement.fields.iter(), fields, is_without_sizes)
                || is_same(statement.fields.iter().filter(without), fields, is_without_sizes)
        });
        if let Some(statement) = found.max_by_key(newest) {
            if statement.fields.len() > fields.len() {
                report.count("statements that leave out arrays, completed from another source");
            }
            complete(&mut statement.fields, fields);
            statement.sources = statement.sources.union(row.sources);
            statement.is_corrected |= row.is_corrected;
            continue;
        }
        let mut fields = fields.clone();
        if is_without_sizes {
            report.count("statements of source 28000 alone");
            infer_sizes(&mut fields, sizes, report);
            let shorter = statements.iter_mut().find(|statement| is_shorter(&statement.fields, &fields));
            if let Some(statement) = shorter.filter(|statement| statement.sources.intersects(without_arrays())) {
                let of_arrays: Vec<bool> = extra(&statement.fields, &fields);
                infer_arrays(&mut fields, &of_arrays, &row.provider, row.id, report);
                let others = Mask(statement.sources.0 & !without_arrays().0);
                if others.is_empty() && fields.iter().zip(&of_arrays).all(|(field, is_extra)| !is_extra || is_counted(field)) {
                    complete(&mut fields, &statement.fields);
                    statement.fields = fields;
                    statement.sources = statement.sources.union(row.sources);
                    statement.is_corrected |= row.is_corrected;
                    continue;
                }
            }
        }
        statements.push(Statement { fields, sources: row.sources, is_corrected: row.is_corrected });
    }
    statements.sort_by_key(|statement| statement.sources);
    statements
}

fn is_counted(field: &Field) -> bool {
    matches!(field.count, Count::Field(_))
}

/// Whether two lists agree in everything that both state.
fn is_same<'a>(some: impl Iterator<Item = &'a Field>, others: &[Field], is_without_sizes: bool) -> bool {
    let mut others = others.iter();
    for field in some {
        if !others.next().is_some_and(|other| is_same_field(field, other, is_without_sizes)) {
            return false;
        }
    }
    others.next().is_none()
}

fn is_same_field(one: &Field, other: &Field, is_without_sizes: bool) -> bool {
    let sizes = is_without_sizes || is_same_count(&one.count, &other.count) && is_same_length(&one.length, &other.length);
    let members = one.members.is_empty() || other.members.is_empty() || is_same(one.members.iter(), &other.members, false);
    one.in_type == other.in_type && is_same_name(&one.name, &other.name) && sizes && members
}

fn is_same_count(one: &Count, other: &Count) -> bool {
    match (one, other) {
        (Count::Field(one), Count::Field(other)) => is_same_name(one, other),
        // Some tools leave out constants.
        (Count::Field(_), _) | (_, Count::Field(_)) => false,
        (Count::Constant(one), Count::Constant(other)) => one == other,
        _ => true,
    }
}

fn is_same_length(one: &Length, other: &Length) -> bool {
    match (one, other) {
        (Length::Field(one), Length::Field(other)) => is_same_name(one, other),
        (Length::Field(_), _) | (_, Length::Field(_)) => false,
        (Length::Constant(one), Length::Constant(other)) => one == other,
        _ => true,
    }
}

/// Adds what only the other list states. The other list may lack arrays.
fn complete(fields: &mut [Field], others: &[Field]) {
    let mut renamed: Vec<(String, String)> = Vec::new();
    let mut others = others.iter().peekable();
    for field in fields.iter_mut() {
        let Some(other) = others.next_if(|other| other.in_type == field.in_type && is_same_name(&other.name, &field.name)) else {
            continue;
        };
        if other.out_type != OutType::NULL {
            field.out_type = other.out_type;
        }
        if field.count == Count::One {
            field.count = other.count.clone();
        }
        if field.length == Length::Type {
            field.length = other.length.clone();
        }
        field.map = field.map.or(other.map);
        if field.members.is_empty() {
            field.members = other.members.clone();
        }
        // The longer name is the complete one.
        if other.name.len() > field.name.len() {
            renamed.push((std::mem::replace(&mut field.name, other.name.clone()), other.name.clone()));
        }
    }
    let name = |name: &mut String| {
        if let Some((_, new)) = renamed.iter().find(|(old, _)| old == name) {
            new.clone_into(name);
        }
    };
    for field in fields {
        if let Count::Field(counted) = &mut field.count {
            name(&mut counted.name);
        }
        if let Length::Field(length) = &mut field.length {
            name(&mut length.name);
        }
    }
}

/// Infers counts and lengths from fields of the same name in other events, or from the name of a preceding field.
fn infer_sizes(fields: &mut [Field], sizes: &Sizes, report: &mut Report) {
    for index in 1..fields.len() {
        let (before, rest) = fields.split_at_mut(index);
        let field = &mut rest[0];
        let find = |name: &str| before.iter().rfind(|field| is_same_name(&field.name, name)).map(|field| field.name.clone());
        let (count, length) = sizes.get(&plain(&field.name)).cloned().unwrap_or_default();
        match (count, length) {
            (Count::Field(name), _) if field.count == Count::One => {
                if let Some(name) = find(&name) {
                    field.count = Count::Field(name.into());
                    report.count("counts and lengths of source 28000 inferred from other events of the provider");
                }
            }
            (_, Length::Field(name)) if matches!(field.in_type, InType::BINARY | InType::UNICODESTRING | InType::ANSISTRING) => {
                if let Some(name) = find(&name) {
                    field.length = Length::Field(name.into());
                    report.count("counts and lengths of source 28000 inferred from other events of the provider");
                }
            }
            (_, length @ Length::Constant(_)) if field.in_type == InType::BINARY => field.length = length,
            _ => {}
        }
        if field.in_type == InType::BINARY && field.length == Length::Type {
            let ends = ["Length", "Len", "Size", "Bytes"];
            if let Some(name) = ends.iter().find_map(|end| find(&format!("{}{end}", field.name))) {
                field.length = Length::Field(name.into());
                report.count("lengths of source 28000 inferred from the name of a field before");
            }
        }
    }
}

/// Whether the first list is the second list without some fields.
fn is_shorter(shorter: &[Field], longer: &[Field]) -> bool {
    shorter.len() < longer.len() && extra(shorter, longer).iter().filter(|is_extra| !**is_extra).count() == shorter.len()
}

/// For each field of the longer list, whether the shorter list lacks it.
fn extra(shorter: &[Field], longer: &[Field]) -> Vec<bool> {
    let mut shorter = shorter.iter().peekable();
    longer.iter().map(|field| shorter.next_if(|other| is_same_field(other, field, true)).is_none()).collect()
}

/// Infers counts of fields that are missing in sources without arrays: the last integer before the field with a name such as
/// `Count`.
fn infer_arrays(fields: &mut [Field], of_arrays: &[bool], provider: &str, id: u16, report: &mut Report) {
    let total = fields.len();
    for (index, is_array) in of_arrays.iter().enumerate().skip(1) {
        let (before, rest) = fields.split_at_mut(index);
        let field = &mut rest[0];
        if !is_array || is_counted(field) {
            continue;
        }
        let is_count = |field: &&Field| {
            let name = field.name.to_ascii_lowercase();
            ["count", "num", "size", "length"].iter().any(|word| name.contains(word))
                && matches!(field.in_type, InType::UINT8 | InType::UINT16 | InType::UINT32 | InType::UINT64 | InType::INT32)
        };
        if let Some(count) = before.iter().rfind(is_count) {
            field.count = Count::Field(count.name.clone().into());
            if usize::from(field.in_type.0) == total {
                field.in_type = InType::STRUCT;
            }
            report.example(
                "arrays of source 28000 inferred from their absence in others",
                provider,
                &format!("{id} {}", field.name),
            );
        }
    }
}

/// The names of an event, from the newest source that has them.
fn described(rows: &[&Row], report: &mut Report) -> Event {
    let newest = rows.iter().copied().max_by_key(|row| row.sources.0 & !without_sizes().0);
    let Some(newest) = newest else { return Event::default() };
    let mut sorted = rows.to_vec();
    sorted.sort_by_key(|row| std::cmp::Reverse(row.sources.0 & !without_sizes().0));
    let mut level = level(&newest.level);
    // The sources without arrays print level 0 as Verbose for some providers; other sources print the number.
    if level == "Verbose" && newest.sources.intersects(without_arrays()) {
        let mut others = rows.iter().filter(|row| !row.sources.intersects(without_arrays()));
        if others.clone().next().is_some() && others.all(|row| row.level == "Always") {
            report.count("levels Verbose that other sources state as LogAlways");
            level = "LogAlways";
        }
    }
    let task = |row: &&Row| !row.task.is_empty() && !is_task_number(&row.task);
    let named = |name: &str| Name { value: None, name: name.to_owned() };
    Event {
        id: newest.id,
        version: newest.version,
        level: named(level),
        opcode: named(opcode(&newest.opcode)),
        task: named(sorted.iter().copied().find(|row| task(row)).map_or("", |row| row.task.as_str())),
        keywords: newest.keywords.clone(),
        ..Event::default()
    }
}

fn level(name: &str) -> &str {
    match name {
        "Always" | "Log Always" => "LogAlways",
        _ => name,
    }
}

fn opcode(name: &str) -> &str {
    match name {
        // Events without an opcode have the opcode 0.
        "" => "Info",
        "DC_Start" | "DCStart" => "DC_Start",
        "DC_Stop" | "DCStop" => "DC_Stop",
        _ => name,
    }
}

/// Whether a tool derived the name from a task number: `task_0`.
fn is_task_number(name: &str) -> bool {
    name.strip_prefix("task_").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
