//! The last test of the workspace. It lists the tests that were skipped because of a missing tool or file outside the repository.

fn main() {
    let missed = test_support::installed::missed();
    if missed.is_empty() {
        return println!("\nno test was skipped\n");
    }
    let mut tools: Vec<_> = missed.iter().map(|(tool, _)| tool.as_str()).collect();
    tools.dedup();
    println!("\n{} tests were skipped, completely or in part, because these are missing: {}", missed.len(), tools.join(", "));
    for (tool, test) in &missed {
        println!("  {test}: {tool}");
    }
    println!("CONTRIBUTING.md explains how to provide them.\n");
}
