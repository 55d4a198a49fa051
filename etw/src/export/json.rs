//! `export json`: everything in one document. `docs/atlas.schema.json` is its schema and must change with it. A change that
//! readers can notice needs a new format version.

use super::offsets::{Image, Pdb, build};
use super::write::{Text, write};
use crate::event::{self, Event};
use crate::{Error, Outcome, no_stdout, print};
use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::layouts::{Form, Layout, Layouts, Type};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::spec::{Body, Definition, ValuesKind};
use etw_layouts_project::Choice;
use etw_layouts_project::Project;
use etw_layouts_project::errata;
use etw_layouts_project::events::Statements;
use etw_layouts_project::history::has;
use etw_layouts_project::members::{Member, c_type, keyword, members};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Write everything as one JSON file: structures, enumerations, constants, their layouts in all targets, evidence, confidence,
/// errata of published references, payloads of events, and the examined builds.
///
///     etw export json -o . && xz atlas.json
///     etw export json | jq '.structures[] | select(.name == "ETW_GUID_ENTRY") | .layouts[].size'
///
/// Lists named `targets` contain indices into the top-level list `targets`. The JSON Schema is docs/atlas.schema.json in the
/// source code.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Write DIR/atlas.json, or FILE (.json). By default, print to standard output.
    #[arg(short, long, value_name = "DIR|FILE", value_parser = no_stdout())]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args, project: &Project) -> Result<Outcome, Error> {
    let layouts = project.layouts()?;
    let registry = project.registry(&layouts.spec.axis)?;
    let text = print::compact(&document(&layouts, &registry, &project.statements()?))?;
    write(&[Text { name: "atlas.json".to_owned(), text }], args.output.as_deref())
}

/// The document.
pub fn document<'a>(layouts: &'a Layouts, registry: &'a Registry, statements: &Statements) -> impl Serialize + use<'a> {
    let axis = &layouts.spec.axis;
    let targets = axis.targets.iter().map(|(index, target)| {
        let kernel = &axis.kernels[target.kernel];
        let version = &axis.versions[kernel.version];
        Target {
            name: axis.target_name(index),
            build: build(kernel.build),
            arch: target.arch.to_string(),
            version: &version.label,
            release: &version.release,
            same_builds: kernel.same.iter().map(|same| format!("{same:#}")).collect(),
        }
    });
    let names: BTreeMap<&str, usize> =
        layouts.spec.definitions.keys().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
    let witnesses = registry.witnesses.iter().map(|witness| Witness {
        name: &witness.name,
        kind: witness.kind.word(),
        structures: witness.holds.iter().filter_map(|name| names.get(name.as_str()).copied()).collect(),
    });
    let kernels = registry.kernels.iter().map(|seen| ExaminedBuild {
        build: build(seen.build),
        arch: seen.arch.to_string(),
        target: axis.at(seen.build, seen.arch).map(usize::from),
        pdb: seen.pdb.as_ref().map(|pdb| Pdb { name: &pdb.name, guid: pdb.guid.to_string(), age: pdb.age }),
        image: seen.image.as_ref().map(|image| Image { name: &image.name, time_stamp: image.time_stamp, size: image.size }),
        variables: &seen.globals,
        evidence_source: seen.witness,
    });
    let variables = layouts.spec.globals.values().map(|global| Variable {
        name: &global.name.value,
        doc: &global.doc,
        targets: list(&global.scope),
        types: global.ty.0.iter().map(|piece| Typed { ty: piece.value.to_string(), targets: list(&piece.targets) }).collect(),
        sources: global
            .source
            .0
            .iter()
            .map(|piece| Known { source: piece.value.word(), targets: list(&piece.targets) })
            .collect(),
    });
    Document {
        format: "etw-layouts atlas",
        version: 1,
        producer: concat!("etw-layouts ", env!("CARGO_PKG_VERSION")),
        targets: targets.collect(),
        structures: layouts.spec.definitions.values().map(|definition| structure(layouts, registry, definition)).collect(),
        events: event::events(&layouts.spec, statements),
        variables: variables.collect(),
        evidence_sources: witnesses.collect(),
        builds: kernels.collect(),
    }
}

fn structure<'a>(layouts: &'a Layouts, registry: &Registry, definition: &'a Definition) -> Structure<'a> {
    let name = &definition.name.value;
    let axis = &layouts.spec.axis;
    let mut confidence: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    for target in has(layouts, name).iter() {
        let choice = Choice::of(layouts, registry, axis.newest(target), Some(name));
        confidence.entry(choice.confidence.word()).or_default().push(target.into());
    }
    let (kind, constants) = match &definition.body {
        Body::Aggregate(aggregate) => (keyword(aggregate.kind), Vec::new()),
        Body::Values(values) => {
            let kind = match values.kind {
                ValuesKind::Enum => "enum",
                ValuesKind::Flags => "flags",
                ValuesKind::Constants => "constants",
            };
            let constants = values.constants.iter().map(|constant| Constant {
                name: &constant.name.value,
                doc: &constant.doc,
                guid: constant.guid.as_deref().map(print::plain_guid),
                targets: list(&constant.scope),
            });
            (kind, constants.collect())
        }
    };
    let unverifiable =
        definition.unverifiable.0.iter().map(|piece| Reason { reason: &piece.value, targets: list(&piece.targets) });
    let errata = errata::stated(definition).into_iter().map(|(about, erratum)| Erratum {
        about,
        kind: erratum.what.word(),
        document: erratum.document.to_string(),
        actual: erratum.actual.to_string(),
        evidence_source: erratum.witness.word(),
        note: &erratum.note,
        targets: list(&erratum.scope),
    });
    Structure {
        name,
        kind,
        doc: &definition.doc,
        confidence,
        unverifiable: unverifiable.collect(),
        constants,
        layouts: layouts.layouts.iter().filter(|layout| layout.name == *name).map(|layout| form(layouts, layout)).collect(),
        errata: errata.collect(),
    }
}

fn form<'a>(layouts: &'a Layouts, layout: &'a Layout) -> LayoutOf<'a> {
    let extent = layout.extent();
    let (members, values) = match &layout.form {
        Form::Aggregate(_) => (of_layout(layouts, layout), BTreeMap::new()),
        Form::Enumeration(set) => (Vec::new(), set.constants.iter().map(|(name, value)| (name.as_str(), *value)).collect()),
    };
    LayoutOf { targets: list(&layout.targets), size: extent.size, align: extent.align, members, values }
}

/// The members of a layout. Their evidence can differ between the targets that share the layout.
fn of_layout<'a>(layouts: &'a Layouts, layout: &'a Layout) -> Vec<MemberOf<'a>> {
    let mut list: Vec<MemberOf> = Vec::new();
    for target in layout.targets.iter() {
        let fields =
            members(layouts, &layout.name, target).into_iter().filter_map(|member| Some((member.field.clone()?, member)));
        for (index, ((field, info), member)) in fields.enumerate() {
            if index == list.len() {
                let Member { depth, path, offset, size, bits, .. } = member;
                list.push(MemberOf {
                    name: path,
                    depth,
                    offset,
                    size,
                    r#type: match &field.ty {
                        Type::Inline(inner) => keyword(inner.kind).to_owned(),
                        _ => c_type(field),
                    },
                    bit: bits.map(|bits| bits.position),
                    bits: bits.map(|bits| bits.width),
                    values: field.values.as_deref(),
                    leads_to: info.leads_to.clone(),
                    doc: info.doc.clone(),
                    evidence: BTreeMap::new(),
                });
            }
            list[index].evidence.entry(info.known()).or_default().push(target.into());
        }
    }
    list
}

fn list(targets: &TargetSet) -> Vec<usize> {
    targets.iter().map(usize::from).collect()
}

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    producer: &'static str,
    targets: Vec<Target<'a>>,
    structures: Vec<Structure<'a>>,
    /// Kernel events.
    events: Vec<Event<'a>>,
    variables: Vec<Variable<'a>>,
    evidence_sources: Vec<Witness<'a>>,
    builds: Vec<ExaminedBuild<'a>>,
}

#[derive(Serialize)]
struct Target<'a> {
    name: String,
    build: String,
    arch: String,
    version: &'a str,
    release: &'a str,
    same_builds: Vec<String>,
}

/// A structure, union, enumeration, or set of flags or constants.
#[derive(Serialize)]
struct Structure<'a> {
    name: &'a str,
    kind: &'static str,
    doc: &'a str,
    /// The targets by confidence, as `etw list --targets` prints it.
    confidence: BTreeMap<&'static str, Vec<usize>>,
    unverifiable: Vec<Reason<'a>>,
    constants: Vec<Constant<'a>>,
    layouts: Vec<LayoutOf<'a>>,
    errata: Vec<Erratum<'a>>,
}

#[derive(Serialize)]
struct Reason<'a> {
    reason: &'a str,
    targets: Vec<usize>,
}

#[derive(Serialize)]
struct Constant<'a> {
    name: &'a str,
    doc: &'a str,
    guid: Option<String>,
    targets: Vec<usize>,
}

/// A layout that targets share.
#[derive(Serialize)]
struct LayoutOf<'a> {
    targets: Vec<usize>,
    size: u64,
    align: u64,
    members: Vec<MemberOf<'a>>,
    values: BTreeMap<&'a str, i64>,
}

#[derive(Serialize)]
struct MemberOf<'a> {
    /// The name, after the names of the enclosing members. None for an unnamed structure or union; its members follow, one level
    /// deeper.
    name: Option<String>,
    depth: usize,
    offset: u64,
    size: u64,
    r#type: String,
    bit: Option<u64>,
    bits: Option<u64>,
    values: Option<&'a str>,
    leads_to: Vec<String>,
    doc: String,
    /// The targets by the evidence that the spec states, as `etw show` prints it.
    evidence: BTreeMap<&'static str, Vec<usize>>,
}

#[derive(Serialize)]
struct Erratum<'a> {
    about: String,
    kind: &'static str,
    document: String,
    actual: String,
    evidence_source: &'static str,
    note: &'a str,
    targets: Vec<usize>,
}

/// A file of facts.
#[derive(Serialize)]
struct Witness<'a> {
    name: &'a str,
    kind: &'static str,
    structures: Vec<usize>,
}

/// A global variable of the kernel.
#[derive(Serialize)]
struct Variable<'a> {
    name: &'a str,
    doc: &'a str,
    targets: Vec<usize>,
    types: Vec<Typed>,
    sources: Vec<Known>,
}

/// A type of a variable, and the targets at which it has this type.
#[derive(Serialize)]
struct Typed {
    #[serde(rename = "type")]
    ty: String,
    targets: Vec<usize>,
}

/// A source for the type of a variable, and the targets for which it is the source.
#[derive(Serialize)]
struct Known {
    source: &'static str,
    targets: Vec<usize>,
}

/// An examined build, and the facts in its symbols or its image.
#[derive(Serialize)]
struct ExaminedBuild<'a> {
    build: String,
    arch: String,
    target: Option<usize>,
    pdb: Option<Pdb<'a>>,
    image: Option<Image<'a>>,
    variables: &'a BTreeMap<String, u64>,
    evidence_source: usize,
}
