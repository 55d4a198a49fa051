//! Names of components and interfaces. A trace has each name once, often at its end.

use super::capture::{self, Read, Source};
use super::pcapng::{Interface, LinkType};
use crate::output::Escaped;
use etw_layouts_etl::{Event, LogFile, Schemas, Scratch, Trace};
use std::collections::HashMap;

/// The maximum number of names to keep for a trace.
const MOST: usize = 4096;

/// Names and counts from a trace.
#[derive(Default)]
pub struct Names {
    /// The name and the description of each component of PktMon.
    components: HashMap<u64, (String, String)>,
    /// The name of the network card of each interface.
    interfaces: HashMap<u64, String>,
    /// The number of events of the providers, and whether one has a packet.
    pub events: u64,
    pub has_packets: bool,
    /// Whether a part of the trace cannot be read.
    pub is_damaged: bool,
}

impl Names {
    /// Reads the names in a trace. Its diagnostics are reported when its packets are written.
    pub fn of(trace: &Trace<'_>, schemas: &Schemas) -> Self {
        let (mut names, mut scratch) = (Self::default(), Scratch::default());
        for buffer in trace.buffers() {
            let Ok(buffer) = buffer else {
                names.is_damaged = true;
                continue;
            };
            for event in buffer.decode(&mut scratch).events() {
                match event {
                    Ok(event) if capture::is_provider(event.provider()) => names.add(&event, schemas),
                    Ok(_) => {}
                    Err(_) => names.is_damaged = true,
                }
            }
        }
        names
    }

    fn add(&mut self, event: &Event<'_>, schemas: &Schemas) {
        self.events += 1;
        self.has_packets = self.has_packets || !matches!(capture::read(event, schemas, 0), Read::None);
        let Some(decoded) = event.decode(schemas) else { return };
        let number = |name: &str| decoded.get(name).and_then(|value| value.number());
        let text = |name: &str| decoded.get(name).map(|value| capture::text(&value));
        // A component can be renamed: the latest name stays.
        if event.provider() == Some(capture::PKTMON) {
            if let (Some(id), Some(name), Some(description)) = (number("Id"), text("Name"), text("Description"))
                && self.components.len() < MOST
            {
                self.components.insert(id, (name, description));
            }
        } else if let (Some(index), Some(name)) = (number("IfIndex"), text("SourceName"))
            && self.interfaces.len() < MOST
        {
            self.interfaces.insert(index, name);
        }
    }

    /// The interface of a source. `file` is the name of the file, if the files are from several systems.
    pub fn interface(&self, source: Source, link_type: LinkType, log: &LogFile, file: Option<&str>) -> Interface {
        let none = String::new();
        let (mut name, description) = match source {
            Source::Component(id) => match self.components.get(&id.into()) {
                Some((name, description)) => (format!("component {id} {name}"), description),
                None => (format!("component {id}"), &none),
            },
            Source::Interface { miniport, lower } => {
                let layer = if lower == miniport { String::new() } else { format!(" above layer interface {lower}") };
                (format!("interface {miniport}{layer}"), self.interfaces.get(&miniport.into()).unwrap_or(&none))
            }
        };
        if let Some(file) = file {
            name += &format!(" of {}", Escaped(file));
        }
        let [major, minor, ..] = log.version;
        Interface { link_type, name, description: description.clone(), os: format!("Windows {major}.{minor}.{}", log.build) }
    }
}
