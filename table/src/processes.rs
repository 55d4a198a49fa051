//! Names of processes by identifier and time.

use crate::hash::Map;
use etw_layouts_etl::processes::Process;

/// The names of the images of a trace's processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessNames {
    /// Processes with the identifier, in the order of their start.
    by_id: Map<u32, Vec<Span>>,
    names: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: i64,
    end: i64,
    name: u32,
}

impl ProcessNames {
    /// The processes in the order of their start.
    pub fn new(processes: Vec<Process>) -> Self {
        let mut all = Self::default();
        let mut known = std::collections::HashMap::new();
        for process in processes {
            let Some(image) = process.image else { continue };
            let name = *known.entry(image.clone()).or_insert_with(|| {
                all.names.push(image);
                all.names.len() as u32 - 1
            });
            let (start, end) = (process.start.unwrap_or(i64::MIN), process.end.unwrap_or(i64::MAX));
            all.by_id.entry(process.id).or_default().push(Span { start, end, name });
        }
        all
    }

    /// The names, which [`at`](Self::at) returns by index.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of the process with an identifier at a time: the last one that started before it. The end event of a process belongs to that
    /// process.
    #[inline]
    pub fn at(&self, id: u32, time: i64) -> Option<u32> {
        let spans = self.by_id.get(&id)?;
        let span = spans.iter().rev().find(|span| span.start <= time)?;
        (time <= span.end).then_some(span.name)
    }
}
