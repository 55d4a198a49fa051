//! What it costs to choose a layout at run time, by what tells the kernel: its build, its PDB, its image. Every kernel of the registry is
//! asked for once a round. The floor is one binary search over as many builds.

use etw_layouts::kernels::REGISTRY;
use etw_layouts::runtime::meta::Seen;
use etw_layouts::structures::WMI_LOGGER_CONTEXT;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    let kernels = REGISTRY.kernels;
    let of = |seen: &Seen| WMI_LOGGER_CONTEXT.select(seen.build, seen.arch).map_or(0, |chosen| chosen.layout.size);
    let floor = time(|seen| kernels.partition_point(|other| (other.build, other.arch) < (seen.build, seen.arch)));
    println!("nanoseconds to choose the layout of WMI_LOGGER_CONTEXT, among {} kernels", kernels.len());
    println!("  a binary search  {floor:.0}");
    for (name, nanoseconds) in [
        ("by build", time(of)),
        ("by PDB", time(|seen| seen.pdb.and_then(|&pdb| REGISTRY.by_pdb(pdb)).map_or(0, of))),
        ("by image", time(|seen| seen.image.and_then(|image| REGISTRY.by_image(image)).map_or(0, of))),
    ] {
        println!("  {name:15}  {nanoseconds:.0}, {:.1} times the search", nanoseconds / floor);
    }
}

/// Nanoseconds a kernel, the best of many rounds.
fn time(work: impl Fn(&Seen) -> usize) -> f64 {
    let mut best = Duration::MAX;
    for _ in 0..50 {
        let start = Instant::now();
        black_box(black_box(REGISTRY.kernels).iter().map(&work).fold(0, usize::wrapping_add));
        best = best.min(start.elapsed());
    }
    best.as_nanos() as f64 / REGISTRY.kernels.len() as f64
}
