//! Sets of indices.

use super::TargetId;
use core::marker::PhantomData;

/// A set of indices, with one bit per index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexSet<I>(Vec<u64>, PhantomData<I>);

/// A set of targets.
pub type TargetSet = IndexSet<TargetId>;

/// A set of revisions of the axis.
pub(super) type RevisionSet = IndexSet<usize>;

impl<I: Copy + From<usize> + Into<usize>> IndexSet<I> {
    /// Adds an index.
    pub fn insert(&mut self, index: I) {
        let index: usize = index.into();
        let word = index / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    /// Removes an index.
    pub fn remove(&mut self, index: I) {
        if self.contains(index) {
            *self = self.difference(&core::iter::once(index).collect());
        }
    }

    /// Whether an index is in the set.
    pub fn contains(&self, index: I) -> bool {
        let index: usize = index.into();
        let word = self.0.get(index / 64).copied().unwrap_or(0);
        word >> (index % 64) & 1 == 1
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bits, 64 in each number, the lowest first. The last number is not 0.
    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }

    /// A set of these bits.
    pub(crate) fn from_words(mut words: Vec<u64>) -> Self {
        // Equal sets must compare equal: no zero words at the end.
        while words.last() == Some(&0) {
            words.pop();
        }
        Self(words, PhantomData)
    }

    /// The indices, ascending.
    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        let bits =
            |word: u64| std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1))).take_while(|rest| *rest != 0);
        let place = |rest: u64| rest.trailing_zeros() as usize;
        self.0.iter().enumerate().flat_map(move |(index, &word)| bits(word).map(move |rest| I::from(index * 64 + place(rest))))
    }

    /// Number of indices.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Number of indices in both sets.
    pub fn shared(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Indices in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Indices in either set.
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// Indices in this set that are not in the other.
    pub fn difference(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    fn zip(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let word = |set: &Self, i: usize| set.0.get(i).copied().unwrap_or(0);
        let length = self.0.len().max(other.0.len());
        Self::from_words((0..length).map(|i| combine(word(self, i), word(other, i))).collect())
    }
}

impl<I> Default for IndexSet<I> {
    fn default() -> Self {
        Self(Vec::new(), PhantomData)
    }
}

impl<I: Copy + From<usize> + Into<usize>> FromIterator<I> for IndexSet<I> {
    fn from_iter<T: IntoIterator<Item = I>>(indices: T) -> Self {
        let mut set = Self::default();
        indices.into_iter().for_each(|index| set.insert(index));
        set
    }
}
