//! What a member is known from at one kernel.

use crate::axis::Axis;
use crate::choice::Choice;
use crate::layouts::Info;
use crate::spec::{Provenance, Unknown};
use etw_layouts_runtime::meta::Standing;

/// What a member is known from at one kernel, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Symbols of this very kernel.
    Symbols,
    /// A converted table of them.
    Converted,
    /// Its image.
    Images,
    /// A document that speaks of it.
    Document,
    /// Other kernels, or other documents.
    Inferred,
    /// Nothing: bytes of no known use.
    Nothing,
}

impl Source {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Symbols => "seen in symbols",
            Self::Converted => "seen in converted tables",
            Self::Images => "seen in images",
            Self::Document => "documented",
            Self::Inferred => "inferred",
            Self::Nothing => "bytes of no known use",
        }
    }
}

impl Choice {
    /// What a member is known from at this kernel. The choice is that of the structure whose member it is: what a table proves
    /// of one, it does not prove of another. Symbols of this very kernel come first, then its image if that `shows` where the
    /// member is, then a document that speaks of it; all else is inferred.
    pub fn source(&self, axis: &Axis, info: &Info, shows: bool) -> Source {
        match (self.standing, info.unknown) {
            (Standing::Proven, None) => Source::Symbols,
            (Standing::Converted, None) => Source::Converted,
            (Standing::Partly, None) if shows => Source::Images,
            (_, Some(Unknown::Use)) => Source::Nothing,
            _ if info.source == Provenance::Document && info.covered && self.is_of_axis(axis) => Source::Document,
            _ => Source::Inferred,
        }
    }

    /// What the size of the structure, or the value of a constant, is known from at this kernel. No image tells either.
    pub fn source_of_whole(&self, axis: &Axis) -> Source {
        match self.standing {
            Standing::Proven => Source::Symbols,
            Standing::Converted => Source::Converted,
            _ if axis.documented.contains(self.target()) && self.is_of_axis(axis) => Source::Document,
            _ => Source::Inferred,
        }
    }

    /// [`source`](Self::source) in words, with what is lacking.
    pub fn known(&self, axis: &Axis, info: &Info, shows: bool) -> String {
        let source = self.source(axis, info, shows);
        let more = match source {
            Source::Document if !info.documented && info.unknown.is_none() => ", its place inferred".into(),
            Source::Inferred => self.inferred(axis, info),
            _ => String::new(),
        };
        let lacks = match info.unknown {
            Some(Unknown::Name) => " without a name",
            Some(Unknown::Type) => " without a type",
            Some(Unknown::NameAndType) => " without name and type",
            Some(Unknown::Use) | None => "",
        };
        format!("{}{lacks}{more}", source.word())
    }

    /// What that is inferred from of which neither symbols nor documents tell, after the word for it.
    fn inferred(&self, axis: &Axis, info: &Info) -> String {
        match (self.standing, self.standing.neighbours()) {
            (Standing::Unseen { same: false, .. }, [Some(older), _]) => format!(" from {older}"),
            (_, [Some(older), Some(newer)]) if self.other.is_none() => format!(" from {older} and {newer}"),
            (_, [Some(older), Some(newer)]) => format!(", as {older} and {newer} differ"),
            (_, [Some(one), None] | [None, Some(one)]) if self.other.is_none() => format!(" from {one}"),
            (_, [Some(one), None] | [None, Some(one)]) => format!(", as {one} differs"),
            (_, [None, None]) if self.leader(axis).is_some() => {
                self.leader(axis).map_or_else(String::new, |leader| format!(" from {leader}"))
            }
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
