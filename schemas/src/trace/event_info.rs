//! Reads the schema of an event from a TRACE_EVENT_INFO.

use super::info_bytes::{Info, InfoError};
use crate::model::{Count, Event, Field, FieldReference, Keyword, Length, Map, Name, Provider};
use crate::records::forget_positions;
use etw_layouts::constants::{DECODING_SOURCE, PROPERTY_FLAGS};
use etw_layouts::win10_2004::x64::{EVENT_PROPERTY_INFO, GUID, TRACE_EVENT_INFO};
use etw_layouts_payload::{InType, MapKind, OutType, Uuid};
use std::collections::HashMap;
use std::mem::offset_of;
use std::ops::Range;

/// Maximum nesting of structures.
const DEPTH: usize = 16;

/// Bits of a keyword mask that a provider defines, without and with the bits that winmeta.xml defines. The highest eight bits are channels,
/// which have no keyword names.
const KEYWORDS: [u64; 2] = [0x0000_FFFF_FFFF_FFFF, 0x00FF_FFFF_FFFF_FFFF];

/// Reads a TRACE_EVENT_INFO: the payload of MetaData/EventInfo in merged traces, or the result of TdhGetEventInformation on Windows. The
/// layout does not depend on the pointer size.
///
/// The provider has one event, the keywords of that event, and its maps by name without entries. The entries are in a separate
/// EVENT_MAP_INFO (see [`map_info`](super::map_info::read)).
///
/// # Errors
///
/// The bytes are not a whole TRACE_EVENT_INFO, or do not describe a payload.
pub fn read(bytes: &[u8]) -> Result<Provider, InfoError> {
    const PROPERTIES: usize = offset_of!(TRACE_EVENT_INFO, EventPropertyInfoArray);
    let mut info = Info::new(bytes);
    let head: TRACE_EVENT_INFO = info.prefix(PROPERTIES)?;
    let is_classic = match head.DecodingSource {
        DECODING_SOURCE::DecodingSourceXMLFile => false,
        DECODING_SOURCE::DecodingSourceWbem => true,
        other => return Err(InfoError::Source(other.0)),
    };
    if head.TopLevelPropertyCount > head.PropertyCount {
        return Err(InfoError::TopLevel { top: head.TopLevelPropertyCount, all: head.PropertyCount });
    }
    let properties = info.array(PROPERTIES, head.PropertyCount)?;
    let mut provider = Provider {
        guid: guid(if is_classic { head.EventGuid } else { head.ProviderGuid }),
        name: info.text("ProviderNameOffset", head.ProviderNameOffset)?,
        message: info.text("ProviderMessageOffset", head.ProviderMessageOffset)?,
        ..Provider::default()
    };
    let descriptor = head.EventDescriptor;
    let mut event = Event {
        id: descriptor.Id,
        version: descriptor.Version,
        is_classic,
        channel: name(&mut info, "ChannelNameOffset", head.ChannelNameOffset, descriptor.Channel.into())?,
        level: name(&mut info, "LevelNameOffset", head.LevelNameOffset, descriptor.Level.into())?,
        opcode: name(&mut info, "OpcodeNameOffset", head.OpcodeNameOffset, descriptor.Opcode.into())?,
        task: name(&mut info, "TaskNameOffset", head.TaskNameOffset, descriptor.Task.into())?,
        keyword_mask: Some(descriptor.Keyword),
        keywords: info.texts("KeywordsNameOffset", head.KeywordsNameOffset)?,
        message: info.text("EventMessageOffset", head.EventMessageOffset)?,
        ..Event::default()
    };
    // For a MOF class, this member is the name of the property with the activity.
    if !is_classic {
        event.symbol = info.text("EventNameOffset", head.EventNameOffset())?;
    }
    provider.keywords = keywords(descriptor.Keyword, &event.keywords);
    let mut reader = Reader {
        info,
        states: vec![State::default(); properties.len()],
        properties,
        maps: &mut provider.maps,
        map_indices: HashMap::new(),
        count: 0,
    };
    let mut fields = reader.fields(0..head.TopLevelPropertyCount as usize, 0)?;
    forget_positions(&mut fields);
    event.fields = Some(fields);
    provider.events.push(event);
    Ok(provider)
}

/// A name without the prefix `win:` of names that winmeta.xml defines.
fn name(info: &mut Info<'_>, member: &'static str, offset: u32, value: u32) -> Result<Name, InfoError> {
    let name = info.text(member, offset)?;
    Ok(Name { value: Some(value), name: name.strip_prefix("win:").map(str::to_owned).unwrap_or(name) })
}

pub(crate) fn guid(guid: GUID) -> Uuid {
    Uuid::from_bytes_le(etw_layouts::bytemuck::cast(guid))
}

/// Keywords with their bits. Names are in the order of the bits. If some bits have no names, all names are returned without bits.
fn keywords(mask: u64, names: &[String]) -> Vec<Keyword> {
    let bits = KEYWORDS.map(|bits| mask & bits).into_iter().find(|mask| mask.count_ones() as usize == names.len());
    let mut left = bits.unwrap_or(0);
    let keyword = |name: &String| {
        let lowest = left & left.wrapping_neg();
        left &= !lowest;
        Keyword { mask: Some(lowest).filter(|mask| *mask != 0), name: name.strip_prefix("win:").unwrap_or(name).to_owned() }
    };
    names.iter().map(keyword).collect()
}

/// Reads properties as fields.
struct Reader<'a> {
    info: Info<'a>,
    properties: Vec<EVENT_PROPERTY_INFO>,
    /// State of each property.
    states: Vec<State>,
    maps: &'a mut Vec<Map>,
    /// Indices of maps by name.
    map_indices: HashMap<String, usize>,
    /// Number of fields so far, including members.
    count: u16,
}

#[derive(Clone, Default)]
struct State {
    /// Whether the property is already a field. A property is used only once, which bounds the work.
    is_taken: bool,
    /// Whether the current field can refer to it.
    is_visible: bool,
    name: String,
    /// Its position among all fields, each followed by its members.
    position: u16,
}

impl Reader<'_> {
    /// The properties with these indices as fields.
    fn fields(&mut self, range: Range<usize>, depth: usize) -> Result<Vec<Field>, InfoError> {
        self.states[range.clone()].iter_mut().for_each(|state| state.is_taken = true);
        let mut fields = Vec::with_capacity(range.len());
        for index in range.clone() {
            fields.push(self.field(index, depth)?);
            self.states[index].is_visible = true;
        }
        self.states[range].iter_mut().for_each(|state| state.is_visible = false);
        Ok(fields)
    }

    fn field(&mut self, index: usize, depth: usize) -> Result<Field, InfoError> {
        let property = self.properties[index];
        // In an event, its size of 64 KiB limits PropertyCount. In other sources, it is unlimited.
        let at = u16::try_from(index).unwrap_or(u16::MAX);
        let name = self.info.text("NameOffset", property.NameOffset)?;
        self.states[index].name.clone_from(&name);
        self.states[index].position = self.count;
        self.count = self.count.saturating_add(1);
        let is = |flag| property.Flags.contains(flag);
        let mut field = Field::new(name, InType::STRUCT);
        if is(PROPERTY_FLAGS::PropertyHasTags) {
            field.tags = property.Tags();
        }
        field.count = match property.count() {
            to if is(PROPERTY_FLAGS::PropertyParamCount) => Count::Field(self.reference(at, to)?),
            1 if !is(PROPERTY_FLAGS::PropertyParamFixedCount) => Count::One,
            count => Count::Constant(count),
        };
        if is(PROPERTY_FLAGS::PropertyStruct) {
            let members = property.structType();
            field.members = self.members(at, members.StructStartIndex, members.NumOfStructMembers, depth)?;
            return Ok(field);
        }
        let types = property.nonStructType();
        (field.in_type, field.out_type) = (InType(types.InType.0), OutType(types.OutType.0));
        field.length = match property.length() {
            to if is(PROPERTY_FLAGS::PropertyParamLength) => Length::Field(self.reference(at, to)?),
            length if length > 0 && has_length(field.in_type) => Length::Constant(length),
            _ => Length::Type,
        };
        // With a custom schema, the member is the offset of the schema instead of a map name.
        if !is(PROPERTY_FLAGS::PropertyHasCustomSchema) && types.MapNameOffset != 0 {
            field.map = Some(self.map(types.MapNameOffset)?);
        }
        Ok(field)
    }

    fn members(&mut self, property: u16, first: u16, count: u16, depth: usize) -> Result<Vec<Field>, InfoError> {
        if depth >= DEPTH {
            return Err(InfoError::Depth(property));
        }
        let range = usize::from(first)..usize::from(first) + usize::from(count);
        let is_free = self.states.get(range.clone()).is_some_and(|states| states.iter().all(|state| !state.is_taken));
        if is_free { self.fields(range, depth + 1) } else { Err(InfoError::Members { property, first, count }) }
    }

    /// The property that a count or length refers to.
    fn reference(&mut self, property: u16, to: u16) -> Result<FieldReference, InfoError> {
        let state = self.states.get(usize::from(to)).filter(|state| state.is_visible);
        let State { name, position, .. } = state.cloned().ok_or(InfoError::Reference { property, to })?;
        self.info.charge(2 * name.len())?;
        Ok(FieldReference { name, position: Some(position) })
    }

    /// The index of the map with the name at an offset.
    fn map(&mut self, offset: u32) -> Result<usize, InfoError> {
        let name = self.info.text("MapNameOffset", offset)?;
        let next = self.maps.len();
        let index = *self.map_indices.entry(name.clone()).or_insert(next);
        if index == next {
            self.maps.push(Map { name, kind: MapKind::Enumeration, entries: Vec::new() });
        }
        Ok(index)
    }
}

/// Whether the length of a property is the length of its values. Other types have a fixed size, or the pointer size of the process that
/// wrote the event.
fn has_length(in_type: InType) -> bool {
    matches!(
        in_type,
        InType::UNICODESTRING
            | InType::ANSISTRING
            | InType::BINARY
            | InType::NONNULLTERMINATEDSTRING
            | InType::NONNULLTERMINATEDANSISTRING
    )
}
