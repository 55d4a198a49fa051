//! The made-up files of other crates' tests, as seeds.

#![allow(dead_code, missing_docs, reason = "shared with tests, which use more of it")]

#[path = "../../symbols/tests/symbols/fixture.rs"]
pub mod isf;
#[path = "../../symbols/tests/symbols/pdb_fixture.rs"]
pub mod pdb;
#[path = "../../symbols/tests/symbols/pe.rs"]
pub mod pe;
#[path = "../../etl/tests/fixtures.rs"]
pub mod traces;
