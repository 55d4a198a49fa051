//! Memory of kernels.

use super::etl::saved_events;
use etw_layouts_dump::{BufferSelection, DumpSession};
use etw_layouts_memory::{Address, Memory, ReadError, Walk};
use std::io::Cursor;
use test_support::kernels::plan::Plan;

/// The input as memory from an address upward.
struct Image<'a> {
    base: u64,
    bytes: &'a [u8],
}

impl Memory for Image<'_> {
    fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError> {
        let offset = address.0.checked_sub(self.base).and_then(|offset| usize::try_from(offset).ok());
        let present = offset.and_then(|offset| self.bytes.get(offset..)).unwrap_or_default();
        let length = present.len().min(out.len());
        out[..length].copy_from_slice(&present[..length]);
        Ok(length)
    }
}

/// Reads the input as the memory of a kernel, selected by its first byte: walks end, findings can be displayed, and the saved
/// trace has the reported number of events.
pub fn run(input: &[u8]) {
    let Some((&which, bytes)) = input.split_first() else { return };
    let count = Plan::targets().count();
    let Some((build, arch)) = Plan::targets().nth(usize::from(which) % count) else { return };
    // The variables of the kernel are at the addresses of the kit.
    let kit = Plan::of(build, arch).kit;
    let (memory, kernel) = (Image { base: kit.image.base, bytes }, kit.kernel());
    let mut walk = Walk::new(&memory, &kernel);
    let census = walk.census();
    walk.silos(&census.providers);
    for registration in census.providers.iter().flat_map(|provider| &provider.registrations) {
        walk.traits(registration);
    }
    for session in &census.sessions {
        let mut file = Cursor::new(Vec::new());
        let Ok(saved) = DumpSession::read(&mut walk, session, BufferSelection::All).save(&mut file) else { continue };
        // The file has an additional event, the log file header.
        assert_eq!(saved_events(file.get_ref()), saved.events as u64 + 1);
    }
    assert!(walk.findings().iter().all(|finding| !finding.to_string().is_empty()));
}

/// An image of every fifth kernel.
pub fn seeds() -> Vec<Vec<u8>> {
    let images = Plan::targets().zip(0_u8..).step_by(5);
    images.map(|((build, arch), which)| [&[which], &Plan::of(build, arch).kit.image.bytes[..]].concat()).collect()
}
