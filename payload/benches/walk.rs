//! Rates of visiting all fields of payloads by schemas, compared with a plain pass over the same bytes. Each result is the best of several
//! interleaved rounds.

use etw_layouts_payload::{Data, Field, InType, OutType, PointerSize, Schema};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Number of payloads per class.
const EVENTS: usize = 20_000;

const DISK_IO: &[Field<'_>] = &[
    Field::new("DiskNumber", InType::UINT32),
    Field::new("IrpFlags", InType::UINT32).out(OutType::HEXINT32),
    Field::new("TransferSize", InType::UINT32),
    Field::new("Reserved", InType::UINT32),
    Field::new("ByteOffset", InType::INT64),
    Field::new("FileObject", InType::POINTER),
    Field::new("Irp", InType::POINTER),
    Field::new("HighResResponseTime", InType::UINT64),
    Field::new("IssuingThreadId", InType::UINT32).out(OutType::TID),
];

const FILE_IO: &[Field<'_>] = &[
    Field::new("Offset", InType::UINT64),
    Field::new("IrpPtr", InType::POINTER),
    Field::new("FileObject", InType::POINTER),
    Field::new("FileKey", InType::POINTER),
    Field::new("IssuingThreadId", InType::UINT32).out(OutType::TID),
    Field::new("IoSize", InType::UINT32),
    Field::new("IoFlags", InType::UINT32).out(OutType::HEXINT32),
    Field::new("ExtraFlags", InType::UINT32),
];

const IMAGE: &[Field<'_>] = &[
    Field::new("ImageBase", InType::POINTER),
    Field::new("ImageSize", InType::SIZET),
    Field::new("ProcessId", InType::UINT32).out(OutType::PID),
    Field::new("ImageCheckSum", InType::UINT32),
    Field::new("TimeDateStamp", InType::UINT32),
    Field::new("FileName", InType::UNICODESTRING),
];

const PROCESS: &[Field<'_>] = &[
    Field::new("UniqueProcessKey", InType::POINTER),
    Field::new("ProcessId", InType::UINT32).out(OutType::PID),
    Field::new("ParentId", InType::UINT32).out(OutType::PID),
    Field::new("SessionId", InType::UINT32),
    Field::new("ExitStatus", InType::INT32).out(OutType::NTSTATUS),
    Field::new("UserSID", InType::WBEMSID),
    Field::new("ImageFileName", InType::ANSISTRING),
    Field::new("CommandLine", InType::UNICODESTRING),
];

fn main() {
    let wide = |text: &str| text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let sid = [&[0x50; 16][..], &[1, 5, 0, 0, 0, 0, 0, 5], &[7; 20]].concat();
    run("DiskIo, 9 fields of fixed size", DISK_IO, &[0x5A; 52]);
    run("FileIo, 8 fields of fixed size", FILE_IO, &[0x5A; 48]);
    let image = [&[0x5A; 28][..], &wide(r"\Device\HarddiskVolume2\Windows\System32\kernel32.dll")].concat();
    run("Image, 6 fields, a string of 53 characters", IMAGE, &image);
    let process =
        [&[0x5A; 24][..], &sid, b"svchost.exe\0", &wide(r"C:\Windows\system32\svchost.exe -k netsvcs -p -s BITS")].concat();
    run("Process, 8 fields, a SID and two strings", PROCESS, &process);
}

fn run(name: &str, fields: &[Field<'_>], payload: &[u8]) {
    let schema = Schema::specified("Class", "Event", 0, fields);
    let bytes = payload.repeat(EVENTS);
    let mut best = [Duration::MAX; 3];
    for _ in 0..50 {
        time(&mut best[0], || {
            let mut sum = 0_u64;
            for payload in bytes.chunks_exact(payload.len()) {
                for word in black_box(payload).chunks_exact(4) {
                    sum = sum.wrapping_add(u32::from_le_bytes([word[0], word[1], word[2], word[3]]).into());
                }
            }
            sum
        });
        time(&mut best[1], || {
            let mut count = 0;
            for payload in bytes.chunks_exact(payload.len()) {
                count += black_box(&schema).decode(black_box(payload), PointerSize::Bits64).iter().count();
            }
            assert_eq!(count, EVENTS * fields.len());
        });
        time(&mut best[2], || {
            let mut sum = 0_u64;
            for payload in bytes.chunks_exact(payload.len()) {
                for value in &black_box(&schema).decode(black_box(payload), PointerSize::Bits64) {
                    sum = sum.wrapping_add(match value.data() {
                        Data::Unsigned(number) | Data::Hexadecimal(number) => number,
                        Data::Signed(number) => number as u64,
                        Data::Text(_) | Data::Sid(_) => value.bytes.len() as u64,
                        other => panic!("{other:?}"),
                    });
                }
            }
            sum
        });
    }
    let rate = |time: Duration| EVENTS as f64 / time.as_secs_f64() / 1e6;
    let [floor, walk, data] = best;
    println!(
        "{name}: {:.1} million events/s with the meaning of each value, {:.1} with its bytes; {:.1} and {:.1} times the time of a pass over the \
         words ({:.1})",
        rate(data),
        rate(walk),
        data.as_secs_f64() / floor.as_secs_f64(),
        walk.as_secs_f64() / floor.as_secs_f64(),
        rate(floor)
    );
}

/// Keeps the shortest duration of some work.
fn time<T>(best: &mut Duration, work: impl FnOnce() -> T) {
    let start = Instant::now();
    black_box(work());
    *best = start.elapsed().min(*best);
}
