//! The pages of physical memory in a dump, and their file offsets.

use crate::diagnostic::{Diagnostic, DiagnosticKind, report};
use crate::error::Error;
use crate::header::DumpHeader;
use crate::lists;
use crate::pages::{PAGE, Run};
use crate::source::Source;

/// Physical memory: non-overlapping runs of pages, in address order. All are within the file, so there are no more runs than the
/// file has pages.
#[derive(Clone, Debug, Default)]
pub struct Physical {
    runs: Vec<Run>,
}

/// The first address that no processor has: physical addresses have at most 52 bits.
const ADDRESSES: u64 = 1 << 52;

impl Physical {
    /// Reads the list of pages.
    ///
    /// # Errors
    ///
    /// Those of [`lists::read`].
    pub fn read(source: &impl Source, header: &DumpHeader, diagnostics: &mut Vec<Diagnostic>) -> Result<Self, Error> {
        let pages = lists::read(source, header)?;
        if let Some((offset, size, present)) = pages.cut {
            report(diagnostics, offset, DiagnosticKind::Truncated { part: "the list of pages", size, present });
        }
        if pages.missing > 0 {
            let present = pages.runs.iter().map(|run| run.count).sum::<u64>().saturating_mul(PAGE);
            let size = present.saturating_add(pages.missing.saturating_mul(PAGE));
            report(diagnostics, source.length()?, DiagnosticKind::Truncated { part: "memory", size, present });
        }
        let mut runs = pages.runs;
        runs.sort_by_key(|run| (run.page, std::cmp::Reverse(run.count)));
        let (mut end, mut repeated) = (0, None);
        runs.retain_mut(|run| {
            // A page listed twice is taken from the run that begins first.
            let skip = end.max(run.page) - run.page;
            if skip > 0 {
                repeated = repeated.or(Some(run.offset));
            }
            let skip = skip.min(run.count);
            *run = Run { page: run.page + skip, count: run.count - skip, offset: run.offset + skip * PAGE };
            end = end.max(run.page + run.count);
            run.count > 0
        });
        if let Some(offset) = repeated {
            report(diagnostics, offset, DiagnosticKind::Repeated);
        }
        Ok(Self { runs })
    }

    /// Memory whose offsets are physical addresses, from the address and size in bytes of each range.
    pub fn from_ranges(ranges: &[(u64, u64)]) -> Self {
        let mut ranges = ranges.to_vec();
        ranges.sort_unstable();
        let (mut runs, mut end) = (Vec::new(), 0);
        for (address, size) in ranges {
            let first = address.div_ceil(PAGE).max(end);
            let count = (address.saturating_add(size).min(ADDRESSES) / PAGE).saturating_sub(first);
            if count > 0 {
                runs.push(Run { page: first, count, offset: first * PAGE });
                end = first + count;
            }
        }
        Self { runs }
    }

    /// File offset of the byte at a physical address.
    pub fn offset(&self, address: u64) -> Option<u64> {
        let page = address / PAGE;
        let after = self.runs.partition_point(|run| run.page <= page);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let within = page - run.page;
        (within < run.count).then(|| run.offset + within * PAGE + address % PAGE)
    }

    /// Physical address and size in bytes of each run, in address order.
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs.iter().map(|run| (run.page * PAGE, run.count * PAGE))
    }

    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.runs.iter().map(|run| run.count).sum()
    }
}
