//! A structure over all kernels of an architecture: where each member lies in which, and what that is known from.

use crate::history::{Fact, facts_at};
use crate::members::{has, members};
use crate::names::declared;
use crate::subject::Subject;
use crate::{Choice, Confidence, Source};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::layouts::{Extent, LayoutId, Layouts};
use etw_layouts_codegen::registry::Registry;
use std::collections::BTreeMap;
use std::ops::Range;

/// A structure along the kernels of an architecture.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The architecture.
    pub arch: Arch,
    /// Runs of kernels that have the same layout, oldest first.
    pub columns: Vec<Column>,
    /// The members, in the order of the declaration, each by its path.
    pub rows: Vec<Row>,
}

/// Kernels that follow each other and have the same layout.
#[derive(Clone, Debug)]
pub struct Column {
    /// The targets, oldest first, each with the confidence in the structure's layout.
    pub targets: Vec<(usize, Confidence)>,
    /// The layout.
    pub layout: LayoutId,
    /// Its size and alignment.
    pub extent: Extent,
    /// Whether kernels lie between this column and the one before that do not have the structure.
    pub after_gap: bool,
}

/// A member.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its path.
    pub member: String,
    /// What it is, as the newest kernel has it.
    pub doc: String,
    /// Where it is, oldest first. It is not there in columns that no run has.
    pub runs: Vec<Run>,
}

/// Columns that follow each other in which a member is the same, and known from the same: symbols, as they are or converted, or else one
/// source.
#[derive(Clone, Debug)]
pub struct Run {
    /// Indices of the columns.
    pub columns: Range<usize>,
    /// What the member is there.
    pub fact: Fact,
    /// The weakest of what it is known from, of all kernels of the run.
    pub source: Source,
}

impl Matrix {
    /// A structure or union on an architecture; nothing if no kernel of that has it.
    pub fn of(layouts: &Layouts, registry: &Registry, structure: &str, arch: Arch) -> Option<Self> {
        let axis = &layouts.spec.axis;
        let has = has(layouts, structure);
        let mut columns: Vec<Column> = Vec::new();
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        let mut after_gap = false;
        for (_, target) in axis.along(arch) {
            if !has.contains(target) {
                after_gap = !columns.is_empty();
                continue;
            }
            let Some(&layout) = layouts.by_target[target].get(structure) else { continue };
            let choice = Choice::of(layouts, registry, axis.newest(target), Some(structure));
            let is_new = after_gap || columns.last().is_none_or(|last| last.layout != layout);
            if is_new {
                let extent = layouts.layouts[layout].extent();
                columns.push(Column { targets: Vec::new(), layout, extent, after_gap });
            }
            after_gap = false;
            let at = columns.len() - 1;
            columns[at].targets.push((target, choice.confidence));
            let subject = Subject { structure: structure.to_owned(), member: None, choice, levels: 0 };
            let list = members(layouts, structure, target);
            let sources = subject.sources(layouts, registry, &list);
            let mut facts = if is_new { facts_at(layouts, structure, target) } else { Vec::new() }.into_iter();
            for (member, source) in list.into_iter().zip(sources) {
                let (Some(path), Some((_, info)), Some(source)) = (member.path, member.field, source) else { continue };
                let row = rows.entry(path.clone()).or_insert_with(|| Row { member: path, doc: String::new(), runs: Vec::new() });
                row.doc = info.doc;
                // Facts come in the order of the members.
                let fact = if is_new { facts.next().map(|(_, fact)| fact) } else { None };
                row.reach(at, fact, source);
            }
        }
        let rows = declared(layouts, structure).into_iter().filter_map(|path| rows.remove(&path).map(Row::merged)).collect();
        (!columns.is_empty()).then_some(Self { arch, columns, rows })
    }
}

impl Row {
    /// The member is there in a column, with a fact if it is the first time that the column is looked at.
    fn reach(&mut self, column: usize, fact: Option<Fact>, source: Source) {
        match (self.runs.last_mut(), fact) {
            // Of two members of one path, the first stands for both.
            (Some(run), _) if run.columns.end > column => run.source = run.source.max(source),
            (_, Some(fact)) => self.runs.push(Run { columns: column..column + 1, fact, source }),
            (_, None) => {}
        }
    }

    /// With one run for columns that follow each other and are the same.
    fn merged(mut self) -> Self {
        self.runs.dedup_by(|next, run| {
            let both = run.source.max(next.source);
            let same = run.source == next.source || both == Source::Converted;
            let same = same && run.columns.end == next.columns.start && run.fact == next.fact;
            if same {
                (run.columns.end, run.source) = (next.columns.end, both);
            }
            same
        });
        self
    }
}
