//! What is imported from symbols of x64 holds for ARM64 as well, as the axis says.

use super::*;

#[test]
fn an_import_carries_arm64_along() {
    let (texts, tables) = shipped();
    let build = |text: &str| text.parse::<Build>().expect("a build");
    // An update of a build that ARM64 has, with other layouts than any that the build had.
    let table = best(&tables, &[build("10.0.17763.379")]).into_iter().find(|table| table.arch == Arch::X64).expect("a table");
    let table = BuildTable { build: build("10.0.26100.65000"), ..table };
    let plan = imported(&texts, &tables, std::slice::from_ref(&table));
    verified(&plan.layouts, &tables, std::slice::from_ref(&table)).unwrap_or_else(|error| panic!("{error}"));
    let axis = &plan.layouts.spec.axis;
    let at = |arch| find(axis, table.build, arch).unwrap_or_else(|| panic!("no row for {arch}"));
    let before = axis.at(build("10.0.26100.64000"), Arch::Arm64).expect("the row before it");
    // What the specs say of ARM64 alone stays so.
    let own = |name: &String| {
        let definition = &plan.layouts.spec.definitions[name];
        plan.layouts.spec.sources.file(definition.name.span).text.contains("arm64")
    };
    let shared = |target| -> Types { facts(&plan.layouts, target).into_iter().filter(|(name, _)| !own(name)).collect() };
    let [x64, arm64, before] = [at(Arch::X64), at(Arch::Arm64), before].map(shared);
    assert!(x64.len() > 40 && x64 == arm64, "ARM64 has not what x64 has");
    let logger = "WMI_LOGGER_CONTEXT";
    assert!(table.types.get(logger).is_some() && before[logger] != arm64[logger], "nothing came along");
    // Before and after it ARM64 has what it had.
    for (target, at) in layouts(&texts).spec.axis.targets.iter().filter(|(_, at)| at.arch == Arch::Arm64) {
        let old = layouts(&texts);
        let kernel = old.spec.axis.kernels[at.kernel].build;
        let now = find(axis, kernel, Arch::Arm64).expect("a row");
        assert!(facts(&old, target) == facts(&plan.layouts, now), "{kernel}");
    }
}
