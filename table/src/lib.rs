//! Events of Event Tracing for Windows as Arrow record batches, and as Parquet, Arrow, CSV and JSON files.
//!
//! A trace is read twice. [`Index::read`] finds its buffers, the computer and the names of processes, and lets the caller collect the schemas
//! in the trace. Then [`Batches`], or [`Rows`] with an [`Encoder`] for several traces, reads the events in file order or in time order.
//! Memory does not depend on the size of the trace: about 50 MB of buffers are in memory at the same time, and as much for rows. The index
//! needs 40 bytes for each buffer.
//!
//! There are two [shapes](Shape): one table of all events, and a table for each provider, event and version. `docs/TABLES.md` describes the columns.
//! [`schema::VERSION`] is in the metadata of each schema.

#![forbid(unsafe_code)]

mod batches;
mod columns;
mod dictionary;
mod encoder;
mod error;
mod hash;
mod index;
mod keys;
mod kinds;
mod layout;
mod narrow;
mod node;
mod options;
mod order;
mod processes;
mod scalar;
pub mod schema;
mod stacks;
mod table;
mod typed;
pub mod write;

pub use batches::{Batches, Counts, Parts, Rows};
pub use encoder::Encoder;
pub use error::Error;
pub use index::{Index, Place, Seen};
pub use options::{Options, Payload, Shape};
pub use order::{MEMORY, Order};
pub use table::{Batch, Kind, Table};
