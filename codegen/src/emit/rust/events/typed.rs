//! Events as types with a getter for each field. Event types with the same fields in the same versions share a type.

use super::guid;
use crate::emit::rust::Options;
use crate::emit::rust::docs::{braced, comment, indented, literal};
use crate::emit::rust::modules::Module;
use crate::emit::rust::names::{Taken, member, module};
use crate::event::{Class, Event, EventType, Field, Kind, Versions};
use crate::spec::Spec;
use heck::ToSnakeCase;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The module `typed`, with a module for each class.
pub(super) fn module_of(spec: &Spec, names: &BTreeSet<&str>, options: &Options) -> Module {
    let of = |name: &&str| {
        // Without inner doc comments, a test can include the file.
        let head = format!("// Events of the class `{name}` as types.\n//\n// {}\n\n", options.header);
        let types = class(spec, name);
        let used = |ty: &&str| [format!("{ty}<"), format!("<{ty}>"), format!(": {ty} ")].iter().any(|text| types.contains(text));
        let names: Vec<_> = TYPES.into_iter().filter(used).map(str::to_owned).collect();
        let import =
            if names.is_empty() { String::new() } else { format!("use crate::typed_event::{};\n\n", braced("", &names, 0)) };
        Module::new(module(name), format!("{head}{import}crate::typed_event::events! {{\n{types}}}\n"))
    };
    let head = format!("//! Events as types, with a getter for each field.\n//!\n//! {}\n\n", options.header);
    Module { public: false, modules: names.iter().map(of).collect(), ..Module::new("typed", head) }
}

/// Types of values that are not in Rust's prelude.
const TYPES: [&str; 8] = ["Elements", "FileTime", "Ipv4Addr", "Ipv6Addr", "Sid", "Text", "Uuid", "Value"];

/// The types of a class.
fn class(spec: &Spec, name: &str) -> String {
    let own = || spec.classes.iter().filter(|own| own.name.value == name);
    let guids: BTreeSet<_> = own().map(|class| guid(spec, class)).collect();
    let mut out = String::new();
    let mut taken = Taken::of(Vec::new());
    for guid_of in guids {
        let classes: Vec<_> = own().filter(|class| guid(spec, class) == guid_of).collect();
        groups(&classes).iter().for_each(|group| one(name, &guid_of, group, &mut taken, &mut out));
    }
    out
}

/// Event types with the same fields in the same versions.
struct Group<'a> {
    types: Vec<&'a EventType>,
    /// The newest first.
    events: Vec<(&'a Event, Versions)>,
}

fn groups<'a>(classes: &[&'a Class]) -> Vec<Group<'a>> {
    let all = || classes.iter().flat_map(|class| &class.events);
    let mut groups: Vec<Group> = Vec::new();
    for ty in all().flat_map(|event| &event.types) {
        let is_known = |group: &Group| group.types.iter().any(|other| other.number == ty.number);
        if groups.iter().any(is_known) {
            continue;
        }
        let own = |event: &'a Event| Some((event, event.versions_of(event.types.iter().find(|own| own.number == ty.number)?)));
        let mut events: Vec<_> = all().filter_map(own).collect();
        events.sort_by_key(|(_, versions)| std::cmp::Reverse(versions.first));
        let key = |events: &[(&Event, Versions)]| events.iter().map(|(event, own)| (event.span, *own)).collect::<Vec<_>>();
        match groups.iter_mut().find(|group| key(&group.events) == key(&events)) {
            Some(group) => group.types.push(ty),
            None => groups.push(Group { types: vec![ty], events }),
        }
    }
    groups
}

fn one(class: &str, guid: &str, group: &Group, taken: &mut Taken, out: &mut String) {
    let names = group.types.iter().map(|ty| format!("`{class}/{}`", ty.name.value)).collect::<Vec<_>>().join(", ");
    let versions: Vec<_> = group.versions().collect();
    let doc = group.events.first().map_or("", |(event, _)| event.doc.as_str());
    let doc = format!("{names}, {}.\n\n{doc}", ranges(&versions));
    let types: Vec<_> = group.types.iter().map(|ty| (taken.free(type_name(&ty.name.value)), ty.number)).collect();
    let Some(((first, number), others)) = types.split_first() else { return };
    out.push_str(&indented(&comment(&doc, "")));
    let _ = write!(out, "    {first}<'a>: 0x{guid}, {number}");
    others.iter().for_each(|(name, number)| _ = write!(out, ", {name} = {number}"));
    let (plain, other): (Vec<_>, Vec<_>) = getters(group).into_iter().partition(|getter| getter.is_plain);
    let mut taken = Taken::of(Vec::new());
    for list in [plain, other] {
        let lines = list.iter().map(|getter| {
            let name = member(&taken.free(getter.field.name.value.to_snake_case()));
            let (ty, doc) = (&getter.ty, literal(&getter.doc));
            format!("        {name}: {ty} = {:?}, {doc};\n", getter.field.name.value)
        });
        let lines: String = lines.collect();
        let _ = if lines.is_empty() { write!(out, " {{}}") } else { write!(out, " {{\n{lines}    }}") };
    }
    out.push('\n');
}

/// The name of a type: that of the event.
fn type_name(name: &str) -> String {
    let name = name.replace(['-', '.'], "_");
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("E{name}") } else { name }
}

struct Getter<'a> {
    /// The field in the newest version that has it.
    field: &'a Field,
    ty: String,
    doc: String,
    is_plain: bool,
}

fn getters<'a>(group: &Group<'a>) -> Vec<Getter<'a>> {
    let mut getters: Vec<Getter> = Vec::new();
    for (event, versions) in &group.events {
        let fields = event.fields.iter().filter(|field| versions.iter().any(|version| field.is_in(version)));
        for field in fields.filter(|field| field.ty.value.kind != Kind::Structure) {
            if !getters.iter().any(|other| other.field.name.value == field.name.value) {
                getters.push(getter(group, field));
            }
        }
    }
    getters
}

fn getter<'a>(group: &Group<'a>, field: &'a Field) -> Getter<'a> {
    let name = field.name.value.as_str();
    let of = |version| {
        let (event, _) = group.events.iter().find(|(_, versions)| versions.contains(version))?;
        Some((*event, event.of(version).find(|field| field.name.value == name)?))
    };
    let all: Vec<_> = group.versions().collect();
    let with: Vec<_> = all.iter().copied().filter(|version| of(*version).is_some()).collect();
    let fields: Vec<_> = with.iter().filter_map(|version| of(*version)).map(|(_, field)| field).collect();
    let ty = fields.iter().map(|field| Ty::of(field)).reduce(Ty::unified).unwrap_or(Ty::Value);
    let ty = if ty.is_integer() && fields.iter().any(|field| is_identifier(field)) { Ty::Unsigned(32) } else { ty };
    let is_array = fields.iter().any(|field| is_array(field));
    let is_fixed = |version: &u8| {
        of(*version).is_some_and(|(event, _)| {
            let before = event.of(*version).take_while(|field| field.name.value != name);
            event.place(name, *version).is_some() && !before.chain([field]).any(|field| field.optional)
        })
    };
    let is_plain = !is_array && ty.is_plain() && all.iter().all(is_fixed);
    let spelled = ty.spelled();
    let ty = match () {
        () if is_plain => spelled,
        () if is_array => format!("Elements<'a, {spelled}>"),
        () => format!("Option<{spelled}>"),
    };
    let lacks = if with.len() == all.len() { String::new() } else { format!(" In {}.", ranges(&with)) };
    Getter { field, ty, doc: format!("{}{lacks}", field.doc.trim_end()), is_plain }
}

impl Group<'_> {
    /// The versions, in order.
    fn versions(&self) -> impl Iterator<Item = u8> {
        self.events.iter().rev().flat_map(|(_, versions)| versions.iter())
    }
}

/// Whether a field is the identifier of a process or thread.
fn is_identifier(field: &Field) -> bool {
    field.out.as_ref().is_some_and(|out| matches!(out.value.name, "PID" | "TID"))
}

/// Whether a field is an array; an array of characters is one value, a text.
fn is_array(field: &Field) -> bool {
    let is_text = field.ty.value.kind == Kind::Character || field.out.as_ref().is_some_and(|out| out.value.name == "String");
    field.count.is_some() && !is_text
}

/// The type of values in Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ty {
    /// With the number of bits.
    Unsigned(u8),
    Signed(u8),
    Boolean,
    FileTime,
    Guid,
    Ipv4,
    Ipv6,
    Sid,
    Text,
    Bytes,
    /// Any other, or of several types.
    Value,
}

impl Ty {
    fn of(field: &Field) -> Self {
        let ty = field.ty.value;
        let out = field.out.as_ref().map_or("", |out| out.value.name);
        let bits = ty.size.map_or(0, |size| 8 * size[1] as u8);
        match (ty.name, ty.kind, out) {
            (_, Kind::Text | Kind::Character, _) => Self::Text,
            ("Int8" | "UInt8" | "UInt16", _, "String") => Self::Text,
            (_, Kind::Integer, "Boolean") | ("Boolean", ..) => Self::Boolean,
            (_, Kind::Integer, "IPv4") => Self::Ipv4,
            (_, Kind::Integer, "DateTime") | ("FILETIME", ..) => Self::FileTime,
            (name, Kind::Integer, _) if name.starts_with("Int") => Self::Signed(bits),
            (_, Kind::Integer | Kind::Pointer, _) => Self::Unsigned(bits),
            ("GUID", ..) => Self::Guid,
            ("SID" | "WbemSid", ..) => Self::Sid,
            ("Binary", _, "IPv6") => Self::Ipv6,
            ("Binary", _, "SocketAddress") => Self::Value,
            ("Binary", ..) => Self::Bytes,
            _ => Self::Value,
        }
    }

    /// A type for the values of both.
    fn unified(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Unsigned(one), Self::Unsigned(other)) => Self::Unsigned(one.max(other)),
            (Self::Signed(one), Self::Signed(other)) => Self::Signed(one.max(other)),
            (Self::Unsigned(bits), Self::Boolean) | (Self::Boolean, Self::Unsigned(bits)) => Self::Unsigned(bits),
            _ => Self::Value,
        }
    }

    fn is_integer(self) -> bool {
        matches!(self, Self::Unsigned(_) | Self::Signed(_))
    }

    /// Whether all bytes are valid for it.
    fn is_plain(self) -> bool {
        !matches!(self, Self::Sid | Self::Text | Self::Bytes | Self::Value)
    }

    fn spelled(self) -> String {
        match self {
            Self::Unsigned(bits) => format!("u{bits}"),
            Self::Signed(bits) => format!("i{bits}"),
            Self::Boolean => "bool".into(),
            Self::FileTime => "FileTime".into(),
            Self::Guid => "Uuid".into(),
            Self::Ipv4 => "Ipv4Addr".into(),
            Self::Ipv6 => "Ipv6Addr".into(),
            Self::Sid => "Sid<'a>".into(),
            Self::Text => "Text<'a>".into(),
            Self::Bytes => "&'a [u8]".into(),
            Self::Value => "Value<'a>".into(),
        }
    }
}

/// Versions as text: `versions 0 to 2, 5`.
fn ranges(versions: &[u8]) -> String {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for &version in versions {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(version) => *last = version,
            _ => runs.push((version, version)),
        }
    }
    let runs: Vec<_> = runs
        .iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first} and {last}"),
            _ => format!("{first} to {last}"),
        })
        .collect();
    let word = if versions.len() == 1 { "version" } else { "versions" };
    format!("{word} {}", runs.join(", "))
}
