//! How a set of targets is written as a scope.
//!
//! The spelling is the shortest that denotes the set within what its entry stands in, and it says nothing about what lies
//! between known kernels or outside. The ends of the text that stood there before are kept where they still hold, so that a
//! range that ends earlier than it did differs in its end only.

use etw_layouts_codegen::axis::{Arch, Axis, Build, TargetSet};

/// The scope that denotes `set` among the targets of `within`. `old` is the text that it replaces.
pub fn spell(axis: &Axis, set: &TargetSet, within: &TargetSet, old: Option<&str>) -> String {
    let old = Words::of(old.unwrap_or_default());
    let only = |set: &TargetSet, arch: Arch| set.intersection(&axis.filter(|t| t.arch == arch));
    let of = |arch: Arch| {
        let [within, set] = [within, set].map(|set| only(set, arch));
        if !set.is_empty() && set == within {
            return vec![arch.to_string()];
        }
        let runs = runs(axis, &kernels(axis, &within), &kernels(axis, &set), &old);
        runs.into_iter().map(|run| format!("{run} {arch}")).collect::<Vec<_>>()
    };
    let (leaders, followers): (Vec<_>, Vec<_>) = Arch::ALL.into_iter().partition(|arch| !axis.follows.contains_key(arch));
    let [among, led] = [within, set].map(|set| axis.leading(set));
    let mut parts = runs(axis, &kernels(axis, &among), &kernels(axis, &led), &old);
    let apart: Vec<Vec<String>> = leaders.into_iter().map(of).collect();
    let listed = kernels(axis, &led);
    let whole = led == axis.filter(|t| listed.contains(&t.kernel)).intersection(&among);
    if !whole || parts.len() > apart.iter().map(Vec::len).max().unwrap_or(0) {
        parts = apart.concat();
    }
    // An architecture that follows another is named where following gives it something else.
    let given = axis.scope(&parts.join(", ")).unwrap_or_default().intersection(within);
    for arch in followers {
        match of(arch) {
            _ if only(set, arch) == only(&given, arch) => {}
            none if none.is_empty() => parts.push(format!("no {arch}")),
            named => parts.extend(named),
        }
    }
    parts.join(", ")
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
        for word in text.split(',').filter_map(|part| part.split_whitespace().find(|word| word.parse::<Arch>().is_err())) {
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

/// The runs of the kernels that a set has, among those that exist.
fn runs(axis: &Axis, exists: &[usize], set: &[usize], old: &Words) -> Vec<String> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < exists.len() {
        let length = exists[at..].iter().take_while(|kernel| set.contains(kernel)).count();
        if length > 0 {
            list.push(Run { axis, exists, first: exists[at], last: exists[at + length - 1] }.spell(old));
        }
        at += length.max(1);
    }
    list
}

struct Run<'a> {
    axis: &'a Axis,
    exists: &'a [usize],
    first: usize,
    last: usize,
}

impl Run<'_> {
    fn spell(&self, old: &Words) -> String {
        let [oldest, newest] =
            [(self.exists.first(), self.first), (self.exists.last(), self.last)].map(|(end, own)| end == Some(&own));
        let version = |kernel: usize| self.axis.versions[self.axis.kernels[kernel].version].label.as_str();
        if let Some(point) = old.points.iter().find(|word| self.is(word) && !newest) {
            return (*point).to_owned();
        }
        let groups = self.axis.groups.iter().map(|(label, _)| label.as_str());
        let named = [version(self.first)].into_iter().chain(groups).find(|word| self.is(word));
        if let Some(name) = named.filter(|_| !newest) {
            return name.to_owned();
        }
        // What the last known update of a version has, those after it have, as far as is known.
        let closes = self.ends(version(self.last)) && !self.starts(version(self.last));
        if self.first == self.last && !newest && !closes {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Project;

    /// Of any set within any other, with the words of any text before.
    #[test]
    fn what_is_spelled_reads_back() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let axis = Project::at(root).layouts().expect("the specs resolve").spec.axis;
        let mut state = 0x4554_5720_u64;
        let mut random = |share: u64| {
            axis.filter(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                !state.is_multiple_of(share)
            })
        };
        for round in 0..4000 {
            // Sets of many neighbours, and sets of few.
            let within = if round % 3 == 0 { axis.all() } else { random(12) };
            let set = random([2, 3, 20][round % 3]).intersection(&within);
            let old = ["", "6.1..", "1709..1809 x64, 1803 arm64"][round % 3];
            let text = spell(&axis, &set, &within, Some(old));
            let read = axis.scope(&text).map(|read| read.intersection(&within));
            assert_eq!(read.as_ref(), Ok(&set), "{text}");
        }
        let text = |set: &str, within: &str| spell(&axis, &axis.scope(set).unwrap(), &axis.scope(within).unwrap(), None);
        assert_eq!(text("1803.. x64", "5.0.."), "1803.. x64");
        assert_eq!(text("1803.., no arm64", "5.0.."), "1803.., no arm64");
        assert_eq!(text("1803.. x64, 1809 arm64", "5.0.."), "1803.. x64, 1809 arm64");
        assert_eq!(text("arm64", "5.0.."), "arm64");
    }
}
