//! The reader of the functions of a program database: a thread of its own, where there are threads.

use super::Error;
use super::functions::{Function, Opened};
#[cfg(not(target_family = "wasm"))]
use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

/// The functions of a program database. It is read by a thread of its own, which ends with this value.
///
/// `pdb-addr2line` assumes valid files, and files from elsewhere can be anything. Records that make it recurse without end are refused; a panic
/// ends only the thread; and a search that takes longer than 30 seconds is given up. Then nothing is found in the file any more.
///
/// WebAssembly has no threads and no clock: there the caller waits without a limit, and a panic ends the program.
#[derive(Debug)]
pub struct Functions {
    #[cfg(not(target_family = "wasm"))]
    asked: Sender<u32>,
    #[cfg(not(target_family = "wasm"))]
    found: Receiver<Vec<Function>>,
    #[cfg(target_family = "wasm")]
    opened: Opened,
    has_failed: bool,
}

/// Time limit for opening the functions of a file, and for each search.
#[cfg(not(target_family = "wasm"))]
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Size of the stack of the thread, in bytes: names of nested types are written recursively.
#[cfg(not(target_family = "wasm"))]
const STACK: usize = 16 << 20;

impl Functions {
    /// Opens a program database.
    ///
    /// # Errors
    ///
    /// The input is another format, is corrupt, or cannot be read within 30 seconds: [`Error::TimedOut`]. No input causes a panic of the caller.
    #[cfg(not(target_family = "wasm"))]
    pub fn open(input: Vec<u8>) -> Result<Self, Error> {
        let (asked, questions) = channel();
        let (answer, found) = channel();
        let (report, result) = channel();
        let work = move || match Opened::open(input) {
            Ok(opened) => {
                let _ = report.send(Ok(()));
                let mut answers = questions.into_iter().map(|address| opened.at(address));
                while answers.next().is_some_and(|functions| answer.send(functions).is_ok()) {}
            }
            Err(error) => drop(report.send(Err(error))),
        };
        let spawned = thread::Builder::new().name("program database".to_owned()).stack_size(STACK).spawn(work);
        spawned.map_err(|error| Error::damaged(format!("no thread for it: {error}")))?;
        match result.recv_timeout(TIME_LIMIT) {
            Ok(result) => result.map(|()| Self { asked, found, has_failed: false }),
            Err(RecvTimeoutError::Timeout) => Err(Error::TimedOut),
            Err(RecvTimeoutError::Disconnected) => Err(Error::damaged("its functions cannot be read")),
        }
    }

    /// Opens a program database.
    ///
    /// # Errors
    ///
    /// The input is another format, or is corrupt.
    #[cfg(target_family = "wasm")]
    pub fn open(input: Vec<u8>) -> Result<Self, Error> {
        Ok(Self { opened: Opened::open(input)?, has_failed: false })
    }

    /// The functions at an address, in bytes from the start of the image: the inlined ones first, the innermost of them first, and the function
    /// that contains the address last. Empty if none is known. A public symbol has no size, so the function of one can be the nearest before
    /// the address.
    #[cfg(not(target_family = "wasm"))]
    pub fn at(&mut self, address: u32) -> Vec<Function> {
        if self.has_failed || self.asked.send(address).is_err() {
            return Vec::new();
        }
        let found = self.found.recv_timeout(TIME_LIMIT);
        self.has_failed = found.is_err();
        found.unwrap_or_default()
    }

    /// The functions at an address, as where there are threads.
    #[cfg(target_family = "wasm")]
    pub fn at(&mut self, address: u32) -> Vec<Function> {
        self.opened.at(address)
    }

    /// Whether a search failed, so that nothing is found any more.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }
}
