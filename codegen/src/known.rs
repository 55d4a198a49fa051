//! What a member is known from at one kernel.

use crate::axis::Axis;
use crate::choice::Choice;
use crate::layouts::Info;
use crate::spec::{Provenance, Unknown};
use etw_layouts_runtime::meta::Standing;

impl Choice {
    /// What a member is known from at this kernel, in words. The choice is that of the structure whose member it is: what a table proves
    /// of one, it does not prove of another. Symbols of this very kernel come first, then its image if that `shows` where the
    /// member is, then a document that speaks of it; all else is inferred.
    pub fn known(&self, axis: &Axis, info: &Info, shows: bool) -> String {
        let documented = info.source == Provenance::Document && info.covered && self.is_of_axis(axis);
        let (word, more) = match (self.standing, info.unknown) {
            (Standing::Proven, None) => ("seen in symbols", String::new()),
            (Standing::Converted, None) => ("seen in converted tables", String::new()),
            (Standing::Partly, None) if shows => ("seen in images", String::new()),
            (_, Some(Unknown::Use)) => return "bytes of no known use".into(),
            _ if documented && (info.documented || info.unknown.is_some()) => ("documented", String::new()),
            _ if documented => ("documented", ", its place inferred".into()),
            _ => ("inferred", self.inferred(axis, info)),
        };
        let lacks = match info.unknown {
            Some(Unknown::Name) => " without a name",
            Some(Unknown::Type) => " without a type",
            Some(Unknown::NameAndType) => " without name and type",
            Some(Unknown::Use) | None => "",
        };
        format!("{word}{lacks}{more}")
    }

    /// What that is inferred from of which neither symbols nor documents tell, after the word for it.
    fn inferred(&self, axis: &Axis, info: &Info) -> String {
        match (self.standing, self.standing.neighbours()) {
            (Standing::Unseen { same: false, .. }, [Some(older), _]) => format!(" from {older}"),
            (_, [Some(older), Some(newer)]) if self.other.is_none() => format!(" from {older} and {newer}"),
            (_, [Some(older), Some(newer)]) => format!(", as {older} and {newer} differ"),
            (_, [Some(one), None] | [None, Some(one)]) if self.other.is_none() => format!(" from {one}"),
            (_, [Some(one), None] | [None, Some(one)]) => format!(", as {one} differs"),
            (_, [None, None]) if !self.is_of_axis(axis) => format!(" from {}", axis.target_name(self.target())),
            (_, [None, None]) => match info.source {
                Provenance::Document => " from documents of other kernels",
                Provenance::Symbols => " from symbols of other kernels",
                Provenance::Inferred => " from other kernels",
            }
            .into(),
        }
    }
}
