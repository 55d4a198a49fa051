//! Assignment of updates to months. The list has no dates, but every branch (build) of Windows gets an update each month, with KB
//! numbers in a narrow range.

use super::Updates;
use core::fmt;
use core::str::FromStr;
use etw_layouts_codegen::axis::{Axis, Build};
use std::collections::BTreeMap;

/// A month, displayed as `2022-01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(u32);

/// Months of the updates of each branch.
#[derive(Clone, Debug)]
pub struct Calendar {
    first: Month,
    /// Branches by build and first revision.
    branches: BTreeMap<Build, Branch>,
}

/// The updates of a branch.
#[derive(Clone, Debug, Default)]
struct Branch {
    /// All revisions except repairs, ascending.
    revisions: Vec<u32>,
    /// Revisions whose KB number determines the month, ascending, with the number of months since the first.
    known: Vec<(u32, u32)>,
}

/// Builds with one update a month and no previews, the later one serviced for longer.
const MONTHLY: [[u32; 3]; 2] = [[10, 0, 10240], [10, 0, 14393]];
/// Minimum gap between revisions of two branches of a build: since 2026, those of Windows Server 2025 begin at 26100.32230.
const FORK: u32 = 10_000;
/// Maximum gap between a revision and its repair. Monthly revisions are further apart.
const REPAIR: u32 = 10;
/// Maximum gap between the KB numbers of updates of the same month, in most months.
const CLOSE: u32 = 120;
/// Maximum time between updates with the same change, in months: a preview precedes the update with the change in branches
/// without previews by half a month to a month.
const SAME: f64 = 0.75;

impl Updates {
    /// The months of the updates; `None` if the list has no month. The axis identifies builds of the same branch.
    pub fn calendar(&self, axis: &Axis) -> Option<Calendar> {
        let (first, kb) = self.first?;
        let mut rows: BTreeMap<[u32; 3], BTreeMap<u32, u32>> = BTreeMap::new();
        for (&build, kbs) in &self.kbs {
            let revisions = rows.entry(axis.canonical(build).number).or_default();
            revisions.extend(kbs.first().map(|&kb| (build.revision, kb)));
        }
        let mut branches: BTreeMap<Build, Vec<(u32, u32)>> = BTreeMap::new();
        for (number, rows) in rows {
            for rows in regular(rows).chunk_by(|(one, _), (next, _)| next - one < FORK) {
                branches.insert(Build { number, revision: rows[0].0 }, rows.to_vec());
            }
        }
        let months = months(&branches, kb);
        let branches = branches.into_iter().map(|(begin, rows)| (begin, Branch::new(&rows, &months))).collect();
        Some(Calendar { first, branches })
    }
}

/// The rows of a branch, without repairs.
fn regular(rows: BTreeMap<u32, u32>) -> Vec<(u32, u32)> {
    let mut before = None;
    let rows = rows.into_iter().filter(|&(revision, _)| {
        let is_repair = before.replace(revision).is_some_and(|before| revision - before < REPAIR);
        !is_repair
    });
    rows.collect()
}

/// KB number of an update of each month, beginning with the first.
fn months(branches: &BTreeMap<Build, Vec<(u32, u32)>>, first: u32) -> Vec<u32> {
    let mut months = Vec::new();
    for number in MONTHLY {
        let branch = branches.iter().find(|(begin, _)| begin.number == number);
        let mut rows = branch.into_iter().flat_map(|(_, rows)| rows).map(|(_, kb)| *kb);
        match months.last().copied() {
            None => months.extend(rows.skip_while(|kb| *kb != first)),
            Some(last) if rows.any(|kb| kb.abs_diff(last) <= CLOSE) => months.extend(rows),
            Some(_) => {}
        }
    }
    months
}

impl Branch {
    /// The update of a month is the first of the branch close to it: previews of the month come later.
    fn new(rows: &[(u32, u32)], months: &[u32]) -> Self {
        let (mut known, mut rest) = (Vec::new(), rows);
        for (month, of_month) in (0..).zip(months) {
            if let Some(at) = rest.iter().position(|(_, kb)| kb.abs_diff(*of_month) <= CLOSE) {
                known.push((rest[at].0, month));
                rest = &rest[at + 1..];
            }
        }
        Self { revisions: rows.iter().map(|(revision, _)| *revision).collect(), known }
    }

    /// Time of a revision, interpolated between revisions with known months.
    fn time(&self, revision: u32) -> Option<f64> {
        let after = self.known.partition_point(|(known, _)| *known < revision);
        match (self.known.get(after), after.checked_sub(1).map(|before| self.known[before])) {
            (Some(&(known, month)), _) if known == revision => Some(f64::from(month)),
            (Some(&(next, to)), Some((last, from))) => {
                let part = f64::from(revision - last) / f64::from(next - last);
                Some(f64::from(from) + part * f64::from(to - from))
            }
            _ => None,
        }
    }
}

impl Calendar {
    /// The month of an update; a preview has the month before the update that it previews. `None` outside the months of the list.
    pub fn month(&self, axis: &Axis, update: Build) -> Option<Month> {
        let time = self.branch(axis, update)?.1.time(update.revision)?;
        // An update without a known month is interpolated, and may seem slightly earlier than its month.
        Some(Month(self.first.0 + (time + 0.2) as u32))
    }

    /// Updates of other branches that may contain the same change as an update, for each branch the nearest in time first, oldest
    /// branch first. Updates that repair an earlier one are excluded.
    pub fn same(&self, axis: &Axis, update: Build) -> Vec<Vec<Build>> {
        let Some((own, branch)) = self.branch(axis, update) else { return Vec::new() };
        let Some(time) = branch.time(update.revision) else { return Vec::new() };
        let others = self.branches.iter().filter(|(begin, _)| *begin != own);
        let near = others.map(|(&Build { number, .. }, branch)| {
            let distance = |revision: u32| Some((branch.time(revision)? - time).abs());
            let near = branch.revisions.iter().filter_map(|&revision| Some((distance(revision)?, revision)));
            let mut near: Vec<_> = near.filter(|(distance, _)| *distance <= SAME).collect();
            near.sort_by(|(one, _), (other, _)| one.total_cmp(other));
            near.into_iter().map(|(_, revision)| Build { number, revision }).collect::<Vec<_>>()
        });
        near.filter(|near| !near.is_empty()).collect()
    }

    fn branch(&self, axis: &Axis, update: Build) -> Option<(&Build, &Branch)> {
        let update = axis.canonical(update);
        self.branches.range(..=update).next_back().filter(|(begin, _)| begin.number == update.number)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}-{:02}", self.0 / 12, self.0 % 12 + 1)
    }
}

impl FromStr for Month {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('-').and_then(|(year, month)| {
            let month = month.parse::<u32>().ok().filter(|month| (1..=12).contains(month))?;
            Some(Self(year.parse::<u32>().ok().filter(|year| *year <= 9999)? * 12 + month - 1))
        });
        parsed.ok_or_else(|| format!("invalid month `{text}`; write year and month, as in 2022-01"))
    }
}
