//! What is known of a kernel before its memory is walked.

use crate::address::Address;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use etw_layouts::runtime::LayoutOf;
use etw_layouts::runtime::meta::{Absent, Layout, Selection, Structure};
use etw_layouts::runtime::token::Tokens;
use etw_layouts::structures;
use etw_layouts::{Arch, Build};

/// A kernel: its build and architecture, which choose the layouts; where its global variables are, from which a walk starts; and its
/// modules, against which routines are held.
#[derive(Clone, Debug)]
pub struct Kernel {
    build: Build,
    arch: Arch,
    chosen: Vec<(&'static str, Result<Selection, Absent>)>,
    own: Vec<&'static Layout>,
    globals: BTreeMap<String, Address>,
    modules: Vec<Module>,
    time: Time,
}

/// The image of a driver or of the kernel itself, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// The addresses that it takes.
    pub range: Range<Address>,
}

/// What a trace file says of the computer that it was made on, as far as somebody knows it better than its memory tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Ticks a second of the performance counter.
    pub perf_frequency: Option<i64>,
    /// The rate of the processor's cycle counter.
    pub cpu_mhz: Option<u32>,
    /// When the computer was started, in units of 100 ns since 1601.
    pub boot_time: Option<i64>,
    /// How many processors it has.
    pub processors: Option<u32>,
}

/// The structures that a walk reads.
static WALKED: &[Structure] = &[
    structures::WMI_LOGGER_CONTEXT.any(),
    structures::WMI_BUFFER_HEADER.any(),
    structures::ETW_GUID_ENTRY.any(),
    structures::ETW_REG_ENTRY.any(),
    structures::LIST_ENTRY.any(),
    structures::SINGLE_LIST_ENTRY.any(),
    structures::TRACE_LOGFILE_HEADER.any(),
    structures::EX_FAST_REF.any(),
    structures::SLIST_HEADER.any(),
    structures::UNICODE_STRING.any(),
];

impl Kernel {
    /// A kernel of which no variable's address is known yet. Layouts are chosen for it here; [`chosen`](Self::chosen) tells how sure they
    /// are.
    pub fn new(build: Build, arch: Arch) -> Self {
        let chosen = WALKED.iter().map(|structure| (structure.name, structure.select(build, arch))).collect();
        let (globals, modules, time) = (BTreeMap::new(), Vec::new(), Time::default());
        Self { build, arch, chosen, own: Vec::new(), globals, modules, time }
    }

    /// With this layout of a structure, whatever would be chosen: where the choice is between two, or for a kernel whose PDB somebody has and
    /// the specs do not.
    #[must_use]
    pub fn with_layout<S>(mut self, layout: LayoutOf<S>) -> Self {
        self.own.push(layout.layout());
        self
    }

    /// With a global variable of that name at an address.
    #[must_use]
    pub fn with_global(mut self, name: &str, address: Address) -> Self {
        self.globals.insert(name.into(), address);
        self
    }

    /// With global variables whose places count from where the kernel's image begins, as symbol files have them.
    #[must_use]
    pub fn with_globals<N: AsRef<str>>(mut self, image: Address, globals: impl IntoIterator<Item = (N, u64)>) -> Self {
        let at = globals.into_iter().filter_map(|(name, place)| Some((name.as_ref().into(), image.plus(place)?)));
        self.globals.extend(at);
        self
    }

    /// With a module. Routines are held against modules once there is one, so give all of them.
    #[must_use]
    pub fn with_module(mut self, name: &str, range: Range<Address>) -> Self {
        self.modules.push(Module { name: name.into(), range });
        self
    }

    /// With what is known of clocks and processors.
    #[must_use]
    pub fn with_time(mut self, time: Time) -> Self {
        self.time = time;
        self
    }

    /// Its build.
    pub fn build(&self) -> Build {
        self.build
    }

    /// Its architecture.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// What is known of clocks and processors.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The structures that a walk reads, with the layout of each and how sure it is for this kernel.
    pub fn chosen(&self) -> impl Iterator<Item = (&'static str, &Result<Selection, Absent>)> {
        self.chosen.iter().map(|(name, chosen)| (*name, chosen))
    }

    /// The layout of a structure; `None` if the kernel does not have it.
    pub fn layout<S: Tokens>(&self, structure: &Structure<S>) -> Option<LayoutOf<S>> {
        self.layout_of_any(&structure.any())?.of()
    }

    /// The layout of a structure by name.
    pub(crate) fn named(&self, name: &str) -> Option<&'static Layout> {
        let own = self.own.iter().rfind(|layout| layout.name == name).copied();
        own.or_else(|| self.layout_of_any(structures::ALL.iter().find(|structure| structure.name == name)?))
    }

    fn layout_of_any(&self, structure: &Structure) -> Option<&'static Layout> {
        let own = self.own.iter().rfind(|layout| layout.name == structure.name).copied();
        let chosen = || self.chosen.iter().find(|(known, _)| *known == structure.name);
        own.or_else(|| match chosen() {
            Some((_, chosen)) => chosen.as_ref().ok().map(|selection| selection.layout.layout()),
            None => structure.select(self.build, self.arch).ok().map(|selection| selection.layout.layout()),
        })
    }

    /// The address of a global variable.
    pub fn global(&self, name: &str) -> Option<Address> {
        self.globals.get(name).copied()
    }

    /// The module that an address lies in.
    pub fn module(&self, address: Address) -> Option<&Module> {
        self.modules.iter().find(|module| module.range.contains(&address))
    }

    /// Whether an address lies in no module, as far as modules are known at all.
    pub fn is_outside(&self, address: Address) -> bool {
        !self.modules.is_empty() && self.module(address).is_none()
    }

    /// The address that a pointer's value is: of 32 bits for a 32-bit kernel.
    pub fn address(&self, value: u64) -> Address {
        match self.arch {
            Arch::X86 => Address(value & u64::from(u32::MAX)),
            Arch::X64 | Arch::Arm64 => Address(value),
        }
    }
}
