//! Names of components and interfaces. A session has each name once, often at its end.

use super::capture::{self, Read, Source};
use super::pcapng::{Interface, LinkType};
use crate::output::Escaped;
use crate::output::stop::Stop;
use etw_layouts_etl::{Event, LogFile, Schemas};
use etw_layouts_trace::Trace;
use std::collections::HashMap;

/// The maximum number of names to keep for a session.
const MAX_NAMES: usize = 4096;

/// Names and counts from the events of a session.
#[derive(Default)]
pub struct Names {
    /// The name and the description of each component of PktMon.
    components: HashMap<u64, (String, String)>,
    /// The name of the network card of each interface.
    interfaces: HashMap<u64, String>,
    /// The number of events of the providers, and whether one has a packet.
    pub events: u64,
    pub has_packets: bool,
}

/// The names of each session of a trace.
pub fn of_sessions(trace: &Trace) -> Result<Vec<Names>, Stop> {
    let mut all = Vec::new();
    for session in trace.sessions() {
        let mut names = Names::default();
        for file in session.files() {
            for event in trace.events_of(*file).in_file_order() {
                let event = event?;
                let header = event.header();
                if capture::is_provider(header.provider()) {
                    names.add(&header, session.schemas());
                }
            }
        }
        all.push(names);
    }
    Ok(all)
}

impl Names {
    fn add(&mut self, event: &Event<'_>, schemas: &Schemas) {
        self.events += 1;
        self.has_packets = self.has_packets || !matches!(capture::read(event, schemas, 0), Read::None);
        let Some(decoded) = event.decode(schemas) else { return };
        let number = |name: &str| decoded.get(name).and_then(|value| value.number());
        let text = |name: &str| decoded.get(name).map(|value| capture::text(&value));
        // A component can be renamed: the latest name stays.
        if event.provider() == Some(capture::PKTMON) {
            if let (Some(id), Some(name), Some(description)) = (number("Id"), text("Name"), text("Description"))
                && self.components.len() < MAX_NAMES
            {
                self.components.insert(id, (name, description));
            }
        } else if let (Some(index), Some(name)) = (number("IfIndex"), text("SourceName"))
            && self.interfaces.len() < MAX_NAMES
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
