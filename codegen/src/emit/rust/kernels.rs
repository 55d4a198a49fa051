//! The examined builds, for look-ups at run time.

use super::Emitter;
use super::structures::{build, variant};
use crate::registry::Seen;
use std::fmt::Write;

impl Emitter<'_> {
    /// The registry. Builds have the numbers that the version axis uses.
    pub(super) fn kernels(&self) -> String {
        let axis = &self.layouts.spec.axis;
        let mut kernels: Vec<_> = self.options.registry.kernels.iter().map(|seen| (axis.canonical(seen.build), seen)).collect();
        kernels.sort_by_key(|(build, seen)| (*build, seen.arch, seen.witness));
        let mut text = self.header("The examined builds, whose symbols or image were read and verified against the layouts.");
        let _ = write!(
            text,
            "#[allow(unused_imports)]\nuse {}::{{Arch::*, Build, generated::{{pdb, registry, seen, witness}}, meta::{{Image, Registry, WitnessKind::*}}}};\n\n",
            self.options.runtime
        );
        text.push_str("/// The global variables that the specs define. A build has some of them.\n");
        text.push_str("pub const GLOBALS: &[&str] = &[");
        for (name, global) in &self.layouts.spec.globals {
            let doc: String = global.doc.lines().map(|line| format!("\n    // {line}")).collect();
            let _ = write!(text, "{doc}\n    {name:?},");
        }
        text.push_str(if self.layouts.spec.globals.is_empty() { "];\n\n" } else { "\n];\n\n" });
        text.push_str("/// The examined builds, oldest first.\npub static REGISTRY: Registry = registry(\n    &[\n");
        for (canonical, seen) in &kernels {
            let pdb = seen.pdb.as_ref();
            let pdb = pdb.map_or("None".into(), |pdb| format!("pdb({:#034x}, {})", pdb.guid.as_u128(), pdb.age));
            let image = seen.image.as_ref();
            let image = image
                .map_or("None".into(), |i| format!("Some(Image {{ time_stamp: {:#x}, size: {:#x} }})", i.time_stamp, i.size));
            let globals: Vec<_> = seen.globals.iter().map(|(name, at)| format!("({name:?}, {at:#x})")).collect();
            let (build, arch, witness, globals) = (build(canonical), variant(seen.arch), seen.witness, globals.join(", "));
            let _ = writeln!(text, "        seen({build}, {arch}, {pdb}, {image}, &[{globals}], {witness}),");
        }
        let _ = writeln!(text, "    ],\n    &[{}],", places(&kernels, |seen| seen.pdb.as_ref().map(|pdb| (pdb.guid, pdb.age))));
        let images = places(&kernels, |seen| seen.image.as_ref().map(|image| (image.time_stamp, image.size)));
        let _ = writeln!(text, "    &[{images}],\n    &[");
        for witness in &self.options.registry.witnesses {
            let _ = writeln!(text, "        witness({:?}, {:?}),", witness.name, witness.kind);
        }
        text.push_str("    ],\n);\n");
        text
    }
}

/// The indices of the builds that have a key, sorted by the key, 20 in a line.
fn places<B, K: Ord>(kernels: &[(B, &Seen)], key: impl Fn(&Seen) -> Option<K>) -> String {
    let keyed = kernels.iter().enumerate().filter_map(|(place, (_, seen))| Some((key(seen)?, place)));
    let mut keyed: Vec<_> = keyed.collect();
    keyed.sort();
    let lines = keyed.chunks(20).map(|line| line.iter().map(|(_, place)| place.to_string()).collect::<Vec<_>>().join(", "));
    let text: String = lines.map(|line| format!("\n        {line},")).collect();
    if text.is_empty() { text } else { text + "\n    " }
}
