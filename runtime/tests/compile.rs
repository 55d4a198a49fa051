//! Code that must not compile: safe code cannot use a macro to declare other types as plain old data.

/// `TRYBUILD=overwrite` updates the expected errors.
#[test]
fn macros_reject_other_types() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
