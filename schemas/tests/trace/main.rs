//! Schemas in traces: generated traces, damaged traces, and real traces from the folder `ETW_LAYOUTS_ETL`.

mod damage;
mod real;
mod tdh;
mod text;
mod written;
