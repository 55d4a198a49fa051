//! Specs with their layouts, and examined builds, as bytes that are read in milliseconds. Their texts take ten times as long to read and
//! to resolve.
//!
//! The bytes are not a file format. They depend on the version of this crate: a program contains the bytes that this version wrote.

mod bytes;
mod types;

use crate::axis::PerTarget;
use crate::layouts::Layouts;
use crate::registry::Registry;
use crate::source::Sources;
use crate::spec::Spec;
use bytes::{Reader, Stored, bytes};
use std::collections::BTreeMap;

/// The bytes of specs and their layouts, without the texts of the specs.
pub fn layouts(layouts: &Layouts) -> Vec<u8> {
    // The layouts state their targets, from which `read_layouts` makes `by_target`.
    let Layouts { spec, layouts, by_target: _, globals } = layouts;
    let Spec { sources: _, axis, scalars, typedefs, definitions, globals: variables, classes, providers, broken } = spec;
    bytes(|out| {
        axis.write(out);
        scalars.write(out);
        typedefs.write(out);
        definitions.write(out);
        variables.write(out);
        classes.write(out);
        providers.write(out);
        broken.write(out);
        layouts.write(out);
        globals.write(out);
    })
}

/// Reads the bytes that [`layouts`] made for specs with these texts. `None` if they are not such bytes; damaged ones can also give wrong
/// layouts.
pub fn read_layouts(bytes: &[u8], sources: Sources) -> Option<Layouts> {
    let from = &mut Reader::new(bytes)?;
    let spec = Spec {
        sources,
        axis: Stored::read(from)?,
        scalars: Stored::read(from)?,
        typedefs: Stored::read(from)?,
        definitions: Stored::read(from)?,
        globals: Stored::read(from)?,
        classes: Stored::read(from)?,
        providers: Stored::read(from)?,
        broken: Stored::read(from)?,
    };
    let layouts: Vec<crate::layouts::Layout> = Stored::read(from)?;
    let globals = Stored::read(from)?;
    let mut by_target: PerTarget<Vec<_>> = spec.axis.targets.ids().map(|_| Vec::new()).collect();
    for (id, layout) in layouts.iter().enumerate() {
        for target in layout.targets.iter() {
            from.copy(layout.name.len())?;
            by_target.get_mut(target)?.push((layout.name.clone(), id));
        }
    }
    let by_target = by_target.into_iter().map(BTreeMap::from_iter).collect();
    from.is_at_end().then_some(Layouts { spec, layouts, by_target, globals })
}

/// The bytes of examined builds.
pub fn registry(registry: &Registry) -> Vec<u8> {
    let Registry { builds, facts_files } = registry;
    bytes(|out| {
        builds.write(out);
        facts_files.write(out);
    })
}

/// Reads the bytes that [`registry`] made; `None` if they are not such bytes.
pub fn read_registry(bytes: &[u8]) -> Option<Registry> {
    let from = &mut Reader::new(bytes)?;
    let registry = Registry { builds: Stored::read(from)?, facts_files: Stored::read(from)? };
    from.is_at_end().then_some(registry)
}
