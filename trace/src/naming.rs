//! Names of a session, read from its trace.

use crate::error::Error;
use crate::event::Event;
use crate::name_event::{NameEvent, Step, Subject};
use crate::place::Position;
use crate::process::{LoadedImage, Moment, ProcessIndex};
use crate::trace::Trace;
use std::collections::HashMap;
use std::io;

/// The names that a session states: of files, images and methods. Names are valid at a time; the program that wrote them can have reused their keys
/// and addresses later.
#[derive(Clone, Copy, Debug)]
pub struct Names<'t> {
    trace: &'t Trace,
    session: usize,
}

/// Addresses of a process that have a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Named {
    /// Path of an image, as the kernel names it; namespace and name of a method.
    pub name: String,
    /// Signature of a method.
    pub signature: Option<String>,
    /// The first address.
    pub start: u64,
    /// Size in bytes.
    pub size: u32,
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

impl Names<'_> {
    /// Path of a file, by its object or key, as the kernel names it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn file_name(&self, object: u64, tick: i64) -> Result<Option<String>, Error> {
        let at = self.trace.sessions[self.session].names.file(object, tick);
        self.read(at, |event| event.name())
    }

    /// The image at an address of a process, or of the kernel.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn image(&self, process: u32, address: u64, tick: i64) -> Result<Option<Named>, Error> {
        let names = &self.trace.sessions[self.session].names;
        let found = self.read(names.image(process, address, tick), named)?;
        if found.is_some() || process == KERNEL {
            return Ok(found);
        }
        self.read(names.image(KERNEL, address, tick), named)
    }

    /// The images that a process loaded, in the order of their first events.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or changed since it was opened.
    pub fn images(&self, process: ProcessIndex) -> Result<Vec<LoadedImage>, Error> {
        let session = &self.trace.sessions[self.session];
        let Some((id, ticks)) = session.processes().interval(process) else { return Ok(Vec::new()) };
        let events = session.names.images(id).map_err(|error| self.failed(error))?;
        let (mut images, mut loaded) = (Vec::<LoadedImage>::new(), HashMap::new());
        for (tick, at) in events.into_iter().filter(|(tick, _)| ticks.contains(tick)) {
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
        self.read(self.trace.sessions[self.session].names.method(process, address, tick), named)
    }

    fn read<T>(
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
            Some(Named { name: event.name()?, signature: event.signature(), start: range.start, size: range.size })
        }
        Subject::File(_) => None,
    }
}
