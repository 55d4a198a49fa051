//! The target that a table is entered at, and those that have what it has.

use etw_layouts_codegen::axis::TargetSet;
use etw_layouts_codegen::spec::{Definition, Member, Piecewise, Shape};

/// A target, and the others of its kernel that no table tells of: what changes at the target changes there too, where it was the same.
#[derive(Clone, Debug)]
pub struct Place {
    /// The target.
    pub target: usize,
    /// Those that follow it.
    pub followers: Vec<usize>,
}

impl Place {
    /// The target alone.
    pub fn alone(target: usize) -> Self {
        Self { target, followers: Vec::new() }
    }

    /// Puts the target into a set.
    pub fn put(&self, set: &mut TargetSet) {
        if !set.contains(self.target) {
            let with: Vec<_> = self.followers.iter().filter(|t| !set.contains(**t)).collect();
            with.into_iter().chain([&self.target]).for_each(|&t| set.insert(t));
        }
    }

    /// Takes the target out of a set.
    pub fn take(&self, set: &mut TargetSet) {
        if set.contains(self.target) {
            self.followers.iter().chain([&self.target]).for_each(|&t| set.remove(t));
        }
    }

    /// Has a value hold, or none.
    pub fn set<T: PartialEq + Clone>(&self, value: &mut Piecewise<T>, new: impl Into<Option<T>>) {
        let new = new.into();
        let of = |value: &Piecewise<T>, target| value.get(target).map(|piece| piece.value.clone());
        let old = of(value, self.target);
        // A range that was open may reach a kernel that is new on an architecture, beside another.
        if old == new && value.0.iter().filter(|piece| piece.targets.contains(self.target)).count() < 2 {
            return;
        }
        let with: Vec<usize> = self.followers.iter().copied().filter(|&t| of(value, t) == old).collect();
        with.into_iter().chain([self.target]).for_each(|target| value.set(target, new.clone()));
    }

    /// What is known from somewhere at another target is known from there.
    pub fn inherit<T: PartialEq + Clone>(&self, value: &mut Piecewise<T>, from: Option<usize>) {
        if let (None, Some(known)) = (value.get(self.target), from.and_then(|from| value.get(from))) {
            self.set(value, known.value.clone());
        }
    }

    /// What is asserted no longer is, if it is not so.
    pub fn assert(&self, value: &mut Piecewise<u64>, actual: Option<u64>) {
        if value.get(self.target).is_some_and(|piece| Some(piece.value) != actual) {
            self.set(value, None);
        }
    }

    /// The target lacks a member, and all that is in it.
    pub fn absent(&self, member: &mut Member) {
        self.take(&mut member.scope);
        if let Shape::Inline(_, members) = &mut member.shape {
            members.iter_mut().for_each(|member| self.absent(member));
        }
    }

    /// The target has of a definition what another has.
    pub fn copy(&self, definition: &mut Definition, from: usize) {
        definition.layout_sets(&mut |set| if set.contains(from) { self.put(set) } else { self.take(set) });
    }
}
