//! `info` for full and kernel dumps.

use super::DumpDiagnostic;
use super::about::About;
use super::diagnostics::{self, DumpDiagnosticLine};
use super::identity::Known;
use super::sessions::{Line, lines, write_buffers};
use crate::output::stop::Stop;
use crate::output::{Escaped, Grouped, Output};
use etw_layouts_cli::Outcome;
use etw_layouts_dump::{BufferSelection, MemoryDump, Source};
use etw_layouts_memory::{self as memory, Kernel, Kind, Memory, Owner, Walk};
use serde::Serialize;
use std::fmt::{self, Display};

/// The summary of a dump. `None` means that the dump does not state the value.
#[derive(Serialize)]
struct Info<'a> {
    #[serde(flatten)]
    about: About<'a>,
    memory_bytes: u64,
    /// Physical memory as runs of pages.
    memory: Vec<Run>,
    kernel: &'a Known,
    modules: Vec<Module<'a>>,
    sessions: Vec<Line<'a>>,
    providers: Vec<Provider>,
    consumers: Vec<Consumer>,
    layout_check: Vec<Stated>,
    diagnostics_total: usize,
    /// The first hundred of each kind, then a count of the others.
    diagnostics: Vec<DumpDiagnosticLine<'a>>,
    #[serde(skip)]
    details: bool,
}

#[derive(Serialize)]
struct Run {
    address: String,
    size: u64,
}

#[derive(Serialize)]
struct Module<'a> {
    name: &'a str,
    start: String,
    end: String,
}

#[derive(Serialize)]
struct Provider {
    address: String,
    guid: Option<String>,
    kind: String,
    /// The last change: enabled or disabled.
    last: Option<Last>,
    enabled: Vec<Enable>,
    registrations: Vec<Registration>,
}

#[derive(Serialize)]
struct Enable {
    #[serde(rename = "logger_id")]
    session: u64,
    level: u8,
    any: String,
    all: String,
}

#[derive(Serialize)]
struct Last {
    is_enabled: bool,
    #[serde(rename = "logger_id")]
    session: u64,
    level: u8,
    flags: String,
}

#[derive(Serialize)]
struct Registration {
    address: String,
    /// The provider name and group from the provider's traits.
    name: Option<String>,
    group: Option<String>,
    /// The process of a user-mode registration.
    #[serde(rename = "process_address")]
    process: Option<String>,
    /// The process or the callback, if the flags that distinguish them could not be read.
    owner: Option<String>,
    /// Bit masks: the slots of the provider, and of its group, that enable the registration.
    mask: Option<u64>,
    group_mask: Option<u64>,
    /// The callback of a kernel-mode registration, and its module.
    callback: Option<String>,
    module: Option<String>,
    flags: Vec<&'static str>,
}

#[derive(Serialize)]
struct Consumer {
    address: String,
    #[serde(rename = "logger_id")]
    session: Option<u64>,
    #[serde(rename = "process_address")]
    process: Option<String>,
    /// The process ID, on Windows Vista.
    #[serde(rename = "process")]
    process_id: Option<u32>,
    buffers_lost: Option<u64>,
}

/// An offset that the kernel states for its own structure, and the offset in the layout.
#[derive(Serialize)]
struct Stated {
    member: &'static str,
    stated: u64,
    layout: Option<u64>,
}

pub fn run<S: Source>(
    name: &str,
    details: bool,
    dump: &MemoryDump<S>,
    kernel: &Kernel,
    known: &Known,
    selection: BufferSelection,
    out: &mut Output,
) -> Result<Outcome, Stop> {
    let mut walk = Walk::new(dump, kernel).with_limits(dump.limits());
    let census = walk.census();
    // The census compares these offsets with the layouts; here they are printed.
    let witness = Walk::new(dump, kernel).witness();
    let sessions = dump.sessions(&mut walk, &census.sessions, selection);
    let (lines, found) = lines(None, &sessions, Some(known));
    let providers = census.providers.iter().map(|one| provider(one, kernel, &mut walk)).collect();
    let of_dump = dump.diagnostics().iter().cloned().chain(found).map(DumpDiagnostic::Dump);
    let diagnostics: Vec<DumpDiagnostic> = of_dump.chain(walk.into_findings().into_iter().map(DumpDiagnostic::Memory)).collect();
    let info = Info {
        about: About::new(name, dump.header()),
        memory_bytes: dump.pages() * 0x1000,
        memory: dump.runs().map(|(address, size)| Run { address: format!("{address:#x}"), size }).collect(),
        kernel: known,
        modules: dump.modules().iter().map(module).collect(),
        sessions: lines,
        providers,
        consumers: census.consumers.iter().map(consumer).collect(),
        layout_check: witness
            .iter()
            .map(|stated| Stated { member: stated.member, stated: stated.stated, layout: stated.layout })
            .collect(),
        diagnostics_total: diagnostics.len(),
        diagnostics: diagnostics::lines(None, &diagnostics, details),
        details,
    };
    out.line(&info)?;
    Ok(diagnostics::outcome(&diagnostics))
}

fn module(module: &memory::Module) -> Module<'_> {
    Module { name: &module.name, start: module.range.start.to_string(), end: module.range.end.to_string() }
}

fn provider<M: Memory>(provider: &memory::Provider, kernel: &Kernel, walk: &mut Walk<'_, M>) -> Provider {
    let enable = |enable: &memory::Enable| Enable {
        session: enable.session,
        level: enable.level,
        any: format!("{:#x}", enable.any),
        all: format!("{:#x}", enable.all),
    };
    let registration = |registration: &memory::Registration| {
        // The registrations of a group are printed with the member providers.
        let traits = if provider.kind == Kind::Group { None } else { walk.traits(registration) };
        let (name, group) = traits.map(|traits| (traits.name, traits.group)).unzip();
        let (process, callback, owner) = match registration.owner {
            Owner::Process(process) => (Some(process), None, None),
            Owner::Kernel { callback, .. } => (None, Some(callback), None),
            Owner::Either(owner) => (None, None, Some(owner)),
        };
        Registration {
            address: registration.entry.address().to_string(),
            name,
            group: group.flatten().map(|group| group.to_string()),
            mask: registration.mask,
            group_mask: registration.group_mask,
            process: process.map(|process| process.to_string()),
            owner: owner.map(|owner| owner.to_string()),
            callback: callback.map(|callback| callback.to_string()),
            module: callback.and_then(|callback| kernel.module(callback)).map(|module| module.name.clone()),
            flags: registration.flags.clone(),
        }
    };
    Provider {
        address: provider.entry.address().to_string(),
        guid: provider.guid.map(|guid| guid.to_string()),
        kind: format!("{:?}", provider.kind),
        last: provider.last.map(|last| Last {
            is_enabled: last.is_enabled,
            session: last.session,
            level: last.level,
            flags: format!("{:#x}", last.flags),
        }),
        enabled: provider.enabled.iter().map(enable).collect(),
        registrations: provider.registrations.iter().map(registration).collect(),
    }
}

fn consumer(consumer: &memory::Consumer) -> Consumer {
    Consumer {
        address: consumer.record.address().to_string(),
        session: consumer.session,
        process: consumer.process.map(|process| process.to_string()),
        process_id: consumer.process_id,
        buffers_lost: consumer.buffers_lost,
    }
}

impl Display for Info<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.about)?;
        write!(f, "{}", self.kernel)?;
        writeln!(
            f,
            "  memory         {} bytes in {} runs of pages, dump type {}",
            Grouped(self.memory_bytes),
            self.memory.len(),
            self.about.kind.unwrap_or_default()
        )?;
        writeln!(f, "  modules        {}", self.modules.len())?;
        let registrations: usize = self.providers.iter().map(|provider| provider.registrations.len()).sum();
        let enabled = self.providers.iter().filter(|provider| !provider.enabled.is_empty()).count();
        writeln!(f, "  providers      {}, {enabled} of them enabled, with {registrations} registrations", self.providers.len())?;
        writeln!(f, "  consumers      {}", self.consumers.len())?;
        let agree = self.layout_check.iter().filter(|stated| stated.layout == Some(stated.stated)).count();
        if !self.layout_check.is_empty() {
            writeln!(f, "  layout check   {agree} of {} offsets equal those that the kernel publishes", self.layout_check.len())?;
        }
        write!(f, "  sessions       {}", self.sessions.len())?;
        for session in &self.sessions {
            write!(f, "\n    {session}")?;
        }
        if self.details {
            self.details(f)?;
        }
        write!(f, "\n  diagnostics    {}", self.diagnostics_total)?;
        for diagnostic in &self.diagnostics {
            write!(f, "\n    {diagnostic}")?;
        }
        Ok(())
    }
}

impl Info<'_> {
    /// The additional lines of --details.
    fn details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  layouts")?;
        for layout in self.kernel.layouts() {
            write!(f, "\n    {layout}")?;
        }
        write!(f, "\n  memory")?;
        for Run { address, size } in &self.memory {
            write!(f, "\n    {address}  {size:#x} bytes")?;
        }
        write!(f, "\n  modules")?;
        for Module { name, start, end } in &self.modules {
            write!(f, "\n    {start} to {end}  {}", Escaped(name))?;
        }
        write!(f, "\n  providers")?;
        for provider in &self.providers {
            write!(f, "\n    {}  {}", provider.guid.as_deref().unwrap_or("?"), provider.kind)?;
            for Enable { session, level, any, all } in &provider.enabled {
                write!(f, "\n      enabled by session {session}, level {level}, any of {any}, all of {all}")?;
            }
            if let Some(Last { is_enabled, session, level, flags }) = &provider.last {
                let done = if *is_enabled { "enabled" } else { "disabled" };
                write!(f, "\n      last {done} by session {session}, level {level}, flags {flags}")?;
            }
            for registration in &provider.registrations {
                write!(f, "\n      registered at {}", registration.address)?;
                if let Some(name) = &registration.name {
                    write!(f, " as {}", Escaped(name))?;
                }
                match (&registration.process, &registration.callback) {
                    (Some(process), _) => write!(f, " by the process {process}")?,
                    (None, None) => {
                        let owner = registration.owner.as_deref().unwrap_or("?");
                        write!(f, " by {owner}, a process or a callback: the flags could not be read")?;
                    }
                    (None, Some(callback)) => {
                        write!(
                            f,
                            " with the callback {callback} in {}",
                            Escaped(registration.module.as_deref().unwrap_or("no module"))
                        )?;
                    }
                }
            }
        }
        write!(f, "\n  consumers")?;
        for Consumer { address, session, process, process_id, buffers_lost } in &self.consumers {
            let number = |number: &Option<u64>| number.map_or("?".to_owned(), |number| number.to_string());
            let (session, lost) = (number(session), number(buffers_lost));
            let process = process.clone().unwrap_or_else(|| number(&process_id.map(u64::from)));
            write!(f, "\n    {address}  session {session}, process {process}, {lost} buffers lost")?;
        }
        write!(f, "\n  layout check")?;
        for Stated { member, stated, layout } in &self.layout_check {
            let layout = layout.map_or("does not have the member".to_owned(), |layout| format!("{layout:#x}"));
            write!(f, "\n    {member}  kernel {stated:#x}, layout {layout}")?;
        }
        write_buffers(f, &self.sessions)
    }
}
