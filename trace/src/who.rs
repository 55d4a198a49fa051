//! Who did what an event reports.

/// The process that did what an event reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Who {
    /// Identifier of the process.
    pub process: Option<u32>,
}
