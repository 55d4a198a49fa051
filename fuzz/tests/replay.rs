//! Runs every target with seeds, mutations of them, and regression inputs, with any toolchain.

use etw_layouts_fuzz::{FuzzTarget, TARGETS};
use fastrand::Rng;
use std::fs;
use std::path::Path;

macro_rules! replays {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*

        /// Every target has a test.
        #[test]
        fn all_targets() {
            assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), [$(stringify!($name)),*]);
        }
    };
}

replays!(
    spec compile macros isf pdb snapshot image images etl carve trace event_info payload manifest wevt tmf packed layouts packets table memory dump raw_memory writer xpress import
);

fn replay(name: &str) {
    let FuzzTarget { run, seeds, mutations, .. } = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let seeds = seeds();
    seeds.iter().for_each(|seed| run(seed));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(name);
    let mut inputs: Vec<_> = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()).collect();
    inputs.sort();
    for path in &inputs {
        eprintln!("{}", path.display());
        run(&fs::read(path).expect("an input"));
    }
    let mut random = Rng::with_seed(0xF022);
    for round in 0..*mutations {
        let mut input = seeds[round % seeds.len()].clone();
        for _ in 0..random.usize(1..5) {
            mutate(&mut input, &mut random);
        }
        run(&input);
    }
    println!("{name}: {} seeds, {} regression inputs, {mutations} mutations", seeds.len(), inputs.len());
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    // The start of an input matters most.
    let bound = if random.bool() { bytes.len().min(256) } else { bytes.len() };
    let at = random.usize(..bound);
    let length = random.usize(1..=(bytes.len() - at).min(64));
    match random.u8(..7) {
        0 => bytes[at] ^= 1 << random.u8(..8),
        1 => bytes[at] = *random.choice(&[0, 1, 0x7F, 0x80, 0xFF, b'0', b'"', b'\n', b'[']).expect("some"),
        2 => {
            let value = random.choice([0, 1, 8, 0x48, 0x7FFF_FFFF, u32::MAX]).expect("some").to_le_bytes();
            let length = (bytes.len() - at).min(4);
            bytes[at..at + length].copy_from_slice(&value[..length]);
        }
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..at + length)),
        5 => {
            let piece = bytes[at..at + length].to_vec();
            let to = random.usize(..bytes.len());
            bytes.splice(to..to, piece);
        }
        _ => {
            let from = random.usize(..bytes.len());
            let length = length.min(bytes.len() - from);
            bytes.copy_within(from..from + length, at);
        }
    }
}
