//! Events of Event Tracing for Windows as Arrow record batches, and as Parquet, Arrow, CSV and JSON files.
//!
//! [`Rows`] converts the events of a `etw_layouts_trace::Trace`, in file order or in the order of time, with any number of threads. Memory does not
//! depend on the size of the trace: each thread needs about 6 MB for buffers, and two to four times as much for rows.
//!
//! There are two [shapes](Shape): one table of all events, and a table for each provider and event. `docs/TABLES.md` describes the columns.
//! [`schema::VERSION`] is in the metadata of each schema.

#![forbid(unsafe_code)]

mod batches;
mod columns;
mod dictionary;
mod encoder;
mod error;
mod keys;
mod kinds;
mod layout;
mod merge;
mod narrow;
mod node;
mod options;
mod scalar;
pub mod schema;
mod stacks;
mod sums;
mod table;
mod traces;
mod typed;
mod value_type;
pub mod write;

pub use batches::{Counts, MEMORY, Part, Rows, parts};
pub use encoder::Encoder;
pub use error::Error;
pub use etw_layouts_trace::Order;
pub use merge::Merge;
pub use options::{Options, Payload, Shape};
pub use sums::{Values, sums};
pub use table::{Batch, Kind, Table};
pub use traces::{TraceRow, traces};
