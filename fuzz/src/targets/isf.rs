//! Tables in Intermediate Symbol Format, plain and as xz.

use super::snapshot;
use etw_layouts_symbols::{Wanted, isf};
use liblzma::bufread::XzEncoder;
use std::io::Read;

/// Maximum size of a table that is also compressed.
const LARGE: usize = 64 << 10;

/// Conversion to a snapshot keeps the facts of a table, which do not depend on compression. The work is limited in proportion to
/// the size of the table, even for types that embed each other many times.
pub fn run(input: &[u8]) {
    let table = isf::read(input, &Wanted::All);
    if input.trim_ascii_start().starts_with(b"{") && input.len() < LARGE {
        let packed = isf::read(&packed(input), &Wanted::All);
        assert_eq!(packed.as_ref().ok(), table.as_ref().ok());
    }
    match table {
        Ok(table) => {
            // The decompressed size is within the limit for tables.
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

/// A synthetic table with all features.
pub fn seeds() -> Vec<Vec<u8>> {
    let table = test_support::isf::table().to_string().into_bytes();
    let packed = packed(&table);
    vec![table, packed.clone(), [&packed[..], &packed].concat()]
}
