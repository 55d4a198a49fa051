//! Comparison with partial evidence: offsets of some members.

use super::{Difference, DifferenceKind, Status, StructureReport};
use crate::model::{Offsets, TypeFacts, Types};
use std::collections::BTreeMap;

/// Compares known member offsets with those of the definitions of the same names, in name order. Structures without a definition
/// are skipped, and unknown facts are not counted: a report without differences confirms only as many offsets as there are equal
/// facts.
pub fn compare_offsets(ours: &Types, stated: &Offsets) -> Vec<StructureReport> {
    let both = stated.iter().filter_map(|(name, members)| Some((name, ours.get(name)?, members)));
    both.map(|(name, ours, members)| structure(name, ours, members)).collect()
}

fn structure(name: &str, ours: &TypeFacts, stated: &BTreeMap<String, u64>) -> StructureReport {
    let members = match ours {
        TypeFacts::Aggregate(aggregate) => &aggregate.members[..],
        TypeFacts::Enumeration(_) => &[],
    };
    let mut equal = 0;
    let mut differences = Vec::new();
    for (member, offset) in stated {
        let found = members.iter().find(|ours| ours.name == *member).map(|ours| ours.offset);
        if found == Some(*offset) {
            equal += 1;
            continue;
        }
        let (kind, spec) =
            found.map_or((DifferenceKind::Extra, "none".to_owned()), |ours| (DifferenceKind::Offset, format!("{ours:#x}")));
        differences.push(Difference { member: member.clone(), kind, spec, symbols: format!("{offset:#x}") });
    }
    let status = if differences.is_empty() { Status::Equal } else { Status::Differs };
    StructureReport { name: name.to_owned(), status, equal, accepted: BTreeMap::new(), differences }
}
