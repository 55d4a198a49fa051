//! How a set of targets is written as a scope.
//!
//! The spelling is the shortest that denotes the set within what its entry stands in, and it says nothing about what lies
//! between known kernels or outside. The ends of the text that stood there before are kept where they still hold, so that a
//! range that ends earlier than it did differs in its end only.

use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetSet};

/// The scope that denotes `set` among the targets of `within`. `old` is the text that it replaces.
pub fn spell(axis: &Axis, set: &TargetSet, within: &TargetSet, old: Option<&str>) -> String {
    loosely(axis, set, within, within, old)
}

/// The scope that denotes `set` among the targets of `counted`, and may denote any others of `within`.
pub fn loosely(axis: &Axis, set: &TargetSet, counted: &TargetSet, within: &TargetSet, old: Option<&str>) -> String {
    let old = Words::of(old.unwrap_or_default());
    let both = runs(axis, [counted, within].map(|set| kernels(axis, set)), &kernels(axis, set), &old);
    let of = |arch: Arch| {
        let all = axis.filter(|t| t.arch == arch);
        let [counted, within, set] = [counted, within, set].map(|set| set.intersection(&all));
        if !set.is_empty() && set == within {
            return vec![arch.to_string()];
        }
        let runs = runs(axis, [&counted, &within].map(|set| kernels(axis, set)), &kernels(axis, &set), &old);
        runs.into_iter().map(|run| format!("{run} {arch}")).collect()
    };
    let (x86, x64) = (of(Arch::X86), of(Arch::X64));
    let listed = kernels(axis, set);
    let whole = *set == axis.filter(|t| listed.contains(&t.kernel)).intersection(counted);
    if whole && both.len() <= x86.len().max(x64.len()) {
        return both.join(", ");
    }
    [x86, x64].concat().join(", ")
}

/// The kernels of a set, ascending.
fn kernels(axis: &Axis, set: &TargetSet) -> Vec<usize> {
    let mut kernels: Vec<_> = set.iter().map(|t| axis.targets[t].kernel).collect();
    kernels.dedup();
    kernels
}

/// The words of a scope's text.
#[derive(Default)]
struct Words<'a> {
    points: Vec<&'a str>,
    starts: Vec<&'a str>,
    ends: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Self {
        let mut words = Self::default();
        for word in text.split(',').filter_map(|part| part.split_whitespace().find(|word| Arch::parse(word).is_none())) {
            match word.split_once("..") {
                Some((start, end)) => {
                    words.starts.push(start);
                    words.ends.push(end);
                }
                None => words.points.push(word),
            }
        }
        words
    }
}

/// The runs of the kernels that a set has, among those that count, of all.
fn runs(axis: &Axis, [exists, all]: [Vec<usize>; 2], set: &[usize], old: &Words) -> Vec<String> {
    let mut list = Vec::new();
    let mut at = 0;
    let ends = (all.first().copied().unwrap_or(0), all.last().copied().unwrap_or(0));
    while at < exists.len() {
        let length = exists[at..].iter().take_while(|kernel| set.contains(kernel)).count();
        if length > 0 {
            list.push(Run { axis, exists: &exists, ends, first: exists[at], last: exists[at + length - 1] }.spell(old));
        }
        at += length.max(1);
    }
    list
}

struct Run<'a> {
    axis: &'a Axis,
    exists: &'a [usize],
    /// The oldest and the newest of all.
    ends: (usize, usize),
    first: usize,
    last: usize,
}

impl Run<'_> {
    fn spell(&self, old: &Words) -> String {
        let (oldest, newest) = (self.ends.0 == self.first, self.ends.1 == self.last);
        let version = |kernel: usize| self.axis.versions[self.axis.kernels[kernel].version].label.as_str();
        if let Some(point) = old.points.iter().find(|word| self.is(word) && !newest) {
            return (*point).to_owned();
        }
        let groups = self.axis.groups.iter().map(|(label, _)| label.as_str());
        let named = [version(self.first)].into_iter().chain(groups).find(|word| self.is(word));
        if let Some(name) = named.filter(|_| !newest) {
            return name.to_owned();
        }
        if self.first == self.last && !newest {
            return self.exact(self.first);
        }
        let starts = |word: &&str| if word.is_empty() { oldest } else { self.starts(word) };
        let ends = |word: &&str| if word.is_empty() { newest } else { self.ends(word) };
        let label = |kernel, fits: &dyn Fn(&&str) -> bool| match Some(version(kernel)).filter(fits) {
            Some(label) => label.to_owned(),
            None => self.exact(kernel),
        };
        let start = match old.starts.iter().copied().find(starts) {
            Some(word) => word.to_owned(),
            None if oldest && !newest => String::new(),
            None => label(self.first, &starts),
        };
        let end = match old.ends.iter().copied().find(|word| ends(word) && !newest) {
            Some(word) => word.to_owned(),
            None if newest => String::new(),
            None => label(self.last, &ends),
        };
        match () {
            () if start.is_empty() && end.is_empty() => format!("{}..", label(self.first, &starts)),
            () if start == end => start,
            () => format!("{start}..{end}"),
        }
    }

    /// Whether a word stands for this very run.
    fn is(&self, word: &str) -> bool {
        let Some((start, end)) = self.point(word) else { return false };
        let mut inside = self.exists.iter().filter(|kernel| (start..=end).contains(kernel));
        inside.next() == Some(&self.first) && *inside.next_back().unwrap_or(&self.first) == self.last
    }

    fn starts(&self, word: &str) -> bool {
        self.point(word).is_some_and(|(start, _)| self.exists.iter().find(|&&kernel| kernel >= start) == Some(&self.first))
    }

    fn ends(&self, word: &str) -> bool {
        self.point(word).is_some_and(|(_, end)| self.exists.iter().rfind(|&&kernel| kernel <= end) == Some(&self.last))
    }

    /// The first and last kernel of a word.
    fn point(&self, word: &str) -> Option<(usize, usize)> {
        let set = self.axis.scope(word).ok().filter(|_| !word.is_empty() && !word.contains(".."))?;
        let kernels = kernels(self.axis, &set);
        Some((*kernels.first()?, *kernels.last()?))
    }

    fn exact(&self, kernel: usize) -> String {
        let name = self.axis.kernel_name(kernel);
        match self.axis.kernels[kernel].build {
            Build { revision: 0, .. } if !name.contains("-sp") => format!("{name}.0"),
            _ => name,
        }
    }
}
