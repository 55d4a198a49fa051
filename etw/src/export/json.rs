//! `export json`: everything in one document. `docs/atlas.schema.json` is its schema and must change with it. A change that
//! readers can notice needs a new format version.

use super::offsets::{build, image, pdb};
use super::write::{Output, write};
use crate::object::object;
use crate::show::definition_kind;
use crate::{Error, Outcome, event, no_stdout, print};
use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::layouts::{Form, Layout, Layouts, Type};
use etw_layouts_codegen::registry::Registry;
use etw_layouts_codegen::spec::{Body, Definition};
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
    let layouts = project.shared_layouts()?;
    let registry = project.registry(&layouts.spec.axis)?;
    let text = print::compact(&document(&layouts, &registry, &project.statements()?))?;
    write(&[Output { name: "atlas.json".to_owned(), content: text.into() }], args.output.as_deref())
}

/// The document. `layouts` of a structure are shared by targets; a member of one has no name if it is an unnamed structure or union, and its
/// members follow, one level deeper.
pub fn document<'a>(layouts: &'a Layouts, registry: &'a Registry, statements: &Statements) -> impl Serialize + use<'a> {
    let axis = &layouts.spec.axis;
    let targets = axis.targets.iter().map(|(index, target)| {
        let revision = &axis.revisions[target.revision];
        let release = &axis.releases[revision.release];
        object! {
            name: axis.target_name(index),
            build: build(revision.build),
            arch: target.arch.to_string(),
            label: release.label(),
            release: &release.name,
            shared_builds: revision.shared.iter().map(|shared| format!("{:#}", shared.build)).collect::<Vec<_>>(),
        }
    });
    let names: BTreeMap<&str, usize> =
        layouts.spec.definitions.keys().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
    let facts_files = registry.facts_files.iter().map(|facts_file| {
        object! {
            name: &facts_file.name,
            kind: facts_file.kind.word(),
            structures: facts_file.holds.iter().filter_map(|name| names.get(name.as_str()).copied()).collect::<Vec<_>>(),
        }
    });
    let builds = registry.builds.iter().map(|seen| {
        object! {
            build: build(seen.build),
            arch: seen.arch.to_string(),
            target: axis.at(seen.build, seen.arch).map(usize::from),
            pdb: seen.pdb.as_ref().map(pdb),
            image: seen.image.as_ref().map(image),
            variables: &seen.globals,
            evidence_source: seen.facts_file,
        }
    });
    let variables = layouts.spec.globals.values().map(|global| {
        let types = global.ty.0.iter().map(|piece| object! { r#type: piece.value.to_string(), targets: list(&piece.targets) });
        let sources = global.source.0.iter();
        object! {
            name: &global.name.value,
            doc: &global.doc,
            targets: list(&global.scope),
            types: types.collect::<Vec<_>>(),
            sources: sources.map(|piece| object! { source: piece.value.word(), targets: list(&piece.targets) }).collect::<Vec<_>>(),
        }
    });
    object! {
        format: "etw-layouts atlas",
        version: 1,
        producer: concat!("etw-layouts ", env!("CARGO_PKG_VERSION")),
        targets: targets.collect::<Vec<_>>(),
        structures: layouts.spec.definitions.values().map(|one| structure(layouts, registry, one)).collect::<Vec<_>>(),
        events: event::events(&layouts.spec, statements),
        variables: variables.collect::<Vec<_>>(),
        evidence_sources: facts_files.collect::<Vec<_>>(),
        builds: builds.collect::<Vec<_>>(),
    }
}

fn structure<'a>(layouts: &'a Layouts, registry: &Registry, definition: &'a Definition) -> impl Serialize + use<'a> {
    let name = &definition.name.value;
    let axis = &layouts.spec.axis;
    // The targets by confidence, as `etw list --targets` prints it.
    let mut confidence: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
    for target in has(layouts, name).iter() {
        let choice = Choice::of(layouts, registry, axis.newest(target), Some(name));
        confidence.entry(choice.confidence.word()).or_default().push(target.into());
    }
    let constants = match &definition.body {
        Body::Aggregate(_) => &[][..],
        Body::Values(values) => &values.constants,
    };
    let constants = constants.iter().map(|constant| {
        object! {
            name: &constant.name.value,
            doc: &constant.doc,
            guid: constant.guid.as_deref().map(etw_layouts_atlas::event::plain_guid),
            targets: list(&constant.scope),
        }
    });
    let unverifiable = definition.unverifiable.0.iter();
    let errata = errata::stated(definition).into_iter().map(|(about, erratum)| {
        object! {
            about: about,
            kind: erratum.what.word(),
            document: erratum.document.to_string(),
            actual: erratum.actual.to_string(),
            evidence_source: erratum.evidence.word(),
            note: &erratum.note,
            targets: list(&erratum.scope),
        }
    });
    object! {
        name: name,
        kind: definition_kind(&definition.body),
        doc: &definition.doc,
        confidence: confidence,
        unverifiable: unverifiable
            .map(|piece| object! { reason: &piece.value, targets: list(&piece.targets) })
            .collect::<Vec<_>>(),
        constants: constants.collect::<Vec<_>>(),
        layouts: layouts.layouts.iter().filter(|layout| layout.name == *name).map(|one| form(layouts, one)).collect::<Vec<_>>(),
        errata: errata.collect::<Vec<_>>(),
    }
}

fn form<'a>(layouts: &'a Layouts, layout: &'a Layout) -> impl Serialize + use<'a> {
    let extent = layout.extent();
    let (members, values) = match &layout.form {
        Form::Aggregate(_) => (of_layout(layouts, layout), BTreeMap::new()),
        Form::Enumeration(set) => (Vec::new(), set.constants.iter().map(|(name, value)| (name, value)).collect()),
    };
    object! { targets: list(&layout.targets), size: extent.size, align: extent.align, members: members, values: values }
}

/// The members of a layout. Their evidence can differ between the targets that share the layout: the targets by the evidence that the spec
/// states, as `etw show` prints it.
fn of_layout<'a>(layouts: &'a Layouts, layout: &'a Layout) -> Vec<impl Serialize + use<'a>> {
    let mut list = Vec::new();
    for target in layout.targets.iter() {
        let fields =
            members(layouts, &layout.name, target).into_iter().filter_map(|member| Some((member.field.clone()?, member)));
        for (index, ((field, info), member)) in fields.enumerate() {
            if index == list.len() {
                let Member { depth, path, offset, size, bits, .. } = member;
                list.push(object! {
                    name: path,
                    depth: depth,
                    offset: offset,
                    size: size,
                    r#type: if let Type::Inline(inner) = &field.ty { keyword(inner.kind).to_owned() } else { c_type(field) },
                    bit: bits.map(|bits| bits.position),
                    bits: bits.map(|bits| bits.width),
                    values: field.values.as_deref(),
                    leads_to: info.leads_to.clone(),
                    doc: info.doc.clone(),
                    evidence: BTreeMap::<_, Vec<usize>>::new(),
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
