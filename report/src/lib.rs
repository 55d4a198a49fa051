//! A report of a trace as one web page, which opens from disk and uses no network. [`Report`] has the data: aggregates by slots of time, within
//! limits, so that the page has less than 2 MB for any trace. What is left out is counted.
//!
//! Charts are drawn by the script of this crate. Chart libraries that can be embedded are distributed as files, not as crates, and files of other projects are not
//! part of this repository.
//!
//! ```no_run
//! use etw_layouts_report::{Options, Report};
//! use etw_layouts_trace::Trace;
//! # fn main() -> Result<(), etw_layouts_trace::Error> {
//!
//! let page = Report::new(&Trace::open("trace.etl")?, &Options::default())?.page();
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod about;
mod assets;
mod diagnostics;
mod files;
mod frame;
mod marks;
mod page;
mod processes;
mod providers;
mod report;
mod samples;
mod stacks;
mod table;
mod text;

pub use about::{About, SessionFacts};
pub use assets::{SCRIPT, STYLE};
pub use diagnostics::{DiagnosticKind, Diagnostics};
pub use files::FileFacts;
pub use marks::{Mark, Marks};
pub use processes::{ProcessFacts, Processes};
pub use providers::{EventKind, ProviderEvents, Providers};
pub use report::{Options, Report, SLOTS};
pub use samples::Sample;
pub use stacks::Stacks;
pub use table::{Note, Row, Table, Unanswered};
