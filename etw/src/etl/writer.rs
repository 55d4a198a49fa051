//! The standard output, written on a thread of its own: one core makes lines while another gives those before to the system.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// How many blocks may wait.
const BLOCKS: usize = 4;

pub struct Writer {
    blocks: SyncSender<Vec<u8>>,
    /// Blocks that are written, whose memory is used again.
    written: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

impl Writer {
    /// # Errors
    ///
    /// There can be no thread.
    pub fn new() -> io::Result<Self> {
        let (blocks, next) = sync_channel::<Vec<u8>>(BLOCKS);
        let (done, written) = channel();
        let thread = Builder::new().spawn(move || {
            let mut out = io::stdout().lock();
            for mut block in next {
                out.write_all(&block)?;
                block.clear();
                // At the end nobody takes it.
                let _ = done.send(block);
            }
            Ok(())
        })?;
        Ok(Self { blocks, written, thread })
    }

    /// Has a block written behind those before, and returns memory for the next.
    ///
    /// # Errors
    ///
    /// A block before could not be written.
    pub fn write(self, block: Vec<u8>) -> io::Result<(Self, Vec<u8>)> {
        match self.blocks.send(block) {
            Ok(()) => {
                let empty = self.written.try_recv().unwrap_or_default();
                Ok((self, empty))
            }
            Err(_) => Err(self.end().err().unwrap_or_else(|| io::ErrorKind::Other.into())),
        }
    }

    /// Waits until all blocks are written.
    ///
    /// # Errors
    ///
    /// One could not be written.
    pub fn end(self) -> io::Result<()> {
        drop(self.blocks);
        self.thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    }
}
