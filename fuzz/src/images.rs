//! Tables of kernel images.

use crate::snapshot;
use etw_layouts_symbols::{Wanted, images};

/// Every image is kept, and survives the reduced form.
pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    match images::read(text, &Wanted::All) {
        Ok(snapshots) => {
            assert!(images::recognizes(input));
            let kernels: usize = snapshots.iter().map(|snapshot| snapshot.kernels.len()).sum();
            assert_eq!(kernels, text.lines().count() - 1);
            snapshots.iter().for_each(snapshot::again);
        }
        Err(error) => assert!(error.line >= 1 && error.to_string().len() < 400),
    }
}

/// A made-up table.
pub fn seeds() -> Vec<Vec<u8>> {
    let head =
        "file\tversion\tarch\ttimestamp\tsize_of_image\tETW_GUID_ENTRY.Guid\tETW_GUID_ENTRY.Lock\tETW_REG_ENTRY.GuidEntry\n";
    let row = |n: u32| format!("nt{n}.exe\t10.0.{n}.1\tx64\t{:#x}\t0x8cc000\t0x18\t{:#x}\t0x20\r\n", n * 7919, n % 3);
    vec![head.as_bytes().to_vec(), (head.to_owned() + &(0..9).map(row).collect::<String>()).into_bytes()]
}
