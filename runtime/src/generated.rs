//! Functions for generated code only.

/// Version of the generated code, increased when what it uses changes.
pub const VERSION: u32 = 4;

/// Rejects code of another generator version.
#[track_caller]
pub const fn version(generated: u32) {
    assert!(generated == VERSION, "code generated for another version of etw-layouts-runtime: generate it again");
}
