//! Rates of plain XPRESS, compared in the same run with `memcpy`, the crate `xpress_rs` and LZ4 on the same buffers: buffers of our
//! encoder, and buffers of the files in ETW_LAYOUTS_ETL.

use compcol::lznt1::Lznt1;
use compcol::vec::compress_to_vec;
use compcol::xpress_huffman::XpressHuffman;
use etw_layouts_etl::compression::Format;
use etw_layouts_etl::xpress;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A stream and its decompressed size.
type Stream = (Vec<u8>, usize);

fn main() {
    println!("rates in GB/s of decompressed bytes: the sum of each buffer's best time of several rounds");
    measure("events, our encoder", &made());
    match std::env::var_os("ETW_LAYOUTS_ETL") {
        None => println!("real buffers skipped: ETW_LAYOUTS_ETL is not set"),
        Some(folder) => measure("real buffers", &real(folder.as_ref())),
    }
}

fn measure(name: &str, streams: &[Stream]) {
    let plain: Vec<Vec<u8>> = streams.iter().map(decompressed).collect();
    let bytes: usize = plain.iter().map(Vec::len).sum();
    let stored: usize = streams.iter().map(|(stream, _)| stream.len()).sum();
    let mut room = vec![0; plain.iter().map(Vec::len).max().unwrap_or(0)];
    let mut again: Vec<Vec<u8>> = vec![Vec::new(); plain.len()];
    let lz4: Vec<Vec<u8>> = plain.iter().map(|plain| lz4_flex::block::compress(plain)).collect();
    let lz4_stored: usize = lz4.iter().map(Vec::len).sum();
    // The measurements alternate, so that other load on the machine slows all of them equally.
    let mut best = vec![[Duration::MAX; 5]; streams.len()];
    for round in 0..30 {
        for (index, ((stream, size), plain)) in streams.iter().zip(&plain).enumerate() {
            let mut time = |which: usize, work: &mut dyn FnMut()| {
                let start = Instant::now();
                work();
                best[index][which] = best[index][which].min(start.elapsed());
            };
            time(0, &mut || black_box(&mut room)[..*size].copy_from_slice(plain));
            time(1, &mut || assert_eq!(xpress::decompress(stream, &mut room[..*size]), Ok(*size)));
            time(4, &mut || assert_eq!(lz4_flex::block::decompress_into(&lz4[index], &mut room[..*size]).ok(), Some(*size)));
            if round % 6 == 0 {
                time(2, &mut || {
                    let output = xpress_rs::lz77::LZ77Decompressor::new(stream.clone()).decompress();
                    assert!(output.is_ok_and(|output| output.len() == *size));
                });
                again[index].clear();
                time(3, &mut || xpress::compress(plain, &mut again[index]));
            }
        }
    }
    let [copy, ours, theirs, compress, fastest] =
        [0, 1, 2, 3, 4].map(|which| bytes as f64 / best.iter().map(|best| best[which].as_nanos() as f64).sum::<f64>());
    let recompressed: usize = again.iter().map(Vec::len).sum();
    println!("{name}: {} buffers, {bytes} bytes from {stored}", streams.len());
    println!(
        "  decompress {ours:.2}; memcpy {copy:.2}, {:.1} times as fast; xpress_rs {theirs:.3}, we are {:.1} times as fast",
        copy / ours,
        ours / theirs
    );
    println!("  lz4 of the same bytes {fastest:.2}, from {lz4_stored} bytes; we are {:.2} of that", ours / fastest);
    others(&plain);
    println!("  compress {compress:.3}, to {recompressed} bytes, {:.3} of what was read", recompressed as f64 / stored as f64);
}

/// Measures the formats that another crate decodes, on the same buffers.
fn others(plain: &[Vec<u8>]) {
    type Encode = fn(&[u8]) -> Result<Vec<u8>, compcol::Error>;
    let formats: [(Format, Encode); 2] =
        [(Format::Lznt1, compress_to_vec::<Lznt1>), (Format::XpressHuffman, compress_to_vec::<XpressHuffman>)];
    for (format, encode) in formats {
        let (mut total, mut stored) = (Duration::ZERO, 0);
        for plain in plain {
            // Before a stream of XPRESS with Huffman codes, the encoder writes the decompressed length, which Windows does not write.
            let stream = encode(plain).expect("bytes that can be compressed");
            let stream = if format == Format::XpressHuffman { &stream[4..] } else { &stream[..] };
            let mut room = vec![0; plain.len()];
            let round = |_| {
                let start = Instant::now();
                assert_eq!(format.decompress(stream, &mut room), Ok(plain.len()));
                start.elapsed()
            };
            total += (0..3).map(round).min().unwrap_or_default();
            stored += stream.len();
        }
        let bytes: usize = plain.iter().map(Vec::len).sum();
        println!("  decompress {format:?} {:.3}, from {stored} bytes", bytes as f64 / total.as_nanos() as f64);
    }
}

fn decompressed((stream, size): &Stream) -> Vec<u8> {
    let mut output = vec![0; *size];
    assert_eq!(xpress::decompress(stream, &mut output), Ok(*size));
    output
}

/// Buffers of 64 KiB that resemble real ones: repeated headers with different times and threads, and text.
fn made() -> Vec<Stream> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut time = 132_000_000_000_000_000_u64;
    let mut buffer = || {
        let mut bytes = Vec::new();
        while bytes.len() < 0x10000 {
            let payload = random.usize(0..12) * 8;
            time += random.u64(1..5_000);
            bytes.extend(((0x50 + payload) as u32).to_le_bytes());
            bytes.extend([0x13, 0xC0, 0, 0]);
            bytes.extend((random.u32(1..40) * 4).to_le_bytes());
            bytes.extend((random.u32(1..8) * 4).to_le_bytes());
            bytes.extend(time.to_le_bytes());
            bytes.extend([random.u8(..8); 16]);
            bytes.extend([0; 40]);
            bytes.extend(
                "C:\\Windows\\System32\\drivers\\etw.sys, opened and closed again, by a process without a name".as_bytes()
                    [..payload]
                    .iter(),
            );
        }
        bytes.truncate(0x10000 - 0x48);
        let mut stream = Vec::new();
        xpress::compress(&bytes, &mut stream);
        (stream, bytes.len())
    };
    (0..100).map(|_| buffer()).collect()
}

/// The compressed buffers of the files of a folder: header of 0x48 bytes, size at 0, end at 0x30, flags at 0x34.
fn real(folder: &std::path::Path) -> Vec<Stream> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("ETW_LAYOUTS_ETL names a folder") {
        let path = entry.expect("the folder can be listed").path();
        if path.extension().is_none_or(|extension| extension != "etl") {
            continue;
        }
        let file = std::fs::read(&path).expect("a trace file can be read");
        let mut rest = &file[..];
        while let Some(header) = rest.first_chunk::<0x48>() {
            let dword = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
            let Some((buffer, next)) = rest.split_at_checked(dword(0)) else { break };
            if header[0x34] & 0x40 != 0 {
                found.push((buffer[0x48..].to_vec(), dword(0x30) - 0x48));
            }
            rest = next;
        }
    }
    found
}
