//! Indices of targets, and values for each target.

use core::ops::{Index, IndexMut};

/// Index of a target in [`Axis::targets`](super::Axis::targets), in the order of the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(usize);

impl TargetId {
    /// The oldest target.
    pub const FIRST: Self = Self(0);
}

impl From<usize> for TargetId {
    fn from(index: usize) -> Self {
        Self(index)
    }
}

impl From<TargetId> for usize {
    fn from(target: TargetId) -> Self {
        target.0
    }
}

/// A value for each target, in the order of the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerTarget<T>(Vec<T>);

impl<T> PerTarget<T> {
    /// The targets, ascending.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = TargetId> + ExactSizeIterator + Clone + use<T> {
        (0..self.0.len()).map(TargetId)
    }

    /// Each target with its value.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (TargetId, &T)> + ExactSizeIterator + Clone {
        self.ids().zip(&self.0)
    }

    /// The values.
    pub fn values(&self) -> core::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// The values, mutable.
    pub fn values_mut(&mut self) -> core::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// The value of a target, if the axis has the target.
    pub fn get(&self, target: TargetId) -> Option<&T> {
        self.0.get(target.0)
    }

    /// The value of a target, mutable.
    pub(crate) fn get_mut(&mut self, target: TargetId) -> Option<&mut T> {
        self.0.get_mut(target.0)
    }

    /// Number of targets.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no targets.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for PerTarget<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Index<TargetId> for PerTarget<T> {
    type Output = T;

    fn index(&self, target: TargetId) -> &T {
        &self.0[target.0]
    }
}

impl<T> IndexMut<TargetId> for PerTarget<T> {
    fn index_mut(&mut self, target: TargetId) -> &mut T {
        &mut self.0[target.0]
    }
}

impl<T> FromIterator<T> for PerTarget<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T> IntoIterator for PerTarget<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
