//! Lookup of events by name, and of the sources that state them.

use super::{Known, Stated, Statement, Statements};
use crate::{Error, Refusal, Remedy};
use etw_layouts_codegen::event::Field;
use etw_layouts_codegen::spec::Spec;

/// The event types with a name, or all event types of a class, in the order of names and versions. A name has several event types
/// if its fields differ between versions.
///
/// # Errors
///
/// No event has this name; the error suggests a similar one.
pub fn find<'a>(spec: &'a Spec, asked: &str) -> Result<Vec<Known<'a>>, Error> {
    let found: Vec<_> = all(spec).into_iter().filter(|known| is_called(known, asked)).collect();
    if found.is_empty() {
        let names: Vec<_> = all(spec).iter().map(Known::name).collect();
        let classes = spec.classes.iter().map(|class| class.name.value.as_str());
        let problem = format!("unknown event `{asked}`");
        // `Process/` means the class.
        let known = classes.chain(names.iter().map(String::as_str));
        return Err(Refusal::unknown(problem, asked.trim_end_matches('/'), known, Remedy::Event).into());
    }
    Ok(found)
}

/// Whether a name is that of an event type or of its class. Case is ignored.
fn is_called(known: &Known, asked: &str) -> bool {
    match asked.split_once('/') {
        Some(_) => known.name().eq_ignore_ascii_case(asked),
        None => known.class.name.value.eq_ignore_ascii_case(asked),
    }
}

/// All event types, sorted by class, number and version.
pub fn all(spec: &Spec) -> Vec<Known<'_>> {
    let types = spec.classes.iter().flat_map(|class| {
        class.events.iter().flat_map(move |event| event.types.iter().map(move |ty| Known { class, event, ty }))
    });
    let mut list: Vec<_> = types.collect();
    list.sort_by_key(|known| (&known.class.name.value, known.ty.number, known.event.versions_of(known.ty).first));
    list
}

/// The group in an event's hook: the constant of `EVENT_TRACE_GROUP`, and its number.
pub fn group<'a>(spec: &'a Spec, known: Known<'a>) -> Option<(&'a str, u8)> {
    let name = &known.ty.group.as_ref().or(known.class.group.as_ref())?.value;
    Some((name, (spec.group(name)?.value.0.first()?.value >> 8) as u8))
}

/// The GUID of an event's provider, in upper case; empty if there is none.
pub fn guid(spec: &Spec, known: Known) -> String {
    let own = known.class.guid.as_ref().map(|guid| guid.value.clone());
    own.or_else(|| spec.guid_of(known.class.group.as_ref()?)).unwrap_or_default()
}

/// The sources that state a version of an event, without duplicates, in the order of their tables. A source that names Windows
/// versions is listed with them.
pub fn sources(spec: &Spec, statements: &Statements, known: Known, version: u8) -> Vec<String> {
    let (guid, group) = (guid(spec, known).to_ascii_lowercase(), group(spec, known).map(|(_, number)| number));
    let mut list: Vec<String> = Vec::new();
    for statement in statements.list.iter().filter(|statement| statement.types.contains(&known.ty.number)) {
        let is_of = match &statement.of {
            Stated::Guid(stated) => *stated == guid,
            Stated::Group(stated) => Some(*stated) == group,
        };
        // A statement without a version applies to each version that it fits.
        let is_of = is_of
            && match statement.version {
                Some(stated) => stated == version,
                None => fits(statement, known, version),
            };
        if is_of {
            let detail = match (statement.is_structure(), statement.windows.as_str()) {
                _ if statement.fields.is_empty() && known.event.of(version).next().is_some() => " (without fields)".to_owned(),
                (true, _) => format!(" ({})", statement.class),
                (_, "") => String::new(),
                (_, windows) => format!(" ({windows})"),
            };
            let source = format!("{}{detail}", statement.source);
            if !list.contains(&source) {
                list.push(source);
            }
        }
    }
    list
}

/// Whether a statement agrees with the spec of a version. Errata and `unsettled` fields do not count.
fn fits(statement: &Statement, known: Known, version: u8) -> bool {
    let (differences, _) = super::differences(statement, known, version);
    differences.into_iter().all(|one| !super::judge(known, version, &statement.source, one).is_wrong())
}

/// A field of a version, with its nesting depth and its offset. The offset is given for pointers of 4 and of 8 bytes. It is
/// `None` after a field of variable size, and within an array of structures.
pub struct Placed<'a> {
    /// The field.
    pub field: &'a Field,
    /// The number of enclosing structures.
    pub depth: usize,
    /// Bytes from the start of the payload, with pointers of 4 and of 8 bytes.
    pub offset: Option<[u64; 2]>,
}

/// The fields of a version. The members of a structure follow it.
pub fn placed<'a>(known: Known<'a>, version: u8) -> Vec<Placed<'a>> {
    let mut list = Vec::new();
    place(known.event.of(version), version, 0, Some([0, 0]), &mut list);
    list
}

fn place<'a>(
    fields: impl Iterator<Item = &'a Field>,
    version: u8,
    depth: usize,
    start: Option<[u64; 2]>,
    list: &mut Vec<Placed<'a>>,
) {
    let mut at = start;
    for field in fields {
        list.push(Placed { field, depth, offset: at });
        let inner = at.filter(|_| field.count.is_none());
        let members: Vec<_> = field.of(version).collect();
        place(members.into_iter(), version, depth + 1, inner, list);
        at = at.zip(field.size(version)).map(|(at, size)| [at[0].saturating_add(size[0]), at[1].saturating_add(size[1])]);
    }
}
