//! Reduces declarations to the smallest ones that still fail.

use super::declaration::{Group, Member, Of, Record};

/// Removes one part at a time, as long as the group still fails.
pub fn smallest(mut group: Group, fails: impl Fn(&Group) -> bool) -> Group {
    while let Some(smaller) = smaller(&group).into_iter().find(|smaller| fails(smaller)) {
        group = smaller;
    }
    group
}

fn smaller(group: &Group) -> Vec<Group> {
    let mut list = Vec::new();
    for index in 0..group.len() {
        list.extend(without(group, index));
    }
    for (index, record) in group.iter().enumerate() {
        for smaller in records(record) {
            let mut group = group.clone();
            group[index] = smaller;
            list.push(group);
        }
    }
    list
}

/// The group without a record; none if another record embeds it.
fn without(group: &Group, index: usize) -> Option<Group> {
    let mut group = group.clone();
    group.remove(index);
    group.iter_mut().all(|record| renumber(record, index)).then_some(group)
}

fn renumber(record: &mut Record, gone: usize) -> bool {
    record.members.iter_mut().all(|member| match &mut member.of {
        Of::Record(index) if *index == gone => false,
        Of::Record(index) => {
            *index -= usize::from(*index > gone);
            true
        }
        Of::Inline(inner) => renumber(inner, gone),
        Of::Type(_) | Of::Function => true,
    })
}

fn records(record: &Record) -> Vec<Record> {
    let mut list = Vec::new();
    for index in 0..record.members.len() {
        let mut less = record.clone();
        less.members.remove(index);
        list.push(less);
    }
    for (index, member) in record.members.iter().enumerate() {
        for smaller in members(member) {
            let mut less = record.clone();
            less.members[index] = smaller;
            list.push(less);
        }
    }
    if record.pack.is_some() {
        list.push(Record { pack: None, ..record.clone() });
    }
    if record.align.is_some() {
        list.push(Record { align: None, ..record.clone() });
    }
    list
}

fn members(member: &Member) -> Vec<Member> {
    let mut list = Vec::new();
    match &member.of {
        Of::Inline(inner) => {
            list.extend(records(inner).into_iter().map(|inner| Member { of: Of::Inline(inner), ..member.clone() }));
            list.push(Member { of: Of::Type("ULONG"), named: true, ..member.clone() });
        }
        Of::Record(_) | Of::Function => list.push(Member { of: Of::Type("ULONG"), ..member.clone() }),
        Of::Type(_) => {}
    }
    if let Some(width) = member.bits.filter(|width| *width > 1) {
        list.push(Member { bits: Some(width / 2), ..member.clone() });
    }
    if !member.lengths.is_empty() {
        list.push(Member { lengths: String::new(), ..member.clone() });
    }
    if member.align.is_some() {
        list.push(Member { align: None, ..member.clone() });
    }
    list
}
