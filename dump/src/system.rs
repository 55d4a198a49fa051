//! A dump of physical memory: of the whole system, or of its kernel.

use crate::diagnostic::{Diagnostic, DiagnosticKind, report};
use crate::error::Error;
use crate::header::{DumpHeader, Roots};
use crate::image::KernelImage;
use crate::pages::PAGE;
use crate::paging::Paging;
use crate::physical::Physical;
use crate::source::Source;
use crate::wire::{KDDEBUGGER_DATA64, letters, pointers, view};
use etw_layouts::LAYOUTS;
use etw_layouts::members::LOADED_MODULE;
use etw_layouts::runtime::packed::ExaminedBuild;
use etw_layouts::{Arch, Build, structures};
use etw_layouts_memory::{Address, Kernel, Limits, MemberLocation, Memory, Module, ReadError, Time, Walk};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A full dump or kernel dump. Implements [`Memory`] by virtual address.
pub struct MemoryDump<S> {
    pub(crate) source: S,
    pub(crate) header: DumpHeader,
    physical: Physical,
    pub(crate) paging: Paging,
    pub(crate) tables: u64,
    pub(crate) modules: Vec<Module>,
    pub(crate) image: Option<KernelImage>,
    debugger_data: Option<Address>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Cache of the file offsets of virtual pages.
    pub(crate) known: RefCell<BTreeMap<u64, Option<u64>>>,
}

/// The kernel of a dump, and how it was identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Build of the kernel.
    pub build: Build,
    /// Basis of the identification.
    pub by: IdentitySource,
}

/// Basis for the identification of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdentitySource {
    /// The PDB in the image, which is that of an examined build.
    Pdb,
    /// The image, which is that of an examined build.
    Image,
    /// The header of the dump, which does not state the revision: it is 0.
    Header,
}

/// Number of pages in the cache.
const KNOWN: usize = 1 << 16;

/// Maximum number of modules read.
const MODULES: usize = 1 << 12;

impl<S: Source> MemoryDump<S> {
    /// Reads the headers, the list of pages and the list of modules. Everything else is read on demand.
    ///
    /// # Errors
    ///
    /// The bytes are not a dump of physical memory, or the kind is not supported.
    pub fn new(source: S) -> Result<Self, Error> {
        let mut head = vec![0; DumpHeader::SIZE];
        let present = source.read_at(0, &mut head)?;
        head.truncate(present);
        Self::with_header(source, DumpHeader::read(&head)?)
    }

    /// As [`new`](Self::new), with the header of the dump, read by [`DumpHeader::read`].
    ///
    /// # Errors
    ///
    /// The kind of the dump is not supported, or its list of pages is missing.
    pub fn with_header(source: S, header: DumpHeader) -> Result<Self, Error> {
        let (mut diagnostics, roots) = (Vec::new(), header.roots);
        let physical = Physical::read(&&source, &header, &mut diagnostics)?;
        let candidates = Paging::of(header.arch, roots.is_pae);
        let mut dump = Self { diagnostics, paging: candidates[0], ..Self::without_kernel(source, header, physical) };
        // The format is correct if it translates the address of the list of modules, and the list links back to its head.
        let correct = candidates.iter().find(|paging| {
            dump.paging = **paging;
            dump.known.take();
            dump.is_list(roots.modules).unwrap_or_else(|error| {
                report(&mut dump.diagnostics, 0, DiagnosticKind::Failed(error));
                false
            })
        });
        match correct {
            Some(_) => dump.modules = dump.read_modules(roots.modules),
            None => {
                (dump.paging, _) = (candidates[0], dump.known.take());
                report(&mut dump.diagnostics, 0, DiagnosticKind::Tables(roots.modules.0));
            }
        }
        dump.debug(&roots);
        Ok(dump)
    }

    /// A dump of which only the physical memory is known.
    pub(crate) fn without_kernel(source: S, header: DumpHeader, physical: Physical) -> Self {
        Self {
            source,
            header,
            physical,
            paging: Paging::Four,
            tables: header.roots.tables,
            modules: Vec::new(),
            image: None,
            debugger_data: None,
            diagnostics: Vec::new(),
            known: RefCell::default(),
        }
    }

    /// Reads the debugger data and the image of the kernel.
    fn debug(&mut self, roots: &Roots) {
        let mut bytes = [0; size_of::<KDDEBUGGER_DATA64>()];
        let present = self.read(roots.debugger, &mut bytes).unwrap_or_else(|error| {
            report(&mut self.diagnostics, 0, DiagnosticKind::Failed(error));
            0
        });
        let data = view::<KDDEBUGGER_DATA64>(&bytes[..present], 0)
            .filter(|data| data.Header.OwnerTag == letters(b"KDBG") && data.Header.Size as usize >= bytes.len());
        // The structure is the same on 32-bit systems, where addresses are sign-extended.
        self.debugger_data = data.filter(|_| self.header.arch != Arch::X86).map(|data| Address(data.EtwpDebuggerData));
        let of_list = self.modules.first().map(|module| module.range.start);
        let mask = if self.header.arch == Arch::X86 { u32::MAX.into() } else { u64::MAX };
        let of_data = data.map(|data| Address(data.KernBase & mask));
        for base in [of_list, of_data].into_iter().flatten() {
            match KernelImage::read(&*self, base, self.header.arch != Arch::X86) {
                Ok(image) => self.image = self.image.take().or(image),
                Err(error) => report(&mut self.diagnostics, 0, DiagnosticKind::Failed(error)),
            }
        }
        if self.image.is_none() {
            report(&mut self.diagnostics, 0, DiagnosticKind::NoImage);
        }
    }

    /// Whether the list at an address links back to its head.
    pub(crate) fn is_list(&self, head: Address) -> Result<bool, ReadError> {
        let size = self.header.arch.pointer_size();
        let next = self.pointer(head)?;
        let back = next.and_then(|next| next.plus(size)).map(|back| self.pointer(back)).transpose()?.flatten();
        Ok(back == Some(head) && next != Some(head))
    }

    pub(crate) fn pointer(&self, at: Address) -> Result<Option<Address>, ReadError> {
        let (mut bytes, size) = ([0; 8], self.header.arch.pointer_size() as usize);
        let present = self.read(at, &mut bytes[..size])?;
        Ok(pointers(&bytes[..present], size).next().map(Address))
    }

    pub(crate) fn read_modules(&mut self, head: Address) -> Vec<Module> {
        let kernel = Kernel::new(self.header.build, self.header.arch);
        let Limits { bytes, findings, .. } = self.limits();
        let mut walk = Walk::new(&*self, &kernel).with_limits(Limits { entries: MODULES, bytes, findings, text: 0x400 });
        let place = MemberLocation { structure: "LOADED_MODULE", address: head, member: "InLoadOrderLinks" };
        let mut modules = Vec::new();
        for at in walk.double(place, head) {
            let Some(entry) = walk.object(&structures::LOADED_MODULE, at) else { continue };
            let (base, size) = (entry.unsigned(LOADED_MODULE::DLL_BASE), entry.unsigned(LOADED_MODULE::SIZE_OF_IMAGE));
            let Some((base, size)) = base.map(|base| kernel.address(base)).zip(size) else { continue };
            let Some(end) = base.plus(size) else { continue };
            let name = walk.text(&entry, LOADED_MODULE::BASE_DLL_NAME).unwrap_or_default();
            modules.push(Module { name, range: base..end });
        }
        let findings: Vec<_> = walk.into_findings().into_iter().take(MODULES).collect();
        findings.into_iter().for_each(|one| report(&mut self.diagnostics, 0, DiagnosticKind::Modules(one.to_string())));
        modules
    }

    /// The properties of the dump and its system.
    pub fn header(&self) -> &DumpHeader {
        &self.header
    }

    /// Number of pages of physical memory in the dump.
    pub fn pages(&self) -> u64 {
        self.physical.pages()
    }

    /// Runs of physical memory in the dump: address and size in bytes, in address order.
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.physical.runs()
    }

    /// The loaded modules, beginning with the kernel.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The kernel image.
    pub fn image(&self) -> Option<&KernelImage> {
        self.image.as_ref()
    }

    /// The diagnostics of the dump.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The kernel of the dump, and how it was identified.
    pub fn identity(&self) -> Identity {
        let image = self.image.as_ref();
        let by_pdb = image.and_then(|image| self.by_pdb(image));
        let is_it = |seen: &ExaminedBuild| seen.arch == self.header.arch;
        let by_image = image.and_then(|image| LAYOUTS.by_image(image.file)).filter(is_it);
        match (by_pdb, by_image) {
            (Some(seen), _) => Identity { build: seen.build, by: IdentitySource::Pdb },
            (None, Some(seen)) => Identity { build: seen.build, by: IdentitySource::Image },
            (None, None) => Identity { build: self.header.build, by: IdentitySource::Header },
        }
    }

    /// Addresses of the kernel's global variables, in bytes from the image base, if symbols with its PDB were examined: see
    /// [`ExaminedBuild::globals`](etw_layouts::runtime::packed::ExaminedBuild::globals). Empty for all other kernels.
    pub fn known_globals(&self) -> Vec<(&'static str, u64)> {
        let seen = self.image.as_ref().and_then(|image| self.by_pdb(image));
        seen.into_iter().flat_map(|seen| seen.globals()).collect()
    }

    /// Addresses of global variables for a kernel of this build, from a table by build instead of PDB: see
    /// [`Layouts::by_build`](etw_layouts::runtime::packed::Layouts::by_build).
    pub fn globals_by_build(&self, build: Build) -> Vec<(&'static str, u64)> {
        let image = self.image.as_ref().map(|image| image.file);
        // Revision 0 means an unknown revision, not the first one.
        let build = if build.revision == 0 { build } else { LAYOUTS.canonical(build) };
        let seen = LAYOUTS.by_build(build, self.header.arch, image);
        seen.into_iter().flat_map(|seen| seen.globals()).collect()
    }

    /// The examined kernel with the PDB of an image.
    fn by_pdb(&self, image: &KernelImage) -> Option<ExaminedBuild<'static>> {
        LAYOUTS.by_pdb(image.pdb.as_ref()?.id).filter(|seen| seen.arch == self.header.arch)
    }

    /// The kernel description for a walk. It includes addresses of global variables if they are known [by
    /// PDB](Self::known_globals) or [by build](Self::globals_by_build). Otherwise it includes only the one from the debugger
    /// data; the others have to come from symbols.
    pub fn kernel(&self, build: Build) -> Kernel {
        let processors = Some(self.header.processors).filter(|count| *count > 0);
        let mut kernel = Kernel::new(build, self.header.arch).with_time(Time { processors, ..Time::default() });
        for module in &self.modules {
            kernel = kernel.with_module(&module.name, module.range.clone());
        }
        if let Some(at) = self.debugger_data.filter(|at| !at.is_null()) {
            kernel = kernel.with_global("EtwpDebuggerData", at);
        }
        match &self.image {
            Some(image) => {
                let globals = self.globals_by_build(build).into_iter().chain(self.known_globals());
                kernel.with_globals(image.base, globals)
            }
            None => kernel,
        }
    }

    /// Limits for walks through this dump: they may read whole memory a few times.
    pub fn limits(&self) -> Limits {
        let all = Limits::default();
        Limits { bytes: (self.pages() * PAGE).saturating_mul(4).saturating_add(1 << 24).min(all.bytes), ..all }
    }

    /// File offset of the byte at an address; `None` if it is not in the dump, or its page table cannot be read.
    pub fn offset(&self, address: Address) -> Option<u64> {
        self.place(address).ok().flatten()
    }

    /// An entry of a page table with 4 or 8 bytes; `None` if it is missing, or its read failed.
    pub(crate) fn entry(&self, at: u64, size: usize, failed: &Cell<Option<ReadError>>) -> Option<u64> {
        let mut bytes = [0; 8];
        let present = self.source.read_at(self.physical.offset(at)?, &mut bytes[..size]);
        let present = present.map_err(|error| failed.set(Some(ReadError(error.to_string())))).ok()?;
        (present == size).then(|| u64::from_le_bytes(bytes))
    }

    fn place(&self, address: Address) -> Result<Option<u64>, ReadError> {
        let (page, within) = (address.0 - address.0 % PAGE, address.0 % PAGE);
        if let Some(known) = self.known.borrow().get(&page) {
            return Ok(known.map(|offset| offset + within));
        }
        let failed = Cell::new(None);
        let physical = self.paging.translate(self.tables, page, |at, size| self.entry(at, size, &failed));
        if let Some(error) = failed.take() {
            return Err(error);
        }
        let offset = physical.and_then(|physical| self.physical.offset(physical));
        let mut known = self.known.borrow_mut();
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(page, offset);
        Ok(offset.map(|offset| offset + within))
    }
}

impl<S: Source> Memory for MemoryDump<S> {
    fn read(&self, address: Address, out: &mut [u8]) -> Result<usize, ReadError> {
        let mut done = 0;
        while done < out.len() {
            let Some(at) = address.plus(done as u64) else { break };
            let Some(offset) = self.place(at)? else { break };
            let length = (out.len() - done).min((PAGE - at.0 % PAGE) as usize);
            let present = self.source.read_at(offset, &mut out[done..done + length]);
            let present = present.map_err(|error| ReadError(format!("{error}, at file offset {offset:#x}")))?;
            done += present;
            if present < length {
                break;
            }
        }
        Ok(done)
    }
}
