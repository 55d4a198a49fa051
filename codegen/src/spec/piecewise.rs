//! Values that can differ between targets.

use crate::axis::{TargetId, TargetSet};
use crate::source::Span;

/// A value that can differ between targets.
#[derive(Clone, Debug)]
pub struct Piecewise<T>(pub Vec<Piece<T>>);

/// One value of a [`Piecewise`].
#[derive(Clone, Debug)]
pub struct Piece<T> {
    /// The targets that it applies to.
    pub targets: TargetSet,
    /// The value.
    pub value: T,
    /// The place in the spec.
    pub span: Span,
}

impl<T> Piecewise<T> {
    /// Visits the targets of every piece.
    pub(super) fn sets(&mut self, visit: &mut dyn FnMut(&mut TargetSet)) {
        self.0.iter_mut().for_each(|piece| visit(&mut piece.targets));
    }

    /// Sets the value of a target, or removes it.
    pub fn set(&mut self, target: TargetId, value: Option<T>)
    where
        T: PartialEq,
    {
        self.0.iter_mut().for_each(|piece| piece.targets.remove(target));
        let Some(value) = value else { return };
        match self.0.iter_mut().find(|piece| piece.value == value) {
            Some(piece) => piece.targets.insert(target),
            None => self.0.push(Piece { targets: core::iter::once(target).collect(), value, span: Span::default() }),
        }
    }

    /// The piece that applies to a target.
    pub fn get(&self, target: TargetId) -> Option<&Piece<T>> {
        self.0.iter().find(|piece| piece.targets.contains(target))
    }

    /// Whether there is no piece.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Piecewise<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}
