//! Standard output, written by a separate thread while the main thread prepares the next lines.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// The number of blocks that can wait.
const BLOCKS: usize = 4;

pub struct Writer {
    blocks: SyncSender<Vec<u8>>,
    /// Written blocks. Their memory is reused.
    written: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

impl Writer {
    pub fn new() -> io::Result<Self> {
        let (blocks, next) = sync_channel::<Vec<u8>>(BLOCKS);
        let (done, written) = channel();
        let thread = Builder::new().spawn(move || {
            let mut out = io::stdout().lock();
            for mut block in next {
                out.write_all(&block)?;
                block.clear();
                // After `end`, the block has no receiver.
                let _ = done.send(block);
            }
            Ok(())
        })?;
        Ok(Self { blocks, written, thread })
    }

    /// Queues a block and returns memory for the next one.
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
    pub fn end(self) -> io::Result<()> {
        drop(self.blocks);
        self.thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    }
}
