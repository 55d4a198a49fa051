//! Layouts of a spec of one's own, generated when the crate is built.

#![allow(non_snake_case, non_camel_case_types, non_upper_case_globals)]

include!(concat!(env!("OUT_DIR"), "/layouts.rs"));
