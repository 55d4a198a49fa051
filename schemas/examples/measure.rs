//! x
use std::time::Instant;
fn main() {
    let t = Instant::now();
    let found = etw_layouts_schemas::files::read_path(std::env::args().nth(1).unwrap().as_ref(), &|_| ()).unwrap();
    println!(
        "{} files with schemas, {} others, {} unusable, {} events, {:?}",
        found.files.len(),
        found.others,
        found.unusable.len(),
        found.files.iter().flat_map(|f| &f.schemas.providers).map(|p| p.events.len()).sum::<usize>(),
        t.elapsed()
    );
    for u in found.unusable.iter().take(10) {
        println!("{u:?}");
    }
}
