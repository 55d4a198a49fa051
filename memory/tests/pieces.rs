//! Overlapping pieces of memory, and gaps between pieces.

use etw_layouts::{Arch, Build};
use etw_layouts_memory::{Address, FindingKind, Limits, Memory, ReadError, SparseMemory, Walk};
use fastrand::Rng;
use test_support::kernels::plan::Plan;

/// Nested, overlapping and adjacent pieces: each byte is from the piece with the highest start address that contains it, and a read ends at the
/// first gap.
#[test]
fn overlaps() {
    let mut nested = SparseMemory::default();
    nested.insert(Address(0x100), vec![1; 0x100]);
    nested.insert(Address(0x140), vec![2; 0x20]);
    nested.insert(Address(0x150), vec![3; 0x08]);
    let mut read = vec![0; 0x200];
    assert_eq!(nested.read(Address(0x100), &mut read), Ok(0x100));
    let expected = [&[1; 0x40][..], &[2; 0x10], &[3; 8], &[2; 8], &[1; 0xA0]].concat();
    assert_eq!(read[..0x100], expected);
    // References implement `Memory` too.
    assert_eq!(Memory::read(&&nested, Address(0x1F0), &mut read), Ok(0x10));
    assert_eq!((nested.remove(Address(0x150)), nested.remove(Address(0x150))), (Some(vec![3; 8]), None));
    assert_eq!((nested.read(Address(0x150), &mut read), read[0]), (Ok(0xB0), 2));

    let mut random = Rng::with_seed(0x91_EC);
    for round in 0..2_000 {
        let mut pieces = SparseMemory::default();
        for value in 0..random.u8(1..8) {
            pieces.insert(Address(random.u64(..64)), vec![value; random.usize(..32)]);
        }
        pieces.remove(Address(random.u64(..64)));
        let byte = |at: u64| {
            let mut holding: Vec<_> =
                pieces.iter().filter(|(start, bytes)| (start.0..start.0 + bytes.len() as u64).contains(&at)).collect();
            holding.sort_by_key(|(start, _)| *start);
            holding.last().map(|(start, bytes)| bytes[(at - start.0) as usize])
        };
        for start in 0..100 {
            let mut read = vec![0xEE; 40];
            let present = pieces.read(Address(start), &mut read).unwrap();
            let expected: Vec<u8> = (start..start + 40).map_while(byte).collect();
            assert_eq!(read[..present], expected, "{round}: {start}");
        }
    }
}

/// Unreadable pages are returned as ranges, adjacent pages as one range, and their bytes are zero. After the limit nothing is read.
#[test]
fn holes() {
    let kernel = Plan::of(Build::new(10, 0, 19041, 1415), Arch::X64).kit.kernel();
    let mut pieces = SparseMemory::default();
    pieces.insert(Address(0x1800), vec![1; 0xC00]);
    pieces.insert(Address(0x5000), vec![2; 0x800]);
    pieces.iter_mut().for_each(|(_, bytes)| bytes[0] = 3);
    let mut read = vec![9; 0x5000];
    let mut walk = Walk::new(&pieces, &kernel);
    assert_eq!(walk.read(Address(0x1800), &mut read), [0xC00..0x3800, 0x4000..0x5000]);
    let expected = [&[3][..], &[1; 0xBFF], &[0; 0x2C00], &[3], &[2; 0x7FF], &[0; 0x1000]].concat();
    assert!(read == expected && walk.findings().is_empty());
    let mut walk = Walk::new(&pieces, &kernel).with_limits(Limits { bytes: 0x800, ..Limits::default() });
    for start in [0x800, 0] {
        assert_eq!(walk.read(Address(0x1800), &mut read), vec![start..0x5000; 1]);
    }
    let mut whole = Walk::new(&pieces, &kernel).with_limits(Limits { bytes: 0x4001, ..Limits::default() });
    assert_eq!((whole.read(Address(0x2000), &mut read[..0x4000]).len(), whole.findings()), (2, &[][..]));
    let [limit] = walk.findings() else { panic!("one finding") };
    assert!(matches!(limit.kind, FindingKind::Limit(0x800)) && limit.place.address == Address(0x1800), "{limit}");
}

/// If memory claims to have read more than requested, the excess is ignored.
#[test]
fn memory_that_returns_too_much() {
    struct More;
    impl Memory for More {
        fn read(&self, _: Address, out: &mut [u8]) -> Result<usize, ReadError> {
            out.fill(7);
            Ok(usize::MAX / 2)
        }
    }
    let kernel = Plan::of(Build::new(10, 0, 19041, 1415), Arch::X64).kit.kernel();
    let mut read = [0; 0x3000];
    assert!(Walk::new(&More, &kernel).read(Address(0x1800), &mut read).is_empty() && read == [7; 0x3000]);
}
