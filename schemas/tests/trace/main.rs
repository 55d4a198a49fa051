//! Schemas that traces carry: written ones, damaged ones, and real ones, if `ETW_LAYOUTS_ETL` names a folder of them.

mod damage;
mod real;
mod tdh;
mod text;
mod written;
