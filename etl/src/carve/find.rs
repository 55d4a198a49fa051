//! Search of a source for buffers.

use super::examine::{Completeness, Found, WINDOW, examine, is_candidate};
use super::window::Window;
use crate::wire::BUFFER_HEADER;
use std::collections::BTreeSet;
use std::io::{self, Read};

/// Summary of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Size of the source, in bytes.
    pub bytes: u64,
    /// Number of headers that were not examined, because of the limit of work. It is 0 unless many overlapping buffers resemble real ones.
    pub skipped: u64,
}

/// Limit of the bytes decompressed, walked, and written in other sizes, as a multiple of the bytes of the source.
const WORK: u64 = 64;

/// Work that is always allowed, in bytes.
const LEAST_WORK: u64 = 1 << 30;

/// Searches a source for trace buffers that begin at multiples of `alignment`, or directly after another buffer. Buffers are reported in
/// the order of their offsets. A buffer is reported if its header is consistent and at least its first event is whole.
///
/// # Errors
///
/// The source fails.
pub fn find<R: Read>(source: R, alignment: usize, report: &mut dyn FnMut(Found)) -> io::Result<Scan> {
    let step = alignment.max(1);
    let mut window = Window::new(source);
    let (mut at, mut work, mut scan) = (0_u64, 0_u64, Scan::default());
    // Offsets after buffers, where the next one can begin at any alignment.
    let mut next = BTreeSet::new();
    loop {
        let bytes = window.from(at, BUFFER_HEADER)?;
        let Some(last) = bytes.len().checked_sub(BUFFER_HEADER) else { break };
        while next.first().is_some_and(|offset| *offset < at) {
            next.pop_first();
        }
        let here = next.first() == Some(&at);
        let end = next.range(at + 1..).next().map_or(last, |offset| last.min((offset - at) as usize));
        let is_hit = |place: &usize| is_candidate(&bytes[*place..]);
        let aligned = (at.next_multiple_of(step as u64) - at) as usize;
        let place = Some(0).filter(|_| here).filter(is_hit).or_else(|| (aligned..end.max(1)).step_by(step).find(is_hit));
        let Some(place) = place else {
            // The last bytes of the source, or an offset after a buffer, are examined next.
            at += end.max(1) as u64;
            continue;
        };
        at += place as u64;
        if work > LEAST_WORK.saturating_add(window.read().saturating_mul(WORK)) {
            scan.skipped += 1;
            at += 1;
            continue;
        }
        let bytes = window.from(at, WINDOW)?;
        let examined = examine(bytes, at, step);
        work += examined.work;
        let Some((found, length)) = examined.found else {
            at += 1;
            continue;
        };
        if found.completeness != Completeness::Whole {
            // It is written with its whole size.
            work += u64::from(found.header.size);
        }
        next.extend([at + length, at + u64::from(found.header.size)]);
        report(found);
        at += length;
    }
    scan.bytes = window.read();
    Ok(scan)
}
