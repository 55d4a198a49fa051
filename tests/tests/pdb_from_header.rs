//! Program databases: compares the layouts with those of generated headers, which clang and a linker compile, and with a real
//! kernel.

use etw_layouts_codegen::axis::TargetId;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::tables::{self, Stated, SymbolFile};
use etw_layouts_project::verify::{self, Outcome};
use etw_layouts_symbols::compare::Status;
use etw_layouts_symbols::{self as symbols, Rules, SymbolTable, Symbols, Wanted, compare};
use rayon::prelude::*;
use std::path::Path;
use test_support::clang;
use test_support::folder::Folder;
use test_support::installed;
use test_support::linking::linked;
use test_support::specs::held;
use tests::project;

#[test]
fn compiled_headers_read_as_our_layouts() {
    let Some(linker) = clang::linker() else { return };
    let layouts = project().layouts().expect("the specs resolve");
    let folder = Folder::new("pdb");
    // Some targets of all eras, and the newest of both architectures.
    let count = layouts.by_target.len();
    let targets: Vec<_> = (0..count).filter(|target| target % 7 == 0 || target + 2 >= count).map(TargetId::from).collect();
    let facts: u64 = targets.into_par_iter().map(|target| agree(&layouts, target, &linker, &folder.0)).sum();
    assert!(facts > 5000, "only {facts} facts were compared");
}

/// Compiles the header of a target. Returns the number of facts that the program database and the layouts share.
fn agree(layouts: &Layouts, target: TargetId, linker: &clang::Linker, folder: &Path) -> u64 {
    let name = layouts.spec.axis.target_name(target);
    let names = held(layouts, target);
    let bytes = linked(layouts, target, linker, &folder.join(&name), &[]);
    let wanted: Wanted = names.iter().copied().collect();
    let Ok(Symbols::Table(table)) = symbols::read(&bytes, &wanted) else { panic!("{name}: no types") };
    let SymbolTable { pdb, arch, types, .. } = table;
    assert_eq!(pdb.map(|pdb| pdb.age), Some(1), "{name}");
    assert!(arch.is_some_and(|arch| name.ends_with(arch.as_str())), "{name}: {arch:?}");
    let ours = verify::ours::types(layouts, target, &names);
    let mut facts = 0;
    for report in compare(&ours, &types, Rules::Faithful) {
        let differences: Vec<_> = report.differences.iter().map(ToString::to_string).collect();
        assert_eq!(report.status, Status::Equal, "{name} {}: {differences:#?}", report.name);
        facts += report.equal;
    }
    facts
}

/// The kernel of XP SP3, plain and compressed. Its PDB states neither architecture nor build.
#[test]
fn the_kernel_of_xp_agrees() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_SYMBOLS") else { return };
    let layouts = project().layouts().expect("the specs resolve");
    let names = verify::names(&layouts, None).expect("all names");
    let wanted: Wanted = names.iter().copied().collect();
    let stated = Stated { build: Some("5.1.2600-sp3".into()), arch: None };
    for file in ["ntkrnlpa_xpsp3_x86_30B5FB31.pdb", "msfz_ntkrnlpa_xpsp3_x86.pdz"] {
        let path = folder.join("pdb").join(file);
        let tables = tables::read(&SymbolFile::on_disk(path.clone()), &layouts.spec.axis, &wanted, &stated)
            .unwrap_or_else(|error| panic!("{error}"));
        let checked = verify::compared(&layouts, &names, &tables[0]).expect("a known kernel");
        for (name, standing) in &checked.structures {
            assert!(standing.differences.is_empty(), "{file}: {name} differs");
        }
        let context = &checked.structures["WMI_LOGGER_CONTEXT"];
        assert_eq!((context.outcome, context.equal), (Outcome::Compared(Status::Equal), 131), "{file}");
        assert_eq!(
            tables[0].pdb.as_ref().map(|pdb| (pdb.guid.as_u128(), pdb.age)),
            Some((0x30B5_FB31_AE7E_4ACA_ABA7_50AA_241F_F331, 1))
        );
    }
}
