//! An import of x64 symbols also changes ARM64, because the axis states that ARM64 follows x64.

use super::*;

#[test]
fn arm64_follows_an_import_of_x64() {
    let (texts, tables) = shipped();
    let build = |text: &str| text.parse::<Build>().expect("a build");
    // An update of a build that exists for ARM64, with layouts that the build never had.
    let table = best(&tables, &[build("10.0.17763.379")]).into_iter().find(|table| table.arch == Arch::X64).expect("a table");
    let table = BuildTable { build: build("10.0.26100.65000"), ..table };
    let plan = imported(&texts, &tables, std::slice::from_ref(&table));
    verified(&plan.layouts, &tables, std::slice::from_ref(&table)).unwrap_or_else(|error| panic!("{error}"));
    let axis = &plan.layouts.spec.axis;
    let at = |arch| find(axis, table.build, arch).unwrap_or_else(|| panic!("no row for {arch}"));
    let before = axis.at(build("10.0.26100.64000"), Arch::Arm64).expect("the row before it");
    // Definitions that name ARM64 do not follow.
    let own = |name: &String| {
        let definition = &plan.layouts.spec.definitions[name];
        plan.layouts.spec.sources.file(definition.name.span).text.contains("arm64")
    };
    let shared = |target| -> Types { facts(&plan.layouts, target).into_iter().filter(|(name, _)| !own(name)).collect() };
    let [x64, arm64, before] = [at(Arch::X64), at(Arch::Arm64), before].map(shared);
    assert!(x64.len() > 40 && x64 == arm64, "ARM64 and x64 differ");
    let logger = "WMI_LOGGER_CONTEXT";
    assert!(table.types.get(logger).is_some() && before[logger] != arm64[logger], "ARM64 did not change");
    // ARM64 is unchanged in all other builds.
    for (target, at) in layouts(&texts).spec.axis.targets.iter().filter(|(_, at)| at.arch == Arch::Arm64) {
        let old = layouts(&texts);
        let kernel = old.spec.axis.revisions[at.revision].build;
        let now = find(axis, kernel, Arch::Arm64).expect("a row");
        assert!(facts(&old, target) == facts(&plan.layouts, now), "{kernel}");
    }
}
