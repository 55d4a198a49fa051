//! Visits to all sets of targets in a definition.

use super::{Body, Definition, Erratum, Member, Shape};
use crate::axis::TargetSet;

impl Definition {
    /// Visits the targets of all facts that its layouts depend on, and of the reasons why no symbols can verify it. Assertions,
    /// sources and errata are excluded.
    pub fn layout_sets(&mut self, visit: &mut dyn FnMut(&mut TargetSet)) {
        visit(&mut self.scope);
        self.unverifiable.sets(visit);
        match &mut self.body {
            Body::Aggregate(aggregate) => {
                aggregate.align.sets(visit);
                aggregate.pack.sets(visit);
                aggregate.members.iter_mut().for_each(|member| member.layout_sets(visit));
            }
            Body::Values(values) => values.constants.iter_mut().for_each(|constant| {
                visit(&mut constant.scope);
                constant.value.sets(visit);
            }),
        }
    }

    /// Visits every erratum.
    pub fn each_erratum(&mut self, visit: &mut dyn FnMut(&mut Erratum)) {
        self.errata.iter_mut().for_each(&mut *visit);
        match &mut self.body {
            Body::Aggregate(aggregate) => aggregate.members.iter_mut().for_each(|member| member.each_erratum(visit)),
            Body::Values(values) => values.constants.iter_mut().flat_map(|c| &mut c.errata).for_each(visit),
        }
    }

    /// Visits the targets of assertions, sources and errata.
    pub fn other_sets(&mut self, visit: &mut dyn FnMut(&mut TargetSet)) {
        self.source.sets(visit);
        self.each_erratum(&mut |erratum| {
            visit(&mut erratum.scope);
            visit(&mut erratum.checked);
        });
        match &mut self.body {
            Body::Aggregate(aggregate) => {
                aggregate.size.sets(visit);
                aggregate.members.iter_mut().for_each(|member| member.other_sets(visit));
            }
            Body::Values(values) => values.constants.iter_mut().for_each(|constant| constant.source.sets(visit)),
        }
    }
}

impl Member {
    fn layout_sets(&mut self, visit: &mut dyn FnMut(&mut TargetSet)) {
        visit(&mut self.scope);
        self.bits.sets(visit);
        self.align.sets(visit);
        match &mut self.shape {
            Shape::Type(types) => types.sets(visit),
            Shape::Inline(_, members) => members.iter_mut().for_each(|member| member.layout_sets(visit)),
        }
    }

    fn each_erratum(&mut self, visit: &mut dyn FnMut(&mut Erratum)) {
        self.errata.iter_mut().for_each(&mut *visit);
        if let Shape::Inline(_, members) = &mut self.shape {
            members.iter_mut().for_each(|member| member.each_erratum(visit));
        }
    }

    fn other_sets(&mut self, visit: &mut dyn FnMut(&mut TargetSet)) {
        self.mask.sets(visit);
        self.offset.sets(visit);
        self.source.sets(visit);
        if let Shape::Inline(_, members) = &mut self.shape {
            members.iter_mut().for_each(|member| member.other_sets(visit));
        }
    }
}
