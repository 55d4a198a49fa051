//! A wrong fact in a spec is detected, and the message shows the file.

use super::{Bench, Fate};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The number of mutants per file; all files together have several hundred.
const OF_EACH_FILE: usize = 8;

#[test]
fn wrong_facts_are_caught() {
    let bench = Bench::new().expect("the specs and tables can be read");
    let all = bench.mutants();
    let files: BTreeSet<usize> = all.iter().map(|(file, _)| *file).collect();
    let chosen = files.iter().flat_map(|&file| {
        let own: Vec<_> = all.iter().filter(move |(f, _)| *f == file).collect();
        let step = own.len().div_ceil(OF_EACH_FILE).max(1);
        own.into_iter().step_by(step)
    });
    let chosen: Vec<_> = chosen.collect();
    let fates: Vec<_> = chosen.par_iter().map(|(file, mutant)| bench.run(*file, mutant)).collect();
    let (mut caught, mut caught_files) = (0, BTreeSet::new());
    for ((file, mutant), fate) in chosen.iter().zip(&fates) {
        let what = bench.describe(*file, mutant);
        match fate {
            Fate::Refused(shown) | Fate::Differs(shown) => {
                assert!(shown, "caught, but the message does not show the file: {what}");
                caught += 1;
                caught_files.insert(*file);
            }
            Fate::Missed(at) => panic!("not detected, although symbol data covers it at {at}: {what}"),
            Fate::Survived(reason) => println!("undetectable: {what}: {reason}"),
            Fate::Equivalent => {}
        }
    }
    println!("{caught} of {} changes caught, in {} of {} files", chosen.len(), caught_files.len(), files.len());
    assert!(caught >= 200, "only {caught} changes were caught");
}
