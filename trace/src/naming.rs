//! Names of a session, read from its trace.

use crate::error::Error;
use crate::event::Event;
use crate::name_event::{NameEvent, Range, Step, Subject};
use crate::names::Found;
use crate::place::Position;
use crate::process::{LoadedImage, Moment, ProcessIndex};
use crate::session::Session;
use crate::trace::Trace;
use etw_layouts_etl::Uuid;
use std::collections::HashMap;
use std::io;
use std::ops::RangeInclusive;

/// The names that a session states: of files, images and methods. Names are valid at a time; the program that wrote them can have reused their keys
/// and addresses later.
#[derive(Clone, Copy, Debug)]
pub struct Names<'t> {
    trace: &'t Trace,
    session: usize,
}

/// What a session states about an address of a process at a time. The name itself is read with [`Names::read`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AtAddress {
    /// The name of the image or method; `None` if nothing is known to be there at the time.
    pub name: Option<NameId>,
    /// The time stamps for which the answer is the same.
    pub ticks: RangeInclusive<i64>,
    /// Whether an image or method is at the address at any time.
    pub is_named: bool,
}

/// A name of a session, which is equal for equal names of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameId(Position);

/// The program database of an image, as the trace states it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ImagePdb {
    /// File name, or path on the machine that linked the image.
    pub name: String,
    /// Its GUID.
    pub guid: Uuid,
    /// Its age in the image.
    pub age: u32,
}

/// Addresses of a process that have a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Named {
    /// Path of an image, as the kernel names it; namespace and name of a method.
    pub name: String,
    /// Signature of a method.
    pub signature: Option<String>,
    /// Identifier of the process; 0 for images of the kernel.
    pub process: u32,
    /// The first address.
    pub start: u64,
    /// Size in bytes.
    pub size: u32,
    /// Time stamp in the header of an image.
    pub time_stamp: Option<u32>,
    /// Identifier of the module of a method: see [`Names::module`].
    pub module: Option<u64>,
}

impl From<Found> for AtAddress {
    fn from(Found { at, ticks, is_named }: Found) -> Self {
        Self { name: at.map(NameId), ticks, is_named }
    }
}

impl Trace {
    /// The names that a session states; `None` if there is no session with this index.
    #[must_use]
    pub fn names(&self, session: usize) -> Option<Names<'_>> {
        (session < self.sessions.len()).then_some(Names { trace: self, session })
    }
}

impl<'t> Event<'t> {
    /// The names that the session of the event states.
    #[must_use]
    pub fn names(&self) -> Names<'t> {
        Names { trace: self.trace(), session: self.session_index() }
    }

    /// Path of the file that the event is about, as the kernel names it: the name of its field `FileKey`, or `FileObject`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn file_name(&self) -> Result<Option<String>, Error> {
        let Some(decoded) = self.decode() else { return Ok(None) };
        for field in ["FileKey", "FileObject"] {
            if let Some(object) = decoded.get(field).and_then(|value| value.number())
                && let Some(name) = self.names().file_name(object, self.tick())?
            {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

impl<'t> Names<'t> {
    /// The session.
    #[must_use]
    pub fn session(&self) -> &'t Session {
        &self.trace.sessions[self.session]
    }

    /// Path of a file, by its object or key, as the kernel names it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn file_name(&self, object: u64, tick: i64) -> Result<Option<String>, Error> {
        let at = self.trace.sessions[self.session].names.file(object, tick);
        self.recall(at, |event| event.name())
    }

    /// The image at an address of a process, or of the kernel.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn image(&self, process: u32, address: u64, tick: i64) -> Result<Option<Named>, Error> {
        self.image_at(process, address, tick)?.name.map_or(Ok(None), |name| self.read(name))
    }

    /// Which image is at an address of a process, or of the kernel.
    ///
    /// # Errors
    ///
    /// A temporary file cannot be read.
    pub fn image_at(&self, process: u32, address: u64, tick: i64) -> Result<AtAddress, Error> {
        let images = &self.trace.sessions[self.session].names;
        let find = |process| images.image(process, address, tick).map(AtAddress::from).map_err(|error| self.failed(error));
        let own = find(process)?;
        if own.name.is_some() || process == KERNEL {
            return Ok(own);
        }
        let kernel = find(KERNEL)?;
        let ticks = *own.ticks.start().max(kernel.ticks.start())..=*own.ticks.end().min(kernel.ticks.end());
        Ok(AtAddress { name: kernel.name, ticks, is_named: own.is_named || kernel.is_named })
    }

    /// Whether the trace states any image of a process; 0 is the kernel.
    ///
    /// # Errors
    ///
    /// A temporary file cannot be read.
    pub fn has_images(&self, process: u32) -> Result<bool, Error> {
        self.trace.sessions[self.session].names.has_images(process).map_err(|error| self.failed(error))
    }

    /// The program database of the image that is at an address of a process, or of the kernel (0), at a time: that of the last event about
    /// it until then, or else of the next one. An event about an image that was unloaded before, or is loaded at the address later, is not about it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn pdb(&self, process: u32, base: u64, tick: i64) -> Result<Option<ImagePdb>, Error> {
        self.recall(self.trace.sessions[self.session].names.pdb(process, base, tick), |event| {
            let (guid, age) = event.identity()?;
            Some(ImagePdb { name: event.name()?, guid, age })
        })
    }

    /// A name.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn read(&self, name: NameId) -> Result<Option<Named>, Error> {
        self.recall(Ok(Some(name.0)), named)
    }

    /// The images that a process loaded, in the order of their first events.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn images(&self, process: ProcessIndex) -> Result<Vec<LoadedImage>, Error> {
        let session = &self.trace.sessions[self.session];
        let Some((id, ticks)) = session.processes().interval(process) else { return Ok(Vec::new()) };
        let events = session.names.images(id, ticks).map_err(|error| self.failed(error))?;
        let (mut images, mut loaded) = (Vec::<LoadedImage>::new(), HashMap::new());
        for (tick, at) in events {
            let Some(event) = self.trace.event_at(at)? else { continue };
            let header = event.header();
            let Some(stated @ NameEvent { subject: Subject::Image(range), step, .. }) = NameEvent::read(&header) else {
                continue;
            };
            let (path, base) = (stated.name().unwrap_or_default(), range.start);
            let now = Moment::At { tick, time: self.trace.time(event.file_index(), tick) };
            match (loaded.get(&base).map(|index: &usize| &mut images[*index]), step) {
                (Some(image), Step::End) => {
                    image.unload = Some(now);
                    loaded.remove(&base);
                }
                (Some(image), _) if image.path == path => {}
                (_, step) => {
                    if step != Step::End {
                        loaded.insert(base, images.len());
                    }
                    images.push(LoadedImage {
                        path,
                        base,
                        size: range.size.into(),
                        load: if step == Step::Begin { now } else { Moment::Earlier },
                        unload: (step == Step::End).then_some(now),
                    });
                }
            }
        }
        Ok(images)
    }

    /// The method of .NET at an address of a process.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn method(&self, process: u32, address: u64, tick: i64) -> Result<Option<Named>, Error> {
        self.method_at(process, address, tick)?.name.map_or(Ok(None), |name| self.read(name))
    }

    /// Which method of .NET is at an address of a process. Each tier of a method has its own code, at other addresses. If ranges of methods
    /// overlap, the method of the last event is there.
    ///
    /// # Errors
    ///
    /// A temporary file cannot be read.
    pub fn method_at(&self, process: u32, address: u64, tick: i64) -> Result<AtAddress, Error> {
        let methods = &self.trace.sessions[self.session].names;
        methods.method(process, address, tick).map(AtAddress::from).map_err(|error| self.failed(error))
    }

    /// Path of the module of .NET with an identifier in a process: the file with the code of its methods before it was compiled. `None` if no event states it, or
    /// the module was made in memory.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn module(&self, process: u32, id: u64, tick: i64) -> Result<Option<String>, Error> {
        self.recall(self.trace.sessions[self.session].names.module(process, id, tick), |event| event.name())
    }

    /// Whether the trace states any method of .NET of a process.
    ///
    /// # Errors
    ///
    /// A temporary file cannot be read.
    pub fn has_methods(&self, process: u32) -> Result<bool, Error> {
        self.trace.sessions[self.session].names.has_methods_of(process).map_err(|error| self.failed(error))
    }

    fn recall<T>(
        &self,
        at: io::Result<Option<Position>>,
        of: impl FnOnce(&NameEvent<'_>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(at) = at.map_err(|error| self.failed(error))? else { return Ok(None) };
        let event = self.trace.event_at(at)?;
        Ok(event.and_then(|event| of(&NameEvent::read(&event.header())?)))
    }

    /// An error of a temporary file.
    fn failed(&self, error: io::Error) -> Error {
        let first = self.trace.sessions[self.session].files()[0];
        Error::new(&self.trace.files[first].name, error)
    }
}

/// The process of the images of the kernel.
const KERNEL: u32 = 0;

fn named(event: &NameEvent<'_>) -> Option<Named> {
    match event.subject {
        Subject::Image(range) | Subject::Method(range) => {
            let Range { process, start, size } = range;
            Some(Named {
                name: event.name()?,
                signature: event.signature(),
                process,
                start,
                size,
                time_stamp: event.time_stamp(),
                module: event.module(),
            })
        }
        Subject::File(_) | Subject::Pdb { .. } | Subject::Module { .. } => None,
    }
}
