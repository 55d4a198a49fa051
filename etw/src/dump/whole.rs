//! `info` for full and kernel dumps.

use super::DumpDiagnostic;
use super::about::About;
use super::diagnostics::{self, DumpDiagnosticLine};
use super::identity::Known;
use super::sessions::{Line, lines, write_buffers, write_list};
use crate::object::object;
use crate::output::stop::Stop;
use crate::output::{Escaped, Grouped, Output};
use etw_layouts_cli::Outcome;
use etw_layouts_dump::{BufferSelection, MemoryDump, Source};
use etw_layouts_memory::{
    Address, Census, Consumer, Enable, Kernel, Kind, Last, Module, Owner, Provider, Registration, Stated, Traits, Walk,
};
use serde::Serialize;
use std::fmt::{self, Display};

/// The summary of a dump.
struct Info<'a, S> {
    about: About<'a>,
    dump: &'a MemoryDump<S>,
    kernel: &'a Kernel,
    known: &'a Known,
    sessions: Vec<Line<'a>>,
    census: &'a Census,
    /// The traits of the registrations of each provider. The registrations of a group are printed with the member providers.
    traits: Vec<Vec<Option<Traits>>>,
    /// The offsets that the kernel states for its own structures.
    layout_check: Vec<Stated>,
    diagnostics_total: usize,
    /// The first hundred of each kind, then a count of the others.
    diagnostics: Vec<DumpDiagnosticLine<'a>>,
    details: bool,
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
    let layout_check = Walk::new(dump, kernel).published_offsets();
    let sessions = dump.sessions(&mut walk, &census.sessions, selection);
    let (lines, found) = lines(None, &sessions, Some(known));
    let mut of = |provider: &Provider, one| if provider.kind == Kind::Group { None } else { walk.traits(one) };
    let traits = census.providers.iter().map(|provider| provider.registrations.iter().map(|one| of(provider, one)).collect());
    let traits = traits.collect();
    let of_dump = dump.diagnostics().iter().cloned().chain(found).map(DumpDiagnostic::Dump);
    let diagnostics: Vec<DumpDiagnostic> = of_dump.chain(walk.into_findings().into_iter().map(DumpDiagnostic::Memory)).collect();
    let info = Info {
        about: About { file: name, header: dump.header() },
        dump,
        kernel,
        known,
        sessions: lines,
        census: &census,
        traits,
        layout_check,
        diagnostics_total: diagnostics.len(),
        diagnostics: diagnostics::lines(None, &diagnostics, details),
        details,
    };
    out.write_line(&info, &info.json())?;
    Ok(diagnostics::outcome(&diagnostics))
}

impl<'a, S: Source> Info<'a, S> {
    fn json(&self) -> impl Serialize {
        let modules = self.dump.modules().iter().map(|module| {
            object! {
                name: &module.name,
                start: module.range.start.to_string(),
                end: module.range.end.to_string(),
            }
        });
        let providers = self.providers().map(|(provider, registrations)| {
            let enabled = provider.enabled.iter().map(|enable| {
                object! {
                    logger_id: enable.session,
                    level: enable.level,
                    any: format!("{:#x}", enable.any),
                    all: format!("{:#x}", enable.all),
                }
            });
            object! {
                address: provider.entry.address().to_string(),
                guid: provider.guid.map(|guid| guid.to_string()),
                kind: format!("{:?}", provider.kind),
                // The last change.
                last: provider.last.map(|last| object! {
                    is_enabled: last.is_enabled,
                    logger_id: last.session,
                    level: last.level,
                    flags: format!("{:#x}", last.flags),
                }),
                enabled: enabled.collect::<Vec<_>>(),
                registrations: registrations.map(|(one, traits)| self.registration(one, traits)).collect::<Vec<_>>(),
            }
        });
        let consumers = self.census.consumers.iter().map(|consumer| {
            object! {
                address: consumer.record.address().to_string(),
                logger_id: consumer.session,
                process_address: text(consumer.process),
                // The process ID, on Windows Vista.
                process: consumer.process_id,
                buffers_lost: consumer.buffers_lost,
            }
        });
        let check = self.layout_check.iter();
        let check = check.map(|one| object! { member: one.member, stated: one.stated, layout: one.layout });
        object! {
            #[serde(flatten)] about: self.about.json(),
            memory_bytes: self.dump.pages() * 0x1000,
            // Physical memory as runs of pages.
            memory: self.dump.runs().map(|(at, size)| object! { address: format!("{at:#x}"), size: size }).collect::<Vec<_>>(),
            kernel: self.known,
            modules: modules.collect::<Vec<_>>(),
            sessions: &self.sessions,
            providers: providers.collect::<Vec<_>>(),
            consumers: consumers.collect::<Vec<_>>(),
            layout_check: check.collect::<Vec<_>>(),
            diagnostics_total: self.diagnostics_total,
            diagnostics: &self.diagnostics,
        }
    }

    fn registration(&self, registration: &'a Registration, traits: Option<&'a Traits>) -> impl Serialize + use<'a, S> {
        let (process, callback, owner) = match registration.owner {
            Owner::Process(process) => (Some(process), None, None),
            Owner::Kernel { callback, .. } => (None, Some(callback), None),
            Owner::Either(owner) => (None, None, Some(owner)),
        };
        object! {
            address: registration.entry.address().to_string(),
            // The provider name and group from the provider's traits.
            name: traits.map(|traits| &traits.name),
            group: traits.and_then(|traits| traits.group).map(|group| group.to_string()),
            // The process of a user-mode registration.
            process_address: text(process),
            // The process or the callback, if the flags that distinguish them could not be read.
            owner: text(owner),
            // Bit masks: the slots of the provider, and of its group, that enable the registration.
            mask: registration.mask,
            group_mask: registration.group_mask,
            // The callback of a kernel-mode registration, and its module.
            callback: text(callback),
            module: callback.and_then(|callback| self.kernel.module(callback)).map(|module| &module.name),
            flags: &registration.flags,
        }
    }

    /// The providers with their registrations, each with its traits.
    fn providers(&self) -> impl Iterator<Item = (&'a Provider, impl Iterator<Item = (&'a Registration, Option<&Traits>)>)> {
        let providers = self.census.providers.iter().zip(&self.traits);
        providers.map(|(provider, traits)| (provider, provider.registrations.iter().zip(traits.iter().map(Option::as_ref))))
    }

    /// The additional lines of --details.
    fn details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  layouts")?;
        for layout in self.known.layouts() {
            write!(f, "\n    {layout}")?;
        }
        write!(f, "\n  memory")?;
        for (address, size) in self.dump.runs() {
            write!(f, "\n    {address:#x}  {size:#x} bytes")?;
        }
        write!(f, "\n  modules")?;
        for Module { name, range } in self.dump.modules() {
            write!(f, "\n    {} to {}  {}", range.start, range.end, Escaped(name))?;
        }
        write!(f, "\n  providers")?;
        for (provider, registrations) in self.providers() {
            write!(f, "\n    {}  {:?}", provider.guid.map_or("?".to_owned(), |guid| guid.to_string()), provider.kind)?;
            for Enable { session, level, any, all, .. } in &provider.enabled {
                write!(f, "\n      enabled by session {session}, level {level}, any of {any:#x}, all of {all:#x}")?;
            }
            if let Some(Last { is_enabled, session, level, flags }) = &provider.last {
                let done = if *is_enabled { "enabled" } else { "disabled" };
                write!(f, "\n      last {done} by session {session}, level {level}, flags {flags:#x}")?;
            }
            for (registration, traits) in registrations {
                write!(f, "\n      registered at {}", registration.entry.address())?;
                traits.iter().try_for_each(|traits| write!(f, " as {}", Escaped(&traits.name)))?;
                match registration.owner {
                    Owner::Process(process) => write!(f, " by the process {process}")?,
                    Owner::Either(owner) => {
                        write!(f, " by {owner}, a process or a callback: the flags could not be read")?;
                    }
                    Owner::Kernel { callback, .. } => {
                        let module = self.kernel.module(callback).map_or("no module", |module| &module.name);
                        write!(f, " with the callback {callback} in {}", Escaped(module))?;
                    }
                }
            }
        }
        write!(f, "\n  consumers")?;
        for Consumer { record, session, process, process_id, buffers_lost, .. } in &self.census.consumers {
            let number = |number: Option<u64>| number.map_or("?".to_owned(), |number| number.to_string());
            let (address, session, lost) = (record.address(), number(*session), number(*buffers_lost));
            let process = text(*process).unwrap_or_else(|| number(process_id.map(u64::from)));
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

fn text(address: Option<Address>) -> Option<String> {
    address.map(|address| address.to_string())
}

impl<S: Source> Display for Info<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dump, census, .. } = self;
        write!(f, "{}{}", self.about, self.known)?;
        let (bytes, runs, kind) = (Grouped(dump.pages() * 0x1000), dump.runs().count(), dump.header().kind.0);
        writeln!(f, "  memory         {bytes} bytes in {runs} runs of pages, dump type {kind}")?;
        writeln!(f, "  modules        {}", dump.modules().len())?;
        let registrations: usize = census.providers.iter().map(|provider| provider.registrations.len()).sum();
        let enabled = census.providers.iter().filter(|provider| !provider.enabled.is_empty()).count();
        let providers = census.providers.len();
        writeln!(f, "  providers      {providers}, {enabled} of them enabled, with {registrations} registrations")?;
        writeln!(f, "  consumers      {}", census.consumers.len())?;
        let agree = self.layout_check.iter().filter(|stated| stated.agrees()).count();
        if !self.layout_check.is_empty() {
            writeln!(f, "  layout check   {agree} of {} offsets equal those that the kernel publishes", self.layout_check.len())?;
        }
        write_list(f, "sessions", self.sessions.len(), &self.sessions)?;
        if self.details {
            self.details(f)?;
        }
        f.write_str("\n")?;
        write_list(f, "diagnostics", self.diagnostics_total, &self.diagnostics)
    }
}
