//! Tables in Intermediate Symbol Format, plain and as xz.

use crate::snapshot;
use etw_layouts_symbols::{Wanted, isf};
use liblzma::bufread::XzEncoder;
use std::io::Read;

/// Tables that take long to pack are not packed.
const LARGE: usize = 64 << 10;

/// What a table states survives its reduced form, and does not depend on how the table is packed. However often types hold each
/// other, no more was converted than the table's size allows.
pub fn run(input: &[u8]) {
    let table = isf::read(input, &Wanted::All);
    if input.trim_ascii_start().starts_with(b"{") && input.len() < LARGE {
        let packed = isf::read(&packed(input), &Wanted::All);
        assert_eq!(packed.as_ref().ok(), table.as_ref().ok());
    }
    match table {
        Ok(table) => {
            // What is packed is no larger than any table.
            let json = if input.trim_ascii_start().starts_with(b"{") { input.len() } else { isf::MAX_JSON };
            assert!(snapshot::work(&table.types) <= isf::work_limit(json));
            snapshot::kept(table);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    XzEncoder::new(text, 0).read_to_end(&mut packed).expect("memory does not fail");
    packed
}

/// A made-up table that has something of everything.
pub fn seeds() -> Vec<Vec<u8>> {
    let table = test_support::isf::table().to_string().into_bytes();
    let packed = packed(&table);
    vec![table, packed.clone(), [&packed[..], &packed].concat()]
}
