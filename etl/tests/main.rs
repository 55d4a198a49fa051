//! Tests with trace files: real files from the folder `ETW_LAYOUTS_ETL`, files of our writer, and damaged files.

mod buffers;
mod carve;
mod consumer;
mod damage;
mod decoded;
mod diagnostics;
mod dissect;
mod edges;
mod events;
mod filter;
mod log_file;
mod payloads;
mod real;
mod relog;
mod specified;
mod stat;
mod template;
mod tracelogging;
mod written;
mod xpress;
