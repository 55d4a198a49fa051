//! Links an image of a generated header, finds its PDB in a store, and compares the PDB with the layouts.

use etw_layouts_codegen::axis::TargetId;
use etw_layouts_project::tables::{self, Stated, SymbolFile};
use etw_layouts_project::verify::{self, Outcome};
use etw_layouts_symbols::compare::Status;
use std::fs;
use std::path::PathBuf;
use test_support::clang;
use test_support::folder::Folder;
use test_support::linking::{linked, version_resource};
use test_support::specs::held;
use tests::{project, root};

#[test]
fn an_image_leads_to_its_symbols() {
    let Some(linker) = clang::linker() else { return };
    let layouts = project().layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let temporary = Folder::new("image");
    let folder = &temporary.0;
    for target in [0, layouts.by_target.len() - 1].map(TargetId::from) {
        let stem = folder.join(axis.target_name(target));
        let names = held(&layouts, target);
        let kernel = axis.revision_of(target);
        let resource = folder.join("version.res");
        fs::write(&resource, version_resource(kernel.build)).expect("a temporary file");
        linked(&layouts, target, &linker, &stem, &[resource]);

        // The PDB is next to the image, and not yet in the cache.
        let image = PathBuf::from(format!("{}.dll", stem.display()));
        let path = format!("cache*{};{}", folder.join("cache").display(), folder.display());
        let (pdb, build, arch) =
            tables::from_image(&image, Some(&path), &root(), &mut |_, _, _| ()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((build, arch), (kernel.build, axis.targets[target].arch));
        assert!(pdb.starts_with(folder.join("cache")), "{}", pdb.display());
        assert_eq!(tables::from_image(&image, Some(&path), &root(), &mut |_, _, _| ()).expect("found again").0, pdb);

        let stated = Stated { build: Some(build.to_string()), arch: Some(arch) };
        let wanted = names.iter().copied().collect();
        let tables =
            tables::read(&SymbolFile::on_disk(pdb.clone()), axis, &wanted, &stated).unwrap_or_else(|error| panic!("{error}"));
        let checked = verify::compared(&layouts, &names, &tables[0]).expect("a known kernel");
        let equal = checked.structures.values().filter(|standing| standing.outcome == Outcome::Compared(Status::Equal)).count();
        assert_eq!((checked.asked.target, equal), (target, names.len()));
        assert!(
            tables::from_image(&pdb, Some(&path), &root(), &mut |_, _, _| ())
                .is_err_and(|error| error.to_string().contains("not a PE image: it is a PDB"))
        );
    }
}
