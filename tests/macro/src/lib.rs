//! Layouts of a user's spec, expanded from a macro.

etw_layouts_macros::layouts!("specs", structures = ["DRIVER_EXTENSION"], targets = ["7-x64", "8-x86", "8-x64"]);
