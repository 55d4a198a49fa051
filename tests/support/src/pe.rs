//! Handmade images and symbol files, with only the data that identifies them.

use etw_layouts_symbols::{Pdb, Uuid};

/// The symbol file of the images.
pub fn pdb() -> Pdb {
    Pdb { name: "ntkrnlmp.pdb".to_owned(), guid: Uuid::from_u128(0xBBED_7C29_55FB_E452_2AAA_23F4_B867_7AD9), age: 0x1F }
}

/// A GUID as files store it.
fn stored(guid: Uuid) -> [u8; 16] {
    let mut bytes = guid.into_bytes();
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}

/// The contents of an image.
pub struct Image {
    pub machine: u16,
    /// File version; `None` for an image without a version resource.
    pub version: Option<[u16; 4]>,
    /// Record of the debug directory; `None` for an image without one.
    pub codeview: Option<Vec<u8>>,
}

impl Image {
    pub fn x86() -> Image {
        Image { machine: 0x014C, version: Some([5, 1, 2600, 5512]), codeview: Some(rsds(&pdb(), "d:\\xpsp\\")) }
    }

    pub fn x64() -> Image {
        Image { machine: 0x8664, version: Some([10, 0, 19041, 1415]), codeview: Some(rsds(&pdb(), "")) }
    }

    /// The file: one section, mapped at 0x1000 and stored at 0x400.
    pub fn bytes(&self) -> Vec<u8> {
        let mut section = vec![0; 0x400];
        let mut directories = [(0, 0); 16];
        if let Some(record) = &self.codeview {
            directories[6] = (0x1000, 28);
            let words = [0, 0, 0, 2, record.len() as u32, 0x1040, 0x440];
            put(&mut section, 0, &words.map(u32::to_le_bytes).concat());
            put(&mut section, 0x40, record);
        }
        if let Some(version) = self.version {
            directories[2] = (0x1100, 0x200);
            // Type, name and language: three directories with one entry each, then the data entry.
            for (at, id, next) in [(0x100, 16, 0x8000_0018), (0x118, 1, 0x8000_0030), (0x130, 0x409, 0x48)] {
                put(&mut section, at + 14, &1u16.to_le_bytes());
                put(&mut section, at + 16, &[id, next].map(u32::to_le_bytes).concat());
            }
            put(&mut section, 0x148, &[0x1160u32, 92].map(u32::to_le_bytes).concat());
            put(&mut section, 0x160, &[92u16, 52, 0].map(u16::to_le_bytes).concat());
            put(&mut section, 0x166, &"VS_VERSION_INFO\0".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
            let [major, minor, build, revision] = version.map(u32::from);
            let fixed = [0xFEEF_04BD, 0x10000, major << 16 | minor, build << 16 | revision];
            put(&mut section, 0x188, &fixed.map(u32::to_le_bytes).concat());
        }
        let is_64 = self.machine != 0x014C;
        let optional = if is_64 { 240u16 } else { 224 };
        let mut file = vec![0; 0x400];
        put(&mut file, 0, b"MZ");
        put(&mut file, 0x3C, &0x40u32.to_le_bytes());
        put(&mut file, 0x40, b"PE\0\0");
        put(&mut file, 0x44, &[self.machine, 1].map(u16::to_le_bytes).concat());
        put(&mut file, 0x54, &[optional, 0x0102].map(u16::to_le_bytes).concat());
        put(&mut file, 0x58, &if is_64 { 0x20Bu16 } else { 0x10B }.to_le_bytes());
        let end = 0x58 + usize::from(optional);
        put(&mut file, end - 132, &16u32.to_le_bytes());
        put(
            &mut file,
            end - 128,
            &directories.iter().flat_map(|(at, size): &(u32, u32)| [*at, *size]).flat_map(u32::to_le_bytes).collect::<Vec<_>>(),
        );
        put(&mut file, end, b".rdata");
        put(&mut file, end + 8, &[0x400, 0x1000, 0x400, 0x400u32].map(u32::to_le_bytes).concat());
        file.extend(section);
        file
    }
}

pub fn rsds(pdb: &Pdb, folder: &str) -> Vec<u8> {
    let mut record = b"RSDS".to_vec();
    record.extend(stored(pdb.guid));
    record.extend(pdb.age.to_le_bytes());
    record.extend(format!("{folder}{}\0", pdb.name).bytes());
    record
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// A symbol file with this number of 512-byte blocks: an information stream, a DBI stream with the right age, and random bytes.
pub fn msf(pdb: &Pdb, blocks: u32) -> Vec<u8> {
    let mut random = Random(blocks.into());
    let mut file: Vec<u8> = (0..blocks * 512).map(|_| random.below(256) as u8).collect();
    put(&mut file, 0, b"Microsoft C/C++ MSF 7.00\r\n\x1ADS\0\0\0");
    put(&mut file, 32, &[512, 1, blocks, 40, 0, 3].map(u32::to_le_bytes).concat());
    put(&mut file, 3 * 512, &4u32.to_le_bytes());
    // Four streams with their sizes and blocks. The first stream has one block, the third is absent.
    let directory = [4, 100, 28, u32::MAX, 64, 7, 5, 6];
    put(&mut file, 4 * 512, &directory.map(u32::to_le_bytes).concat());
    put(&mut file, 5 * 512, &[20_000_404, 0, pdb.age + 3].map(u32::to_le_bytes).concat());
    put(&mut file, 5 * 512 + 12, &stored(pdb.guid));
    put(&mut file, 6 * 512, &[u32::MAX, 19_990_903, pdb.age].map(u32::to_le_bytes).concat());
    file
}

/// A cabinet with one file.
pub fn cabinet(name: &str, content: &[u8]) -> Vec<u8> {
    let mut builder = cab::CabinetBuilder::new();
    builder.add_folder(cab::CompressionType::MsZip).add_file(name);
    let mut writer = builder.build(std::io::Cursor::new(Vec::new())).unwrap();
    while let Some(mut file) = writer.next_file().unwrap() {
        std::io::Write::write_all(&mut file, content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Random numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    /// A copy with a few bytes changed, inserted, removed or truncated, mostly within the first `dense` bytes.
    pub fn mutated(&mut self, original: &[u8], dense: u64) -> Vec<u8> {
        let mut bytes = original.to_vec();
        for _ in 0..=self.below(4) {
            let bound = if self.below(4) > 0 { dense.min(bytes.len() as u64) } else { bytes.len() as u64 };
            let at = self.below(bound.max(1)) as usize;
            let value = [0, 1, 0x7F, 0x80, 0xFF, self.below(256) as u8][self.below(6) as usize];
            match self.below(16) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), value),
                2 if at < bytes.len() => drop(bytes.remove(at)),
                _ if at < bytes.len() => bytes[at] = value,
                _ => {}
            }
        }
        bytes
    }
}
