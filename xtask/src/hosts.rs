//! The hosts that are supported besides the current one.

/// Check for a host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ValueForm {
    /// Tests of layouts, views and traces pass.
    Tests,
    /// The generated crate compiles, including the assertions of its layouts.
    Compiles,
    /// Compilation is rejected, with this message.
    Refuses(&'static str),
}

/// The hosts other than the current one, with the check for each.
pub const HOSTS: [(&str, ValueForm); 7] = [
    // This target includes its own C library, so linking needs nothing else.
    ("i686-unknown-linux-musl", ValueForm::Tests),
    ("i686-unknown-linux-gnu", ValueForm::Compiles),
    ("i686-pc-windows-msvc", ValueForm::Compiles),
    ("aarch64-pc-windows-msvc", ValueForm::Compiles),
    ("x86_64-unknown-none", ValueForm::Compiles),
    ("thumbv7em-none-eabi", ValueForm::Compiles),
    ("s390x-unknown-linux-gnu", ValueForm::Refuses("unsupported big-endian host")),
];
