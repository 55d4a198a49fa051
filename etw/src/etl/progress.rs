//! Progress over the bytes of a file, on a terminal, once two seconds have passed.

use super::output::Escaped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::time::{Duration, Instant};

pub struct Progress {
    bar: ProgressBar,
    /// When it began, while it does not show yet.
    start: Cell<Option<Instant>>,
}

impl Progress {
    pub fn new(name: &str) -> Self {
        let bar = ProgressBar::hidden().with_style(style("{spinner} {bytes} {msg}")).with_message(Escaped(name).to_string());
        Self { bar, start: Cell::new(Some(Instant::now())) }
    }

    /// How many bytes there will be.
    pub fn expect(&self, bytes: u64) {
        self.bar.set_style(style("{bar:30} {bytes}/{total_bytes} {msg}"));
        self.bar.set_length(bytes);
    }

    /// More bytes were read.
    pub fn add(&self, bytes: u64) {
        if self.start.get().is_some_and(|start| start.elapsed() > Duration::from_secs(2)) {
            self.start.take();
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(bytes);
    }

    /// Never shows it: where lines are on the terminal, they are progress enough.
    pub fn hide(&self) {
        self.start.take();
    }

    /// Prints something, while the bar is away.
    pub fn beside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
