//! Hosts that the crates are for, beside the one at hand.

/// What holds for a host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Tests of layouts, views and traces pass.
    Tests,
    /// The generated crate compiles, and with it all that its layouts assert.
    Compiles,
    /// It refuses to compile, in these words.
    Refuses(&'static str),
}

/// The hosts, and what holds for each.
pub const HOSTS: [(&str, Holds); 7] = [
    // Brings its own C library, so that nothing else is needed to link.
    ("i686-unknown-linux-musl", Holds::Tests),
    ("i686-unknown-linux-gnu", Holds::Compiles),
    ("i686-pc-windows-msvc", Holds::Compiles),
    ("aarch64-pc-windows-msvc", Holds::Compiles),
    ("x86_64-unknown-none", Holds::Compiles),
    ("thumbv7em-none-eabi", Holds::Compiles),
    ("s390x-unknown-linux-gnu", Holds::Refuses("the layouts are little-endian")),
];
