//! What single events state about processes and images.

use super::names::Names;
use crate::name_event::{NameEvent, Subject};
use crate::process::{Known, Moment, Process, StatedBy};
use crate::specified::{kernel_process, number};
use etw_layouts_etl::payload::Source;
use etw_layouts_etl::wire::EVENT_TRACE_GROUP;
use etw_layouts_etl::{Decoded, Event, FileTime, Schemas};
use std::sync::Arc;

/// What an event states about a process. Its start and end are those that the payload states.
#[derive(Clone, Debug)]
pub(super) struct ProcessFact {
    pub by: StatedBy,
    pub process: Process,
}

const PROCESS: EVENT_TRACE_GROUP = EVENT_TRACE_GROUP::EVENT_TRACE_GROUP_PROCESS;
const IMAGE: EVENT_TRACE_GROUP = EVENT_TRACE_GROUP::EVENT_TRACE_GROUP_IMAGE;

/// The process of an event about an image.
pub(super) fn of_image(event: &Event<'_>) -> Option<u32> {
    let is_candidate = match event.hook() {
        Some(hook) => matches!(EVENT_TRACE_GROUP(hook & 0xFF00), PROCESS | IMAGE),
        None => matches!(event.opcode(), Some(2..=4 | 10)) || kernel_process(event).is_some(),
    };
    match is_candidate.then(|| NameEvent::read(event))??.subject {
        Subject::Image(range) => Some(range.process),
        _ => None,
    }
}

/// The fact in a kernel event.
pub(super) fn of_kernel(event: &Event<'_>, names: &mut Names) -> Option<Box<ProcessFact>> {
    // Most events are of other groups. Events without a hook identifier can be of this class too.
    let is_candidate = event.hook().is_none_or(|hook| EVENT_TRACE_GROUP(hook & 0xFF00) == PROCESS);
    if !is_candidate || !matches!(event.opcode(), Some(1..=4 | 39)) {
        return None;
    }
    // A TraceLogging provider can have the same names.
    let decoded = event.decode(Schemas::BUILT_IN).filter(|decoded| decoded.schema.source == Source::Specs)?;
    let mut reader = Reader { decoded: &decoded, names };
    match (decoded.schema.provider, decoded.schema.event) {
        ("Process", "Start") => reader.process(StatedBy::Start),
        ("Process", "End") => reader.process(StatedBy::End),
        ("Process", "DCStart") => reader.process(StatedBy::DcStart),
        ("Process", "DCEnd") => reader.process(StatedBy::DcEnd),
        ("Process", "Defunct") => reader.process(StatedBy::Defunct),
        _ => None,
    }
}

/// Whether an event of the provider with a manifest states a fact.
pub(super) fn is_of_manifest(event: &Event<'_>) -> bool {
    matches!(kernel_process(event), Some(1 | 2 | 15))
}

/// The fact in an event of the provider with a manifest.
pub(super) fn of_manifest(event: &Event<'_>, schemas: &Schemas, names: &mut Names) -> Option<Box<ProcessFact>> {
    let decoded = event.decode(schemas)?;
    let mut reader = Reader { decoded: &decoded, names };
    match kernel_process(event)? {
        1 => reader.process_of_manifest(StatedBy::ManifestStart),
        2 => reader.process_of_manifest(StatedBy::ManifestStop),
        15 => reader.process_of_manifest(StatedBy::ManifestRundown),
        _ => None,
    }
}

struct Reader<'a, 'n> {
    decoded: &'a Decoded<'a>,
    names: &'n mut Names,
}

impl Reader<'_, '_> {
    fn process(&mut self, by: StatedBy) -> Option<Box<ProcessFact>> {
        let known = |value| Known { value, by };
        let is_over = matches!(by, StatedBy::End | StatedBy::Defunct);
        let exit_time = self.time("ExitTime").filter(|_| by == StatedBy::Defunct);
        let end = is_over.then(|| exit_time.map_or(Moment::Earlier, Moment::Stated));
        let process = Process {
            id: self.id("ProcessId")?,
            key: self.number("UniqueProcessKey").filter(|key| *key != 0),
            parent_id: self.id("ParentId").map(known),
            session: self.id("SessionId").filter(|session| *session != u32::MAX).map(known),
            start: Some(Known { value: Moment::Earlier, by }),
            end: end.map(|value| Known { value, by }),
            exit_status: self.id("ExitStatus").filter(|_| is_over).map(known),
            image: self.text("ImageFileName", by),
            command_line: self.text("CommandLine", by),
            user: self.text("UserSID", by),
            package: self.text("PackageFullName", by),
            ..Process::default()
        };
        Some(Box::new(ProcessFact { by, process }))
    }

    fn process_of_manifest(&mut self, by: StatedBy) -> Option<Box<ProcessFact>> {
        let known = |value| Known { value, by };
        let is_over = by == StatedBy::ManifestStop;
        let start = self.time("CreateTime").map_or(Moment::Earlier, Moment::Stated);
        let end = is_over.then(|| self.time("ExitTime").map_or(Moment::Earlier, Moment::Stated));
        // ProcessStop has a file name of up to 15 characters, the other events have a path.
        let name = self.text("ImageName", by);
        let (path, image) = match name {
            Some(name) if !is_over => {
                let file = name.value.rsplit('\\').next().unwrap_or_default().to_owned();
                (Some(name), self.names.intern(&file).map(|value| Known { value, by }))
            }
            name => (None, name),
        };
        let process = Process {
            id: self.id("ProcessID")?,
            sequence: self.number("ProcessSequenceNumber").filter(|number| *number != 0),
            parent_id: self.id("ParentProcessID").map(known),
            session: self.id("SessionID").filter(|session| *session != u32::MAX).map(known),
            start: Some(Known { value: start, by }),
            end: end.map(|value| Known { value, by }),
            exit_status: self.id("ExitCode").filter(|_| is_over).map(known),
            image,
            path,
            package: self.text("PackageFullName", by),
            ..Process::default()
        };
        Some(Box::new(ProcessFact { by, process }))
    }

    fn number(&self, name: &str) -> Option<u64> {
        number(&self.decoded.fields, &[name])
    }

    fn id(&self, name: &str) -> Option<u32> {
        self.number(name).map(|number| number as u32)
    }

    /// A system time; 0 states none.
    fn time(&self, name: &str) -> Option<FileTime> {
        self.number(name).filter(|time| *time != 0).map(|time| FileTime(time as i64))
    }

    fn text(&mut self, name: &str, by: StatedBy) -> Option<Known<Arc<str>>> {
        let text = self.decoded.get(name)?.to_string();
        if text.is_empty() { None } else { Some(Known { value: self.names.intern(&text)?, by }) }
    }
}
