//! Compressed streams.

use etw_layouts_etl::ClockType;
use etw_layouts_etl::compression::Format;
use etw_layouts_etl::xpress::{compress, decompress};
use test_support::traces;

/// Any stream is decompressed or rejected, and compressing any bytes is reversible. The first two bytes are the output size.
pub fn run(input: &[u8]) {
    let Some((room, stream)) = input.split_first_chunk() else { return };
    let mut output = vec![0; u16::from_le_bytes(*room).into()];
    for format in [Format::Lznt1, Format::XpressHuffman, Format::Xpress] {
        match format.decompress(stream, &mut output) {
            Ok(length) => round_trip(&output[..length]),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    round_trip(input);
}

fn round_trip(bytes: &[u8]) {
    let mut stream = Vec::new();
    compress(bytes, &mut stream);
    assert!(stream.len() <= bytes.len() + bytes.len() / 8 + 8);
    let mut output = vec![0xEE; bytes.len()];
    assert_eq!(decompress(&stream, &mut output), Ok(bytes.len()));
    assert_eq!(output, bytes);
    if let Some(short) = bytes.len().checked_sub(1) {
        assert!(decompress(&stream, &mut output[..short]).is_err());
    }
}

/// Streams of a run, of a text, and of a trace buffer.
pub fn seeds() -> Vec<Vec<u8>> {
    let stream = |bytes: &[u8]| {
        let mut stream = (bytes.len() as u16).to_le_bytes().to_vec();
        compress(bytes, &mut stream);
        stream
    };
    let text = "abc".repeat(700) + "a stream of 32 flags, each of which announces an item";
    let trace = traces::fixture(traces::PRODUCERS[7], ClockType::PerfCounter, false, 1).expect("a supported kind of file");
    vec![stream(&[7; 60_000]), stream(text.as_bytes()), stream(&trace.bytes[4096..8192]), stream(&[])]
}
