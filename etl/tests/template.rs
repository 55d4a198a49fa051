//! Templates write the same JSON as the schema.

use etw_layouts::events;
use etw_layouts_etl::payload::PointerSize;
use etw_layouts_etl::text::{Recent, Style, Template, fields};
use etw_layouts_etl::{Clock, ClockType};

/// All schemas of the specs, with payloads of all lengths: most end within a field, or have bytes after the last one.
#[test]
fn templates() {
    let mut random = fastrand::Rng::with_seed(0x38);
    let clock = Clock::new(ClockType::PerfCounter, 132_000_000_000_000_000, 0, 3_000_000, 0);
    let (mut recent, mut whole, mut other) = (Recent::default(), 0, 0);
    for (.., schema) in events::all() {
        for pointers in [PointerSize::Bits32, PointerSize::Bits64] {
            let template = Template::new(&schema.fields, pointers, &mut recent);
            for _ in 0..200 {
                // Few different bytes, so that values have names, texts end, and values are repeated.
                let byte = |random: &mut fastrand::Rng| match random.u8(..12) {
                    0 => random.u8(..),
                    1 => b'"',
                    2 => b'\\',
                    3 | 4 => random.u8(b'a'..=b'z'),
                    5 => random.u8(1..9),
                    _ => 0,
                };
                let payload: Vec<u8> = (0..random.usize(..160)).map(|_| byte(&mut random)).collect();
                let decoded = schema.decode(&payload, pointers);
                let (mut expected, mut written) = (Vec::new(), Vec::new());
                let fault = fields::fields(&decoded, Some(&clock), Style::Json, &mut expected);
                let found = template.write(|| schema.fields, &payload, Some(&clock), &mut recent, &mut written);
                let shown = |json: &[u8]| String::from_utf8_lossy(json).into_owned();
                assert_eq!((shown(&written), found), (shown(&expected), fault), "{schema} {pointers:?} {payload:02x?}");
                (whole, other) = (whole + usize::from(fault.is_none()), other + usize::from(fault.is_some()));
            }
        }
    }
    assert!(whole > 5_000 && other > 5_000, "{whole} payloads are decoded to their end, {other} are not");
}
