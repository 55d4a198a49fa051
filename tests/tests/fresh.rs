//! What is committed is what the specs give.

#[test]
fn generated_code_is_fresh() {
    let layouts = xtask::project::layouts().expect("the specs resolve");
    let stale = xtask::generate::stale(&layouts).expect("the generated files can be read");
    let names: Vec<_> = stale.iter().map(|(path, _)| path).collect();
    assert!(names.is_empty(), "run `cargo xtask generate`: {names:?}");
}
