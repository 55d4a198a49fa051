//! The program of the page: calls from the worker's script, and files that the script reads.

use crate::explorer::Explorer;
use crate::files::Files;
use crate::filter;
use crate::save::SaveFormat;
use etw_layouts_trace::Source;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::{io, panic};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Fills the bytes with those of a file from an offset on, by the number of the file; `false` if the file cannot be read or is shorter.
    #[wasm_bindgen(js_namespace = globalThis, js_name = readFile)]
    fn read_file(file: u32, offset: f64, bytes: &mut [u8]) -> bool;

    /// Receives the message of a panic, before the program ends.
    #[wasm_bindgen(js_namespace = globalThis, js_name = notePanic)]
    fn note_panic(text: &str);

    /// Receives a part of a file to save.
    #[wasm_bindgen(js_namespace = globalThis, js_name = putPart)]
    fn put_part(bytes: &[u8]);
}

/// The program, with at most one open trace.
#[wasm_bindgen]
#[derive(Default)]
pub struct Program {
    explorer: Explorer,
    files: Files,
}

#[wasm_bindgen]
impl Program {
    /// A program without a trace.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        panic::set_hook(Box::new(|panic| note_panic(&panic.to_string())));
        Self::default()
    }

    /// Forgets added files.
    pub fn begin(&mut self) {
        self.files = Files::default();
    }

    /// Adds a trace file for the next [`open`](Self::open), by its number in the script.
    pub fn add_trace(&mut self, name: String, file: u32, length: f64) -> Result<(), String> {
        self.files.add_trace(name, BrowserFile { file, length: length as u64 })
    }

    /// Adds the sessions of a crash dump for the next [`open`](Self::open).
    pub fn add_dump(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), String> {
        self.files.add_dump(name, bytes)
    }

    /// Adds a file with schemas or functions for the next [`open`](Self::open), by its number in the script.
    pub fn add_schemas(&mut self, name: String, file: u32, length: f64) {
        self.files.add_schemas(name, BrowserFile { file, length: length as u64 });
    }

    /// Opens the added files. Returns a summary as JSON.
    pub fn open(&mut self) -> Result<String, String> {
        forget_blocks();
        json(&self.explorer.open(std::mem::take(&mut self.files))?)
    }

    /// Selects events by the words of the filter. Returns numbers and a hint as JSON.
    pub fn select(&mut self, words: &str) -> Result<String, String> {
        json(&self.explorer.select(words)?)
    }

    /// Selected events as JSON, from an index on.
    pub fn rows(&self, start: f64, count: f64) -> Result<String, String> {
        self.explorer.rows(start as u64, count as u64)
    }

    /// A selected event in detail, as JSON.
    pub fn event(&self, index: f64) -> Result<String, String> {
        self.explorer.event(index as u64)
    }

    /// The data of the report, as JSON.
    pub fn report(&self) -> Result<String, String> {
        self.explorer.report()
    }

    /// Saves the selected events in a format, part by part. Returns a sentence on what was written.
    pub fn save(&self, format: &str) -> Result<String, String> {
        let known = SaveFormat::named(format)
            .ok_or_else(|| format!("unknown format `{format}`; known formats: csv, jsonl, parquet, etl"))?;
        self.explorer.save(known, &mut put_part)
    }
}

/// The options of the filter as JSON.
#[wasm_bindgen]
pub fn filter_options() -> Result<String, String> {
    json(&filter::options())
}

fn json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

/// A file that the script reads by position.
#[derive(Debug)]
struct BrowserFile {
    /// Its number in the script.
    file: u32,
    length: u64,
}

/// Size of a block, in bytes: each call of the script reads at least one.
const BLOCK: u64 = 1 << 20;

/// Number of blocks that are kept in memory.
const BLOCKS: usize = 8;

thread_local! {
    /// The blocks that were read last, by file and number.
    static BLOCKS_READ: RefCell<VecDeque<((u32, u64), Arc<Vec<u8>>)>> = const { RefCell::new(VecDeque::new()) };
}

fn forget_blocks() {
    BLOCKS_READ.with_borrow_mut(VecDeque::clear);
}

impl BrowserFile {
    fn block(&self, number: u64) -> io::Result<Arc<Vec<u8>>> {
        let key = (self.file, number);
        let known =
            BLOCKS_READ.with_borrow(|blocks| blocks.iter().find(|(known, _)| *known == key).map(|(_, block)| block.clone()));
        if let Some(block) = known {
            return Ok(block);
        }
        let start = number * BLOCK;
        let length = BLOCK.min(self.length - start);
        let mut block = vec![0; length as usize];
        if !read_file(self.file, start as f64, &mut block) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file changed or cannot be read; drop it again"));
        }
        let block = Arc::new(block);
        BLOCKS_READ.with_borrow_mut(|blocks| {
            if blocks.len() >= BLOCKS {
                blocks.pop_front();
            }
            blocks.push_back((key, block.clone()));
        });
        Ok(block)
    }
}

impl Source for BrowserFile {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        if offset.checked_add(bytes.len() as u64).is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let block = self.block(at / BLOCK)?;
            let rest = &block[(at % BLOCK) as usize..];
            let count = rest.len().min(bytes.len() - done);
            bytes[done..done + count].copy_from_slice(&rest[..count]);
            done += count;
        }
        Ok(())
    }
}
