//! Imports program databases of generated headers into specs without structures. clang and a linker make the databases.

use etw_layouts_project::import::{self, Input, Texts};
use etw_layouts_project::tables::{self, Stated, SymbolFile};
use etw_layouts_project::verify;
use etw_layouts_symbols::compare::Status;
use etw_layouts_symbols::{Rules, Wanted, compare};
use test_support::clang;
use test_support::folder::Folder;
use test_support::linking::linked;
use test_support::specs::{held, without_structures};
use tests::project;

/// The imported specs have the layouts from which the headers were generated.
#[test]
fn headers_are_imported_as_specs() {
    let Some(linker) = clang::linker() else { return };
    let layouts = project().layouts().expect("the specs resolve");
    let axis = &layouts.spec.axis;
    let temporary = Folder::new("import");
    let texts: Texts = without_structures(&layouts).map(|(path, text)| (path.to_owned(), text.to_owned())).collect();

    let asked = ["5.1-x86", "5.2-x64", "6.1-x86", "6.1-x64", "1709-x86", "2004-x86"];
    let targets = asked.iter().map(|name| axis.find(name).expect("a target").target).chain(axis.targets.ids().last());
    let mut facts = 0;
    for target in targets {
        let name = axis.target_name(target);
        let held = held(&layouts, target);
        let stem = temporary.0.join(&name);
        linked(&layouts, target, &linker, &stem, &[]);
        let at = axis.targets[target];
        let build = axis.revision_of(target).build;
        let stated = Stated { build: Some(build.to_string()), arch: Some(at.arch) };
        let pdb = stem.with_file_name(format!("{name}.pdb"));
        let new = tables::read(&SymbolFile::on_disk(pdb.clone()), axis, &Wanted::All, &stated)
            .unwrap_or_else(|error| panic!("{error}"));
        let input = Input { texts: &texts, known: &[], new: &new, added: &[], folder: "specs" };
        let plan = import::checked(&input).unwrap_or_else(|error| panic!("{name}: {error}"));
        let [theirs, ours] = [&layouts, &plan.layouts].map(|of| verify::ours::types(of, target, &held));
        assert!(ours.keys().eq(theirs.keys()), "{name}: other types");
        for report in compare(&theirs, &ours, Rules::Faithful) {
            let differences: Vec<_> = report.differences.iter().map(ToString::to_string).collect();
            assert_eq!(report.status, Status::Equal, "{name} {}: {differences:#?}", report.name);
            facts += report.equal;
        }
    }
    assert!(facts > 5000, "only {facts} facts came back");
}
