//! Tests of trace files: real ones, if `ETW_LAYOUTS_ETL` names a folder of them, written ones, and damaged ones.

mod buffers;
mod consumer;
mod damage;
mod decoded;
mod diagnostics;
mod dissect;
mod edges;
mod events;
mod filter;
mod log_file;
mod order;
mod payloads;
mod processes;
mod real;
mod relog;
mod specified;
mod stat;
mod tracelogging;
mod written;
mod xpress;
