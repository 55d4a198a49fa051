//! Tables of kernel images.

use super::snapshot;
use etw_layouts_symbols::{Wanted, images};

/// Conversion to a snapshot and back keeps every image with its variables.
pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let names = text.lines().next().unwrap_or_default().split('\t').map(|name| name.split('.').next().unwrap_or_default());
    match images::read(text, &names.collect::<Wanted>()) {
        Ok(snapshots) => {
            assert!(images::recognizes(input));
            let kernels: usize = snapshots.iter().map(|snapshot| snapshot.kernels.len()).sum();
            assert_eq!(kernels, text.lines().count() - 1);
            snapshots.iter().for_each(snapshot::again);
        }
        Err(error) => assert!(error.line >= 1 && error.to_string().len() < 400),
    }
}

/// Synthetic tables.
pub fn seeds() -> Vec<Vec<u8>> {
    let head =
        "file\tversion\tarch\ttimestamp\tsize_of_image\tETW_GUID_ENTRY.Guid\tETW_GUID_ENTRY.Lock\tETW_REG_ENTRY.GuidEntry\n";
    let row = |n: u32| format!("nt{n}.exe\t10.0.{n}.1\tx64\t{:#x}\t0x8cc000\t0x18\t{:#x}\t0x20\r\n", n * 7919, n % 3);
    let by_build = "build\tarch\tEtwpBootTime\tETW_REG_ENTRY.GuidEntry\n10.0.7.1\tx64\tc0b1a0\t20\n10.0.7.2\tx64\t0\t0x20\n";
    vec![
        head.as_bytes().to_vec(),
        (head.to_owned() + &(0..9).map(row).collect::<String>()).into_bytes(),
        by_build.as_bytes().to_vec(),
    ]
}
