//! Progress bar for the bytes of a file, shown on a terminal after two seconds.

use super::Escaped;
use crate::progress::style;
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct FileProgress {
    bar: ProgressBar,
    /// The start time, until the bar is shown.
    start: Mutex<Option<Instant>>,
}

impl FileProgress {
    pub fn new(name: &str) -> Self {
        let bar = ProgressBar::hidden().with_style(style("{spinner} {bytes} {msg}")).with_message(Escaped(name).to_string());
        Self { bar, start: Mutex::new(Some(Instant::now())) }
    }

    /// Sets the expected number of bytes.
    pub fn expect(&self, bytes: u64) {
        self.bar.set_style(style("{bar:30} {bytes}/{total_bytes} {msg}"));
        self.bar.set_length(bytes);
    }

    /// Adds bytes that were read.
    pub fn add(&self, bytes: u64) {
        let mut start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        if start.is_some_and(|start| start.elapsed() > Duration::from_secs(2)) {
            start.take();
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(bytes);
    }

    /// Disables the bar: lines on a terminal show progress already.
    pub fn hide(&self) {
        self.start.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The bar.
    pub fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }
}

impl Drop for FileProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
