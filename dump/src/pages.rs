//! Pages as a dump lists them, which its file has one behind the other.

/// Bytes of a page, on all architectures.
pub const PAGE: u64 = 0x1000;

/// Pages that lie one behind the other, in memory and in the file.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The number of the first.
    pub page: u64,
    pub count: u64,
    /// Where the first is in the file.
    pub offset: u64,
}

/// Those that were listed so far. All are in the file, so that there are no more runs than it has pages.
pub struct Pages {
    pub runs: Vec<Run>,
    /// How many lie beyond the end of the file.
    pub missing: u64,
    /// Of a list that does not have all of its bytes: where it is, how many it states, and how many there are.
    pub cut: Option<(u64, u64, u64)>,
    /// How long the file is.
    length: u64,
    /// Where in it the next page is.
    offset: u64,
}

impl Pages {
    /// None yet, of a file of so many bytes, which has the first at an offset.
    pub fn new(length: u64, offset: u64) -> Self {
        Self { runs: Vec::new(), missing: 0, cut: None, length, offset }
    }

    /// Adds the next ones.
    pub fn add(&mut self, page: u64, count: u64) {
        let there = self.length.saturating_sub(self.offset) / PAGE;
        // Physical addresses have 52 bits at the most.
        let here = count.min(there).min((1_u64 << 40).saturating_sub(page));
        self.missing = self.missing.saturating_add(count - here);
        match self.runs.last_mut() {
            _ if here == 0 => {}
            Some(last) if last.page + last.count == page && last.offset + last.count * PAGE == self.offset => last.count += here,
            _ => self.runs.push(Run { page, count: here, offset: self.offset }),
        }
        self.offset = self.offset.saturating_add(count.saturating_mul(PAGE));
    }
}
