//! Sets of targets.

/// A set of targets, as a bit each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TargetSet(Vec<u64>);

impl TargetSet {
    /// Adds a target by its index.
    pub fn insert(&mut self, target: usize) {
        let word = target / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (target % 64);
    }

    /// Takes a target out.
    pub fn remove(&mut self, target: usize) {
        if self.contains(target) {
            *self = self.difference(&core::iter::once(target).collect());
        }
    }

    /// Whether a target is in the set.
    pub fn contains(&self, target: usize) -> bool {
        let word = self.0.get(target / 64).copied().unwrap_or(0);
        word >> (target % 64) & 1 == 1
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The targets, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits =
            |word: u64| std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1))).take_while(|rest| *rest != 0);
        let place = |rest: u64| rest.trailing_zeros() as usize;
        self.0.iter().enumerate().flat_map(move |(index, &word)| bits(word).map(move |rest| index * 64 + place(rest)))
    }

    /// How many targets there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// How many targets are in both sets.
    pub fn shared(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Targets in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Targets in either set.
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// Targets in this set that are not in the other.
    pub fn difference(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    fn zip(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let word = |set: &Self, i: usize| set.0.get(i).copied().unwrap_or(0);
        let length = self.0.len().max(other.0.len());
        let mut words: Vec<_> = (0..length).map(|i| combine(word(self, i), word(other, i))).collect();
        // Equal sets must compare equal: no zero words at the end.
        while words.last() == Some(&0) {
            words.pop();
        }
        Self(words)
    }
}

impl FromIterator<usize> for TargetSet {
    fn from_iter<I: IntoIterator<Item = usize>>(targets: I) -> Self {
        let mut set = Self::default();
        targets.into_iter().for_each(|target| set.insert(target));
        set
    }
}
