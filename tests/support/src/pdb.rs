//! An example program database with the contents of the table of `fixture`, as written by Visual C++ 14.

/// The streams of a file. The first stream is unused.
pub fn streams() -> Vec<Vec<u8>> {
    vec![Vec::new(), information(&[]), types(), modules(0x8664)]
}

/// A whole file.
pub fn file() -> Vec<u8> {
    container(&streams())
}

/// The information stream, with age 3 and a GUID. The features are at its end.
pub fn information(features: &[[u8; 4]]) -> Vec<u8> {
    let mut stream = words(&[20_000_404, 0x5000_0000, 3]);
    stream.extend(words(&[0x0123_4567, 0xCDEF_89AB, 0x6745_2301, 0xEFCD_AB89]));
    // No named streams.
    stream.extend(words(&[0; 6]));
    stream.extend(features.concat());
    stream
}

/// The DBI stream, with age 2 of the image.
pub fn modules(machine: u16) -> Vec<u8> {
    let mut stream = words(&[u32::MAX, 19_990_903, 2]);
    stream.resize(64, 0);
    stream[58..60].copy_from_slice(&machine.to_le_bytes());
    stream
}

/// A type stream of records. Type indices begin at 0x1000.
pub fn type_stream(version: u32, records: &[Vec<u8>]) -> Vec<u8> {
    let bytes = records.concat();
    let mut stream = words(&[version, 56, 0x1000, 0x1000 + records.len() as u32, bytes.len() as u32]);
    stream.resize(56, 0);
    stream.extend(bytes);
    stream
}

/// A record of a kind.
pub fn record(kind: u16, content: &[u8]) -> Vec<u8> {
    let padding = [0xF3, 0xF2, 0xF1];
    let unaligned = (4 + content.len()) % 4;
    let padding = if unaligned == 0 { &[] } else { &padding[unaligned - 1..] };
    let length = (2 + content.len() + padding.len()) as u16;
    [&length.to_le_bytes(), &kind.to_le_bytes(), content, padding].concat()
}

pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A file of streams, with pages of 1024 bytes.
pub fn container(streams: &[Vec<u8>]) -> Vec<u8> {
    container_with_copies(streams, 0)
}

/// A corrupt file of streams, in which further streams have the pages of the last one.
pub fn container_with_copies(streams: &[Vec<u8>], copies: usize) -> Vec<u8> {
    const PAGE: usize = 1024;
    let mut file = vec![0; 3 * PAGE];
    let mut append = |bytes: &[u8]| {
        let first = file.len() / PAGE;
        file.extend_from_slice(bytes);
        // Readers expect at least 4096 bytes for the header.
        file.resize(file.len().next_multiple_of(PAGE).max(4 * PAGE), 0);
        (first..first + bytes.len().div_ceil(PAGE)).flat_map(|page| words(&[page as u32])).collect::<Vec<u8>>()
    };
    let copied = streams.last().into_iter().flat_map(|last| vec![last; copies]);
    let mut directory = words(&[(streams.len() + copies) as u32]);
    for stream in streams.iter().chain(copied) {
        directory.extend(words(&[stream.len() as u32]));
    }
    let pages: Vec<_> = streams.iter().map(|stream| append(stream)).collect();
    let copied = pages.last().into_iter().flat_map(|last| vec![last; copies]);
    directory.extend(pages.iter().chain(copied).flatten());
    let map = append(&directory);
    let map = append(&map);
    let size = directory.len() as u32;
    let pages = (file.len() / PAGE) as u32;
    let header = [b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0", &words(&[1024, 1, pages, size, 0])[..], &map].concat();
    file[..header.len()].copy_from_slice(&header);
    file
}

#[derive(Default)]
struct Types {
    records: Vec<Vec<u8>>,
}

const FORWARD: u16 = 0x80;
const UNIQUE: u16 = 0x200;

impl Types {
    fn push(&mut self, kind: u16, content: &[u8]) -> u32 {
        self.records.push(record(kind, content));
        0xFFF + self.records.len() as u32
    }

    fn pointer(&mut self, to: u32) -> u32 {
        self.push(0x1002, &words(&[to, 0x1000C]))
    }

    fn array(&mut self, element: u32, bytes: u16) -> u32 {
        self.push(0x1503, &[words(&[element, 0x23]), bytes.to_le_bytes().to_vec(), vec![0]].concat())
    }

    fn bits(&mut self, unit: u32, position: u8, width: u8) -> u32 {
        self.push(0x1205, &[words(&[unit]), vec![width, position]].concat())
    }

    fn fields(&mut self, fields: &[Vec<u8>]) -> u32 {
        let mut list = Vec::new();
        for field in fields {
            // A record without its own size.
            list.extend(&field[2..]);
        }
        self.push(0x1203, &list)
    }

    fn enumeration(&mut self, name: &str, underlying: u32, fields: u32) -> u32 {
        self.push(0x1507, &[vec![1, 0, 0, 0], words(&[underlying, fields]), text(name)].concat())
    }

    fn structure(&mut self, name: &str, properties: u16, fields: u32, size: &[u8]) -> u32 {
        let [low, high] = properties.to_le_bytes();
        self.push(0x1505, &[&[0, 0, low, high], &words(&[fields, 0, 0])[..], size, &text(name)].concat())
    }

    /// A structure or union in the newer record format.
    fn second(&mut self, union: bool, names: &str, fields: u32, size: u8) -> u32 {
        let properties = words(&[if names.contains('\0') { UNIQUE.into() } else { 0 }]);
        let indices = if union { words(&[fields]) } else { words(&[fields, 0, 0]) };
        let kind = if union { 0x160A } else { 0x1609 };
        self.push(kind, &[properties, indices, vec![0, 0, size, 0], text(names)].concat())
    }
}

fn text(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

fn member(name: &str, offset: &[u8], ty: u32) -> Vec<u8> {
    record(0x150D, &[&[3, 0], &words(&[ty])[..], offset, &text(name)].concat())
}

fn constant(name: &str, value: &[u8]) -> Vec<u8> {
    record(0x1502, &[&[3, 0], value, &text(name)].concat())
}

fn types() -> Vec<u8> {
    let mut t = Types::default();
    let low = member("Low", &[0, 0], 0x21);
    let high = member("High", &[2, 0], 0x21);
    let halves = t.fields(&[low.clone(), high.clone()]);
    let nothing = t.push(0x1203, &[]);

    let hidden = t.structure("__unnamed", FORWARD, 0, &[0, 0]);
    let hidden = t.pointer(hidden);
    let function = t.push(0x1008, &words(&[3, 0, 0]));
    let clock = t.pointer(function);
    let thread = t.structure("_THREAD", FORWARD, 0, &[0, 0]);
    let thread = t.pointer(thread);
    t.structure("_THREAD", 0, nothing, &[0, 5]);
    t.structure("_THREAD", 0, nothing, &[0, 5]);

    // Members of anonymous types are listed in place of the type.
    let list_declared = t.structure("_LIST", FORWARD, 0, &[0, 0]);
    let next = t.pointer(list_declared);
    let list = [
        member("Next", &[0, 0], next),
        member("Last", &[8, 0], next),
        member("Low", &[12, 0], 0x21),
        member("High", &[14, 0], 0x21),
    ];
    let list = t.fields(&list);
    t.structure("_LIST", 0, list, &[16, 0]);

    let states = [
        constant("StateFree", &[0, 0]),
        constant("StateBusy", &[1, 0]),
        constant("StateLast", &[1, 0]),
        constant("StateBad", &[0x00, 0x80, 0xFF]),
    ];
    let states = t.fields(&states);
    let state = t.enumeration("_STATE", 0x74, states);
    let state = t.push(0x1001, &[&words(&[state])[..], &[2, 0]].concat());
    let off = constant("ModeOff", &[0, 0]);
    let off = t.fields(&[off]);
    let mode = t.enumeration("MODE", 0x22, off);
    let modes = t.array(mode, 12);
    let left = constant("Left", &[1, 0]);
    let left = t.fields(&[left]);
    let side = t.enumeration("<unnamed-enum-Left>", 0x74, left);
    let sides = t.array(side, 8);

    let s = t.structure("__unnamed", 0, halves, &[4, 0]);
    let whole = [member("Whole", &[0, 0], 0x23), member("s", &[0, 0], s)];
    let whole = t.fields(&whole);
    // The type is declared here and defined after its use. A different type of the same name is also defined.
    t.second(true, "_LOGGER::<unnamed-type-u>\0.?AT<unnamed-type-u>@_OTHER@@", nothing, 4);
    let [low, high] = (FORWARD | UNIQUE).to_le_bytes();
    let unique = text("_LOGGER::<unnamed-type-u>\0.?AT<unnamed-type-u>@_LOGGER@@");
    let u = t.push(0x1506, &[vec![0, 0, low, high], words(&[0]), vec![0, 0], unique].concat());
    let letters = t.array(0x70, 4);
    let row = t.array(0x20, 4);
    let grid = t.array(row, 8);
    let (kind, frequency) = (t.bits(0x23, 0, 3), t.bits(0x23, 3, 61));

    let rest = [
        member("u", &[88, 0], u),
        member("Grid", &[96, 0], grid),
        member("Sides", &[104, 0], sides),
        member("Text", &[112, 0], 0x671),
        member("Result", &[0x02, 0x80, 120, 0], 0x08),
        member("Ratio", &[0x04, 0x80, 128, 0, 0, 0], 0x41),
        member("Flag", &[0x00, 0x80, 0x88], 0x30),
    ];
    let rest = t.fields(&rest);
    let first = [
        // A base class, a virtual function table, a method, a static member and a nested type.
        record(0x1400, &[&[3, 0], &words(&[s])[..], &[0, 0]].concat()),
        record(0x1409, &[&[0, 0], &words(&[next])[..]].concat()),
        record(0x1511, &[&[0x13, 0], &words(&[function, 0])[..], &text("Method")].concat()),
        record(0x150E, &[&[3, 0], &words(&[0x22])[..], &text("Static")].concat()),
        record(0x1510, &[&[0, 0], &words(&[s])[..], &text("Nested")].concat()),
        member("Id", &[0, 0], 0x22),
        member("Number", &[4, 0], 0x74),
        member("Letters", &[8, 0], letters),
        member("Count", &[12, 0], 0x75),
        member("Clock", &[16, 0], clock),
        member("Thread", &[24, 0], thread),
        member("Context", &[32, 0], 0x603),
        member("Hidden", &[40, 0], hidden),
        member("Kind", &[48, 0], kind),
        member("Frequency", &[48, 0], frequency),
        member("List", &[56, 0], list_declared),
        member("State", &[72, 0], state),
        member("Modes", &[76, 0], modes),
        record(0x1404, &[&[0, 0], &words(&[rest])[..]].concat()),
    ];
    let first = t.fields(&first);
    t.second(true, "_LOGGER::<unnamed-type-u>\0.?AT<unnamed-type-u>@_LOGGER@@", whole, 8);
    t.second(false, "_LOGGER", first, 0x90);
    type_stream(20_040_203, &t.records)
}
