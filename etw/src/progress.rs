//! Progress, on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// Counts things that are done.
pub fn progress(what: &'static str) -> ProgressBar {
    styled("{bar:30} {pos}/{len} {msg}").with_message(what)
}

/// Counts bytes.
pub fn bytes() -> ProgressBar {
    styled("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg}")
}

fn styled(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::no_length().with_style(style)
}
