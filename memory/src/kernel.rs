//! Description of the kernel for a walk.

use crate::address::Address;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use etw_layouts::runtime::LayoutOf;
use etw_layouts::runtime::meta::Absent;
use etw_layouts::runtime::packed::{Layout, Selection, Structure};
use etw_layouts::runtime::token::Tokens;
use etw_layouts::{Arch, Build, LAYOUTS, structures};

/// A kernel: build and architecture, which determine the layouts; the addresses of global variables, from which walks start; and
/// the modules, against which routines are verified.
#[derive(Clone, Debug)]
pub struct Kernel {
    build: Build,
    arch: Arch,
    chosen: Vec<(&'static str, Result<Selection<'static>, Absent>)>,
    own: Vec<Layout<'static>>,
    globals: BTreeMap<String, Address>,
    modules: Vec<Module>,
    time: Time,
}

/// The image in memory of a driver or of the kernel itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Address range of the module.
    pub range: Range<Address>,
}

/// Properties of a computer for the header of a trace file. Values from the caller are used instead of those in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Rate of the performance counter, in Hz.
    pub perf_frequency: Option<i64>,
    /// Rate of the processor's cycle counter, in MHz.
    pub cpu_mhz: Option<u32>,
    /// Time of the boot, in units of 100 ns since 1601.
    pub boot_time: Option<i64>,
    /// Number of processors.
    pub processors: Option<u32>,
}

/// The structures that walks read.
static WALKED: [Structure<'static>; 10] = [
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
    /// A kernel without known variables. Selects the layouts; [`chosen`](Self::chosen) returns their confidence.
    pub fn new(build: Build, arch: Arch) -> Self {
        let chosen = WALKED.iter().map(|structure| (structure.name, structure.select(build, arch))).collect();
        let (globals, modules, time) = (BTreeMap::new(), Vec::new(), Time::default());
        Self { build, arch, chosen, own: Vec::new(), globals, modules, time }
    }

    /// Replaces the selected layout of a structure: to resolve a choice between two, or for a kernel with an available PDB
    /// that the specs did not examine.
    #[must_use]
    pub fn with_layout<S>(mut self, layout: LayoutOf<'static, S>) -> Self {
        self.own.push(layout.layout());
        self
    }

    /// Adds the address of a global variable.
    #[must_use]
    pub fn with_global(mut self, name: &str, address: Address) -> Self {
        self.globals.insert(name.into(), address);
        self
    }

    /// Adds global variables by their offsets from the start of the kernel image, as in symbol files.
    #[must_use]
    pub fn with_globals<N: AsRef<str>>(mut self, image: Address, globals: impl IntoIterator<Item = (N, u64)>) -> Self {
        let at = globals.into_iter().filter_map(|(name, place)| Some((name.as_ref().into(), image.plus(place)?)));
        self.globals.extend(at);
        self
    }

    /// Adds a module. Add either all modules or none: with at least one module, routines are verified against the modules.
    #[must_use]
    pub fn with_module(mut self, name: &str, range: Range<Address>) -> Self {
        self.modules.push(Module { name: name.into(), range });
        self
    }

    /// Sets properties of clocks and processors.
    #[must_use]
    pub fn with_time(mut self, time: Time) -> Self {
        self.time = time;
        self
    }

    /// Build of the kernel.
    pub fn build(&self) -> Build {
        self.build
    }

    /// Architecture of the kernel.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Known properties of clocks and processors.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The structures that walks read, each with its layout and the confidence for this kernel.
    pub fn chosen(&self) -> impl Iterator<Item = (&'static str, &Result<Selection<'static>, Absent>)> {
        self.chosen.iter().map(|(name, chosen)| (*name, chosen))
    }

    /// The layout of a structure; `None` if the kernel does not have it.
    pub fn layout<S: Tokens>(&self, structure: &Structure<'static, S>) -> Option<LayoutOf<'static, S>> {
        self.layout_of_any(&structure.any())?.of()
    }

    /// The layout of a structure by name.
    pub(crate) fn named(&self, name: &str) -> Option<Layout<'static>> {
        self.layout_of_any(&LAYOUTS.structure(name)?)
    }

    fn layout_of_any(&self, structure: &Structure<'static>) -> Option<Layout<'static>> {
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

    /// The module that contains an address.
    pub fn module(&self, address: Address) -> Option<&Module> {
        self.modules.iter().find(|module| module.range.contains(&address))
    }

    /// Whether an address is outside all modules; `false` if no modules are known.
    pub fn is_outside(&self, address: Address) -> bool {
        !self.modules.is_empty() && self.module(address).is_none()
    }

    /// The address in a pointer value, which has 32 bits in a 32-bit kernel.
    pub fn address(&self, value: u64) -> Address {
        match self.arch {
            Arch::X86 => Address(value & u64::from(u32::MAX)),
            Arch::X64 | Arch::Arm64 => Address(value),
        }
    }
}
