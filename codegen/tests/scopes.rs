//! Property: the text that describes a set of targets parses back to the same set, even if an architecture has the ranges of another one.

use etw_layouts_codegen::axis::{Axis, TargetSet};
use etw_layouts_codegen::{Sources, read};

/// Three architectures. The third one comes late and has the ranges of the second one, and one build exists only for it.
const AXIS: &str = r#"
architectures = ["x86", "x64"]
ranges = { arm64 = "x64" }
documented_range = "5..8 x86, 5..8 x64"

[[release]]
labels = ["5"]
architectures = ["x86"]
revisions = [{ build = "5.0.1", module = "v5" }]

[[release]]
labels = ["6", "all-6"]
revisions = [
  { build = "6.0.1",   module = "v6" },
]

[[release]]
labels = ["7", "all-6"]
architectures = ["x86", "x64", "arm64"]
revisions = [
  { build = "7.0.1",   module = "v7" },
  { build = "7.0.1.3", module = "v7_3", architectures = ["arm64"] },
]

[[release]]
labels = ["8"]
architectures = ["x86", "x64", "arm64"]
revisions = [{ build = "8.0.1", module = "v8" }]

[[release]]
labels = ["9"]
architectures = ["x64", "arm64"]
revisions = [
  { build = "9.0.1",   module = "v9" },
  { build = "9.0.1.7", module = "v9_7" },
]

[[update]]
name = "fix"
revisions = ["6.0.1.5", "7.0.1.5"]

[[update]]
name = "late"
revisions = ["6.0.1.9", "9.0.1.7"]
without = ["7.0.1", "8.0.1"]
"#;

fn axis() -> Axis {
    let mut sources = Sources::default();
    sources.add("windows.toml", AXIS);
    read(sources).unwrap_or_else(|errors| panic!("{}", errors.render(false))).axis
}

fn set(axis: &Axis, text: &str) -> TargetSet {
    axis.scope(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn every_description_parses_back() {
    let axis = axis();
    let count = axis.targets.len();
    assert_eq!(count, 21);
    let mut silent = 0;
    // Every 61st set of the targets.
    for bits in (1_u32..1 << count).step_by(61) {
        let wanted: TargetSet = axis.targets.ids().filter(|&target| bits >> usize::from(target) & 1 == 1).collect();
        let text = axis.describe(&wanted);
        assert_eq!(axis.scope(&text).as_ref(), Ok(&wanted), "{text}");
        // An architecture that follows another one is named only where it differs.
        let others = text.split(", ").filter(|part| !part.ends_with("arm64")).collect::<Vec<_>>().join(", ");
        if others != text {
            assert_ne!(axis.scope(&others).as_ref(), Ok(&wanted), "{text}");
        } else {
            silent += 1;
        }
    }
    assert!(silent > 300, "{silent}");
}

/// A set of targets is described within another set.
#[test]
fn every_description_within_another_set_parses_back() {
    let axis = axis();
    let count = axis.targets.len();
    for bits in (1_u32..1 << count).step_by(997) {
        let pick = |bits: u32| axis.targets.ids().filter(|&target| bits >> usize::from(target) & 1 == 1).collect::<TargetSet>();
        let among = pick(bits | bits.rotate_left(7) | 0b10_0100_1001);
        let wanted = pick(bits).intersection(&among);
        let text = axis.spell(&among, &wanted).to_string();
        assert_eq!(axis.scope(&text).map(|set| set.intersection(&among)).as_ref(), Ok(&wanted), "{text}");
    }
}

/// An update is written once for all builds that have it. A build or an architecture next to it limits the scope.
#[test]
fn updates() {
    let axis = axis();
    for (scope, same) in [
        ("fix..", "6.0.1.5..6, 7.0.1.5.."),
        ("..fix", "5..6.0.1.0, 7.0.1.0..7.0.1.3"),
        ("5..6 ..fix", "5..6.0.1.0"),
        ("7.. fix..", "7.0.1.5.."),
        ("fix..6", "6.0.1.5..6"),
        ("fix..late", "6.0.1.5, 7.0.1.5..8, 9.0.1.0"),
        ("late..", "6.0.1.9..6, 9.0.1.7.."),
    ] {
        let wanted = set(&axis, same);
        assert_eq!(set(&axis, scope), wanted, "{scope} is not {same}");
        let text = axis.describe(&wanted);
        assert!(text.len() <= scope.len(), "{text} for {scope}");
    }
    for wrong in ["fix", "fix 6", "8.. ..fix", "fix..fix", "fix.. late.. x64 x64"] {
        assert!(axis.scope(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn naming_an_architecture_overrides_following() {
    let axis = axis();
    for (text, same) in [
        ("x64", "x64, 7.. arm64"),
        ("7..", "7.. x86, 7.. x64"),
        ("7..8 x64", "7..8 x64, 7..8 arm64"),
        ("7..8 x64, no arm64, 9 arm64", "9 arm64, 7..8 x64"),
    ] {
        assert_eq!(set(&axis, text), set(&axis, same), "{text} is not {same}");
    }
    assert_eq!(set(&axis, "7.., no arm64"), axis.leading(&set(&axis, "7..")));
    assert_eq!(set(&axis, "arm64"), axis.all().difference(&axis.leading(&axis.all())));
    // `documents` does not include architectures that follow another one.
    assert_eq!(axis.documented, axis.leading(&axis.documented));
    for wrong in ["no arm64", "7.., no x64", "7.., no", "7.., no 8", "7.., no arm64 x64"] {
        assert!(axis.scope(wrong).is_err(), "{wrong}");
    }
}
