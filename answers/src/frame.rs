//! Names of the addresses in call stacks.

use crate::functions::Functions;
use crate::samples;
use etw_layouts_symbols::ImageFile;
use etw_layouts_trace::{AtAddress, Error, Event, ImagePdb, NameId, Named, Names, Stack};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Finds what is at the addresses of a session. Answers are kept with the time stamps for which they are valid, up to 262,144 addresses.
#[derive(Debug)]
pub struct Frames<'t> {
    names: Names<'t>,
    functions: Functions,
    /// By process, address, and whether the address is a return address.
    known: HashMap<(u32, u64, bool), Known>,
    /// Names that were read.
    texts: HashMap<NameId, Option<Arc<Text>>>,
    has_images: HashMap<u32, bool>,
    counts: FrameCounts,
}

/// An answer, the time stamps for which it is valid, and how often it was given.
#[derive(Debug)]
struct Known {
    ticks: RangeInclusive<i64>,
    frame: Arc<Frame>,
    count: u64,
}

/// A name that many frames share.
#[derive(Debug)]
struct Text {
    /// The first address.
    start: u64,
    /// Size in bytes, and the time stamp in the header of an image: its identity in symbol stores.
    size: u32,
    time_stamp: u32,
    /// The path of an image as users see it, or the name of a method.
    name: Arc<str>,
    /// Path of the module of a method.
    module: Option<Arc<str>>,
    pdb: Option<Arc<ImagePdb>>,
}

/// Path of an image, and its program database, if the trace names it.
pub type ImageKey = (Arc<str>, Option<Arc<ImagePdb>>);

/// Maximum number of frames of a call stack. Windows writes at most 192.
pub const MAX_FRAMES: usize = 1024;

/// Numbers of frames, by what is known of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameCounts {
    /// All frames, by kind.
    pub kinds: BTreeMap<FrameKind, u64>,
    /// Frames whose function is not known, or only by exports, by image.
    pub unresolved: BTreeMap<ImageKey, u64>,
    /// Frames whose function is not known, in further images: [`unresolved`](Self::unresolved) has at most 65,536.
    pub unresolved_others: u64,
    /// Call stacks with more than [`MAX_FRAMES`] frames, whose outermost frames are left out.
    pub cut: u64,
}

/// An address in a call stack, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// The address.
    pub address: u64,
    /// Whether it is the return address of a call: then the function and the line are those of the call, which is before the address.
    pub is_return: bool,
    /// What is known of it.
    pub kind: FrameKind,
    /// Path of the image that contains the address, as users see it: see [`Session::user_path`](etw_layouts_trace::Session::user_path).
    pub module: Option<Arc<str>>,
    /// Path of the module of .NET of the method: the file with its code before it was compiled. `None` if the trace does not state it, or the method was
    /// made in memory.
    pub method_module: Option<Arc<str>>,
    /// Offset of the address in the image, in bytes.
    pub offset: Option<u64>,
    /// The program database of the image, if the trace names it.
    pub pdb: Option<Arc<ImagePdb>>,
    /// The function or method that contains the address. Of kind [`FrameKind::Export`], the nearest export before it, with the words ` (export)`.
    pub function: Option<Arc<str>>,
    /// Distance of the address to the nearest export, in bytes. For a return address, that of the call.
    pub export_offset: Option<u32>,
    /// Path of the source file of the function, as the compiler had it, and the line at the address.
    pub source: Option<(Arc<str>, u32)>,
    /// The functions that the compiler inlined at the address, the innermost first. They are called by [`function`](Self::function).
    pub inlined: Vec<Function>,
}

/// A function of a program database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Function {
    /// Name with namespaces and classes, without arguments.
    pub name: Arc<str>,
    /// Path of the source file, as the compiler had it, and the line.
    pub source: Option<(Arc<str>, u32)>,
}

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FrameKind {
    /// A method of .NET, which the trace names.
    Method,
    /// A function, which a program database names.
    Function,
    /// The nearest function before the address that the image exports. Functions that are not exported can be between them, so it need not be the
    /// function that contains the address.
    Export,
    /// An image, which the trace names; no function is known.
    Module,
    /// Nothing: an image or method is there at another time only.
    OtherTime,
    /// Nothing: the trace states images of the process, or of the kernel for an address of the kernel, but none at this address.
    Outside,
    /// Nothing: the trace states no image of the process, or of the kernel for an address of the kernel.
    NoImages,
}

impl FrameKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Method, Self::Function, Self::Export, Self::Module, Self::OtherTime, Self::Outside, Self::NoImages];

    /// Its name: `method`, `function`, `export`, `module`, `other time`, `outside` or `no images`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Function => "function",
            Self::Export => "export",
            Self::Module => "module",
            Self::OtherTime => "other time",
            Self::Outside => "outside",
            Self::NoImages => "no images",
        }
    }
}

/// Maximum number of addresses that are kept.
const MAX_KNOWN: usize = 1 << 18;

/// Maximum number of names that are kept, and of images that are counted.
const MAX_TEXTS: usize = 1 << 16;

/// The process of the images of the kernel.
const KERNEL: u32 = 0;

impl<'t> Frames<'t> {
    /// The frames of a session with these names.
    #[must_use]
    pub fn new(names: Names<'t>) -> Self {
        Self::with_functions(names, Functions::default())
    }

    /// The frames of a session with these names, and with the functions of program databases.
    #[must_use]
    pub fn with_functions(names: Names<'t>, functions: Functions) -> Self {
        let (known, texts, has_images) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { names, functions, known, texts, has_images, counts: FrameCounts::default() }
    }

    /// What is at an address of a process at a time stamp.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn frame(&mut self, process: u32, address: u64, tick: i64) -> Result<Arc<Frame>, Error> {
        self.find(process, address, tick, false)
    }

    /// What is at the return address of a call of a process at a time stamp. Functions and lines are those of the call, which is before the
    /// address.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn caller(&mut self, process: u32, address: u64, tick: i64) -> Result<Arc<Frame>, Error> {
        self.find(process, address, tick, true)
    }

    /// The frames of the call stack of an event, the innermost first, at most [`MAX_FRAMES`]; `None` if it has no stack. Without a known process, only addresses of the
    /// kernel have names. All are return addresses, except that of a sampled instruction.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn of(&mut self, event: &Event<'_>) -> Result<Option<Vec<Arc<Frame>>>, Error> {
        event.stack()?.map(|stack| self.of_stack(event, &stack)).transpose()
    }

    /// The frames of the call stack of an event, which was read already.
    ///
    /// # Errors
    ///
    /// The trace cannot be read, or changed since it was opened.
    pub fn of_stack(&mut self, event: &Event<'_>, stack: &Stack) -> Result<Vec<Arc<Frame>>, Error> {
        self.of_process(event.stack_process(), event, stack)
    }

    /// The frames of a call stack of a process at the time of an event.
    pub(crate) fn of_process(
        &mut self,
        process: Option<u32>,
        event: &Event<'_>,
        stack: &Stack,
    ) -> Result<Vec<Arc<Frame>>, Error> {
        let (process, sampled) = (process.unwrap_or(KERNEL), samples::instruction(&event.header()));
        self.counts.cut += u64::from(stack.frames().nth(MAX_FRAMES).is_some());
        let frame = |address| self.find(process, address, event.tick(), sampled != Some(address));
        stack.frames().take(MAX_FRAMES).map(frame).collect()
    }

    /// Whether the trace states methods of .NET of a process.
    pub(crate) fn has_methods(&self, process: u32) -> Result<bool, Error> {
        self.names.has_methods(process)
    }

    /// The frames that were found, by what is known of them.
    pub fn counts(&mut self) -> &FrameCounts {
        for known in self.known.values_mut() {
            self.counts.add(&known.frame, std::mem::take(&mut known.count));
        }
        &self.counts
    }

    fn find(&mut self, process: u32, address: u64, tick: i64, is_return: bool) -> Result<Arc<Frame>, Error> {
        // All processes share the upper half of the address space, if addresses have 64 bits.
        let process = if address >> 63 == 1 { KERNEL } else { process };
        let key = (process, address, is_return);
        if let Some(known) = self.known.get_mut(&key).filter(|known| known.ticks.contains(&tick)) {
            known.count += 1;
            return Ok(known.frame.clone());
        }
        let (ticks, frame) = self.read(key, tick)?;
        if self.known.len() >= MAX_KNOWN {
            self.known.drain().for_each(|(_, known)| self.counts.add(&known.frame, known.count));
        }
        if let Some(before) = self.known.insert(key, Known { ticks, frame: frame.clone(), count: 1 }) {
            self.counts.add(&before.frame, before.count);
        }
        Ok(frame)
    }

    /// What is at an address, and the time stamps for which the answer is the same.
    fn read(
        &mut self,
        (process, address, is_return): (u32, u64, bool),
        tick: i64,
    ) -> Result<(RangeInclusive<i64>, Arc<Frame>), Error> {
        let image = self.names.image_at(process, address, tick)?;
        let method = self.names.method_at(process, address, tick)?;
        let ticks = *image.ticks.start().max(method.ticks.start())..=*image.ticks.end().min(method.ticks.end());
        let is_named = image.is_named || method.is_named;
        let (image, method) = (self.name(&image, tick)?, self.name(&method, tick)?);
        let mut frame = Frame {
            address,
            is_return,
            kind: FrameKind::Outside,
            module: image.as_ref().map(|image| image.name.clone()),
            method_module: method.as_ref().and_then(|method| method.module.clone()),
            offset: image.as_ref().map(|image| address - image.start),
            pdb: image.as_ref().and_then(|image| image.pdb.clone()),
            function: method.as_ref().map(|method| method.name.clone()),
            export_offset: None,
            source: None,
            inlined: Vec::new(),
        };
        frame.kind = match (&method, &image) {
            (Some(_), _) => FrameKind::Method,
            (None, Some(image)) => {
                let inside = u32::try_from((address - image.start).saturating_sub(is_return.into())).unwrap_or(u32::MAX);
                let mut found = image.pdb.as_ref().map(|pdb| self.functions.at(pdb, inside)).unwrap_or_default();
                match found.pop() {
                    Some(Function { name, source }) => {
                        (frame.function, frame.source, frame.inlined) = (Some(name), source, found);
                        FrameKind::Function
                    }
                    None => match self.export(image, inside) {
                        Some((name, offset)) => {
                            (frame.function, frame.export_offset) = (Some(format!("{name} (export)").into()), Some(offset));
                            FrameKind::Export
                        }
                        None => FrameKind::Module,
                    },
                }
            }
            (None, None) if is_named => FrameKind::OtherTime,
            (None, None) => {
                let has_images = match self.has_images.get(&process) {
                    Some(known) => *known,
                    None => {
                        let has_images = self.names.has_images(process)?;
                        if self.has_images.len() >= MAX_TEXTS {
                            self.has_images.clear();
                        }
                        self.has_images.insert(process, has_images);
                        has_images
                    }
                };
                if has_images { FrameKind::Outside } else { FrameKind::NoImages }
            }
        };
        Ok((ticks, Arc::new(frame)))
    }

    /// The nearest export at or before an offset in an image, and the distance to it.
    fn export(&self, image: &Text, offset: u32) -> Option<(Arc<str>, u32)> {
        let name = image.name.rsplit(['\\', '/']).next().unwrap_or(&image.name).to_owned();
        let identity = ImageFile { name, time_stamp: image.time_stamp, size: image.size };
        self.functions.export_at(&identity, image.pdb.as_deref(), offset)
    }

    fn name(&mut self, at: &AtAddress, tick: i64) -> Result<Option<Arc<Text>>, Error> {
        let Some(id) = at.name else { return Ok(None) };
        if let Some(known) = self.texts.get(&id) {
            return Ok(known.clone());
        }
        let text = match self.names.read(id)? {
            Some(named) => {
                let session = self.names.session();
                let Named { name, process, start, size, time_stamp, module, .. } = named;
                let module = module.map(|module| self.names.module(process, module, tick)).transpose()?.flatten();
                let pdb = self.names.pdb(process, start, tick)?.map(Arc::new);
                let (name, module) = (session.user_path(&name).into(), module.map(|module| session.user_path(&module).into()));
                Some(Arc::new(Text { start, size, time_stamp: time_stamp.unwrap_or_default(), name, module, pdb }))
            }
            None => None,
        };
        if self.texts.len() >= MAX_TEXTS {
            self.texts.clear();
        }
        self.texts.insert(id, text.clone());
        Ok(text)
    }
}

impl FrameCounts {
    fn add(&mut self, frame: &Frame, count: u64) {
        if count == 0 {
            return;
        }
        *self.kinds.entry(frame.kind).or_default() += count;
        if let (FrameKind::Module | FrameKind::Export, Some(module)) = (frame.kind, &frame.module) {
            let key = (module.clone(), frame.pdb.clone());
            if self.unresolved.len() < MAX_TEXTS || self.unresolved.contains_key(&key) {
                *self.unresolved.entry(key).or_default() += count;
            } else {
                self.unresolved_others += count;
            }
        }
    }
}

/// Equal frames have equal addresses: hashing their texts too would be slow.
impl Hash for Frame {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.address, self.is_return).hash(state);
    }
}

impl Frame {
    /// File name of the module and function, such as `ntdll.dll!RtlUserThreadStart`, or the function alone if the module is not known; `None` if the function
    /// is not known.
    #[must_use]
    pub fn qualified(&self) -> Option<Cow<'_, str>> {
        let function = self.function.as_deref()?;
        Some(self.module_name().map_or(Cow::Borrowed(function), |module| Cow::Owned(format!("{module}!{function}"))))
    }

    /// The function or method; else the file name of the module with the offset; else the address.
    #[must_use]
    pub fn label(&self) -> Cow<'_, str> {
        match (&self.function, self.module_name(), self.offset) {
            (Some(function), ..) => Cow::Borrowed(function),
            (None, Some(module), Some(offset)) => Cow::Owned(format!("{module}+{offset:#x}")),
            _ => Cow::Owned(format!("{:#x}", self.address)),
        }
    }

    /// File name of the module, without its path.
    #[must_use]
    pub fn module_name(&self) -> Option<&str> {
        self.module.as_deref().map(|module| module.rsplit(['\\', '/']).next().unwrap_or(module))
    }
}
