//! A difference between specs and symbols.

use etw_layouts_symbols::compare::Difference;
use serde::Serialize;

/// The kind of a difference between the address of a variable and the facts of the same symbol file.
pub(super) const ADDRESS: &str = "address";

/// The kind of a difference between an address in a table of images and the facts of the kernel's PDB.
pub(super) const IN_IMAGE: &str = "address in the image";

/// The kind of a contradiction between the facts and a statement of the specs about evidence.
const CLAIM: &str = "evidence";

/// A difference, and where the spec states its side of it, or that of the facts for an address.
#[derive(Serialize)]
pub struct Finding {
    /// The member or constant; nothing for the structure itself.
    pub member: String,
    /// The kind of fact.
    pub kind: String,
    /// What the spec says.
    pub spec: String,
    /// What the symbols say.
    pub symbols: String,
    /// Where the spec says it: path, line and column.
    pub place: Option<String>,
}

impl Finding {
    /// A difference, stated at a place.
    pub fn new(difference: &Difference, place: Option<String>) -> Self {
        let Difference { member, what, spec, symbols } = difference;
        Self { member: member.clone(), kind: what.as_str().into(), spec: spec.clone(), symbols: symbols.clone(), place }
    }

    /// What the specs say of where symbol data confirms them, and what the shipped tables say.
    pub fn claim(spec: String, symbols: String, place: Option<String>) -> Self {
        Self { member: String::new(), kind: CLAIM.into(), spec, symbols, place }
    }

    /// The finding in a line.
    pub fn line(&self) -> String {
        let place = self.place.as_deref().map(|place| format!("  {place}")).unwrap_or_default();
        let Self { member, kind, spec, symbols, .. } = self;
        let space = if member.is_empty() { "" } else { " " };
        // Specs state no addresses.
        let (ours, theirs) = match kind.as_str() {
            ADDRESS => ("the facts of this PDB have", "the symbols have"),
            IN_IMAGE => ("the facts of the kernel's PDB have", "the table has"),
            CLAIM => ("the specs state", "but"),
            _ => ("the spec has", "the symbols have"),
        };
        format!("{member}{space}{kind}: {ours} {spec}, {theirs} {symbols}{place}")
    }
}
