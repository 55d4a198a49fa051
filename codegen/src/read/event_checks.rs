//! Checks of event classes: consistent fields, existing names, unique events.

use super::reader::Reader;
use crate::event::{Class, Field, Kind, Size, Versions};
use crate::source::{At, Span};
use crate::spec::{Body, GROUPS, Spec, Values};
use std::collections::BTreeMap;

/// Maximum size of a payload in bytes.
const LARGEST: u64 = 0xFFFF;

/// Maximum number of fields of an event, including those of structures.
const MOST_FIELDS: usize = 1024;

/// Checks the fields of an event.
pub(super) fn check_fields(reader: &mut Reader, event: Versions, fields: &[Field]) {
    let count = count(fields);
    if let Some(field) = fields.first().filter(|_| count > MOST_FIELDS) {
        let title = format!("event has {count} fields, more than {MOST_FIELDS}");
        reader.error(field.name.span, title, "the first", "write an array with `count` in place of single fields");
        return;
    }
    check_level(reader, event, fields, &[]);
    for field in fields.iter().filter(|field| field.is_open()) {
        let after = fields.iter().skip_while(|other| other.name.span != field.name.span).skip(1);
        if let Some(after) = after.filter(|after| range(event, field).overlaps(range(event, after))).last() {
            let title = format!("`{}` has no length, but is not the last field", field.name.value);
            let help = "add a `length`, or move the field to the end";
            reader.error_also((after.name.span, "a field after it"), field.name.span, title, "no length", help);
        }
    }
    let total = |version| {
        let sizes = fields.iter().filter(|field| field.is_in(version)).filter_map(|field| field.size(version));
        sizes.fold(0, |sum: u64, size| sum.saturating_add(size[1]))
    };
    if let (Some(version), Some(first)) = (event.iter().find(|&version| total(version) > LARGEST), fields.first()) {
        let title = format!("payload of version {version} has more than {LARGEST} bytes");
        reader.error(first.name.span, title, "its first field", "correct the counts and lengths of its fields");
    }
}

/// The number of fields, including those of structures.
fn count(fields: &[Field]) -> usize {
    fields.iter().map(|field| 1 + count(&field.fields)).sum()
}

/// The versions that have a field.
fn range(event: Versions, field: &Field) -> Versions {
    field.versions.as_ref().map_or(event, |versions| versions.value)
}

/// Checks the fields of one level. `around` are the fields before the enclosing structures.
fn check_level(reader: &mut Reader, event: Versions, fields: &[Field], around: &[&Field]) {
    let mut before: Vec<&Field> = around.to_vec();
    let mut names: BTreeMap<&str, Vec<&Field>> = BTreeMap::new();
    for field in fields {
        check_versions(reader, event, field);
        check_field(reader, event, field, &before);
        let same = names.entry(&field.name.value).or_default();
        if let Some(twin) = same.iter().find(|other| range(event, field).overlaps(range(event, other))) {
            let title = format!("duplicate field `{}`", field.name.value);
            let help = "rename one of them, or make their versions disjoint";
            reader.error_also((twin.name.span, "the first"), field.name.span, title, "the second", help);
        } else {
            same.push(field);
        }
        check_level(reader, event, &field.fields, &before);
        before.push(field);
    }
}

fn check_versions(reader: &mut Reader, event: Versions, field: &Field) {
    let Some(versions) = &field.versions else { return };
    let is_open = versions.value.last == u8::MAX;
    let inside = event.contains(versions.value.first) && (is_open || event.contains(versions.value.last));
    if !inside {
        let title = format!("versions `{}` are not within those of the event, {event}", versions.value);
        reader.error(versions.span, title, "here", "narrow the range, or widen `version` of the event");
    }
}

fn check_field(reader: &mut Reader, event: Versions, field: &Field, before: &[&Field]) {
    let ty = field.ty.value;
    if let Some(count) = &field.count {
        check_size(reader, event, field, count, before);
    }
    if let Some(length) = &field.length {
        check_size(reader, event, field, length, before);
        if ty.unit == 0 {
            let help = "remove `length`, or write `count` for an array";
            reader.error(length.span, format!("type `{}` has no length of its own", ty.name), "here", help);
        }
    }
    if let Some(out) = field.out.as_ref().filter(|out| !out.value.of.contains(&ty.name)) {
        let title = format!("values of type `{}` cannot be shown as `{}`", ty.name, out.value.name);
        let help = format!("remove `out`, or use one of the types {}", out.value.of.join(", "));
        reader.error(out.span, title, "here", help);
    }
    if let Some(values) = field.values.as_ref().filter(|_| !ty.is_integer() && ty.kind != Kind::Pointer) {
        let title = format!("field of type `{}` has named values", ty.name);
        reader.error(values.span, title, "here", "remove `values`, or use an integer type");
    }
    let is_fixed = ty.size.is_some();
    if let Some(count) = field.count.as_ref().filter(|count| count.value == Size::Rest && !is_fixed) {
        let help = "write the number of values, or `length = \"*\"` for bytes";
        reader.error(count.span, format!("values of type `{}` differ in size", ty.name), "here", help);
    }
    if field.pointer.is_some() && !matches!(field.count.as_ref().map(|count| &count.value), Some(Size::Number(_))) {
        reader.error(field.name.span, "padding has no `count`", "here", "add the number of bytes: `count = 4`");
    }
    match (ty.kind == Kind::Structure, field.fields.is_empty()) {
        (true, true) => reader.error(field.name.span, "structure has no fields", "here", "add `fields = […]`"),
        (false, false) => {
            let title = format!("field of type `{}` has fields of its own", ty.name);
            reader.error(field.name.span, title, "here", "write `type = \"Struct\"`, or remove `fields`");
        }
        _ => {}
    }
}

/// Checks a count or length that names a field. Each version must have that field before it, as an integer.
fn check_size(reader: &mut Reader, event: Versions, field: &Field, size: &At<Size>, before: &[&Field]) {
    let Size::Field(name) = &size.value else { return };
    let mut missing: Vec<u8> = event.iter().filter(|&version| field.is_in(version)).collect();
    let mut at = None;
    for other in before.iter().rev().filter(|other| other.name.value == *name) {
        at = at.or_else(|| missing.iter().any(|&version| other.is_in(version)).then_some(other));
        missing.retain(|&version| !other.is_in(version));
    }
    if let Some(version) = missing.first() {
        let known = before.iter().map(|other| other.name.value.as_str());
        let help = match crate::nearest(name, known).filter(|near| near != name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name an earlier field that exists in all versions of this one".to_owned(),
        };
        reader.error(size.span, format!("no field `{name}` before `{}` in version {version}", field.name.value), "here", help);
        return;
    }
    if let Some(other) = at.filter(|other| !other.ty.value.is_integer() || other.count.is_some()) {
        let title = format!("field `{name}` is not an integer");
        reader.error_also((other.name.span, "the field"), size.span, title, "used as a number", "name a field with one integer");
    }
}

/// Checks that the enumerations and flags of fields exist.
pub(super) fn check_values(reader: &mut Reader, spec: &Spec, fields: &[Field]) {
    for field in fields {
        check_values(reader, spec, &field.fields);
        let Some(values) = field.values.as_ref().filter(|values| !spec.broken.contains(&values.value)) else { continue };
        match spec.definitions.get(&values.value).map(|definition| &definition.body) {
            Some(Body::Values(_)) => {}
            Some(Body::Aggregate(_)) => {
                let title = format!("`{}` is a structure", values.value);
                reader.error(values.span, title, "here", "name an enumeration, flags or constants");
            }
            None => {
                let sets = spec.definitions.iter().filter(|(_, definition)| matches!(definition.body, Body::Values(_)));
                reader.unknown("enumeration", values, sets.map(|(name, _)| name.as_str()));
            }
        }
    }
}

/// Checks facts across files: groups, and that each version of an event type is stated once.
pub(super) fn check_classes(reader: &mut Reader, spec: &Spec) {
    let groups = match spec.definitions.get(GROUPS).map(|definition| &definition.body) {
        Some(Body::Values(values)) => Some(values),
        _ => None,
    };
    let mut first_of: BTreeMap<&str, (String, Span)> = BTreeMap::new();
    let mut stated: BTreeMap<(String, u8, u8), Span> = BTreeMap::new();
    let mut hooks: BTreeMap<(String, u8), (Option<&str>, Span)> = BTreeMap::new();
    for class in &spec.classes {
        let Some(home) = home(reader, spec, groups, class) else { continue };
        let (first, place) = first_of.entry(&class.name.value).or_insert((home.clone(), class.name.span));
        if *first != home {
            let title = format!("class `{}` has different groups in different files", class.name.value);
            reader.error_also((*place, "the first"), class.name.span, title, "the second", "rename one, or correct its group");
        }
        for event in &class.events {
            for ty in &event.types {
                let hook = ty.group.as_ref().or(class.group.as_ref());
                if let Some(group) = ty.group.as_ref().filter(|group| spec.group(&group.value).is_none()) {
                    unknown_group(reader, spec, groups, group);
                }
                let group = hook.map(|hook| hook.value.as_str());
                let (first, place) = *hooks.entry((home.clone(), ty.number)).or_insert((group, ty.name.span));
                if first != group {
                    let title = format!("event type {} has different groups in different lists", ty.number);
                    reader.error_also((place, "the first"), ty.name.span, title, "the second", "state one group in both lists");
                }
                let versions = event.versions_of(ty);
                let mut keys = vec![home.clone()];
                // Another class can state the same event by its hook.
                keys.extend(hook.map(|hook| hook.value.clone()));
                let last = if versions.last == u8::MAX { versions.first } else { versions.last };
                let all = (versions.first..=last).flat_map(|version| keys.iter().map(move |key| (key.clone(), version)));
                for (key, version) in all {
                    if let Some(other) = stated.insert((key, ty.number, version), ty.name.span) {
                        let title = format!("version {version} of event type {} is stated twice", ty.number);
                        let help = "keep one of them, or make their versions disjoint";
                        reader.error_also((other, "the first"), ty.name.span, title, "the second", help);
                        break;
                    }
                }
            }
        }
    }
}

fn unknown_group(reader: &mut Reader, spec: &Spec, groups: Option<&Values>, group: &At<String>) {
    if !spec.broken.contains(GROUPS) {
        let known = groups.into_iter().flat_map(|values| &values.constants).filter(|one| one.guid.is_some());
        reader.unknown("group", group, known.map(|constant| constant.name.value.as_str()));
    }
}

/// The GUID of a class, by its group or as stated.
fn home(reader: &mut Reader, spec: &Spec, groups: Option<&Values>, class: &Class) -> Option<String> {
    match (&class.group, &class.guid) {
        (Some(group), None) => {
            let found = spec.guid_of(group);
            if found.is_none() {
                unknown_group(reader, spec, groups, group);
            }
            found
        }
        (None, Some(guid)) => {
            let mut known = groups.into_iter().flat_map(|values| &values.constants);
            if let Some(group) = known.find(|constant| constant.guid.as_ref() == Some(&guid.value)) {
                let help = format!("write `group = \"{}\"`", group.name.value);
                reader.error(guid.span, "GUID belongs to a group", "here", help);
            }
            Some(guid.value.clone())
        }
        (given, _) => {
            let count = if given.is_some() { "a group and a GUID" } else { "no group" };
            let help = format!("write either `group`, a constant of {GROUPS}, or `guid`");
            reader.error(class.name.span, format!("class has {count}"), "here", help);
            None
        }
    }
}
