//! `pcap` of damaged and hostile traces.

use crate::packets::{ETHERNET, FIRST, LAST, SEND, component, converted, fragment, monitored, trace_of};
use crate::{Folder, START};

/// Fragments without an end use a limited amount of memory. The oldest are dropped.
#[test]
fn endless_fragments() {
    let folder = Folder::new("endless");
    let data = [1; 60_000];
    // A packet that is too long, and many packets without an end.
    let mut events = vec![fragment(0, 8, 9, ETHERNET | FIRST, &data)];
    events.extend((1..8).map(|tick| fragment(tick, 8, 9, if tick == 7 { LAST } else { 0 } | ETHERNET, &data)));
    events.extend((0..1000).map(|thread| fragment(10 + i64::from(thread), 100 + thread, 9, ETHERNET | FIRST, &[2; 9])));
    events.extend((0..1000).map(|thread| fragment(2000 + i64::from(thread), 100 + thread, 9, ETHERNET | LAST, &[3; 9])));
    let file = folder.file("a.etl", trace_of(START, &events));
    let (status, printed, packets, err) = converted(&folder, "a.pcapng", &[&file]);
    let lost = printed["incomplete_fragments"].as_u64().unwrap();
    assert_eq!((status, packets.len(), lost), (1, 256, 8 + 2 * (1000 - 256)), "{printed} {err}");
    assert!(packets.iter().all(|packet| packet.data.len() == 18));
}

/// Reasons contain text from the file, so only a limited number is counted separately.
#[test]
fn many_reasons_of_packets() {
    let folder = Folder::new("many-reasons-of-packets");
    let medium = |number: u64| 2 | (number & 0x1F) << 4 | (number >> 5) << 10;
    let events: Vec<_> = (0..100).map(|number| fragment(1, 8, 9, FIRST | LAST | medium(number), &[1; 3])).collect();
    let file = folder.file("a.etl", trace_of(START, &events));
    let (status, printed, _, _) = converted(&folder, "a.pcapng", &[&file]);
    let skipped = printed["skipped"].as_object().unwrap();
    assert_eq!((status, skipped.len(), skipped["other reasons"].as_u64()), (1, 65, Some(36)), "{printed}");
}

/// Damage causes diagnostics, but the other packets are written, and the new file is always valid.
#[test]
fn damaged_packets() {
    let folder = Folder::new("damaged-packets");
    let mut events: Vec<_> = (0..40).map(|tick| monitored(2 * tick, 160, [3, 1, 5], 0, 99, &[3; 33])).collect();
    events.push(component(100, 5, "tcpip", "Adapter"));
    let parts = [FIRST, 0, LAST];
    events.extend((0..60).map(|tick| fragment(101 + tick, 8, 12, ETHERNET | SEND | parts[tick as usize % 3], &[4; 21])));
    let bytes = trace_of(START, &events);
    // One buffer of each processor.
    let mut other = bytes.clone();
    other[2 << 17..][..0x48].fill(0);
    let (status, printed, packets, err) = converted(&folder, "header.pcapng", &[&folder.file("header.etl", &other)]);
    assert!(status == 1 && err.contains("no buffer header: skipped 0x20000 bytes"), "{printed} {err}");
    assert_eq!(packets.len(), 20);
    let mut random = 1_u32;
    let mut next = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % below
    };
    let starts = [1 << 17, 2 << 17].map(|start| start + 0x48);
    for round in 0..100 {
        let mut other = bytes.clone();
        for _ in 0..=next(20) {
            let at = starts[next(2)] + next(5000);
            other[at] = next(256) as u8;
        }
        let file = folder.file("random.etl", &other);
        let (status, printed, packets, err) = converted(&folder, &format!("{round}.pcapng"), &[&file]);
        assert!((0..=2).contains(&status) && !err.contains("panicked"), "{round}: {err}");
        assert_eq!(packets.len() as u64, printed["packets"].as_u64().unwrap(), "{round}: {printed} {err}");
    }
}
