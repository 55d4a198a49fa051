//! Compiles a provider to a WEVT_TEMPLATE resource, its messages to a message table, and both to a PE file. It shares no code
//! with the readers.

use etw_layouts_payload::{InType, MapKind};
use etw_layouts_schemas::{Count, Field, Length, Name, Provider};
use std::collections::BTreeMap;

/// Messages by identifier.
pub type Table = BTreeMap<u32, String>;

/// A growing resource. Earlier parts refer to later ones.
#[derive(Default)]
struct Resource {
    bytes: Vec<u8>,
    messages: Table,
}

/// The resource and the messages of providers.
pub fn compile(providers: &[Provider]) -> (Vec<u8>, Table) {
    let mut resource = Resource::default();
    resource.bytes.extend(b"CRIM\0\0\0\0\x05\0\x01\0");
    resource.word(providers.len());
    let descriptors = resource.room(20 * providers.len());
    for (index, provider) in providers.iter().enumerate() {
        let at = descriptors + 20 * index;
        resource.bytes[at..at + 16].copy_from_slice(&provider.guid.to_bytes_le());
        let start = resource.provider(provider);
        resource.set(at + 16, start);
    }
    let size = resource.bytes.len();
    resource.set(4, size);
    (resource.bytes, resource.messages)
}

impl Resource {
    fn room(&mut self, size: usize) -> usize {
        let at = self.bytes.len();
        self.bytes.resize(at + size, 0);
        at
    }

    fn set(&mut self, at: usize, value: usize) {
        self.bytes[at..at + 4].copy_from_slice(&u32::try_from(value).unwrap().to_le_bytes());
    }

    fn word(&mut self, value: usize) {
        self.bytes.extend(u32::try_from(value).unwrap().to_le_bytes());
    }

    /// Adds a string with its size. Returns its offset.
    fn string(&mut self, text: &str) -> usize {
        let at = self.bytes.len();
        let units = wide(text);
        self.word(4 + units.len() + 2);
        self.bytes.extend(units);
        self.bytes.extend([0, 0]);
        at
    }

    fn message(&mut self, text: &str) -> usize {
        if text.is_empty() {
            return 0xFFFF_FFFF;
        }
        let id = 0x1000 + u32::try_from(self.messages.len()).unwrap();
        self.messages.insert(id, text.to_owned());
        id.try_into().unwrap()
    }

    /// Adds a list: signature, size, number of entries, and room for the entries.
    fn list(&mut self, signature: &[u8; 4], count: usize, entry: usize) -> (usize, usize) {
        let at = self.bytes.len();
        self.bytes.extend(signature);
        self.word(0);
        self.word(count);
        if signature == b"EVNT" {
            self.word(0);
        }
        let first = self.room(count * entry);
        (at, first)
    }

    fn provider(&mut self, provider: &Provider) -> usize {
        let start = self.bytes.len();
        self.bytes.extend(b"WEVT");
        self.word(0);
        let message = self.message(&provider.message);
        self.word(message);
        self.word(9);
        let lists = self.room(9 * 8);
        let (attributes, first) = self.list(b"PRVA", 1, 8);
        self.set(first, 0x1000_0001);
        let name = self.bytes.len();
        self.bytes.extend(wide(&provider.name));
        self.bytes.extend([0, 0]);
        self.set(first + 4, name);

        let (keywords, first) = self.list(b"KEYW", provider.keywords.len(), 16);
        let mut keyword_places = BTreeMap::new();
        for (index, keyword) in provider.keywords.iter().enumerate() {
            let at = first + 16 * index;
            self.bytes[at..at + 8].copy_from_slice(&keyword.mask.unwrap().to_le_bytes());
            self.set(at + 8, 0xFFFF_FFFF);
            let name = self.string(&keyword.name);
            self.set(at + 12, name);
            keyword_places.insert(keyword.name.clone(), at);
        }

        let (maps, first) = self.list(b"MAPS", provider.maps.len(), 4);
        let mut map_places = Vec::new();
        for (index, map) in provider.maps.iter().enumerate() {
            let at = self.bytes.len();
            self.set(first + 4 * index, at);
            map_places.push(at);
            self.bytes.extend(if map.kind == MapKind::Flags { b"BMAP" } else { b"VMAP" });
            self.word(20 + 8 * map.entries.len());
            self.word(0);
            self.word((map.kind == MapKind::Flags).into());
            self.word(map.entries.len());
            for entry in &map.entries {
                self.word(entry.value.try_into().unwrap());
                let message = self.message(&entry.name);
                self.word(message);
            }
            let name = self.string(&map.name);
            self.set(at + 8, name);
        }

        let names = |name: fn(&etw_layouts_schemas::Event) -> (&Name, u32)| -> BTreeMap<(u32, String), u32> {
            let events = provider.events.iter().map(name);
            events
                .filter(|(name, _)| !name.name.is_empty())
                .map(|(name, task)| ((name.value.unwrap(), name.name.clone()), task))
                .collect()
        };
        let levels = self.names(b"LEVL", &names(|event| (&event.level, 0)), 12, 4, |value, _| value);
        let opcodes = self
            .names(b"OPCO", &names(|event| (&event.opcode, event.task.value.unwrap())), 12, 4, |value, task| value << 16 | task);
        let tasks = self.names(b"TASK", &names(|event| (&event.task, 0)), 28, 20, |value, _| value);

        let channel_names = names(|event| (&event.channel, 0));
        let (channels, first) = self.list(b"CHAN", channel_names.len(), 16);
        for (index, (value, name)) in channel_names.keys().enumerate() {
            let at = first + 16 * index;
            self.set(at, index);
            let name = self.string(name);
            self.set(at + 4, name);
            self.set(at + 8, usize::try_from(*value).unwrap());
            self.set(at + 12, 0xFFFF_FFFF);
        }

        let (events, first) = self.list(b"EVNT", provider.events.len(), 48);
        for (index, event) in provider.events.iter().enumerate() {
            let at = first + 48 * index;
            let mut head = event.id.to_le_bytes().to_vec();
            head.extend([event.version, byte(&event.channel), byte(&event.level), byte(&event.opcode)]);
            head.extend(u16::try_from(event.task.value.unwrap()).unwrap().to_le_bytes());
            head.extend(event.keyword_mask.unwrap().to_le_bytes());
            self.bytes[at..at + 16].copy_from_slice(&head);
            let message = self.message(&event.message);
            self.set(at + 16, message);
            let fields = event.fields.as_ref().unwrap();
            let template = if fields.is_empty() { 0 } else { self.template(fields, &map_places) };
            let place = |names: &Places, name: &Name| names.get(&(name.value.unwrap(), name.name.clone())).copied().unwrap_or(0);
            let places = [template, place(&opcodes, &event.opcode), place(&levels, &event.level), place(&tasks, &event.task)];
            for (number, place) in places.into_iter().enumerate() {
                self.set(at + 20 + 4 * number, place);
            }
            self.set(at + 36, event.keywords.len());
            let list = self.bytes.len();
            for keyword in &event.keywords {
                self.word(keyword_places[keyword]);
            }
            self.set(at + 40, if event.keywords.is_empty() { 0 } else { list });
        }
        let empty = self.list(b"TTBL", 0, 0).0;
        for (index, list) in [maps, empty, attributes, opcodes[&END], levels[&END], tasks[&END], keywords, channels, events]
            .into_iter()
            .enumerate()
        {
            self.set(lists + 8 * index + 4, list);
        }
        start
    }

    /// Adds a list of names. Returns the offsets of its entries, and the offset of the list at [`END`].
    fn names(
        &mut self,
        signature: &[u8; 4],
        names: &BTreeMap<(u32, String), u32>,
        entry: usize,
        distance: usize,
        number: fn(u32, u32) -> u32,
    ) -> Places {
        let (list, first) = self.list(signature, names.len(), entry);
        let mut places = Places::from([(END, list)]);
        for (index, ((value, name), task)) in names.iter().enumerate() {
            let at = first + entry * index;
            self.set(at, usize::try_from(number(*value, *task)).unwrap());
            self.set(at + 4, 0xFFFF_FFFF);
            let text = self.string(&format!("win:{name}"));
            self.set(at + 4 + distance, text);
            places.insert((*value, name.clone()), at);
        }
        places
    }

    fn template(&mut self, fields: &[Field], maps: &[usize]) -> usize {
        let mut flat: Vec<(&Field, usize)> = fields.iter().map(|field| (field, 0)).collect();
        let mut index = 0;
        while index < flat.len() {
            let members = flat[index].0.members.iter();
            let first = flat.len();
            flat[index].1 = first;
            flat.extend(members.map(|member| (member, 0)));
            index += 1;
        }
        let at = self.bytes.len();
        self.bytes.extend(b"TEMP\0\0\0\0");
        self.word(fields.len());
        self.word(flat.len());
        self.word(at + 44);
        self.word(2);
        self.bytes.extend([7; 20]);
        let items = self.room(20 * flat.len());
        let position = |name: &str| flat.iter().position(|(field, _)| field.name == name).unwrap();
        for (index, (field, members)) in flat.iter().enumerate() {
            let item = items + 20 * index;
            let mut flags = 0;
            if field.in_type == InType::STRUCT {
                flags |= 1;
                self.set(item + 4, *members | field.members.len() << 16);
            } else {
                self.set(item + 4, usize::from(field.in_type.0) | usize::from(field.out_type.0) << 8);
                self.set(item + 8, field.map.map_or(0, |map| maps[map]));
            }
            let count = match &field.count {
                Count::One => 0,
                Count::Constant(count) => {
                    flags |= 8;
                    usize::from(*count)
                }
                Count::Field(name) => {
                    flags |= 0x10;
                    position(name)
                }
            };
            let length = match &field.length {
                Length::Type => 0,
                Length::Constant(length) => {
                    flags |= 2;
                    usize::from(*length)
                }
                Length::Field(name) => {
                    flags |= 4;
                    position(name)
                }
            };
            self.set(item, flags);
            self.set(item + 12, count | length << 16);
            let name = self.string(&field.name);
            self.set(item + 16, name);
        }
        at
    }
}

type Places = BTreeMap<(u32, String), usize>;

/// The key for the offset of a list among the offsets of its entries.
const END: (u32, String) = (u32::MAX, String::new());

fn byte(name: &Name) -> u8 {
    name.value.unwrap().try_into().unwrap()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A message table: one block of UTF-16 messages, and one of ANSI messages with odd identifiers.
pub fn table(messages: &Table) -> Vec<u8> {
    let mut bytes = u32::try_from(messages.len()).unwrap().to_le_bytes().to_vec();
    let mut texts = Vec::new();
    for (id, text) in messages {
        let at = 4 + 12 * messages.len() + texts.len();
        bytes.extend([*id, *id, at.try_into().unwrap()].map(u32::to_le_bytes).concat());
        let is_wide = id % 2 == 0 || !text.is_ascii();
        let mut text = if is_wide { wide(&format!("{text}\r\n\0")) } else { format!("{text}\r\n\0").into_bytes() };
        text.resize(text.len().next_multiple_of(4), 0);
        texts.extend(u16::try_from(4 + text.len()).unwrap().to_le_bytes());
        texts.extend(u16::from(is_wide).to_le_bytes());
        texts.extend(text);
    }
    bytes.extend(texts);
    bytes
}

/// A PE32+ file with a resource section: a resource of type WEVT_TEMPLATE, and a message table.
pub fn image(resource: Option<&[u8]>, table: Option<&[u8]>) -> Vec<u8> {
    const ADDRESS: u32 = 0x3000;
    let mut section = Vec::new();
    let directory = |section: &mut Vec<u8>, names: u16, ids: u16| {
        section.extend([0; 12]);
        section.extend(names.to_le_bytes());
        section.extend(ids.to_le_bytes());
    };
    let kinds: Vec<_> =
        [(0x8000_0000u32, resource), (11, table)].into_iter().filter_map(|(kind, data)| Some((kind, data?))).collect();
    directory(&mut section, resource.is_some().into(), table.is_some().into());
    let types = 16 + 8 * kinds.len();
    // Each type has a directory with one name, a directory with one language, and a data entry.
    let end = types + kinds.len() * (24 + 24 + 16);
    let name: Vec<u8> = [vec![13, 0], wide("WEVT_TEMPLATE")].concat();
    let mut data_at = (end + name.len()).next_multiple_of(8);
    for (index, (kind, _)) in kinds.iter().enumerate() {
        let id = if *kind == 11 { 11 } else { 0x8000_0000 | u32::try_from(end).unwrap() };
        section.extend([id, 0x8000_0000 | u32::try_from(types + 64 * index).unwrap()].map(u32::to_le_bytes).concat());
    }
    for (index, (_, data)) in kinds.iter().enumerate() {
        let at = u32::try_from(types + 64 * index).unwrap();
        directory(&mut section, 0, 1);
        section.extend([1, 0x8000_0000 | (at + 24)].map(u32::to_le_bytes).concat());
        directory(&mut section, 0, 1);
        section.extend([0x409, at + 48].map(u32::to_le_bytes).concat());
        section.extend(
            [ADDRESS + u32::try_from(data_at).unwrap(), data.len().try_into().unwrap(), 0, 0].map(u32::to_le_bytes).concat(),
        );
        data_at = (data_at + data.len()).next_multiple_of(8);
    }
    section.extend(name);
    for (_, data) in &kinds {
        section.resize(section.len().next_multiple_of(8), 0);
        section.extend(*data);
    }
    let size = u32::try_from(section.len()).unwrap();
    let mut file = vec![0; 0x200];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"MZ");
    put(0x3C, &[0x80, 0, 0, 0]);
    put(0x80, b"PE\0\0\x64\x86\x01\0");
    put(0x94, &[240, 0, 0x22, 0x20, 0x0B, 2]);
    put(0x80 + 24 + 108, &16u32.to_le_bytes());
    put(0x80 + 24 + 112 + 16, &[ADDRESS, size].map(u32::to_le_bytes).concat());
    put(0x80 + 24 + 240, b".rsrc");
    put(0x80 + 24 + 240 + 8, &[size, ADDRESS, size, 0x200].map(u32::to_le_bytes).concat());
    file.extend(section);
    file
}
