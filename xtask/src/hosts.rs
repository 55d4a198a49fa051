//! The hosts that are supported besides the current one.

/// Check for a host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Tests of layouts, views and traces pass.
    Tests,
    /// The generated crate compiles, including the assertions of its layouts.
    Compiles,
    /// Compilation is rejected, with this message.
    Refuses(&'static str),
}

/// The hosts other than the current one, with the check for each.
pub const HOSTS: [(&str, Holds); 7] = [
    // This target includes its own C library, so linking needs nothing else.
    ("i686-unknown-linux-musl", Holds::Tests),
    ("i686-unknown-linux-gnu", Holds::Compiles),
    ("i686-pc-windows-msvc", Holds::Compiles),
    ("aarch64-pc-windows-msvc", Holds::Compiles),
    ("x86_64-unknown-none", Holds::Compiles),
    ("thumbv7em-none-eabi", Holds::Compiles),
    ("s390x-unknown-linux-gnu", Holds::Refuses("unsupported big-endian host")),
];
