//! Tests of trace files: real ones, if `ETW_LAYOUTS_ETL` names a folder of them, written ones, and damaged ones.

mod damage;
mod dissect;
mod events;
mod order;
mod real;
mod written;
mod xpress;
