//! The target of a table, and its followers.

use etw_layouts_codegen::axis::{Axis, TargetId, TargetSet};
use etw_layouts_codegen::spec::{Definition, Member, Piecewise, Shape};

/// A target, and the targets of the same build on other architectures without a table. These change with the target where they
/// were equal.
#[derive(Clone, Debug)]
pub struct Place {
    /// The target.
    pub target: TargetId,
    /// The targets that follow it.
    pub followers: Vec<TargetId>,
}

impl Place {
    /// A target without followers.
    pub fn alone(target: TargetId) -> Self {
        Self { target, followers: Vec::new() }
    }

    /// A target, with those that follow it and have no table.
    pub fn of(axis: &Axis, target: TargetId, has_table: impl Fn(TargetId) -> bool) -> Self {
        let at = axis.targets[target];
        let follows = |other: &TargetId| {
            let other = axis.targets[*other];
            other.revision == at.revision && axis.ranges.get(&other.arch) == Some(&at.arch)
        };
        Self { target, followers: axis.targets.ids().filter(follows).filter(|other| !has_table(*other)).collect() }
    }

    /// Adds the target to a set.
    pub fn put(&self, set: &mut TargetSet) {
        if !set.contains(self.target) {
            let with: Vec<_> = self.followers.iter().filter(|t| !set.contains(**t)).collect();
            with.into_iter().chain([&self.target]).for_each(|&t| set.insert(t));
        }
    }

    /// Removes the target from a set.
    pub fn take(&self, set: &mut TargetSet) {
        if set.contains(self.target) {
            self.followers.iter().chain([&self.target]).for_each(|&t| set.remove(t));
        }
    }

    /// Sets or clears a value at the target.
    pub fn set<T: PartialEq + Clone>(&self, value: &mut Piecewise<T>, new: impl Into<Option<T>>) {
        let new = new.into();
        let of = |value: &Piecewise<T>, target| value.get(target).map(|piece| piece.value.clone());
        let old = of(value, self.target);
        // This is needed even if nothing changes: an open range can include a build that is new on one architecture, in addition
        // to another range.
        let with: Vec<TargetId> = self.followers.iter().copied().filter(|&t| of(value, t) == old).collect();
        with.into_iter().chain([self.target]).for_each(|target| value.set(target, new.clone()));
    }

    /// Copies a value from another target, if the target has none.
    pub fn inherit<T: PartialEq + Clone>(&self, value: &mut Piecewise<T>, from: Option<TargetId>) {
        if let (None, Some(known)) = (value.get(self.target), from.and_then(|from| value.get(from))) {
            self.set(value, known.value.clone());
        }
    }

    /// Removes an assertion that is wrong at the target.
    pub fn assert(&self, value: &mut Piecewise<u64>, actual: Option<u64>) {
        if value.get(self.target).is_some_and(|piece| Some(piece.value) != actual) {
            self.set(value, None);
        }
    }

    /// Removes a member and its nested members at the target.
    pub fn absent(&self, member: &mut Member) {
        self.take(&mut member.scope);
        if let Shape::Inline(_, members) = &mut member.shape {
            members.iter_mut().for_each(|member| self.absent(member));
        }
    }

    /// Copies a definition from another target.
    pub fn copy(&self, definition: &mut Definition, from: TargetId) {
        definition.layout_sets(&mut |set| if set.contains(from) { self.put(set) } else { self.take(set) });
    }
}
