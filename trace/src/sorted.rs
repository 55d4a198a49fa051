//! Sorted records of fixed size: in memory, or in a temporary file if there are many. Where no temporary file exists, such as in a browser, records beyond the
//! limit of memory are left out and counted.

use crate::source::read_exact_at;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// A record, compared word by word.
pub(crate) type Record<const N: usize> = [u64; N];

/// Collects records in any order. If they need more memory than the limit, sorted runs are written to a temporary file.
#[derive(Debug)]
pub(crate) struct Sorter<const N: usize> {
    records: Vec<Record<N>>,
    /// Number of records in memory at which a run is written.
    limit: usize,
    file: Option<File>,
    /// The ends of the runs in the file, in records.
    runs: Vec<u64>,
    has_files: bool,
    left_out: u64,
}

/// The records of a [`Sorter`] in order.
#[derive(Debug)]
pub(crate) struct Sorted<const N: usize> {
    runs: Vec<Run<N>>,
    heap: BinaryHeap<Reverse<(Record<N>, usize)>>,
    file: Option<File>,
    /// Number of records that are left out.
    pub left_out: u64,
}

/// The rest of a sorted run.
#[derive(Debug)]
struct Run<const N: usize> {
    /// Records that were read, in descending order.
    records: Vec<Record<N>>,
    /// The records in the file that were not read, by index.
    rest: std::ops::Range<u64>,
    /// Number of records to read at a time.
    step: u64,
}

/// Sorted records, which are found by binary search.
#[derive(Debug)]
pub(crate) enum Table<const N: usize> {
    /// The records, and the number of those that are left out.
    Memory(Vec<Record<N>>, u64),
    File(Blocks<N>),
}

/// Sorted records in a temporary file, which are read in blocks.
#[derive(Debug)]
pub(crate) struct Blocks<const N: usize> {
    file: File,
    count: u64,
    /// The first record of each block.
    firsts: Vec<Record<N>>,
    /// The blocks that were read last.
    cache: Mutex<VecDeque<(usize, Arc<Vec<Record<N>>>)>>,
}

/// Whether the host has temporary files.
const HAS_FILES: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// Number of records in a block.
const BLOCK: u64 = 512;

/// Number of blocks that are kept in memory.
const BLOCKS: usize = 16;

impl<const N: usize> Sorter<N> {
    /// A sorter that needs at most `memory` bytes, and a record.
    pub fn new(memory: usize) -> Self {
        let limit = (memory / size_of::<Record<N>>()).max(1);
        Self { records: Vec::new(), limit, file: None, runs: Vec::new(), has_files: HAS_FILES, left_out: 0 }
    }

    /// Adds a record.
    pub fn push(&mut self, record: Record<N>) -> io::Result<()> {
        if self.records.len() >= self.limit {
            if !self.has_files {
                self.left_out += 1;
                return Ok(());
            }
            self.spill()?;
        }
        if self.records.len() == self.records.capacity() {
            // A vector that doubles would need more than the limit.
            self.records.reserve_exact(self.records.len().clamp(64, self.limit.max(64)).min(self.limit - self.records.len()));
        }
        self.records.push(record);
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        self.records.sort_unstable();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let mut out = BufWriter::with_capacity(1 << 16, file);
        self.records.iter().try_for_each(|record| write(&mut out, record))?;
        out.flush()?;
        self.runs.push(self.runs.last().unwrap_or(&0) + self.records.len() as u64);
        self.records.clear();
        Ok(())
    }

    /// The records in order.
    pub fn finish(mut self) -> io::Result<Sorted<N>> {
        self.records.sort_unstable_by(|one, other| other.cmp(one));
        // The parts of all runs in memory are about as large as the records before.
        let step = (self.limit as u64 / (self.runs.len() as u64 + 1)).clamp(16, 4096);
        let starts = std::iter::once(0).chain(self.runs.iter().copied());
        let mut runs: Vec<_> =
            starts.zip(self.runs.iter()).map(|(start, end)| Run { records: Vec::new(), rest: start..*end, step }).collect();
        runs.push(Run { records: self.records, rest: 0..0, step });
        let mut heap = BinaryHeap::with_capacity(runs.len());
        for (index, run) in runs.iter_mut().enumerate() {
            if let Some(record) = run.next(self.file.as_ref())? {
                heap.push(Reverse((record, index)));
            }
        }
        Ok(Sorted { runs, heap, file: self.file, left_out: self.left_out })
    }

    /// The records as a table. `complete` is called with each record in order, and must not change the order.
    pub fn table(mut self, mut complete: impl FnMut(&mut Record<N>)) -> io::Result<Table<N>> {
        if self.file.is_none() {
            self.records.sort_unstable();
            self.records.shrink_to_fit();
            self.records.iter_mut().for_each(complete);
            return Ok(Table::Memory(self.records, self.left_out));
        }
        let mut sorted = self.finish()?;
        let (mut count, mut firsts) = (0, Vec::new());
        let mut out = BufWriter::with_capacity(1 << 16, tempfile::tempfile()?);
        while let Some(mut record) = sorted.next()? {
            complete(&mut record);
            if count % BLOCK == 0 {
                firsts.push(record);
            }
            write(&mut out, &record)?;
            count += 1;
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Table::File(Blocks { file, count, firsts, cache: Mutex::default() }))
    }
}

impl<const N: usize> Sorted<N> {
    /// The next record.
    pub fn next(&mut self) -> io::Result<Option<Record<N>>> {
        let Some(Reverse((record, index))) = self.heap.pop() else { return Ok(None) };
        if let Some(next) = self.runs[index].next(self.file.as_ref())? {
            self.heap.push(Reverse((next, index)));
        }
        Ok(Some(record))
    }
}

impl<const N: usize> Run<N> {
    fn next(&mut self, file: Option<&File>) -> io::Result<Option<Record<N>>> {
        if let (true, false, Some(file)) = (self.records.is_empty(), self.rest.is_empty(), file) {
            let end = self.rest.end.min(self.rest.start + self.step);
            self.records = read(file, self.rest.start..end)?;
            self.records.reverse();
            self.rest.start = end;
        }
        Ok(self.records.pop())
    }
}

impl<const N: usize> Table<N> {
    /// Size of the temporary file in bytes; 0 if there is none.
    pub fn file_size(&self) -> u64 {
        match self {
            Self::Memory(..) => 0,
            Self::File(blocks) => blocks.count * size_of::<Record<N>>() as u64,
        }
    }

    /// Number of records that are left out, because they exceed the limit of memory and the host has no temporary files.
    pub fn left_out(&self) -> u64 {
        match self {
            Self::Memory(_, left_out) => *left_out,
            Self::File(_) => 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Memory(records, _) if records.is_empty())
    }

    /// Calls `see` with the records from the first one that is not less than `low`, in ascending order.
    pub fn ascend(&self, low: &Record<N>, mut see: impl FnMut(&Record<N>) -> ControlFlow<()>) -> io::Result<()> {
        let mut index = self.position(low)?;
        while let Some(record) = self.get(index)?
            && see(&record).is_continue()
        {
            index += 1;
        }
        Ok(())
    }

    /// Calls `see` with the records from the last one that is less than `high`, in descending order.
    pub fn descend(&self, high: &Record<N>, mut see: impl FnMut(&Record<N>) -> ControlFlow<()>) -> io::Result<()> {
        let mut index = self.position(high)?;
        while let Some(before) = index.checked_sub(1)
            && let Some(record) = self.get(before)?
            && see(&record).is_continue()
        {
            index = before;
        }
        Ok(())
    }

    /// Number of records that are less than `low`.
    fn position(&self, low: &Record<N>) -> io::Result<u64> {
        Ok(match self {
            Self::Memory(records, _) => records.partition_point(|record| record < low) as u64,
            Self::File(blocks) => match blocks.firsts.partition_point(|first| first < low).checked_sub(1) {
                None => 0,
                Some(block) => block as u64 * BLOCK + blocks.block(block)?.partition_point(|record| record < low) as u64,
            },
        })
    }

    fn get(&self, index: u64) -> io::Result<Option<Record<N>>> {
        Ok(match self {
            Self::Memory(records, _) => records.get(index as usize).copied(),
            Self::File(blocks) if index >= blocks.count => None,
            Self::File(blocks) => blocks.block((index / BLOCK) as usize)?.get((index % BLOCK) as usize).copied(),
        })
    }
}

impl<const N: usize> Blocks<N> {
    fn block(&self, number: usize) -> io::Result<Arc<Vec<Record<N>>>> {
        let lock = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = lock().iter().find(|(known, _)| *known == number) {
            return Ok(block.clone());
        }
        let start = number as u64 * BLOCK;
        let block = Arc::new(read(&self.file, start..self.count.min(start + BLOCK))?);
        let mut cache = lock();
        if cache.len() >= BLOCKS {
            cache.pop_front();
        }
        cache.push_back((number, block.clone()));
        Ok(block)
    }
}

fn write<const N: usize>(out: &mut impl Write, record: &Record<N>) -> io::Result<()> {
    record.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
}

/// The records of a file with these indices.
fn read<const N: usize>(file: &File, range: std::ops::Range<u64>) -> io::Result<Vec<Record<N>>> {
    let size = size_of::<Record<N>>();
    let mut bytes = vec![0; (range.end - range.start) as usize * size];
    read_exact_at(file, &mut bytes, range.start * size as u64)?;
    let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    Ok(bytes.chunks_exact(size).map(|record| std::array::from_fn(|index| word(&record[8 * index..]))).collect())
}

/// A tick as a word of a record, in the same order.
pub(crate) fn word_of_tick(tick: i64) -> u64 {
    tick as u64 ^ 1 << 63
}

pub(crate) fn tick_of_word(word: u64) -> i64 {
    (word ^ 1 << 63) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table in a file has the records of one in memory, from each of them in both directions.
    #[test]
    fn a_table_in_a_file_is_the_same_as_in_memory() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 40
        };
        let records: Vec<[u64; 3]> = (0..5000).map(|index| [random() % 700, random() % 3, index]).collect();
        let [small, large] = [1 << 12, 1 << 20].map(|memory| {
            let mut sorter = Sorter::new(memory);
            records.iter().for_each(|record| sorter.push(*record).expect("a temporary file"));
            sorter.table(|_| {}).expect("a temporary file")
        });
        assert_eq!((small.file_size(), large.file_size()), (5000 * 24, 0));
        for low in (0..=700).flat_map(|first| [[first, 0, 0], [first, 1, 2500]]) {
            let [one, other] = [&small, &large].map(|table| {
                let mut seen = (Vec::new(), Vec::new());
                let add = |seen: &mut Vec<_>, record: &[u64; 3]| {
                    seen.push(*record);
                    if seen.len() < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                };
                table.ascend(&low, |record| add(&mut seen.0, record)).expect("a temporary file");
                table.descend(&low, |record| add(&mut seen.1, record)).expect("a temporary file");
                seen
            });
            assert_eq!(one, other, "{low:?}");
        }
    }

    /// Without temporary files, records beyond the limit are counted.
    #[test]
    fn records_beyond_the_limit_are_counted() {
        let mut sorter = Sorter { has_files: false, ..Sorter::<1>::new(8 * 100) };
        (0..250).for_each(|number| sorter.push([number]).expect("no file"));
        let table = sorter.table(|_| {}).expect("no file");
        assert_eq!((table.left_out(), table.file_size()), (150, 0));
        assert!(matches!(table, Table::Memory(records, _) if records == (0..100).map(|number| [number]).collect::<Vec<_>>()));
    }
}
