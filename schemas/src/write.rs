//! Writes the bytes of a library, in the format of [`etw_layouts_payload::packed::format`].

use crate::builder::LibraryBuilder;
use crate::interned::index;
use crate::library::Library;
use crate::model::Provider;
use etw_layouts_payload::Source;
use etw_layouts_payload::packed::format::{
    BUCKETS, DESCRIPTION, ENTRY, FIELD, FORMAT, HEADER, KEY, KEYWORD, MAGIC, MAP, NONE, PROVIDER, SOURCE, VARIANT,
};

impl Library {
    /// A library of providers, all from one source.
    pub fn build(providers: &[Provider], source: Source) -> Self {
        let mut builder = LibraryBuilder::default();
        let origin = builder.origin(source, "", None);
        providers.iter().for_each(|provider| builder.add(provider, origin));
        builder.build()
    }
}

impl LibraryBuilder {
    /// The library; empty if it would have 4 GiB or more.
    pub fn build(&self) -> Library {
        Library(write(self).into())
    }
}

/// The bytes of a library.
fn write(builder: &LibraryBuilder) -> Vec<u8> {
    let starts = Starts::of(builder);
    let mut out = Bytes(Vec::with_capacity(starts.end as usize));
    header(builder, &starts, &mut out);
    for (kind, name, build) in &builder.origins {
        out.u32(*kind).u32(starts.string(*name)).u32(*build);
    }
    buckets(builder, &mut out);
    providers(builder, &starts, &mut out);
    variants(builder, &starts, &mut out);
    descriptions(builder, &starts, &mut out);
    let keywords = builder.keywords.all.iter().chain(builder.providers.values().flat_map(|provider| &provider.keywords.all));
    for (mask, name) in keywords {
        out.u64(mask.unwrap_or_default()).u32(starts.string(*name)).u32(mask.is_some().into());
    }
    for field in &builder.fields.lists.all {
        let map = field.map.map_or(NONE, |map| at(starts.maps, map, MAP));
        out.u32(starts.string(field.name)).u32(map).u32(field.tags).u16(field.in_type).u16(field.out_type);
        out.u16(field.count).u16(field.length).u16(field.members).u8(field.flags).u8(0);
    }
    for map in &builder.maps.all {
        let (first, count) = map.entries;
        out.u32(starts.string(map.name)).u32(map.is_flags.into()).u32(at(starts.entries, first, ENTRY)).u32(count);
    }
    for (value, name) in &builder.entries.all {
        out.u64(*value).u32(starts.string(*name));
    }
    out.0.extend(&builder.strings.bytes);
    out.0
}

/// Offsets of the sections, in the order in which they are written.
struct Starts {
    sources: u32,
    buckets: u32,
    providers: u32,
    keys: u32,
    variants: u32,
    descriptions: u32,
    keywords: u32,
    /// The keywords of providers, after those of events.
    own_keywords: u32,
    fields: u32,
    maps: u32,
    entries: u32,
    strings: u32,
    end: u32,
}

impl Starts {
    fn of(builder: &LibraryBuilder) -> Self {
        let events = || builder.providers.values().flat_map(|provider| &provider.events);
        let own_keywords: usize = builder.providers.values().map(|provider| provider.keywords.all.len()).sum();
        let sources = index(HEADER);
        let buckets = behind(sources, builder.origins.len(), SOURCE);
        let providers = behind(buckets, BUCKETS, 4);
        let keys = behind(providers, builder.providers.len(), PROVIDER);
        let variants = behind(keys, events().count(), KEY);
        let descriptions = behind(variants, events().map(|(_, variants)| variants.len()).sum(), VARIANT);
        let keywords = behind(descriptions, builder.descriptions.all.len(), DESCRIPTION);
        let behind_keywords = behind(keywords, builder.keywords.all.len(), KEYWORD);
        let fields = behind(behind_keywords, own_keywords, KEYWORD);
        let maps = behind(fields, builder.fields.lists.all.len(), FIELD);
        let entries = behind(maps, builder.maps.all.len(), MAP);
        let strings = behind(entries, builder.entries.all.len(), ENTRY);
        let end = behind(strings, builder.strings.bytes.len(), 1);
        Self {
            sources,
            buckets,
            providers,
            keys,
            variants,
            descriptions,
            keywords,
            own_keywords: behind_keywords,
            fields,
            maps,
            entries,
            strings,
            end,
        }
    }

    fn string(&self, offset: u32) -> u32 {
        if offset == NONE { NONE } else { self.strings.saturating_add(offset) }
    }
}

fn behind(start: u32, count: usize, size: usize) -> u32 {
    at(start, index(count), size)
}

fn at(start: u32, place: u32, size: usize) -> u32 {
    start.saturating_add(place.saturating_mul(index(size)))
}

fn header(builder: &LibraryBuilder, starts: &Starts, out: &mut Bytes) {
    out.0.extend(MAGIC);
    out.u32(FORMAT).u32(starts.end).u32(starts.sources).u32(index(builder.origins.len()));
    out.u32(starts.providers).u32(index(builder.providers.len())).u32(starts.buckets).u32(0);
}

fn buckets(builder: &LibraryBuilder, out: &mut Bytes) {
    let mut guids = builder.providers.keys().map(|guid| guid.as_bytes()[0]).peekable();
    let mut place = 0;
    for bucket in 0..BUCKETS {
        while guids.next_if(|first| usize::from(*first) < bucket).is_some() {
            place += 1;
        }
        out.u32(place);
    }
}

/// Providers, then the event keys of all providers.
fn providers(builder: &LibraryBuilder, starts: &Starts, out: &mut Bytes) {
    let (mut key, mut keyword) = (0, 0);
    for (guid, provider) in &builder.providers {
        let (keys, keywords) = (index(provider.events.len()), index(provider.keywords.all.len()));
        out.0.extend(guid.as_bytes());
        out.u32(starts.string(provider.name)).u32(at(starts.keys, key, KEY)).u32(keys);
        out.u32(at(starts.own_keywords, keyword, KEYWORD)).u32(keywords);
        (key, keyword) = (key + keys, keyword + keywords);
    }
    let mut variant = 0;
    for (key, variants) in builder.providers.values().flat_map(|provider| &provider.events) {
        out.u32(key.number()).u32(at(starts.variants, variant, VARIANT));
        variant += index(variants.len());
    }
}

fn variants(builder: &LibraryBuilder, starts: &Starts, out: &mut Bytes) {
    for variants in builder.providers.values().flat_map(|provider| provider.events.values()) {
        for (place, variant) in variants.iter().enumerate() {
            let (first, count) = variant.fields.unwrap_or_default();
            out.u32(variant.origins).u32(at(starts.descriptions, variant.description, DESCRIPTION));
            out.u32(starts.string(variant.symbol)).u32(starts.string(variant.message));
            out.u32(variant.fields.map_or(NONE, |_| at(starts.fields, first, FIELD))).u16(count);
            out.u8(variant.fields.is_some().into()).u8((place + 1 < variants.len()).into());
        }
    }
}

fn descriptions(builder: &LibraryBuilder, starts: &Starts, out: &mut Bytes) {
    for description in &builder.descriptions.all {
        let (first, count) = description.keywords;
        out.u16(description.task).u8(description.opcode).u8(description.level).u8(description.channel).u8(description.flags);
        out.u16(count.try_into().unwrap_or(u16::MAX)).u64(description.mask);
        for name in description.names {
            out.u32(starts.string(name));
        }
        out.u32(at(starts.keywords, first, KEYWORD));
    }
}

/// The output. Numbers are little-endian.
struct Bytes(Vec<u8>);

impl Bytes {
    fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    fn u16(&mut self, value: u16) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }
}
