//! A kernel with every kind of content.

use super::Kit;
use super::providers::providers;
pub use super::put::*;
use super::sessions::{self, session};
use super::start::{current, silo, start, table};
use etw_layouts::{Arch, Build};

/// A kernel, and the addresses of its contents.
pub struct Plan {
    pub kit: Kit,
    pub sessions: Vec<Session>,
    pub providers: Vec<Provider>,
    /// The ETW state of a silo other than the host. It has the last session, and an entry for the GUID of the first provider.
    pub silo: Option<u64>,
}

impl Plan {
    pub fn of(build: Build, arch: Arch) -> Self {
        let mut kit = Kit::new(build, arch);
        let sessions = vec![
            session(&mut kit, 2, "Circular Kernel Context Logger", "", 0x0000_0402, 2),
            session(&mut kit, 5, "Ωmega", r"C:\Logs\omega.etl", 0x0000_0101, 3),
            session(&mut kit, 31, "Last", r"C:\last.etl", 0x0000_0001, 0),
        ];
        let table = table(&mut kit, &sessions);
        let providers = providers(&mut kit);
        let state = start(&mut kit, table, &providers);
        current(&mut kit, state, &sessions);
        let silo = silo(&mut kit, state, &sessions, &providers);
        Self { kit, sessions, providers, silo }
    }

    /// Compresses all buffers of a session into its first buffer.
    pub fn compress(&mut self, session: usize, is_behind: bool) {
        sessions::compress(&mut self.kit, &self.sessions[session], is_behind);
    }

    /// The revisions and architectures of the axis.
    pub fn targets() -> impl Iterator<Item = (Build, Arch)> {
        etw_layouts::LAYOUTS.revisions().flat_map(|revision| revision.architectures().map(move |arch| (revision.build, arch)))
    }
}
