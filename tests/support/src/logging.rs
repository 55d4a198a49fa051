//! An event of TraceLogging with a field of every type, structures in structures, and arrays of both kinds.

use crate::traces::START;
use etw_layouts_etl::header::EventHeader;
use etw_layouts_etl::wire::{Arch, EVENT_HEADER, EVENT_HEADER_EXT_TYPE, large, zero};
use etw_layouts_etl::write::{FileWriter, Producer, Record};
use etw_layouts_etl::{Item, LogFile};
use std::io::Cursor;

/// The parts of a TraceLogging event.
#[derive(Clone)]
pub struct Logging {
    pub traits: Vec<u8>,
    pub schema: Vec<u8>,
    pub payload: Vec<u8>,
}

/// The text of its fields.
pub const TEXT: &str = concat!(
    r#"{wide = "aΩ😀", narrow = "a€\"\u{a}", i8 = -1, u8 = 0xfe, i16 = -2, port = 443, i32 = 0x80004005 E_FAIL, u32 = 127.0.0.1, "#,
    r#"i64 = -3, u64 = 18446744073709551615, f = 0.5, d = NaN, yes = true, bin = 0x0102, "#,
    r#"guid = 00112233-4455-6677-8899-aabbccddeeff, ft = 2020-07-29T07:06:19.7984230Z, st = 2020-07-29T07:06:19.798, "#,
    r#"sid = S-1-5-32-544 BUILTIN\Administrators, h32 = 0xff, h64 = 0xffffffffffffffff, counted = "z", utf8 = "Ω", v6 = ::1, "#,
    r#"outer = {a = 1, inner = [{b = 2}, {b = 3}], c = 4}, none = [], two = [5, 6], chars = "hi", own = 0xcc, "odd\u{a}name" = 9}"#
);

/// Makes the event.
pub fn logging() -> Logging {
    let mut made = Logging { traits: vec![0, 0], schema: vec![0, 0], payload: Vec::new() };
    made.traits.extend(b"Maker.Provider\0");
    made.traits.extend([19, 0, 1]);
    made.traits.extend([7; 16]);
    // 28 bits of tags, seven per byte.
    made.schema.extend([0x80 | 0x09, 0x80 | 0x0D, 0x80 | 0x0A, 0x67]);
    made.schema.extend(b"Happened\0");
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    made.field("wide", &[1], &[&wide("aΩ😀")[..], &[0, 0]].concat());
    made.field("narrow", &[2], b"a\x80\"\n\0");
    made.field("i8", &[3], &[0xFF]);
    made.field("u8", &[0x84, 4], &[0xFE]);
    made.field("i16", &[5], &[0xFE, 0xFF]);
    made.field("port", &[0x86, 7], &443_u16.to_be_bytes());
    made.field("i32", &[0x87, 15], &0x8000_4005_u32.to_le_bytes());
    made.field("u32", &[0x88, 8], &[127, 0, 0, 1]);
    made.field("i64", &[0x89, 0x80, 0x80, 0x80, 0x81, 0], &(-3_i64).to_le_bytes());
    made.field("u64", &[10], &[0xFF; 8]);
    made.field("f", &[11], &0.5_f32.to_le_bytes());
    made.field("d", &[12], &f64::NAN.to_le_bytes());
    made.field("yes", &[13], &[1, 0, 0, 0]);
    made.field("bin", &[14], &[2, 0, 1, 2]);
    made.field("guid", &[15], &[0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF]);
    made.field("ft", &[17], &132_404_799_797_984_230_i64.to_le_bytes());
    made.field("st", &[18], &[2020, 7, 3, 29, 7, 6, 19, 798_u16].map(u16::to_le_bytes).concat());
    made.field("sid", &[19], &[1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0]);
    made.field("h32", &[20], &[0xFF, 0, 0, 0]);
    made.field("h64", &[21], &[0xFF; 8]);
    made.field("counted", &[22], &[2, 0, b'z', 0]);
    made.field("utf8", &[0x97, 35], &[2, 0, 0xCE, 0xA9]);
    made.field("v6", &[0x99, 9], &[16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    made.field("outer", &[0x98, 3], &[]);
    made.field("a", &[4], &[1]);
    made.field("inner", &[0xD8, 1], &[2, 0]);
    made.field("b", &[4], &[2, 3]);
    made.field("c", &[4], &[4]);
    made.field("none", &[0xD8, 2], &[0, 0]);
    made.field("x", &[0x98, 1], &[]);
    made.field("y", &[4], &[]);
    made.field("z", &[4], &[]);
    made.field("two", &[0x26, 2, 0], &[5, 0, 6, 0]);
    made.field("chars", &[0xC6, 2], &[2, 0, b'h', 0, b'i', 0]);
    made.field("own", &[0x65, 2, 0, 0xAA, 0xBB], &[1, 0, 0xCC]);
    made.field("odd\nname", &[4], &[9]);
    made.sized()
}

impl Logging {
    fn field(&mut self, name: &str, ty: &[u8], data: &[u8]) {
        self.schema.extend([name.as_bytes(), &[0], ty].concat());
        self.payload.extend(data);
    }

    /// The same event. Its traits and its schema begin with their sizes.
    pub fn sized(mut self) -> Self {
        for bytes in [&mut self.traits, &mut self.schema] {
            let size = bytes.len() as u16;
            bytes[..2].copy_from_slice(&size.to_le_bytes());
        }
        self
    }

    /// A trace with only this event.
    pub fn trace(&self) -> Vec<u8> {
        let producer = Producer::new(10, 0, 19041, Arch::X64);
        let log = LogFile { buffer_size: 65536, start_time: START.1, ..LogFile::new(&producer) };
        let mut writer = FileWriter::new(Cursor::new(Vec::new()), producer, log).expect("a writer");
        let items = vec![
            Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, &self.schema),
            Item::new(EVENT_HEADER_EXT_TYPE::EVENT_HEADER_EXT_TYPE_PROV_TRAITS, &self.traits),
        ];
        let mut header: EVENT_HEADER = zero();
        header.TimeStamp = large(1_000);
        writer.push(0, &Record::new(EventHeader::Event(header), true, &self.payload).with_items(items)).expect("an event");
        writer.finish(START.1).expect("a file").into_inner()
    }
}
