//! Lists of pages, which are stored consecutively in a dump.

/// Size of a page in bytes, on all architectures.
pub const PAGE: u64 = 0x1000;

/// Pages that are consecutive in memory and in the file.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Number of the first page.
    pub page: u64,
    pub count: u64,
    /// File offset of the first page.
    pub offset: u64,
}

/// The pages listed so far. All are within the file, so there are no more runs than the file has pages.
pub struct Pages {
    pub runs: Vec<Run>,
    /// Number of pages beyond the end of the file.
    pub missing: u64,
    /// For a truncated list: its offset, its stated size and its actual size.
    pub cut: Option<(u64, u64, u64)>,
    /// Length of the file.
    length: u64,
    /// File offset of the next page.
    offset: u64,
}

impl Pages {
    /// An empty list for a file of the given length, with its first page at an offset.
    pub fn new(length: u64, offset: u64) -> Self {
        Self { runs: Vec::new(), missing: 0, cut: None, length, offset }
    }

    /// Adds the next pages.
    pub fn add(&mut self, page: u64, count: u64) {
        let present = self.length.saturating_sub(self.offset) / PAGE;
        // Physical addresses have at most 52 bits.
        let here = count.min(present).min((1_u64 << 40).saturating_sub(page));
        self.missing = self.missing.saturating_add(count - here);
        match self.runs.last_mut() {
            _ if here == 0 => {}
            Some(last) if last.page + last.count == page && last.offset + last.count * PAGE == self.offset => last.count += here,
            _ => self.runs.push(Run { page, count: here, offset: self.offset }),
        }
        self.offset = self.offset.saturating_add(count.saturating_mul(PAGE));
    }
}
