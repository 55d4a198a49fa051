//! Decompression, compared with the examples of \[MS-XCA\], a direct implementation of its rules, another decoder, and real streams.

use etw_layouts_etl::compression::{self, Format};
use etw_layouts_etl::xpress::{Error, ErrorKind, compress, decompress};
use std::path::Path;
use test_support::installed;

#[test]
fn worked_examples() {
    let alphabet: Vec<u8> = (b'a'..=b'z').collect();
    let abc = b"abc".repeat(100);
    let plain = |text: &[u8]| [&[0x3F, 0, 0, 0], text].concat();
    assert_eq!(compressed(&alphabet), plain(&alphabet));
    assert_eq!(decompressed(Format::Xpress, &plain(&alphabet), 26), Ok(alphabet.clone()));
    let run = [0xFF, 0xFF, 0xFF, 0x1F, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0F, 0xFF, 0x26, 0x01];
    assert_eq!(compressed(&abc), run);
    assert_eq!(decompressed(Format::Xpress, &run, 300), Ok(abc.clone()));

    let huffman = |lengths: &[(usize, u8)], codes: &[u8]| {
        let mut stream = [0; 256];
        lengths.iter().for_each(|&(at, byte)| stream[at] = byte);
        [&stream, codes].concat()
    };
    let mut lengths = vec![(48, 0x50), (59, 0x45), (60, 0x44), (61, 0x04), (128, 0x04)];
    lengths.extend((49..59).map(|at| (at, 0x55)));
    let codes = [0xD8, 0x52, 0x3E, 0xD7, 0x94, 0x11, 0x5B, 0xE9, 0x19, 0x5F, 0xF9, 0xD6, 0x7C, 0xDF, 0x8D, 0x04, 0, 0, 0, 0];
    assert_eq!(decompressed(Format::XpressHuffman, &huffman(&lengths, &codes), 26), Ok(alphabet));
    let lengths = [(48, 0x30), (49, 0x23), (128, 0x02), (143, 0x20)];
    let stream = huffman(&lengths, &[0xA8, 0xDC, 0x00, 0x00, 0xFF, 0x26, 0x01]);
    assert_eq!(decompressed(Format::XpressHuffman, &stream, 300), Ok(abc));

    let music = "F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# E D D E E F# D E F# G F# D E F# G F# E D E A F# F# G A A \
                 G F# E D D E F# E D D\0";
    let chunk = [
        0x38, 0xB0, 0x88, 0x46, 0x23, 0x20, 0x00, 0x20, 0x47, 0x20, 0x41, 0x00, 0x10, 0xA2, 0x47, 0x01, 0xA0, 0x45, 0x20, 0x44,
        0x00, 0x08, 0x45, 0x01, 0x50, 0x79, 0x00, 0xC0, 0x45, 0x20, 0x05, 0x24, 0x13, 0x88, 0x05, 0xB4, 0x02, 0x4A, 0x44, 0xEF,
        0x03, 0x58, 0x02, 0x8C, 0x09, 0x16, 0x01, 0x48, 0x45, 0x00, 0xBE, 0x00, 0x9E, 0x00, 0x04, 0x01, 0x18, 0x90, 0x00,
    ];
    assert_eq!(decompressed(Format::Lznt1, &chunk, music.len()), Ok(music.into()));
    let short = decompressed(Format::Lznt1, &chunk, 100).unwrap_err().to_string();
    assert!(short.ends_with("decompressed data exceeds the output"), "{short}");
    for cut in 1..chunk.len() {
        assert_ne!(decompressed(Format::Lznt1, &chunk[..cut], music.len()), Ok(music.into()), "cut to {cut}");
    }
}

/// Every form of a length, and every error of a stream.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn forms_and_errors() {
    let error = |reason, input, output| Err(Error { reason, input, output });
    let decoded = |stream: &[u8], size| {
        let mut output = vec![0xEE; size];
        decompress(stream, &mut output).map(|length| output[..length] == vec![7; length])
    };
    let run = |tail: &[u8]| [&[0xFF, 0xFF, 0xFF, 0x7F, 7], tail].concat();
    let dword = run(&[7, 0, 15, 255, 0, 0, 0x40, 0x42, 0x0F, 0x00]);
    assert_eq!(decoded(&dword, 1 + 1_000_000 + 3), Ok(true));
    assert_eq!(decoded(&dword, 1_000_000), error(ErrorKind::Output, 5, 1));
    assert_eq!(decoded(&run(&[7, 0, 15, 255, 21, 0]), 100), error(ErrorKind::Length, 5, 1));
    assert_eq!(decoded(&run(&[7, 0, 15, 255, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]), 100), error(ErrorKind::Length, 5, 1));
    assert_eq!(decoded(&run(&[8, 0]), 100), error(ErrorKind::Distance, 5, 1));
    assert_eq!(decoded(&run(&[]), 0), error(ErrorKind::Output, 4, 0));
    for cut in (1..4).chain(6..dword.len()).filter(|&cut| cut != 5) {
        assert!(matches!(decoded(&dword[..cut], 1 << 20), Err(Error { reason: ErrorKind::Truncated, .. })), "cut to {cut}");
    }
    assert_eq!(decoded(&[], 10), Ok(true));
    assert_eq!(decompressed(Format::XpressHuffman, &[], 0), Ok(vec![]));
    assert!(decompressed(Format::XpressHuffman, &[], 10).is_err());
    let shown = Error { reason: ErrorKind::Distance, input: 16, output: 3 }.to_string();
    assert_eq!(shown, "XPRESS stream, offset 0x10, 0x3 bytes decompressed: match begins before the first byte");
    // One match with the greatest length that a word can state: flags, a literal, and the match with a half byte, a byte and a word.
    assert_eq!(compressed(&vec![7; 1 + 0xFFFF + 3]).len(), 4 + 1 + 2 + 1 + 1 + 2);
    let longer = vec![7; 100_000];
    assert_eq!(decompressed(Format::Xpress, &compressed(&longer), longer.len()), Ok(longer));
    // Nothing is written outside the output, whatever its size is, even if much of the stream remains.
    let items = [&[1, 0, 0, 0][..], &[7; 31], &[7, 0], &[0; 200]].concat();
    for room in 0..200 {
        let _ = decompressed(Format::Xpress, &items, room);
    }
    // 32 literals fill the flags. The stream then ends with a further dword of flags.
    let full = compressed(&[7; 32].iter().enumerate().map(|(i, b)| b + i as u8).collect::<Vec<u8>>());
    assert_eq!(full[full.len() - 4..], [0xFF; 4]);
    assert_eq!(decompressed(Format::Xpress, &full, 32).map(|output| output.len()), Ok(32));
}

#[test]
fn round_trips_and_mutations() {
    let mut random = fastrand::Rng::with_seed(4);
    let (mut equal, mut broken) = (0, 0);
    let samples = if cfg!(miri) { 2 } else { 2_000 };
    for number in 0..samples {
        let original = sample(&mut random, number);
        let stream = compressed(&original);
        assert!(stream.len() <= original.len() + original.len() / 8 + 8, "sample {number}");
        assert_eq!(decompressed(Format::Xpress, &stream, original.len()), Ok(original.clone()), "sample {number}");
        assert_eq!(reference(&stream, original.len()), Ok(original.clone()), "sample {number}");
        for mutation in 0..6 {
            let mut stream = stream.clone();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..stream.len());
                stream[at] = random.u8(..);
            }
            stream.truncate(random.usize(stream.len() / 2..=stream.len()));
            let room = random.usize(original.len() / 2..=original.len() + 40);
            let ours = decompressed(Format::Xpress, &stream, room).ok();
            assert_eq!(ours, reference(&stream, room).ok(), "sample {number}, mutation {mutation}");
            *if ours.is_some() { &mut equal } else { &mut broken } += 1;
            // With Miri, `worked_examples` tests these formats.
            for format in [Format::Lznt1, Format::XpressHuffman].into_iter().filter(|_| !cfg!(miri)) {
                let _ = decompressed(format, &stream, room);
            }
        }
    }
    assert!(cfg!(miri) || equal > samples / 2 && broken > samples / 2, "{equal} mutated streams decompress, {broken} do not");
}

/// Long matches at every distance from the end of the output.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn matches_before_the_end() {
    let mut random = fastrand::Rng::with_seed(5);
    for before in 64..97 {
        for length in 25..92 {
            let tail = random.usize(..33);
            let mut bytes: Vec<u8> = (0..before).map(|_| random.u8(..)).collect();
            bytes.extend_from_within(..length.min(40));
            (40..length).for_each(|_| bytes.push(bytes[bytes.len() - before]));
            bytes.extend((0..tail).map(|_| random.u8(..)));
            assert_eq!(
                decompressed(Format::Xpress, &compressed(&bytes), bytes.len()),
                Ok(bytes.clone()),
                "{before} {length} {tail}"
            );
        }
    }
}

/// The output of the encoder is unchanged: the total size, and a checksum. Longer matches are preferred, then nearer ones.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "the random samples differ")]
fn encoded() {
    let mut random = fastrand::Rng::with_seed(6);
    let (mut size, mut sum) = (0, 0_u64);
    for number in 0..200 {
        for byte in compressed(&sample(&mut random, number)) {
            (size, sum) = (size + 1, sum.wrapping_mul(0x0100_0000_01B3) ^ u64::from(byte));
        }
    }
    assert_eq!((size, sum), (86_673, 11_199_681_917_339_579_081));
}

#[test]
fn real_streams() {
    let Some(folder) = installed::folder("ETW_LAYOUTS_ETL") else { return };
    let (mut count, mut theirs, mut ours) = (0, 0, 0);
    for (name, stream, size) in streams(folder.as_ref()) {
        let output = decompressed(Format::Xpress, &stream, size).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(output.len(), size, "{name}");
        if count % 8 == 0 {
            let other = xpress_rs::lz77::LZ77Decompressor::new(stream.clone()).decompress();
            assert!(other.is_ok_and(|other| other == output), "{name}: xpress_rs gives different output");
        }
        let again = compressed(&output);
        assert_eq!(decompressed(Format::Xpress, &again, size), Ok(output), "{name}");
        (count, theirs, ours) = (count + 1, theirs + stream.len(), ours + again.len());
    }
    assert!(count > 0, "no compressed buffers in {}", folder.display());
    assert!(ours <= theirs, "{ours} bytes, Windows has {theirs}");
}

/// The compressed buffers of the files of a folder: header of 0x48 bytes, size at 0, end at 0x30, flags at 0x34.
fn streams(folder: &Path) -> Vec<(String, Vec<u8>, usize)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "etl") {
            continue;
        }
        let file = std::fs::read(&path).unwrap();
        let mut rest = &file[..];
        while rest.len() > 0x48 {
            let dword = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
            let Some((buffer, next)) = rest.split_at_checked(dword(0)) else { break };
            if buffer[0x34] & 0x40 != 0 {
                let name = format!("{} at {:#x}", path.display(), file.len() - rest.len());
                found.push((name, buffer[0x48..].to_vec(), dword(0x30) - 0x48));
            }
            rest = next;
        }
    }
    found
}

fn compressed(input: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    compress(input, &mut output);
    output
}

/// Decompresses into the middle of a larger array. The bytes around the output must not change.
fn decompressed(format: Format, stream: &[u8], room: usize) -> Result<Vec<u8>, compression::Error> {
    let mut bytes = vec![0xEE; 64 + room + 64];
    let result = format.decompress(stream, &mut bytes[64..64 + room]);
    let outside = bytes[..64].iter().chain(&bytes[64 + room..]);
    assert!(outside.into_iter().all(|byte| *byte == 0xEE), "written outside the output");
    result.map(|length| bytes[64..64 + length].to_vec())
}

/// Random, repetitive or structured bytes.
fn sample(random: &mut fastrand::Rng, number: usize) -> Vec<u8> {
    let size = match number % 4 {
        0 => random.usize(..40),
        1 => random.usize(..1_000),
        2 => random.usize(..12_000),
        _ if number % 400 == 3 => 200_000,
        _ => random.usize(..300),
    };
    let mut bytes = Vec::new();
    while bytes.len() < size {
        let length = random.usize(1..200).min(size - bytes.len());
        match random.u8(..5) {
            0 => bytes.extend((0..length).map(|_| random.u8(..))),
            1 => bytes.resize(bytes.len() + length * random.usize(1..60), random.u8(..4)),
            2 => (0..length).for_each(|i| bytes.extend((i as u64 * 0x0001_0203).to_le_bytes())),
            _ if bytes.is_empty() => bytes.push(number as u8),
            _ => {
                let distance = random.usize(1..=bytes.len().min(9_000));
                (0..length).for_each(|_| bytes.push(bytes[bytes.len() - distance]));
            }
        }
    }
    bytes
}

/// The decompression of \[MS-XCA\] 2.4, word for word.
fn reference(input: &[u8], room: usize) -> Result<Vec<u8>, ()> {
    let mut output = Vec::new();
    let mut at = 0;
    let take = |at: &mut usize, count: usize| {
        let bytes = input.get(*at..*at + count).ok_or(())?;
        *at += count;
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte)))
    };
    let mut shared = None;
    let (mut flags, mut left) = (0, 0);
    loop {
        if left == 0 {
            if at == input.len() {
                return Ok(output);
            }
            (flags, left) = (take(&mut at, 4)?, 32);
        }
        left -= 1;
        if flags >> left & 1 == 0 {
            if at < input.len() && output.len() == room {
                return Err(());
            }
            output.push(take(&mut at, 1)? as u8);
            continue;
        }
        if at == input.len() {
            return Ok(output);
        }
        let item = take(&mut at, 2)?;
        let mut length = item % 8;
        if length == 7 {
            length = match shared.take() {
                None => {
                    shared = Some(at);
                    take(&mut at, 1)? % 16
                }
                Some(at) => usize::from(input[at] / 16),
            };
            if length == 15 {
                length = take(&mut at, 1)?;
                if length == 255 {
                    length = take(&mut at, 2)?;
                    if length == 0 {
                        length = take(&mut at, 4)?;
                    }
                    length = length.checked_sub(15 + 7).ok_or(())?;
                }
                length += 15;
            }
            length += 7;
        }
        length += 3;
        let distance = item / 8 + 1;
        if distance > output.len() || length > room - output.len() {
            return Err(());
        }
        for _ in 0..length {
            output.push(output[output.len() - distance]);
        }
    }
}
