//! A structure at a target, as JSON.

use super::members::{c_type, members};
use super::table::confirmed;
use crate::Error;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_codegen::spec::Body;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    structure: &'a str,
    build: String,
    arch: String,
    size: u64,
    align: u64,
    members: Vec<Member<'a>>,
    /// Of an enumeration or a set of macros.
    #[serde(skip_serializing_if = "Option::is_none")]
    constants: Option<Vec<Constant<'a>>>,
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    offset: u64,
    size: u64,
    r#type: String,
    bit: Option<u64>,
    bits: Option<u64>,
    provenance: String,
}

#[derive(Serialize)]
struct Constant<'a> {
    name: &'a str,
    value: i64,
    r#in: String,
    doc: &'a str,
    guid: Option<&'a str>,
}

/// The document; the members of unnamed structures and unions stand among their parents'.
pub fn document(layouts: &Layouts, name: &str, target: usize) -> Result<String, Error> {
    let spec = &layouts.spec;
    let kernel = &spec.axis.kernels[spec.axis.targets[target].kernel];
    let extent = layouts.get(target, name).ok_or("no layout")?.extent();
    let list = members(layouts, name, target);
    let flat = list.iter().filter(|member| member.flat()).filter_map(|member| {
        let (field, info) = member.field.as_ref()?;
        Some(Member {
            name: field.name.as_deref()?,
            offset: member.offset,
            size: member.size,
            r#type: c_type(field),
            bit: member.bits.map(|bits| bits.position),
            bits: member.bits.map(|bits| bits.width),
            provenance: format!("{}; {}", info.known(), confirmed(layouts, name, target)),
        })
    });
    let constants = match spec.definitions.get(name).map(|definition| &definition.body) {
        Some(Body::Values(values)) => {
            let present = values.constants.iter().filter(|c| c.scope.contains(target));
            let all = present.filter_map(|c| {
                let value = c.value.get(target)?.value;
                let r#in = spec.axis.describe(&c.scope);
                Some(Constant { name: &c.name.value, value, r#in, doc: &c.doc, guid: c.guid.as_deref() })
            });
            Some(all.collect())
        }
        _ => None,
    };
    Ok(serde_json::to_string_pretty(&Document {
        structure: name,
        build: kernel.build.to_string(),
        arch: spec.axis.targets[target].arch.to_string(),
        size: extent.size,
        align: extent.align,
        members: flat.collect(),
        constants,
    })?)
}
