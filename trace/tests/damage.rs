//! Damaged traces.

use etw_layouts_trace::{Event, Trace};
use test_support::event_infos::META_DATA;
use test_support::records::{Written, written};

/// Every question about a damaged trace has an answer or an error.
#[test]
fn questions_about_damaged_traces_are_answered() {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let text = |text: &str| [text, "\0"].concat().encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let dot_net = 0xa669021c_c450_4609_a035_5af59af4df18;
    let bytes = written(&[
        Written::kernel(10, 0, 0x0400, [words(&[5]), text("file")].concat()),
        Written::kernel(12, 0, 0x030A, [words(&[0x1000, 0x9000, 7, 0, 0, 0, 0]), text("image")].concat()),
        Written::kernel(13, 0, 0x0503, words(&[7 | 11 << 32, 0, 0, 0, 0, 0, 0, 0, 0])).version(3),
        Written::kernel(14, 0, 0x0303, [words(&[0, 7, 0, 0, 0]), text("process")].concat()).version(4),
        Written::kernel(20, 0, 0x0F2E, words(&[0x1010, 11])),
        Written::kernel(21, 0, 0x1826, words(&[20, 7 | 11 << 32, 6])),
        Written::kernel(22, 0, 0x1820, words(&[20, 7 | 11 << 32, 0x1010, 0x2000])),
        Written::kernel(23, 0, 0x1824, words(&[6, 0x1010, 0x3000])),
        Written::item(24, 0, 16, 18, words(&[0, 6]), vec![7]),
        Written::item(25, 0, 16, 6, words(&[0, 0x1010]), vec![7]),
        Written::event(
            26,
            (11, 7),
            (dot_net, 144, 1),
            [words(&[1, 2, 0x1000, 0x100, 0]), text("A"), text("B"), text("C")].concat(),
        ),
        Written::kernel(27, 0, 0x010A, words(&[0, 0, 0, 5, 0, 0, 0])).version(3),
        Written::class(28, (META_DATA, 32), vec![1; 40]),
        Written::kernel(30, 1, 0x0B0C, vec![0x43; 112]),
    ]);
    let (mut state, mut questions, mut answers) = (7_u64, 0, 0);
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    for round in 0..4000 {
        let mut damaged = bytes.clone();
        for _ in 0..round % 8 {
            // The log file header is left alone most of the time, because without it there is no trace.
            let (at, start) = (random(bytes.len()), random(8));
            let at = if start > 0 { 65_536.min(bytes.len() - 1_000) + at % 1_000 } else { at };
            damaged[at.min(bytes.len() - 1)] = [0, 1, 0x7F, 0x80, 0xFF, random(256) as u8][random(6)];
        }
        let Ok(trace) = Trace::from_bytes(damaged) else { continue };
        let is_selected = |event: &Event<'_>| event.header().offset() % 16 == 8;
        let needs = trace.needs(is_selected).expect("needs");
        for event in trace.events().filter_map(Result::ok) {
            let header = event.header();
            let names = event.names();
            let place = event.place();
            questions += 1;
            let is_answered = [
                event.stack().expect("a stack").is_some(),
                event.file_name().expect("a name").is_some(),
                names.image(7, 0x1010, event.tick()).expect("an image").is_some(),
                names.method(7, u64::MAX - 1, event.tick()).expect("a method").is_some(),
                needs.contains(0, place.buffer, &header).expect("an answer"),
            ];
            answers += is_answered.iter().filter(|is_answered| **is_answered).count();
        }
    }
    println!("{answers} answers about {questions} events");
    assert!(answers > questions / 2);
}
