//! The index pages: structures by topic, events, values, builds, and the evidence levels.

use super::branches::ARCHITECTURES;
use super::facts::{Atlas, Structure};
use super::frame::{page as framed, scrolled};
use super::{groups, marks, paths};
use crate::html::Html;
use etw_layouts_codegen::spec::{Body, ValuesKind};

/// The start page: the structures.
pub fn page(atlas: &Atlas) -> (String, String) {
    framed("index.html".into(), "structures", "Structures", |html| {
        html.leaf("h1", &[], "The memory layouts of Event Tracing for Windows");
        let (structures, kernels) = (atlas.structures.len(), atlas.kernels.len());
        let layouts = atlas.layouts.layouts.len();
        html.leaf(
            "p",
            &[("class", &"lead")],
            format_args!("{structures} structures in {layouts} layouts, from Windows 2000 to the newest supported build: {kernels} targets (build and architecture), each with its evidence."),
        );
        html.el("div", &[("class", &"cards")], |html| {
            for name in groups::MAIN {
                if let Some(structure) = atlas.structures.iter().find(|structure| structure.name() == name) {
                    card(atlas, structure, html);
                }
            }
        });
        let (classes, events) = (atlas.classes.len(), atlas.classes.iter().map(|class| class.events.len()).sum::<usize>());
        html.el("p", &[("class", &"ways")], |html| {
            html.link("events.html", format_args!("{events} kernel events in {classes} classes, with their payloads"));
            html.link("values.html", format_args!("{} enumerations, flags and sets of constants", atlas.values.len()));
            html.link("kernels.html", format_args!("{} builds, with the symbols that prove them", atlas.axis.revisions.len()));
            if let Some(target) = atlas.axis.along(ARCHITECTURES[0]).map(|(_, target)| target).last() {
                html.link(atlas.map_page(target), "Map of the references between structures");
            }
        });
        filter(html, "Filter by name or description ");
        let parts = groups::parts(atlas);
        for (part, list) in parts.iter().filter(|(part, _)| *part != groups::EMBEDDED) {
            html.part(&part.to_lowercase().replace(' ', "-"), part);
            table(atlas, part, list, html);
        }
        for (part, list) in parts.iter().filter(|(part, _)| *part == groups::EMBEDDED) {
            html.el("details", &[("id", &"embedded-types")], |html| {
                html.leaf("summary", &[], format_args!("{part}: {}", list.len()));
                table(atlas, part, list, html);
            });
        }
        marks::legend(html, "");
    })
}

/// A card for one of the structures that most readers look for.
fn card(atlas: &Atlas, structure: &Structure, html: &mut Html) {
    html.el("article", &[], |html| {
        html.el("h2", &[], |html| html.link(paths::of_type(structure.name()), structure.name()));
        let doc = &structure.definition.doc;
        let first = doc.split_inclusive(". ").next().unwrap_or(doc);
        html.leaf("p", &[], first);
        let newest = structure.matrices.first().and_then(|matrix| Some((matrix, matrix.columns.last()?)));
        if let Some((matrix, column)) = newest {
            let versions = atlas.scope(&structure.definition.scope);
            html.leaf("small", &[], format_args!("{:#x} bytes on {}, {versions}", column.extent.size, matrix.arch));
        }
    });
}

fn table(atlas: &Atlas, part: &str, list: &[&Structure], html: &mut Html) {
    scrolled(html, part, |html| {
        html.el("table", &[("class", &"list filtered")], |html| {
            head(html, &["Structure", "Size", "Layouts", "Versions", "Evidence", "Description"]);
            html.el("tbody", &[], |html| list.iter().for_each(|structure| row(atlas, structure, html)));
        });
    });
}

fn filter(html: &mut Html, label: &str) {
    html.el("p", &[("class", &"scripted filter")], |html| {
        html.leaf("label", &[("for", &"filter")], label);
        html.void(
            "input",
            &[("id", &"filter"), ("type", &"search"), ("size", &"24"), ("autocomplete", &"off"), ("spellcheck", &"false")],
        );
        html.leaf("output", &[("for", &"filter"), ("id", &"count")], "");
    });
}

fn head(html: &mut Html, headings: &[&str]) {
    html.el("thead", &[], |html| {
        html.el("tr", &[], |html| headings.iter().for_each(|heading| html.leaf("th", &[("scope", &"col")], heading)));
    });
}

fn row(atlas: &Atlas, structure: &Structure, html: &mut Html) {
    let columns = || structure.matrices.iter().flat_map(|matrix| &matrix.columns);
    let sizes = || columns().map(|column| column.extent.size);
    let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let mut layouts: Vec<_> = columns().map(|column| column.layout).collect();
    layouts.sort_unstable();
    layouts.dedup();
    html.el("tr", &[], |html| {
        html.el("th", &[("scope", &"row")], |html| html.link(paths::of_type(structure.name()), structure.name()));
        match least == most {
            true => html.leaf("td", &[], format_args!("{least:#x}")),
            false => html.leaf("td", &[], format_args!("{least:#x}–{most:#x}")),
        }
        html.leaf("td", &[], layouts.len());
        html.leaf("td", &[], atlas.scope(&structure.definition.scope));
        html.el("td", &[], |html| {
            let of = |(target, confidence)| atlas.source(Some(structure.name()), target, confidence);
            marks::levels(html, columns().flat_map(|column| &column.targets).copied().map(of));
        });
        html.leaf("td", &[("class", &"doc")], &structure.definition.doc);
    });
}

/// Classes of events.
pub fn events(atlas: &Atlas) -> (String, String) {
    framed("events.html".into(), "events", "Events", |html| {
        html.leaf("h1", &[], "Kernel events");
        html.leaf(
            "p",
            &[("class", &"lead")],
            "The payloads of kernel events, by class: the fields of each version, with their sources.",
        );
        filter(html, "Filter by class, group or event ");
        scrolled(html, "Classes of events", |html| {
            html.el("table", &[("class", &"list filtered")], |html| {
                head(html, &["Class", "Groups", "Events", "Description"]);
                html.el("tbody", &[], |html| {
                    for class in &atlas.classes {
                        html.el("tr", &[], |html| {
                            html.el("th", &[("scope", &"row")], |html| html.link(paths::of_class(class.name), class.name));
                            html.leaf("td", &[], class.groups().join(", "));
                            html.el("td", &[("class", &"names")], |html| {
                                for event in &class.events {
                                    let name = event.name.split_once('/').map_or("", |(_, name)| name);
                                    html.link(paths::of_event(&event.name), name);
                                    html.text(" ");
                                }
                            });
                            html.leaf("td", &[("class", &"doc")], &class.doc);
                        });
                    }
                });
            });
        });
    })
}

/// Enumerations, flags and constants.
pub fn values(atlas: &Atlas) -> (String, String) {
    framed("values.html".into(), "values", "Values", |html| {
        html.leaf("h1", &[], "Enumerations, flags and constants");
        html.leaf("p", &[("class", &"lead")], "Each page has a decoder: enter a number to see its names.");
        filter(html, "Filter by name ");
        scrolled(html, "Values", |html| {
            html.el("table", &[("class", &"list filtered")], |html| {
                head(html, &["Name", "Kind", "Constants", "Versions", "Description"]);
                html.el("tbody", &[], |html| {
                    for definition in &atlas.values {
                        let Body::Values(values) = &definition.body else { continue };
                        html.el("tr", &[], |html| {
                            let name = &definition.name.value;
                            html.el("th", &[("scope", &"row")], |html| html.link(paths::of_type(name), name));
                            let kind = match values.kind {
                                ValuesKind::Enum => "enum",
                                ValuesKind::Flags => "flags",
                                ValuesKind::Constants => "constants",
                            };
                            html.leaf("td", &[], kind);
                            html.leaf("td", &[], values.constants.len());
                            html.leaf("td", &[], atlas.scope(&definition.scope));
                            html.leaf("td", &[("class", &"doc")], &definition.doc);
                        });
                    }
                });
            });
        });
    })
}

/// Builds, by release.
pub fn kernels(atlas: &Atlas) -> (String, String) {
    framed("kernels.html".into(), "builds", "Builds", |html| {
        html.leaf("h1", &[], "Builds");
        html.leaf(
            "p",
            &[("class", &"lead")],
            "The first revision of each build, newest first, and the later revisions (updates) that changed a layout. For a revision between two listed ones, the layouts of the earlier one are assumed. The number after an evidence level is the number of builds whose symbols or kernel image were examined.",
        );
        scrolled(html, "Builds", |html| {
            html.el("table", &[("class", &"list builds")], |html| {
                head(html, &["Build", "Label", "Release", "x64", "x86", "arm64"]);
                html.el("tbody", &[], |html| {
                    (0..atlas.axis.revisions.len()).rev().for_each(|kernel| self::kernel(atlas, kernel, html))
                });
            });
        });
        marks::legend(html, "");
    })
}

fn kernel(atlas: &Atlas, number: usize, html: &mut Html) {
    let target = |arch| {
        atlas
            .axis
            .targets
            .ids()
            .find(|&target| atlas.axis.targets[target].revision == number && atlas.axis.targets[target].arch == arch)
    };
    let any = ARCHITECTURES.into_iter().find_map(target);
    let release = &atlas.axis.releases[atlas.axis.revisions[number].release];
    let update = any.is_some_and(|any| atlas.is_update(any));
    html.el("tr", &[("class", &if update { "update" } else { "release" })], |html| {
        html.el("th", &[("scope", &"row")], |html| {
            html.text(atlas.axis.revision_name(number));
            if update {
                html.leaf("small", &[], " update");
            }
        });
        html.leaf("td", &[], atlas.axis.single(release.label()));
        html.leaf("td", &[], &release.name);
        for arch in ARCHITECTURES {
            html.el("td", &[], |html| {
                let Some(target) = target(arch) else { return html.text("—") };
                let one = &atlas.kernels[target];
                marks::source(html, atlas.source(None, target, one.choice.confidence), one.choice.confidence);
                html.text(" ");
                let source = atlas.source(None, target, one.choice.confidence);
                html.link(paths::of_kernel(&one.name), marks::word(source, one.choice.confidence));
                html.leaf("small", &[], format_args!(" {}", one.seen.len()));
            });
        }
    });
}

/// How to read the atlas.
pub fn legend() -> (String, String) {
    framed("legend.html".into(), "legend", "How to read this atlas", |html| {
        html.leaf("h1", &[], "How to read this atlas");
        html.part("evidence-levels", "Evidence levels");
        html.leaf("p", &[], "Every offset is computed from a declaration. The evidence level shows what verifies it for a build. A cell that covers several builds has the weakest level of them; the head of the column has the level of each. A bar shows how many targets have each level; point at it for the numbers.");
        html.el("dl", &[("class", &"signs")], |html| {
            for (source, _, _, means) in marks::SOURCES {
                html.el("div", &[], |html| {
                    html.el("dt", &[], |html| {
                        marks::source(html, source, source.word());
                        html.text(format_args!(" {}", source.word()));
                    });
                    html.leaf("dd", &[], means);
                });
            }
        });
        html.part("builds-and-versions", "Builds and versions");
        html.leaf("p", &[], "A build can be named by a label (24H2, 1703, 10-22H2), by its number (19041), by number and revision (19041.1415, 10.0.19041.1415-x64) or by the KB number of its update (KB5031356). early-6.0 is Windows Vista before Service Pack 1; late-6.0 is Service Pack 1 and later. A column is a range of builds with the same layout. A dotted edge and the word “update” mark a range that begins with an update (a revision within a build), because updates can change layouts. A revision that was not examined has the layouts of the revision before it, and its confidence is inferred or uncertain.");
        html.part("member-changes", "Changes");
        html.el("ul", &[], |html| {
            for (class, words, means) in [
                ("new", "new", "The member was added."),
                ("moved", "moved", "The member is at another offset."),
                ("typed", "another type", "The member has another type or other bits of its storage unit."),
            ] {
                html.el("li", &[], |html| {
                    html.leaf("span", &[("class", &format_args!("change {class}"))], words);
                    html.text(format_args!(" {means}"));
                });
            }
            html.leaf("li", &[], "A hatched cell with a dash: the member does not exist in these versions.");
        });
        html.part("payload-fields", "Events");
        html.leaf("p", &[], "A field of an event's payload has an offset in traces of 32-bit and of 64-bit systems, whose pointers have 4 and 8 bytes. A field after a field of variable size has no offset. The sources of a version are the references that describe it: mof and windows are the classes that Windows registers, documents the published documentation, phnt the headers of System Informer, perfview the parser of PerfView. Errata are statements of a source that other sources or real traces contradict; unresolved: the sources disagree, and nothing decides.");
        html.part("search-and-keys", "Search and keys");
        html.leaf("p", &[], "Search finds structures, members, constants, events, builds, releases, KB numbers, the GUIDs of PDB files and the time stamps of kernel images. Parts of a name in any order are enough: guid entry. STRUCTURE+0x398 1703 shows what is at an offset at a build.");
        html.leaf("p", &[], "Press / to search, the arrow keys to select a result, Enter to open it and Escape to leave the search. In the switches of architecture and view, the arrow keys select. Tables and pictures wider than the window scroll separately and support the keyboard.");
    })
}
