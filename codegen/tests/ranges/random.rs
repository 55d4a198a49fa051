//! Random axes, scopes and files.

use super::axis::{Arch, Axis, Build, Group, Release, Row, Update, Version};
use super::file::{File, Item, Value};
use oorandom::Rand64;

pub struct Random(Rand64);

impl Random {
    /// The same seed gives the same texts on every host.
    pub fn new(seed: u64) -> Self {
        Self(Rand64::new(seed.into()))
    }

    pub fn axis(&mut self) -> Axis {
        let mut axis = Axis { architectures: self.architectures(), follows: self.one_in(2), ..Axis::default() };
        let mut number = [5, self.below(3) as u32, 100];
        for index in 0..=self.below(4) {
            number = [number[0] + self.below(2) as u32, number[1] + self.below(2) as u32, number[2] + 10];
            let label = if self.one_in(2) { format!("{}.{index}", number[0]) } else { format!("v-{index}") };
            let rows = self.rows(&mut number);
            axis.versions.push(Version { label, architectures: self.one_in(4).then(|| self.architectures()), rows });
        }
        self.groups(&mut axis);
        for index in 0..self.below(4) {
            let update = self.update(&axis, format!("u{index}"));
            axis.updates.push(update);
        }
        for index in 0..self.below(2) {
            let number = self.number(&axis);
            axis.releases.push(Release { label: format!("next-{index}"), build: Build { number, revision: None } });
        }
        axis.documents = self.one_in(3).then(|| self.scope(&axis));
        axis
    }

    /// The rows of a version: some builds, each with some revisions.
    fn rows(&mut self, number: &mut [u32; 3]) -> Vec<Row> {
        let mut rows = Vec::new();
        for _ in 0..=self.below(2) {
            number[2] += 10;
            let mut revision = (!self.one_in(3)).then(|| self.below(3) as u32);
            for index in 0..=self.below(3) {
                if index > 0 {
                    revision = Some(revision.unwrap_or(0) + 1 + self.below(3) as u32);
                }
                let other = Build { number: [number[0], number[1], number[2] + 3], revision: Some(revision.unwrap_or(0) + 2) };
                rows.push(Row {
                    build: Build { number: *number, revision },
                    pack: self.one_in(4).then_some(index as u32),
                    architectures: self.one_in(4).then(|| self.architectures()),
                    same: if index == 0 && self.one_in(3) { vec![other] } else { Vec::new() },
                });
            }
        }
        rows
    }

    fn groups(&mut self, axis: &mut Axis) {
        for index in 0..self.below(3) {
            let first = self.below(axis.versions.len() as u64) as usize;
            let last = (first + self.below(3) as usize).min(axis.versions.len() - 1);
            let of = axis.versions[first..=last].iter().map(|version| version.label.clone()).collect();
            axis.groups.push(Group { label: format!("group-{index}"), of });
        }
    }

    fn update(&mut self, axis: &Axis, name: String) -> Update {
        let mut builds: Vec<[u32; 3]> = rows(axis).map(|row| row.build.number).collect();
        builds.dedup();
        let mut update = Update { name, kernels: Vec::new(), without: Vec::new(), architectures: None };
        for &number in &builds {
            match self.below(6) {
                0 | 1 => {
                    let revisions: Vec<_> = rows(axis).filter(|row| row.build.number == number).collect();
                    let last = revisions.last().and_then(|row| row.build.revision).unwrap_or(0);
                    let revision = match self.below(8) {
                        0 => Some(self.below(3) as u32),
                        1..4 => revisions[self.below(revisions.len() as u64) as usize].build.revision,
                        _ => Some(last + 1 + self.below(3) as u32),
                    };
                    update.kernels.push(Build { number, revision });
                }
                2 => update.without.push(number),
                _ => {}
            }
        }
        if update.kernels.is_empty() && !self.one_in(8) {
            let last = rows(axis).last().map(|row| row.build).expect("an axis has rows");
            update.kernels.push(Build { revision: Some(last.revision.unwrap_or(0) + 4), ..last });
            update.without.retain(|number| *number != last.number);
        }
        if self.one_in(40) {
            update.without.extend(update.kernels.first().map(|build| build.number));
        }
        update.architectures = self.one_in(3).then(|| self.architectures());
        update
    }

    /// At least one architecture, in the order of the language.
    fn architectures(&mut self) -> Vec<Arch> {
        let mut all = vec!["x86", "x64", "arm64"];
        for _ in 0..self.below(3) {
            all.remove(self.below(all.len() as u64) as usize);
        }
        all
    }

    pub fn scope(&mut self, axis: &Axis) -> String {
        let parts: Vec<_> = (0..[1, 1, 1, 2, 2, 3][self.below(6) as usize]).map(|_| self.part(axis)).collect();
        parts.join(", ")
    }

    fn part(&mut self, axis: &Axis) -> String {
        let arch = ["x86", "x64", "x64", "arm64"][self.below(4) as usize];
        if self.one_in(10) {
            return format!("no {}", if self.one_in(8) { arch } else { "arm64" });
        }
        let mut words: Vec<_> = (0..[0, 1, 1, 1, 1, 2][self.below(6) as usize]).map(|_| self.range(axis)).collect();
        if words.is_empty() || self.one_in(3) {
            words.push(arch.into());
        }
        words.join(" ")
    }

    fn range(&mut self, axis: &Axis) -> String {
        let (first, last) = (self.end(axis), self.end(axis));
        match self.below(10) {
            0 | 1 => first,
            2..5 => format!("{first}.."),
            5..7 => format!("..{last}"),
            _ => format!("{first}..{last}"),
        }
    }

    fn end(&mut self, axis: &Axis) -> String {
        fn pick<'a, T>(random: &mut Random, list: &'a [T]) -> Option<&'a T> {
            (!list.is_empty()).then(|| &list[random.below(list.len() as u64) as usize])
        }
        let rows: Vec<&Row> = rows(axis).collect();
        let row = rows[self.below(rows.len() as u64) as usize];
        let found = match self.below(14) {
            0..3 => pick(self, &axis.updates).map(|update| update.name.clone()),
            3 => pick(self, &axis.groups).map(|group| group.label.clone()),
            4 => pick(self, &axis.releases).map(|release| release.label.clone()),
            5 => Some(Build { revision: None, ..row.build }.text()),
            6 => Some(Build { revision: row.build.revision.or(Some(0)), ..row.build }.text()),
            7 => Some(Build { revision: Some(self.below(8) as u32), ..row.build }.text()),
            8 => Some(Build { number: self.number(axis), revision: self.one_in(3).then(|| self.below(5) as u32) }.text()),
            9 => pick(self, &axis.updates).and_then(|update| update.kernels.first()).map(|build| build.text()),
            10 => row.pack.map(|pack| format!("{}-sp{pack}", Build { revision: None, ..row.build }.text())),
            11 if self.one_in(10) => Some("unknown".into()),
            12 => row.same.first().map(|same| Build { revision: same.revision.filter(|_| self.one_in(2)), ..*same }.text()),
            _ => None,
        };
        found.unwrap_or_else(|| axis.versions[self.below(axis.versions.len() as u64) as usize].label.clone())
    }

    /// A build on the axis, or near one.
    fn number(&mut self, axis: &Axis) -> [u32; 3] {
        let rows: Vec<&Row> = rows(axis).collect();
        let [major, minor, build] = rows[self.below(rows.len() as u64) as usize].build.number;
        [major, minor, build + [0, 3, 5, 7][self.below(4) as usize] - [0, 10][self.below(2) as usize]]
    }

    pub fn file(&mut self, axis: &Axis) -> File {
        let scope = self.one_in(3).then(|| self.scope(axis));
        let reason = self.value(axis, &["one", "two", "three"], 2);
        let size = if self.one_in(2) { self.value(axis, &["0x08", "16", "0x0c"], 2) } else { Value::One("0x010".into()) };
        let source = self.one_in(2);
        let items = (0..=self.below(2)).map(|index| self.item(axis, &format!("M{index}"), 0)).collect();
        File { scope, source, size, reason, items }
    }

    fn item(&mut self, axis: &Axis, name: &str, depth: u64) -> Item {
        if depth < 2 && self.one_in(4) {
            let items = (0..=self.below(2)).map(|index| self.item(axis, &format!("{name}{index}"), depth + 1)).collect();
            return Item::Group { scope: self.scope(axis), items };
        }
        let scope = self.one_in(2).then(|| self.scope(axis));
        let ty = if self.one_in(3) { self.value(axis, &["ULONG", "UCHAR"], 1) } else { Value::One("ULONG".into()) };
        Item::Member { name: name.into(), scope, ty }
    }

    /// A piecewise value with entries in tables of a maximum depth.
    fn value(&mut self, axis: &Axis, words: &[&str], depth: u64) -> Value {
        if depth == 0 || self.one_in(3) {
            return Value::One(words[self.below(words.len() as u64) as usize].into());
        }
        let mut entries: Vec<(String, Value)> = Vec::new();
        let scopes: Vec<String> = match self.below(3) {
            0 => ["x86", "x64", "arm64"].map(String::from).into_iter().take(2 + self.below(2) as usize).collect(),
            1 => {
                let end = self.end(axis);
                vec![format!("..{end}"), format!("{end}..")]
            }
            _ => (0..1 + self.below(3)).map(|_| self.scope(axis)).collect(),
        };
        for scope in scopes {
            if entries.iter().all(|(other, _)| *other != scope) {
                let value = self.value(axis, words, depth - 1);
                entries.push((scope, value));
            }
        }
        Value::Table(entries)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0.rand_range(0..end)
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

fn rows(axis: &Axis) -> impl Iterator<Item = &Row> {
    axis.versions.iter().flat_map(|version| &version.rows)
}
