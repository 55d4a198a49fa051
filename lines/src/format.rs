//! Output formats.

/// Output format.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for reading.
    Text,
    /// JSON, one object per line.
    Json,
    /// Comma-separated values. Text from a file that begins with = + - @ or an apostrophe gets an additional apostrophe in front,
    /// so that a spreadsheet does not run it as a formula; remove the apostrophe to restore the text. Diagnostics are printed as
    /// text.
    Csv,
}
