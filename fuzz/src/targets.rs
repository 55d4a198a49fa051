//! All targets.

mod carve;
mod compile;
mod dump;
mod etl;
mod event_info;
mod image;
mod images;
mod import;
mod isf;
mod layouts;
mod macros;
mod manifest;
mod memory;
mod packed;
#[cfg(feature = "packets")]
mod packets;
mod payload;
mod pdb;
mod raw_memory;
mod snapshot;
mod spec;
#[cfg(feature = "table")]
mod table;
mod tmf;
mod trace;
mod wevt;
mod writer;
mod xpress;

/// A fuzz target.
pub struct FuzzTarget {
    /// Name of the target, of its binary, and of the folder of its regression inputs.
    pub name: &'static str,
    /// Processes an input; panics if a property is violated.
    pub run: fn(&[u8]),
    /// Initial inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Number of mutations of the seeds in the test, for a running time of some seconds.
    pub mutations: usize,
}

/// All targets.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "spec", run: spec::run, seeds: spec::seeds, mutations: 300 },
    FuzzTarget { name: "compile", run: compile::run, seeds: compile::seeds, mutations: 40 },
    FuzzTarget { name: "macros", run: macros::run, seeds: macros::seeds, mutations: 300 },
    FuzzTarget { name: "isf", run: isf::run, seeds: isf::seeds, mutations: 3_000 },
    FuzzTarget { name: "pdb", run: pdb::run, seeds: pdb::seeds, mutations: 4_000 },
    FuzzTarget { name: "snapshot", run: snapshot::run, seeds: snapshot::seeds, mutations: 2_000 },
    FuzzTarget { name: "image", run: image::run, seeds: image::seeds, mutations: 4_000 },
    FuzzTarget { name: "images", run: images::run, seeds: images::seeds, mutations: 4_000 },
    FuzzTarget { name: "etl", run: etl::run, seeds: etl::seeds, mutations: 3_000 },
    FuzzTarget { name: "carve", run: carve::run, seeds: carve::seeds, mutations: 1_000 },
    FuzzTarget { name: "trace", run: trace::run, seeds: trace::seeds, mutations: 1_000 },
    FuzzTarget { name: "event_info", run: event_info::run, seeds: event_info::seeds, mutations: 10_000 },
    FuzzTarget { name: "payload", run: payload::run, seeds: payload::seeds, mutations: 10_000 },
    FuzzTarget { name: "manifest", run: manifest::run, seeds: manifest::seeds, mutations: 10_000 },
    FuzzTarget { name: "wevt", run: wevt::run, seeds: wevt::seeds, mutations: 10_000 },
    FuzzTarget { name: "tmf", run: tmf::run, seeds: tmf::seeds, mutations: 10_000 },
    FuzzTarget { name: "packed", run: packed::run, seeds: packed::seeds, mutations: 4_000 },
    FuzzTarget { name: "layouts", run: layouts::run, seeds: layouts::seeds, mutations: 1_000 },
    #[cfg(feature = "packets")]
    FuzzTarget { name: "packets", run: packets::run, seeds: packets::seeds, mutations: 3_000 },
    #[cfg(feature = "table")]
    FuzzTarget { name: "table", run: table::run, seeds: table::seeds, mutations: 200 },
    FuzzTarget { name: "memory", run: memory::run, seeds: memory::seeds, mutations: 2_000 },
    FuzzTarget { name: "dump", run: dump::run, seeds: dump::seeds, mutations: 3_000 },
    FuzzTarget { name: "raw_memory", run: raw_memory::run, seeds: raw_memory::seeds, mutations: 300 },
    FuzzTarget { name: "writer", run: writer::run, seeds: writer::seeds, mutations: 400 },
    FuzzTarget { name: "xpress", run: xpress::run, seeds: xpress::seeds, mutations: 3_000 },
    FuzzTarget { name: "import", run: import::run, seeds: import::seeds, mutations: 60 },
];
