//! The cost of choosing a layout at run time by build, PDB and image. Every kernel of the registry of
//! which that is known is asked for once a round. The floor is one binary search over the builds of all.

use etw_layouts::kernels::REGISTRY;
use etw_layouts::runtime::meta::Seen;
use etw_layouts::structures::WMI_LOGGER_CONTEXT;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    let kernels = REGISTRY.kernels;
    let of = |seen: &Seen| WMI_LOGGER_CONTEXT.select(seen.build, seen.arch).map_or(0, |chosen| chosen.layout.size);
    let search = |seen: &Seen| kernels.partition_point(|other| (other.build, other.arch) < (seen.build, seen.arch));
    let floor = time(|_| true, search).1;
    println!("nanoseconds to choose the layout of WMI_LOGGER_CONTEXT, among {} kernels", kernels.len());
    println!("  a binary search  {floor:.0}");
    let by_pdb = |seen: &Seen| seen.pdb.and_then(|pdb| REGISTRY.by_pdb(pdb)).map_or(0, of);
    let by_image = |seen: &Seen| seen.image.and_then(|image| REGISTRY.by_image(image)).map_or(0, of);
    for (name, (count, nanoseconds)) in [
        ("build", time(|_| true, of)),
        ("PDB", time(|seen| seen.pdb.is_some(), by_pdb)),
        ("image", time(|seen| seen.image.is_some(), by_image)),
    ] {
        println!("  by {name:13} {nanoseconds:.0}, {:.1} times the search ({count} kernels)", nanoseconds / floor);
    }
}

/// How many kernels have what is asked by, and the nanoseconds for one, the best of many rounds.
fn time(has: impl Fn(&Seen) -> bool, work: impl Fn(&Seen) -> usize) -> (usize, f64) {
    let kernels: Vec<_> = REGISTRY.kernels.iter().filter(|seen| has(seen)).collect();
    let mut best = Duration::MAX;
    for _ in 0..50 {
        let start = Instant::now();
        black_box(black_box(&kernels).iter().map(|seen| work(seen)).fold(0, usize::wrapping_add));
        best = best.min(start.elapsed());
    }
    (kernels.len(), best.as_nanos() as f64 / kernels.len().max(1) as f64)
}
