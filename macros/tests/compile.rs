//! Compile errors and their messages, recompilation after a changed spec, and compilation for other hosts.

mod accepted;
mod project;
// Included as a file, because the crate with its dependencies would be compiled twice: tests of procedural macros use dependencies for the host.
#[allow(dead_code)]
#[path = "../../tests/support/src/installed.rs"]
mod installed;

use project::Project;

/// `TRYBUILD=overwrite` updates the expected errors.
#[test]
fn errors_state_remedies() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/refused/*.rs");
    if cfg!(target_pointer_width = "64") {
        cases.compile_fail("tests/refused/64-bit/*.rs");
    }
}

const SPEC: &str = "[struct]\nname = \"DEVICE\"\n\n[[member]]\nname = \"Magic\"\ntype = \"ULONG\"\n";

#[test]
fn a_changed_spec_recompiles_and_errors_show_its_place() {
    let (project, host) = (Project::new("recompiles"), project::this_host());
    project.write("specs/DEVICE.toml", SPEC);
    project.write(
        "src/lib.rs",
        "mod device { etw_layouts_macros::layouts!(\"specs\", targets = [\"2004-x64\", \"10.0.65535-x64\"]); }\n\
         const _: () = assert!(size_of::<device::targets::win10_2004::x64::DEVICE>() == 4, \"the old size\");\n",
    );
    // A build that is not on the axis is accepted with a warning, and so is a structure without a size.
    let (compiles, output) = project.check(&host);
    assert!(compiles && output.contains("not on the version axis; using") && output.contains("src/lib.rs:1:75"), "{output}");
    let note = "specs/DEVICE.toml:2:8: `DEVICE` has no `size`, so a missing member at its end is not detected";
    assert!(output.contains(note) && output.contains("add `size = 0x4`") && output.contains("src/lib.rs:1:43"), "{output}");

    project.write("specs/DEVICE.toml", &SPEC.replace("ULONG", "ULONGLONG"));
    let (compiles, output) = project.check(&host);
    assert!(!compiles && output.contains("the old size"), "{output}");

    project.write("specs/DEVICE.toml", &SPEC.replace("ULONG", "ULONGLONG\"\noffset = \"4"));
    let (compiles, output) = project.check(&host);
    assert!(!compiles, "{output}");
    for part in ["specs/DEVICE.toml:7:10", "offset = \"4\"", "help: ", "src/lib.rs:1:43"] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

/// With `crate = path`, no dependency needs the name `etw-layouts-runtime`, and the path can be relative to the place of the call.
#[test]
fn a_runtime_with_another_name() {
    let (project, host) = (Project::with_runtime("renamed", "layouts-support"), project::this_host());
    let source = format!(
        "pub use layouts_support as support;\n\
         pub mod device {{ etw_layouts_macros::layouts! {{ crate = super::support, spec = r#\"{SPEC}\"#, targets = [\"2004-x64\"] }} }}\n\
         #[etw_layouts_macros::layout(size = 4, align = 4, crate = support)]\n#[repr(C)]\npub struct Device(#[offset(0)] u32);\n"
    );
    project.write("src/lib.rs", &source);
    let (compiles, output) = project.check(&host);
    assert!(compiles, "{output}");
    for (from, to, error) in [
        ("crate = super::support, ", "", "etw_layouts_runtime"),
        (", crate = support", "", "etw_layouts_runtime"),
        ("crate = support", "crate = \"support\"", "expected a path; write it without quotes: `crate = support`"),
    ] {
        project.write("src/lib.rs", &source.replace(from, to));
        let (compiles, output) = project.check(&host);
        assert!(!compiles && output.contains(error), "{from}: {output}");
    }
}

#[test]
fn unreadable_specs_are_the_only_error() {
    let (project, host) = (Project::new("unreadable"), project::this_host());
    let uses = "use device::targets::win10_2004::x64::DEVICE;\npub fn magic(device: &DEVICE) -> u32 { device.Magic }\n";
    let call = "mod device { etw_layouts_macros::layouts!(\"nowhere\", structures = [\"DEVICE\"]); }\n";
    project.write("src/lib.rs", &format!("{call}{uses}"));
    let (compiles, output) = project.check(&host);
    assert!(
        !compiles && output.contains("nowhere: ") && output.contains("paths are relative to the folder of Cargo.toml"),
        "{output}"
    );
    assert!(!output.contains("error[E"), "{output}");
}

/// On 32-bit Linux `u64` is aligned to 4. Generated types have the same layout; handwritten types must state their alignment.
#[test]
fn a_host_with_other_alignment() {
    let host = "i686-unknown-linux-gnu";
    if !project::is_installed(host) {
        return installed::absent(host);
    }
    let project = Project::new("pads");
    let generated = format!(
        "mod device {{ etw_layouts_macros::layouts! {{ spec = r#\"{SPEC}\n[[member]]\nname = \"Time\"\ntype = \"ULONGLONG\"\noffset = 8\"# }} }}\n"
    );
    let by_hand = "#[etw_layouts_macros::layout(size = 0x10, align = 8)]\n#[repr(C)]\npub struct Device {\n    \
                   #[offset(0x00)]\n    magic: u32,\n    #[offset(0x08)]\n    time: u64,\n}\n";
    project.write("src/lib.rs", &generated);
    let (compiles, output) = project.check(host);
    assert!(compiles, "{output}");
    project.write("src/lib.rs", by_hand);
    let (compiles, output) = project.check(host);
    assert!(
        !compiles && output.contains("`Device.time` is at 0x4 on this host, not at 0x8") && output.contains("src/lib.rs:6:14"),
        "{output}"
    );
    project.write(
        "src/lib.rs",
        &by_hand
            .replace("repr(C)", "repr(C, align(8))")
            .replace("    #[offset(0x08)]", "    #[offset(0x04)]\n    padding: u32,\n    #[offset(0x08)]"),
    );
    let (compiles, output) = project.check(host);
    assert!(compiles, "{output}");
}
