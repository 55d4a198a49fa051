//! Progress bars for a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar that counts items.
pub fn progress(what: &'static str) -> ProgressBar {
    ProgressBar::no_length().with_style(style("{bar:30} {pos}/{len} {msg}")).with_message(what)
}

/// A progress bar that counts bytes.
pub fn bytes() -> ProgressBar {
    ProgressBar::no_length().with_style(style("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg}"))
}

/// The style with a valid template.
pub fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
