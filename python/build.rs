//! Passes the linker arguments for an extension module on macOS, where Python's symbols are found when the module is loaded.

#![forbid(unsafe_code)]

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
