//! Random declarations.

use super::declaration::{Group, Member, Of, Record};
use oorandom::Rand64;

/// The maximum nesting of unnamed structures.
const DEEPEST: usize = 3;

/// Integer types with their number of bits. For pointers, it is the smallest number of all targets.
const INTEGERS: [(&str, u64); 13] = [
    ("CHAR", 8),
    ("UCHAR", 8),
    ("SHORT", 16),
    ("USHORT", 16),
    ("LONG", 32),
    ("ULONG", 32),
    ("LONGLONG", 64),
    ("ULONGLONG", 64),
    ("ULONG_PTR", 32),
    ("BOOLEAN", 8),
    ("KIND", 32),
    ("SMALL_KIND", 8),
    ("LARGE_KIND", 64),
];
const POINTERS: [&str; 4] = ["PVOID", "ULONG *", "UCHAR **", "KIND *"];

/// Random groups. The same seed gives the same groups on every host.
pub fn groups(seed: u64, count: usize) -> Vec<Group> {
    let mut random = Random(Rand64::new(seed.into()));
    (0..count).map(|_| random.group()).collect()
}

struct Random(Rand64);

impl Random {
    fn group(&mut self) -> Group {
        let mut group = Group::new();
        for _ in 0..self.below(3) + 1 {
            let mut record = self.record(&group, 0);
            record.pack = self.one_in(4).then(|| self.power(4));
            group.push(record);
        }
        group
    }

    fn record(&mut self, group: &[Record], depth: usize) -> Record {
        let union = self.one_in(if depth == 0 { 5 } else { 2 });
        let count = self.below(7) + 1;
        let mut members: Vec<_> = (0..count).map(|_| self.member(group, depth)).collect();
        // Neither specs nor C allow empty structures.
        let at = self.below(count + 1) as usize;
        members.insert(at, self.scalar());
        if self.one_in(12) {
            members.push(Member { lengths: "[]".into(), ..self.scalar() });
        }
        // A member that ends with an array without a length must be the last one.
        let last = members.len() - 1;
        let flexible =
            |member: &Member| Record { union, pack: None, align: None, members: vec![member.clone()] }.is_flexible(group);
        for member in members.iter_mut().take(last) {
            if flexible(member) {
                *member = self.scalar();
            }
        }
        Record { union, pack: None, align: self.one_in(8).then(|| self.power(6)), members }
    }

    fn member(&mut self, group: &[Record], depth: usize) -> Member {
        match self.below(10) {
            0..5 => self.bit_field(),
            5 if !group.is_empty() => {
                let of = Of::Record(self.below(group.len() as u64) as usize);
                let mut member = Member { of, ..self.scalar() };
                if let Of::Record(index) = member.of
                    && group[index].is_flexible(group)
                {
                    member.lengths.clear();
                }
                member
            }
            6 | 7 if depth < DEEPEST => {
                let (inner, named) = (self.record(group, depth + 1), self.one_in(2));
                let align = None;
                Member { named, of: Of::Inline(inner), bits: None, align, lengths: String::new() }
            }
            _ => self.scalar(),
        }
    }

    fn bit_field(&mut self) -> Member {
        let (ty, most) = INTEGERS[self.below(INTEGERS.len() as u64) as usize];
        let width = match self.below(8) {
            0 => 0,
            1 => most,
            2..6 => self.below(most.min(8)) + 1,
            _ => self.below(most) + 1,
        };
        let named = width > 0 && !self.one_in(6);
        Member { named, of: Of::Type(ty), bits: Some(width), align: None, lengths: String::new() }
    }

    fn scalar(&mut self) -> Member {
        let of = match self.below(8) {
            0 => Of::Function,
            1 => Of::Type(POINTERS[self.below(POINTERS.len() as u64) as usize]),
            _ => Of::Type(INTEGERS[self.below(INTEGERS.len() as u64) as usize].0),
        };
        let mut lengths = String::new();
        for _ in 0..self.below(6).saturating_sub(3) {
            lengths += &format!("[{}]", self.below(5) + 1);
        }
        if self.one_in(16) {
            lengths = "[ANYSIZE_ARRAY]".into();
        }
        Member { named: true, of, bits: None, align: self.one_in(8).then(|| self.power(6)), lengths }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0.rand_range(0..end)
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// A random power of two, up to 2 to the power of `most`.
    fn power(&mut self, most: u64) -> u64 {
        1 << self.below(most + 1)
    }
}
