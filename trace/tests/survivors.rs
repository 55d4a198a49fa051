//! Damaged files: in both orders, every event that the reader of the format finds is there. What it finds of a damaged file, its own tests state; here
//! the damage to one buffer is repeated.

use crate::order::{Seen, assert_orders, opened};
use etw_layouts_etl as etl;
use fastrand::Rng;
use test_support::logging::logging;
use test_support::traces::all;

/// Any damage to the header of one buffer loses at most the events of that buffer.
#[test]
fn one_header() {
    let mut random = Rng::with_seed(0x0EAD);
    for fixture in all(2) {
        let (name, bytes) = (&fixture.name, &fixture.bytes);
        let (whole, none) = assert_orders(name, bytes).expect("a trace");
        assert_eq!(none, 0, "{name}");
        let trace = etl::Trace::from_bytes(&bytes[..]).expect("a trace");
        for (index, buffer) in trace.buffers().map(|buffer| buffer.expect("a buffer")).enumerate().skip(1) {
            let (start, length) = (buffer.offset() as usize, buffer.bytes().len());
            let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(0x48).collect();
            let size = |size: usize| (size as u32).to_le_bytes().to_vec();
            let sizes = [0, 8, 0x48, length / 2, length + 8, 2 * length, 0xFFFF_FFF8].map(size);
            for header in [vec![0; 0x48], vec![0xFF; 0x48], noise].into_iter().chain(sizes) {
                let mut damaged = bytes.clone();
                damaged[start..start + header.len()].copy_from_slice(&header);
                let (seen, diagnostics) = assert_orders(name, &damaged).expect("a trace");
                let at = || format!("{name}: buffer {index} at {start:#x}, {header:x?}");
                // Buffers after a lost one have other numbers: only their bytes are compared.
                let mut others = whole.iter().filter(|event| event.0 >> 32 != index as u64);
                let mut left = seen.iter();
                let is_kept = |wanted: &Seen| left.any(|event| event.1 == wanted.1);
                assert!(others.all(is_kept), "{}: events of other buffers are lost", at());
                assert!(diagnostics > 0, "{}: no diagnostics", at());
            }
        }
    }
}

/// Random damage. What a trace says about its events is found without panic.
#[test]
fn mutations() {
    const MUTATIONS: usize = 3_000;
    let mut fixtures: Vec<_> = all(6).into_iter().map(|fixture| fixture.bytes).collect();
    fixtures.push(logging().trace());
    let mut random = Rng::with_seed(0x0E71);
    let (mut traces, mut diagnostics) = (0, 0);
    for round in 0..MUTATIONS {
        let mut bytes = fixtures[round % fixtures.len()].clone();
        for _ in 0..random.usize(1..6) {
            damage(&mut bytes, &mut random);
        }
        let Some((_, found)) = assert_orders(&format!("{round}"), &bytes) else { continue };
        (traces, diagnostics) = (traces + 1, diagnostics + found);
        let trace = opened("", &bytes).expect("a trace");
        for event in trace.events().map(|event| event.expect("an event")) {
            let _ = (event.who(), event.process(), event.subject(), event.name(), event.time());
            let _ = (event.stack().expect("bytes in memory"), event.file_name().expect("bytes in memory"));
        }
    }
    println!("{MUTATIONS} mutations, {traces} still traces, {diagnostics} diagnostics");
    assert!(traces > MUTATIONS / 2 && diagnostics > MUTATIONS / 2);
}

/// Changes the headers of buffers, which affect the result most, or any byte; ends the file, or removes bytes.
fn damage(bytes: &mut Vec<u8>, random: &mut Rng) {
    let Some(last) = bytes.len().checked_sub(1) else { return };
    let at = match random.u8(..3) {
        0 => (random.usize(..=last) & !4095) + random.usize(..0x60),
        _ => random.usize(..=last),
    };
    let at = at.min(last);
    match random.u8(..8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..(at + random.usize(..200)).min(last))),
        2 => bytes[at] = 0xFF,
        3 | 4 => bytes[at] = random.u8(..),
        _ => bytes[at] ^= 1 << random.u8(..8),
    }
}
