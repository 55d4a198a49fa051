//! The last test of the workspace. It lists the tests that were skipped because of a missing tool or file outside the repository.

fn main() {
    let missed = test_support::witness::missed();
    if missed.is_empty() {
        return println!("\nno test was skipped\n");
    }
    let mut witnesses: Vec<_> = missed.iter().map(|(witness, _)| witness.as_str()).collect();
    witnesses.dedup();
    println!("\n{} tests were skipped, completely or in part, because these are missing: {}", missed.len(), witnesses.join(", "));
    for (witness, test) in &missed {
        println!("  {test}: {witness}");
    }
    println!("CONTRIBUTING.md explains how to provide them.\n");
}
