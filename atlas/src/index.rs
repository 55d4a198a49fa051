//! The index pages: structures by topic, events, values, builds, and the evidence levels.

use crate::branches::ARCHITECTURES;
use crate::facts::{Atlas, Structure};
use crate::frame::{Page, table};
use crate::{groups, marks, paths};
use etw_layouts_codegen::spec::{Body, ValuesKind};
use maud::{Markup, html};

/// The start page: the structures.
pub fn page(atlas: &Atlas) -> (String, String) {
    let mut page = Page::new("index.html".into(), "structures", "Structures");
    let main = groups::MAIN.into_iter().filter_map(|name| atlas.structures.iter().find(|structure| structure.name() == name));
    let newest = atlas.axis.along(ARCHITECTURES[0]).map(|(_, target)| target).last();
    let (embedded, parts): (Vec<_>, Vec<_>) = groups::parts(atlas).into_iter().partition(|(part, _)| *part == groups::EMBEDDED);
    let content = html! {
        h1 { "The memory layouts of Event Tracing for Windows" }
        p.lead {
            (atlas.structures.len()) " structures in " (atlas.layouts.layouts.len())
            " layouts, from Windows 2000 to the newest supported build: " (atlas.kernels.len())
            " targets (build and architecture), each with its evidence."
        }
        div.cards { @for structure in main { (card(atlas, structure)) } }
        p.ways {
            a href="events.html" {
                (atlas.classes.iter().map(|class| class.events.len()).sum::<usize>()) " kernel events in " (atlas.classes.len())
                " classes, with their payloads"
            }
            a href="providers.html" { "Events of the providers of Windows and .NET" }
            a href="values.html" { (atlas.values.len()) " enumerations, flags and sets of constants" }
            a href="variables.html" { (atlas.layouts.spec.globals.len()) " global variables of the kernel" }
            a href="kernels.html" { (atlas.axis.revisions.len()) " builds, with the symbols that prove them" }
            @if let Some(target) = newest { a href=(atlas.map_page(target)) { "Map of the references between structures" } }
        }
        (filter("Filter by name or description "))
        @for (part, list) in &parts {
            (page.part(&part.to_lowercase().replace(' ', "-"), part))
            (structures(atlas, part, list))
        }
        @for (part, list) in &embedded {
            details id="embedded-types" { summary { (part) ": " (list.len()) } (structures(atlas, part, list)) }
        }
        (marks::legend(""))
    };
    page.finish(&content)
}

/// A card for one of the structures that most readers look for.
fn card(atlas: &Atlas, structure: &Structure) -> Markup {
    let doc = &structure.definition.doc;
    let newest = structure.matrices.first().and_then(|matrix| Some((matrix, matrix.columns.last()?)));
    html! {
        article {
            h2 { a href=(paths::type_page(structure.name())) { (structure.name()) } }
            p { (doc.split_inclusive(". ").next().unwrap_or(doc)) }
            @if let Some((matrix, column)) = newest {
                small {
                    (format_args!("{:#x}", column.extent.size)) " bytes on " (matrix.arch) ", "
                    (atlas.scope(&structure.definition.scope))
                }
            }
        }
    }
}

fn structures(atlas: &Atlas, part: &str, list: &[&Structure]) -> Markup {
    let rows = html! { @for structure in list { (row(atlas, structure)) } };
    table(part, "list filtered", &["Structure", "Size", "Layouts", "Versions", "Evidence", "Description"], &rows)
}

/// A field that filters the tables of the page.
pub fn filter(label: &str) -> Markup {
    html! {
        p class="scripted filter" {
            label for="filter" { (label) }
            input id="filter" type="search" size="24" autocomplete="off" spellcheck="false";
            output for="filter" id="count" {}
        }
    }
}

fn row(atlas: &Atlas, structure: &Structure) -> Markup {
    let columns = || structure.matrices.iter().flat_map(|matrix| &matrix.columns);
    let sizes = || columns().map(|column| column.extent.size);
    let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let mut layouts: Vec<_> = columns().map(|column| column.layout).collect();
    layouts.sort_unstable();
    layouts.dedup();
    let source = |(target, confidence)| atlas.source(Some(structure.name()), target, confidence);
    html! {
        tr {
            th scope="row" { a href=(paths::type_page(structure.name())) { (structure.name()) } }
            td { (format_args!("{least:#x}")) @if least != most { (format_args!("–{most:#x}")) } }
            td { (layouts.len()) }
            td { (atlas.scope(&structure.definition.scope)) }
            td { (marks::levels(columns().flat_map(|column| &column.targets).copied().map(source))) }
            td.doc { (structure.definition.doc) }
        }
    }
}

/// Classes of events.
pub fn events(atlas: &Atlas) -> (String, String) {
    let rows = html! {
        @for class in &atlas.classes {
            tr {
                th scope="row" { a href=(paths::class_page(class.name)) { (class.name) } }
                td { (class.groups().join(", ")) }
                td.names {
                    @for event in &class.events {
                        a href=(paths::event_address(&event.name)) { (event.name.split_once('/').map_or("", |(_, name)| name)) } " "
                    }
                }
                td.doc { (class.doc) }
            }
        }
    };
    let content = html! {
        h1 { "Kernel events" }
        p.lead { "The payloads of kernel events, by class: the fields of each version, with their sources. " a href="providers.html" { "Events of other providers" } " have a search of their own." }
        (filter("Filter by class, group or event "))
        (table("Classes of events", "list filtered", &["Class", "Groups", "Events", "Description"], &rows))
    };
    Page::new("events.html".into(), "events", "Events").finish(&content)
}

/// Enumerations, flags and constants.
pub fn values(atlas: &Atlas) -> (String, String) {
    let definitions = atlas.values.iter().filter_map(|definition| match &definition.body {
        Body::Values(values) => Some((definition, &definition.name.value, values)),
        Body::Aggregate(_) => None,
    });
    let rows = html! {
        @for (definition, name, values) in definitions {
            tr {
                th scope="row" { a href=(paths::type_page(name)) { (name) } }
                td { (kind(values.kind)) }
                td { (values.constants.len()) }
                td { (atlas.scope(&definition.scope)) }
                td.doc { (definition.doc) }
            }
        }
    };
    let content = html! {
        h1 { "Enumerations, flags and constants" }
        p.lead { "Each page has a decoder: enter a number to see its names." }
        (filter("Filter by name "))
        (table("Values", "list filtered", &["Name", "Kind", "Constants", "Versions", "Description"], &rows))
    };
    Page::new("values.html".into(), "values", "Values").finish(&content)
}

/// The word for a kind of values.
pub fn kind(kind: ValuesKind) -> &'static str {
    match kind {
        ValuesKind::Enum => "enum",
        ValuesKind::Flags => "flags",
        ValuesKind::Constants => "constants",
    }
}

/// Builds, by release.
pub fn kernels(atlas: &Atlas) -> (String, String) {
    let rows = html! { @for kernel in (0..atlas.axis.revisions.len()).rev() { (self::kernel(atlas, kernel)) } };
    let content = html! {
        h1 { "Builds" }
        p.lead { "The first revision of each build, newest first, and the later revisions (updates) that changed a layout. For a revision between two listed ones, the layouts of the earlier one are assumed. The number after an evidence level is the number of builds whose symbols or kernel image were examined." }
        (table("Builds", "list builds", &["Build", "Label", "Release", "x64", "x86", "arm64"], &rows))
        (marks::legend(""))
    };
    Page::new("kernels.html".into(), "builds", "Builds").finish(&content)
}

fn kernel(atlas: &Atlas, number: usize) -> Markup {
    let axis = atlas.axis;
    let target = |arch| axis.targets.ids().find(|&id| axis.targets[id].revision == number && axis.targets[id].arch == arch);
    let update = ARCHITECTURES.into_iter().find_map(target).is_some_and(|any| atlas.is_update(any));
    let release = &axis.releases[axis.revisions[number].release];
    html! {
        tr class=(if update { "update" } else { "release" }) {
            th scope="row" { (axis.revision_name(number)) @if update { small { " update" } } }
            td { (axis.single(release.label())) }
            td { (release.name) }
            @for target in ARCHITECTURES.map(target) {
                td {
                    @if let Some(target) = target {
                        @let one = &atlas.kernels[target];
                        @let source = atlas.source(None, target, one.choice.confidence);
                        (marks::source(source, one.choice.confidence)) " "
                        a href=(paths::target_page(&one.name)) { (marks::word(source, one.choice.confidence)) }
                        small { " " (one.seen.len()) }
                    } @else { "—" }
                }
            }
        }
    }
}

/// How to read the atlas.
pub fn legend() -> (String, String) {
    let mut page = Page::new("legend.html".into(), "legend", "How to read this atlas");
    let changes = [
        ("new", "new", "The member was added."),
        ("moved", "moved", "The member is at another offset."),
        ("typed", "another type", "The member has another type or other bits of its storage unit."),
    ];
    let content = html! {
        h1 { "How to read this atlas" }
        (page.part("evidence-levels", "Evidence levels"))
        p { "Every offset is computed from a declaration. The evidence level shows what verifies it for a build. A cell that covers several builds has the weakest level of them; the head of the column has the level of each. A bar shows how many targets have each level; point at it for the numbers." }
        dl.signs {
            @for (source, _, _, means) in marks::SOURCES {
                div { dt { (marks::source(source, source.word())) " " (source.word()) } dd { (means) } }
            }
        }
        (page.part("builds-and-versions", "Builds and versions"))
        p { "A build can be named by a label (24H2, 1703, 10-22H2), by its number (19041), by number and revision (19041.1415, 10.0.19041.1415-x64) or by the KB number of its update (KB5031356). early-6.0 is Windows Vista before Service Pack 1; late-6.0 is Service Pack 1 and later. A column is a range of builds with the same layout. A dotted edge and the word “update” mark a range that begins with an update (a revision within a build), because updates can change layouts. A revision that was not examined has the layouts of the revision before it, and its confidence is inferred or uncertain." }
        (page.part("member-changes", "Changes"))
        ul {
            @for (class, words, means) in changes { li { span class={ "change " (class) } { (words) } " " (means) } }
            li { "A hatched cell with a dash: the member does not exist in these versions." }
        }
        (page.part("payload-fields", "Events"))
        p { "A field of an event's payload has an offset in traces of 32-bit and of 64-bit systems, whose pointers have 4 and 8 bytes. A field after a field of variable size has no offset. The sources of a version are the references that describe it: mof and windows are the classes that Windows registers, documents the published documentation, phnt the headers of System Informer, perfview the parser of PerfView. Errata are statements of a source that other sources or real traces contradict; unresolved: the sources disagree, and nothing decides." }
        (page.part("search-and-keys", "Search and keys"))
        p { "Search finds structures, members, constants, events, builds, releases, KB numbers, the GUIDs of PDB files and the time stamps of kernel images. Parts of a name in any order are enough: guid entry. STRUCTURE+0x398 1703 shows what is at an offset at a build." }
        p { "Press / to search, the arrow keys to select a result, Enter to open it and Escape to leave the search. In the switches of architecture and view, the arrow keys select. Tables and pictures wider than the window scroll separately and support the keyboard." }
    };
    page.finish(&content)
}
