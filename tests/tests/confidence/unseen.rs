//! Symbol tables of real kernels that are not part of the facts: a layout that is sure equals theirs.

use etw_layouts::runtime::packed::Selection;
use etw_layouts::{Arch, Build, LAYOUTS};
use etw_layouts_symbols::{Symbols, TypeFacts, Types, Wanted, load, read};
use std::collections::BTreeMap;
use test_support::installed;

/// Compares all tables of a folder, whose files are named BUILD-ARCHITECTURE.
#[test]
fn no_layout_of_an_unknown_table_is_wrong_and_sure() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_CASES") else { return };
    let files = std::fs::read_dir(folder.join("tables")).expect("the folder of tables");
    let mut sure = 0;
    for path in files.map(|entry| entry.expect("an entry").path()) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let (build, arch) = name.split_once(".json").and_then(|(name, _)| name.rsplit_once('-')).expect("BUILD-ARCHITECTURE");
        let (build, arch): (Build, Arch) = (build.parse().expect("a build"), arch.parse().expect("an architecture"));
        let wanted: Wanted = LAYOUTS.structures().map(|structure| structure.name).collect();
        let Ok(Symbols::Table(table)) = read(&load(&path).expect("a file"), &wanted) else { panic!("{name} is not a table") };
        sure += compare(build, arch, &table.types);
    }
    assert!(sure > 50, "{sure} layouts were sure");
}

/// The number of layouts that are sure, all of which are right.
fn compare(build: Build, arch: Arch, types: &Types) -> usize {
    let mut counts = [[0; 2]; 2];
    for structure in LAYOUTS.structures() {
        let Some(TypeFacts::Aggregate(theirs)) = types.get(structure.name) else { continue };
        let theirs_at: BTreeMap<&str, u64> = theirs.members.iter().map(|member| (member.name.as_str(), member.offset)).collect();
        let selected = structure.select(build, arch).ok();
        let is_right = |ours: &Selection<'_>| {
            let ours_at = ours.layout.members().map(|member| (member.name, member.offset as u64)).collect();
            (ours.layout.size as u64, theirs_at) == (theirs.size, ours_at)
        };
        let is_sure = selected.is_some_and(|ours| ours.confidence.is_sure());
        let is_right = selected.is_some_and(|ours| is_right(&ours));
        assert!(is_right || !is_sure, "{} at {build} {arch}: {selected:?}", structure.name);
        counts[usize::from(is_right)][usize::from(is_sure)] += 1;
    }
    let [[wrong, _], [right, sure]] = counts;
    println!("{build} {arch}: {sure} right and sure, {right} right, {wrong} wrong");
    sure
}
