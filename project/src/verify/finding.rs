//! A difference between specs and symbols.

use etw_layouts_symbols::compare::Difference;
use serde::Serialize;

/// What differs if a variable is elsewhere than the facts of the same symbol file have it.
pub(super) const ADDRESS: &str = "address";

/// What differs if a table of images has a variable elsewhere than the facts of the PDB of such a kernel.
pub(super) const IN_IMAGE: &str = "address in the image";

/// A difference, and where the spec states its side of it, or that of the facts for an address.
#[derive(Serialize)]
pub struct Finding {
    /// The member or constant; nothing for the structure itself.
    pub member: String,
    /// Which fact.
    pub what: String,
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
        Self { member: member.clone(), what: what.as_str().into(), spec: spec.clone(), symbols: symbols.clone(), place }
    }

    /// What the specs say of where symbol data confirms them, and what the shipped tables say.
    pub fn claim(spec: String, symbols: String, place: Option<String>) -> Self {
        Self { member: String::new(), what: "claim".into(), spec, symbols, place }
    }

    /// The finding in a line.
    pub fn line(&self) -> String {
        let place = self.place.as_deref().map(|place| format!("  {place}")).unwrap_or_default();
        let Self { member, what, spec, symbols, .. } = self;
        let space = if member.is_empty() { "" } else { " " };
        // Specs state no addresses.
        let (ours, theirs) = match what.as_str() {
            ADDRESS => ("the facts of this PDB say", "the symbols say"),
            IN_IMAGE => ("the facts of the kernel's PDB say", "the table says"),
            _ => ("the spec says", "the symbols say"),
        };
        format!("{member}{space}{what}: {ours} {spec}, {theirs} {symbols}{place}")
    }
}
