//! What must not compile: safe code can make nothing plain old data that is not, by no rule of a macro.

/// `TRYBUILD=overwrite` rewrites the answers.
#[test]
fn macros_refuse_what_is_not_plain() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
