//! Images: a library made of our own header leads to its PDB in a store, and that reads as our layouts.

use crate::pdb_from_header::linked;
use etw_layouts_codegen::axis::Build;
use etw_layouts_project::tables::{self, Stated, SymbolFile};
use etw_layouts_project::verify;
use std::fs;
use std::path::PathBuf;
use test_support::clang;
use tests::{project, root};

#[test]
fn an_image_leads_to_its_symbols() {
    let Some(linker) = clang::linker() else { return };
    let layouts = project().layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let temporary = Temporary::new("image");
    let folder = &temporary.0;
    for target in [0, layouts.by_target.len() - 1] {
        let stem = folder.join(axis.target_name(target));
        let names = verify::names(&layouts, None).expect("all names");
        let held: Vec<_> = names.iter().copied().filter(|name| layouts.get(target, name).is_some()).collect();
        let kernel = &axis.kernels[axis.targets[target].kernel];
        let resource = folder.join("version.res");
        fs::write(&resource, version_resource(kernel.build)).expect("a temporary file");
        linked(&layouts, target, &held, &linker, &stem, &[resource]);

        // The PDB is beside the image, and the cache does not have it yet.
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
        let equal = checked.structures.values().filter(|standing| standing.status == "equal").count();
        assert_eq!((checked.asked.target, equal), (target, held.len()));
        assert!(
            tables::from_image(&pdb, Some(&path), &root(), &mut |_, _, _| ())
                .is_err_and(|error| error.to_string().contains("not a PE image but a PDB"))
        );
    }
}

/// A folder that goes away with all that is in it, also when the test fails.
pub struct Temporary(pub PathBuf);

impl Temporary {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("etw-layouts-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A compiled resource file: the empty resource with which each begins, and one of type 16, number 1.
pub fn version_resource(build: Build) -> Vec<u8> {
    let entry = |content: &[u8], ty: u32, number: u32| {
        let words = [content.len() as u32, 32, ty << 16 | 0xFFFF, number << 16 | 0xFFFF, 0, 0, 0, 0];
        [words.map(u32::to_le_bytes).concat(), content.to_vec()].concat()
    };
    let [major, minor, number] = build.number;
    let fixed = [0xFEEF_04BD, 0x10000, major << 16 | minor, number << 16 | build.revision, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let head = [92u16, 52, 0].into_iter().chain("VS_VERSION_INFO\0".encode_utf16()).chain([0]);
    let content: Vec<u8> = head.flat_map(u16::to_le_bytes).chain(fixed.into_iter().flat_map(u32::to_le_bytes)).collect();
    [entry(&[], 0, 0), entry(&content, 16, 1)].concat()
}
