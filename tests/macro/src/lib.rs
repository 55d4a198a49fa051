//! Layouts of a spec of one's own, expanded from a macro.

#![allow(non_snake_case, non_camel_case_types, non_upper_case_globals)]

etw_layouts_macros::layouts!("specs", structures = ["DRIVER_EXTENSION"], targets = ["7-x64", "8-x86", "8-x64"]);
