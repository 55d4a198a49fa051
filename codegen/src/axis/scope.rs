//! From the text of a scope, such as `6.1.. x64`, to the targets that it denotes.

use super::{Arch, Axis, Build, Kernel, Target, TargetSet};

impl Axis {
    /// The targets that a scope denotes, or what is wrong with its text.
    pub fn scope(&self, text: &str) -> Result<TargetSet, String> {
        let named = self.named(text);
        let mut set = None;
        for part in text.split(',') {
            if let Some(targets) = self.scope_part(part.trim(), &named)? {
                set = Some(targets.union(&set.unwrap_or_default()));
            }
        }
        set.ok_or_else(|| format!("`{}` takes from nothing: it stands behind a scope, as in `6.1.. x64, no arm64`", text.trim()))
    }

    /// The architectures that follow another, but are named in a scope's text: it speaks for them itself.
    fn named(&self, text: &str) -> Vec<Arch> {
        let words = text.split([',', ' ', '\t', '\n']).filter_map(|word| word.parse().ok());
        words.filter(|arch| self.follows.contains_key(arch)).collect()
    }

    /// The targets of a part between commas; none is taken by `no arm64`, which only names the architecture.
    fn scope_part(&self, part: &str, named: &[Arch]) -> Result<Option<TargetSet>, String> {
        let mut kernels = 0..self.kernels.len();
        let mut arch: Option<Arch> = None;
        let mut words = part.split_whitespace().peekable();
        let none = words.next_if_eq(&"no").is_some();
        if words.peek().is_none() {
            return Err("an empty scope".into());
        }
        if let Some(word) = words.next_if(|word| !none && word.parse::<Arch>().is_err()) {
            kernels = self.range(word)?;
        }
        if let Some(word) = words.next() {
            arch = word.parse().ok();
            if arch.is_none() {
                return Err(format!("`{word}` is no architecture"));
            }
        }
        if let Some(word) = words.next() {
            return Err(format!("`{word}` follows a complete scope"));
        }
        if none {
            let follows = arch.filter(|arch| self.follows.contains_key(arch));
            return follows
                .map(|_| None)
                .ok_or_else(|| format!("`{part}`: only an architecture that follows another is left out so"));
        }
        let leader = |t: Target| self.follows.get(&t.arch).filter(|_| !named.contains(&t.arch));
        let has = |t: Target| match arch {
            Some(arch) => t.arch == arch || leader(t) == Some(&arch),
            None => !named.contains(&t.arch),
        };
        Ok(Some(self.filter(|t| kernels.contains(&t.kernel) && has(t))))
    }

    /// Settles which of several scopes beside each other, such as the keys of a table, has a target that two give: an
    /// architecture that follows another belongs to the scope that names it.
    pub fn settle(&self, scopes: &mut [(&str, TargetSet)]) {
        let claims = scopes.iter().map(|(text, set)| (self.named(text), set)).map(|(named, set)| match named[..] {
            [] => TargetSet::default(),
            _ => set.intersection(&self.filter(|t| named.contains(&t.arch))),
        });
        let claims: Vec<_> = claims.collect();
        let all = claims.iter().fold(TargetSet::default(), |all, own| all.union(own));
        for ((_, set), own) in scopes.iter_mut().zip(&claims) {
            *set = set.difference(&all.difference(own));
        }
    }

    /// Whether a scope that names a target's architecture, beside one with this text, is the one that has the target.
    pub fn gives_way(&self, text: &str, target: usize) -> bool {
        let arch = self.targets[target].arch;
        self.follows.contains_key(&arch) && !self.named(text).contains(&arch)
    }

    /// The targets of a set whose architecture follows no other.
    pub fn leading(&self, set: &TargetSet) -> TargetSet {
        match self.follows.is_empty() {
            true => set.clone(),
            false => set.difference(&self.filter(|t| self.follows.contains_key(&t.arch))),
        }
    }

    fn range(&self, text: &str) -> Result<core::ops::Range<usize>, String> {
        let all = 0..self.kernels.len();
        let Some((first, last)) = text.split_once("..") else {
            return match self.point(text)? {
                none if none.is_empty() => Err(format!("no kernel of the axis is `{text}`")),
                kernels => Ok(kernels),
            };
        };
        let start = if first.is_empty() { all.clone() } else { self.point(first)? };
        let end = if last.is_empty() { all.clone() } else { self.point(last)? };
        let newest = self.kernels.len().checked_sub(1).map(|newest| self.kernel_name(newest)).unwrap_or_default();
        match start.start..end.end {
            range if !range.is_empty() => Ok(range),
            range if range.start == all.end => {
                Err(format!("`{first}` is newer than every kernel of the axis, whose newest is {newest}"))
            }
            _ if start.is_empty() || end.is_empty() => Err(format!("no kernel of the axis lies in `{text}`")),
            _ => Err(format!("the range `{text}` is empty: it ends before it starts")),
        }
    }

    /// The kernels that one end of a range stands for. Of a build that no kernel has there are none, at the place where they would be.
    pub(crate) fn point(&self, text: &str) -> Result<core::ops::Range<usize>, String> {
        let span_of = |test: &dyn Fn(&Kernel) -> bool| {
            let first = self.kernels.iter().position(test)?;
            let last = self.kernels.iter().rposition(test)?;
            Some(first..last + 1)
        };
        let found = if let Some(version) = self.versions.iter().position(|v| v.label == text) {
            span_of(&|k| k.version == version)
        } else if let Some((_, of)) = self.groups.iter().find(|(label, _)| label == text) {
            span_of(&|k| of.contains(&k.version))
        } else if let Some((build, pack)) = text.split_once("-sp") {
            let build = super::build(build).filter(|(_, revision)| !revision).map(|(build, _)| build.number);
            let pack = pack.parse::<u32>().ok();
            build.zip(pack).and_then(|(build, pack)| span_of(&|k| k.build.number == build && k.service_pack == Some(pack)))
        } else if let Some(release) = self.releases.iter().find(|release| release.label == text) {
            Some(self.of_build(release.build))
        } else {
            match super::build(text) {
                Some((build, true)) => Some(self.of_revision(build)?),
                Some((build, false)) => Some(self.of_build(build)),
                None => None,
            }
        };
        found.ok_or_else(|| format!("`{text}` is neither a label nor a build"))
    }

    /// The kernels of a build, whatever their revision.
    fn of_build(&self, build: Build) -> core::ops::Range<usize> {
        let number = self.canonical(build).number;
        let start = self.kernels.partition_point(|kernel| kernel.build.number < number);
        start..start + self.kernels[start..].partition_point(|kernel| kernel.build.number == number)
    }

    /// The kernel of a revision; revision 0 is the first of its build.
    fn of_revision(&self, build: Build) -> Result<core::ops::Range<usize>, String> {
        let (all, wanted) = (self.of_build(build), self.canonical(build));
        let kernels = &self.kernels[all.clone()];
        let before = kernels.partition_point(|kernel| kernel.build < wanted);
        let is = kernels.get(before).is_some_and(|kernel| kernel.build == wanted);
        match before {
            0 => Ok(all.start..all.start + usize::from(is || build.revision == 0 && !kernels.is_empty())),
            _ if is => Ok(all.start + before..all.start + before + 1),
            // The kernels up to the next have the layouts of this one: what an update between them changed would be lost.
            _ => Err(format!("no kernel of the axis is `{build:#}`; the one before it is {:#}", kernels[before - 1].build)),
        }
    }
}
