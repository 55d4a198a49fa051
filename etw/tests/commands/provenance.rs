//! The evidence of each member, by kernel: symbols or the image of this kernel, a published reference that covers it, or
//! inference.

use crate::contract::etw;
use crate::project;
use etw_layouts_codegen::axis::Build;
use etw_layouts_project::subject::Subject;
use etw_layouts_project::verify;
use etw_layouts_symbols::Rules;
use std::collections::{BTreeMap, BTreeSet};

/// For every kernel of the version axis and of the tables, a member is reported as verified by the best table of that kernel with
/// its structure, and by no table if there is none. It is reported as documented only at kernels that the references cover.
#[test]
fn members_are_verified_only_by_tables_of_their_kernel() {
    let layouts = project().layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let registry = project().registry(axis).expect("the facts can be read");
    let names = verify::names(&layouts, None).expect("all names");
    let mut best: BTreeMap<_, BTreeMap<String, bool>> = BTreeMap::new();
    for table in project().tables(axis, &names.iter().copied().collect()).expect("shipped tables") {
        let holds = best.entry((axis.canonical(table.build), table.arch)).or_default();
        let faithful = Rules::for_producer(&table.producer) == Rules::Faithful;
        table.types.keys().for_each(|name| *holds.entry(name.clone()).or_default() |= faithful);
    }
    let rows = axis.targets.values().map(|target| (axis.revisions[target.revision].build, target.arch));
    let kernels: BTreeSet<(Build, _)> = best.keys().copied().chain(rows).collect();
    let mut shown = BTreeSet::new();
    for image in project().images(axis, &names.iter().copied().collect()).expect("shipped images") {
        for (structure, members) in image.offsets.iter() {
            shown.extend(
                members.keys().map(|member| (axis.canonical(image.build), image.arch, structure.clone(), member.clone())),
            );
        }
    }
    let mut counts = BTreeMap::<_, usize>::new();
    let mut in_images = 0;
    for (build, arch) in kernels {
        for name in &names {
            let asked = format!("{build:#}");
            let Ok(subject) = Subject::find(&layouts, &registry, name, Some(&asked), Some(arch)) else { continue };
            let subject = subject.expanded(1);
            let target = subject.choice.target();
            let stated = axis.revision_of(target).build == build && axis.documented.contains(target);
            let members = subject.members(&layouts);
            let known = subject.known(&layouts, &registry, &members);
            for (member, known) in members.iter().zip(&known).filter(|(member, _)| member.path.is_some()) {
                let held = best.get(&(build, arch)).and_then(|holds| holds.get(member.of));
                let word = known.split(['.', ',']).next().unwrap_or_default();
                let path = member.path.clone().unwrap_or_default();
                let in_image = shown.contains(&(build, arch, member.of.to_owned(), path));
                in_images += usize::from(known == "verified (image)");
                let fits = match held {
                    Some(true) => known == "verified (PDB)",
                    Some(false) => known == "verified (converted symbols)",
                    None if in_image => known == "verified (image)",
                    None if word.starts_with("documented") => stated,
                    None => word.starts_with("inferred") || word == "unidentified",
                };
                assert!(fits, "{name} {asked}-{arch} {:?} of {}: {known}", member.path, member.of);
                *counts.entry((held.copied(), word.starts_with("documented"))).or_default() += 1;
            }
        }
    }
    let kinds = [(Some(true), false), (Some(false), false), (None, true), (None, false)];
    assert!(kinds.iter().all(|kind| counts.get(kind).is_some_and(|&count| count > 100)), "{counts:?}");
    assert!(in_images > 10, "{in_images} members of rows of the axis are verified only by images");
}

/// The exact words of the output.
#[test]
fn inferred_evidence_names_its_source() {
    for (asked, build, arch, words) in [
        ("WMI_LOGGER_CONTEXT", "10.0.26100.1742", "x64", "Members: verified (converted symbols)."),
        ("WMI_LOGGER_CONTEXT", "10.0.19041.1415", "x64", "Members: verified (PDB)."),
        ("WMI_LOGGER_CONTEXT", "5.0", "x86", "Members: documented,"),
        (
            "WMI_LOGGER_CONTEXT",
            "10.0.19041.5000",
            "x64",
            "Members: inferred; the layouts of 10.0.19041.3570 and 10.0.20348.1787 differ.",
        ),
        ("WMI_LOGGER_CONTEXT", "6.1.7601.20000", "x64", "Members: inferred; the layouts of 6.1.7601."),
        ("LUID", "6.1.7601.20000", "x64", "Members: inferred from 6.1.7601."),
        ("LUID", "10.0.65000", "x64", "Members: inferred from 10.0."),
        ("WMI_TRACE_PACKET", "10.0.26100.1742", "x64", "Members: inferred from published references about other builds."),
        ("ETW_GUID_ENTRY.Guid", "10.0.17763.1131", "arm64", "Member: verified (image)."),
        ("ETW_GUID_ENTRY.RefCount", "10.0.17763.1131", "arm64", "Member: inferred from x64."),
        ("EVENT_TRACE_HEADER", "6.1.7601.17514", "x64", "Members: documented"),
        ("WMI_LOGGER_INFORMATION.LoggerHeader", "5.0", "x86", "Member: documented, name unknown."),
    ] {
        let output = etw(&["show", asked, "--build", build, "--arch", arch]);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains(words), "{asked} {build}: {words}\n{shown}");
    }
}
