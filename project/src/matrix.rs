//! A structure in all builds of an architecture: the offset of each member by build, with its source.

use crate::history::{TargetFact, facts_at};
use crate::members::{has, members};
use crate::names::declared;
use crate::subject::Subject;
use crate::{Choice, Confidence, Source};
use etw_layouts_codegen::axis::{Arch, TargetId};
use etw_layouts_codegen::layouts::{Extent, LayoutId, Layouts};
use etw_layouts_codegen::registry::Registry;
use std::collections::BTreeMap;
use std::ops::Range;

/// A structure along the builds of an architecture.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The architecture.
    pub arch: Arch,
    /// Runs of builds with the same layout, oldest first.
    pub columns: Vec<Column>,
    /// The members in declaration order, by path.
    pub rows: Vec<Row>,
}

/// Consecutive builds with the same layout.
#[derive(Clone, Debug)]
pub struct Column {
    /// The targets, oldest first, each with the confidence in the structure's layout.
    pub targets: Vec<(TargetId, Confidence)>,
    /// The layout.
    pub layout: LayoutId,
    /// Its size and alignment.
    pub extent: Extent,
    /// Whether builds between the previous column and this one lack the structure.
    pub after_gap: bool,
}

/// A member.
#[derive(Clone, Debug)]
pub struct Row {
    /// Path of the member.
    pub member: String,
    /// Description of the member in the newest build.
    pub doc: String,
    /// Runs with the same fact, oldest first. The member is absent in columns outside all runs.
    pub runs: Vec<Run>,
}

/// Consecutive columns in which a member has the same facts and the same source: symbols, converted symbols, or another single
/// source.
#[derive(Clone, Debug)]
pub struct Run {
    /// Indices of the columns.
    pub columns: Range<usize>,
    /// The facts of the member.
    pub fact: TargetFact,
    /// The weakest source among all builds of the run.
    pub source: Source,
}

impl Matrix {
    /// A structure or union on an architecture; `None` if no build of it has the structure.
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
            let subject = Subject { structure: structure.to_owned(), member: None, offset: None, choice, levels: 0 };
            let list = members(layouts, structure, target);
            let sources = subject.sources(layouts, registry, &list);
            let mut facts = if is_new { facts_at(layouts, structure, target) } else { Vec::new() }.into_iter();
            for (member, source) in list.into_iter().zip(sources) {
                let (Some(path), Some((_, info)), Some(source)) = (member.path, member.field, source) else { continue };
                let row = rows.entry(path.clone()).or_insert_with(|| Row { member: path, doc: String::new(), runs: Vec::new() });
                row.doc = info.doc;
                // Facts are in the order of the members.
                let fact = if is_new { facts.next().map(|(_, fact)| fact) } else { None };
                row.reach(at, fact, source);
            }
        }
        let rows = declared(layouts, structure).into_iter().filter_map(|path| rows.remove(&path).map(Row::merged)).collect();
        (!columns.is_empty()).then_some(Self { arch, columns, rows })
    }
}

impl Row {
    /// Adds a column with the member, and its fact if the column is examined for the first time.
    fn reach(&mut self, column: usize, fact: Option<TargetFact>, source: Source) {
        match (self.runs.last_mut(), fact) {
            // Of two members with the same path, the first represents both.
            (Some(run), _) if run.columns.end > column => run.source = run.source.max(source),
            (_, Some(fact)) => self.runs.push(Run { columns: column..column + 1, fact, source }),
            (_, None) => {}
        }
    }

    /// Merges consecutive columns with equal facts into one run.
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
