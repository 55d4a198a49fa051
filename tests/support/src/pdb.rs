//! A made-up program database that states what the table of `fixture` states, in the forms of two ages.

/// The form that a file is written in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As Visual C++ 6 wrote it: names with a length in front, a small container, neither GUID nor machine.
    Old,
    /// As Visual C++ 14 writes it: records of the second kind, unique names.
    New,
}

/// The streams of a file, of which the first is not used.
pub fn streams(form: Form) -> Vec<Vec<u8>> {
    vec![Vec::new(), information(form, &[]), types(form), modules(form, 0x8664)]
}

/// A whole file.
pub fn file(form: Form) -> Vec<u8> {
    container(form, &streams(form))
}

/// Age 3 of the file, and a GUID from the first feature on.
pub fn information(form: Form, features: &[[u8; 4]]) -> Vec<u8> {
    let mut stream = words(&[if form == Form::Old { 19_970_604 } else { 20_000_404 }, 0x5000_0000, 3]);
    if form == Form::New {
        stream.extend(words(&[0x0123_4567, 0xCDEF_89AB, 0x6745_2301, 0xEFCD_AB89]));
    }
    // No named streams.
    stream.extend(words(&[0; 6]));
    stream.extend(features.concat());
    stream
}

/// Age 2 of the image.
pub fn modules(form: Form, machine: u16) -> Vec<u8> {
    if form == Form::Old {
        return Vec::new();
    }
    let mut stream = words(&[u32::MAX, 19_990_903, 2]);
    stream.resize(64, 0);
    stream[58..60].copy_from_slice(&machine.to_le_bytes());
    stream
}

/// A type stream of records, whose indices begin at 0x1000.
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

/// A file of streams, in pages of 1024 bytes.
pub fn container(form: Form, streams: &[Vec<u8>]) -> Vec<u8> {
    const PAGE: usize = 1024;
    let page_number = |page: usize| if form == Form::Old { page.to_le_bytes()[..2].to_vec() } else { words(&[page as u32]) };
    let mut file = vec![0; 3 * PAGE];
    let mut append = |bytes: &[u8]| {
        let first = file.len() / PAGE;
        file.extend_from_slice(bytes);
        // Readers look at 4096 bytes for the header.
        file.resize(file.len().next_multiple_of(PAGE).max(4 * PAGE), 0);
        (first..first + bytes.len().div_ceil(PAGE)).flat_map(page_number).collect::<Vec<u8>>()
    };
    let mut directory = words(&[streams.len() as u32]);
    for stream in streams {
        directory.extend(words(&[stream.len() as u32]));
        if form == Form::Old {
            directory.extend([0; 4]);
        }
    }
    directory.extend(streams.iter().flat_map(|stream| append(stream)));
    let mut map = append(&directory);
    let size = directory.len() as u32;
    if form == Form::New {
        map = append(&map);
    }
    let pages = (file.len() / PAGE) as u32;
    let header = match form {
        Form::Old => {
            [b"Microsoft C/C++ program database 2.00\r\n\x1aJG\0\0", &words(&[1024, pages << 16 | 1, size, 0])[..], &map].concat()
        }
        Form::New => [b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0", &words(&[1024, 1, pages, size, 0])[..], &map].concat(),
    };
    file[..header.len()].copy_from_slice(&header);
    file
}

struct Types {
    form: Form,
    records: Vec<Vec<u8>>,
}

const FORWARD: u16 = 0x80;
const UNIQUE: u16 = 0x200;

impl Types {
    fn push(&mut self, kind: u16, content: &[u8]) -> u32 {
        self.records.push(record(kind, content));
        0xFFF + self.records.len() as u32
    }

    fn name(&self, name: &str) -> Vec<u8> {
        match self.form {
            Form::Old => [&[name.len() as u8], name.as_bytes()].concat(),
            Form::New => [name.as_bytes(), &[0]].concat(),
        }
    }

    /// The kind of the age: those with a length in front of names have numbers of their own.
    fn kind(&self, old: u16, new: u16) -> u16 {
        if self.form == Form::Old { old } else { new }
    }

    fn pointer(&mut self, to: u32) -> u32 {
        self.push(0x1002, &words(&[to, 0x1000C]))
    }

    fn array(&mut self, element: u32, bytes: u16) -> u32 {
        let kind = self.kind(0x1003, 0x1503);
        self.push(kind, &[words(&[element, 0x23]), bytes.to_le_bytes().to_vec(), vec![0]].concat())
    }

    fn bits(&mut self, unit: u32, position: u8, width: u8) -> u32 {
        self.push(0x1205, &[words(&[unit]), vec![width, position]].concat())
    }

    fn fields(&mut self, fields: &[Vec<u8>]) -> u32 {
        let mut list = Vec::new();
        for field in fields {
            // A record without what counts its own bytes.
            list.extend(&field[2..]);
        }
        self.push(0x1203, &list)
    }

    fn member(&self, name: &str, offset: &[u8], ty: u32) -> Vec<u8> {
        let kind = self.kind(0x1405, 0x150D);
        record(kind, &[&[3, 0], &words(&[ty])[..], offset, &self.name(name)].concat())
    }

    fn constant(&self, name: &str, value: &[u8]) -> Vec<u8> {
        record(self.kind(0x0403, 0x1502), &[&[3, 0], value, &self.name(name)].concat())
    }

    fn enumeration(&mut self, name: &str, underlying: u32, fields: u32) -> u32 {
        let kind = self.kind(0x1007, 0x1507);
        self.push(kind, &[vec![1, 0, 0, 0], words(&[underlying, fields]), self.name(name)].concat())
    }

    fn structure(&mut self, name: &str, properties: u16, fields: u32, size: &[u8]) -> u32 {
        let kind = self.kind(0x1005, 0x1505);
        let [low, high] = properties.to_le_bytes();
        self.push(kind, &[&[0, 0, low, high], &words(&[fields, 0, 0])[..], size, &self.name(name)].concat())
    }

    /// A structure of the second kind, or a union of it.
    fn second(&mut self, union: bool, names: &str, fields: u32, size: u8) -> u32 {
        let properties = words(&[if names.contains('\0') { UNIQUE.into() } else { 0 }]);
        let indices = if union { words(&[fields]) } else { words(&[fields, 0, 0]) };
        let kind = if union { 0x160A } else { 0x1609 };
        self.push(kind, &[properties, indices, vec![0, 0, size, 0], self.name(names)].concat())
    }
}

fn types(form: Form) -> Vec<u8> {
    let mut t = Types { form, records: Vec::new() };
    let low = t.member("Low", &[0, 0], 0x21);
    let high = t.member("High", &[2, 0], 0x21);
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

    // Members of anonymous types are listed where these are.
    let list_declared = t.structure("_LIST", FORWARD, 0, &[0, 0]);
    let next = t.pointer(list_declared);
    let list = [
        t.member("Next", &[0, 0], next),
        t.member("Last", &[8, 0], next),
        t.member("Low", &[12, 0], 0x21),
        t.member("High", &[14, 0], 0x21),
    ];
    let list = t.fields(&list);
    t.structure("_LIST", 0, list, &[16, 0]);

    let states = [
        t.constant("StateFree", &[0, 0]),
        t.constant("StateBusy", &[1, 0]),
        t.constant("StateLast", &[1, 0]),
        t.constant("StateBad", &[0x00, 0x80, 0xFF]),
    ];
    let states = t.fields(&states);
    let state = t.enumeration("_STATE", 0x74, states);
    let state = t.push(0x1001, &[&words(&[state])[..], &[2, 0]].concat());
    let off = t.constant("ModeOff", &[0, 0]);
    let off = t.fields(&[off]);
    let mode = t.enumeration("MODE", 0x22, off);
    let modes = t.array(mode, 12);
    let left = t.constant("Left", &[1, 0]);
    let left = t.fields(&[left]);
    let side = t.enumeration("<unnamed-enum-Left>", 0x74, left);
    let sides = t.array(side, 8);

    let s = t.structure("__unnamed", 0, halves, &[4, 0]);
    let whole = [t.member("Whole", &[0, 0], 0x23), t.member("s", &[0, 0], s)];
    let whole = t.fields(&whole);
    let u = match form {
        Form::Old => t.push(0x1006, &[vec![0, 0, 0, 0], words(&[whole]), vec![8, 0], t.name("__unnamed")].concat()),
        // Declared here, defined behind what uses it, and another of its name defined as well.
        Form::New => {
            t.second(true, "_LOGGER::<unnamed-type-u>\0.?AT<unnamed-type-u>@_OTHER@@", nothing, 4);
            let [low, high] = (FORWARD | UNIQUE).to_le_bytes();
            let name = t.name("_LOGGER::<unnamed-type-u>\0.?AT<unnamed-type-u>@_LOGGER@@");
            t.push(0x1506, &[vec![0, 0, low, high], words(&[0]), vec![0, 0], name].concat())
        }
    };
    let letters = t.array(0x70, 4);
    let row = t.array(0x20, 4);
    let grid = t.array(row, 8);
    let (kind, frequency) = (t.bits(0x23, 0, 3), t.bits(0x23, 3, 61));

    let rest = [
        t.member("u", &[88, 0], u),
        t.member("Grid", &[96, 0], grid),
        t.member("Sides", &[104, 0], sides),
        t.member("Text", &[112, 0], 0x671),
        t.member("Result", &[0x02, 0x80, 120, 0], 0x08),
        t.member("Ratio", &[0x04, 0x80, 128, 0, 0, 0], 0x41),
        t.member("Flag", &[0x00, 0x80, 0x88], 0x30),
    ];
    let rest = t.fields(&rest);
    let first = [
        // A base class, a virtual function table, a method, a static member, a nested type.
        record(0x1400, &[&[3, 0], &words(&[s])[..], &[0, 0]].concat()),
        record(0x1409, &[&[0, 0], &words(&[next])[..]].concat()),
        record(t.kind(0x140B, 0x1511), &[&[0x13, 0], &words(&[function, 0])[..], &t.name("Method")].concat()),
        record(t.kind(0x1406, 0x150E), &[&[3, 0], &words(&[0x22])[..], &t.name("Static")].concat()),
        record(t.kind(0x1408, 0x1510), &[&[0, 0], &words(&[s])[..], &t.name("Nested")].concat()),
        t.member("Id", &[0, 0], 0x22),
        t.member("Number", &[4, 0], 0x74),
        t.member("Letters", &[8, 0], letters),
        t.member("Count", &[12, 0], 0x75),
        t.member("Clock", &[16, 0], clock),
        t.member("Thread", &[24, 0], thread),
        t.member("Context", &[32, 0], 0x603),
        t.member("Hidden", &[40, 0], hidden),
        t.member("Kind", &[48, 0], kind),
        t.member("Frequency", &[48, 0], frequency),
        t.member("List", &[56, 0], list_declared),
        t.member("State", &[72, 0], state),
        t.member("Modes", &[76, 0], modes),
        record(0x1404, &[&[0, 0], &words(&[rest])[..]].concat()),
    ];
    let first = t.fields(&first);
    match form {
        Form::Old => t.structure("_LOGGER", 0, first, &[0x90, 0]),
        Form::New => {
            t.second(true, "_LOGGER::<unnamed-type-u>\0.?AT<unnamed-type-u>@_LOGGER@@", whole, 8);
            t.second(false, "_LOGGER", first, 0x90)
        }
    };
    type_stream(if form == Form::Old { 19_961_031 } else { 20_040_203 }, &t.records)
}
