//! Masks of keywords: one source has the name of a keyword, another has its mask.

use super::report::Report;
use super::rows::Row;
use etw_layouts_schemas::Keyword;
use std::collections::BTreeMap;

/// Masks of a provider's keywords. Tools list the keywords of an event in the order of their bits. They print `keyword_MASK` for
/// a keyword without a name in the registration.
pub fn masks(events: &BTreeMap<(u16, u8), Vec<Row>>, report: &mut Report) -> Vec<Keyword> {
    let mut masks: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    for (name, mask) in events.values().flatten().flat_map(|row| &row.masks) {
        masks.insert(name, Some(*mask));
    }
    for rows in events.values() {
        for (one, other) in rows.iter().flat_map(|one| rows.iter().map(move |other| (one, other))) {
            let pairs = one.keywords.iter().zip(&other.keywords);
            let numbers = pairs.clone().filter(|(one, other)| one != other && mask(other).is_some()).count();
            // All keywords but one must be equal.
            let same = pairs.clone().filter(|(one, other)| one == other).count();
            if one.keywords.len() != other.keywords.len() || numbers != 1 || same + 1 != one.keywords.len() {
                continue;
            }
            for (name, number) in pairs.filter(|(one, other)| one != other && mask(one).is_none()) {
                let known = masks.entry(name).or_insert(mask(number));
                if *known != mask(number) {
                    *known = None;
                }
            }
        }
    }
    let mut keywords: Vec<Keyword> = Vec::new();
    for (name, mask) in masks {
        match mask {
            Some(mask) => keywords.push(Keyword { mask: Some(mask), name: name.to_owned() }),
            None => report.count("masks of keywords left out: sources disagree"),
        }
    }
    report.add("masks of keywords", keywords.len());
    keywords.sort();
    keywords
}

/// The mask in a name such as `keyword_400000000000`.
fn mask(name: &str) -> Option<u64> {
    u64::from_str_radix(name.strip_prefix("keyword_")?, 16).ok()
}
