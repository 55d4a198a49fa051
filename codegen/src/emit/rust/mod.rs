//! Rust types, their proofs and their metadata.

mod aggregate;
mod docs;
mod meta;
mod names;
mod targets;
mod tokens;
mod values;

pub use names::KEYWORDS;

use super::Files;
use crate::axis::TargetSet;
use crate::layouts::{Form, Layout, Layouts};
use crate::spec::{Body, Definition, ValuesKind};
use std::collections::BTreeMap;
use tokens::Tokens;

/// What to generate, and for whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of the runtime crate, as generated code names it.
    pub runtime: String,
    /// The structures that are wanted, with all that they embed; every one if empty.
    pub structures: Vec<String>,
    /// The targets that are wanted; every one if empty.
    pub targets: TargetSet,
    /// The first line of each file.
    pub header: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            runtime: "::etw_layouts_runtime".into(),
            structures: Vec::new(),
            targets: TargetSet::default(),
            header: "Generated from the specs. Do not edit.".into(),
        }
    }
}

/// Writes the modules `layouts`, `constants`, `members`, `structures`, `axis` and `targets` of a crate.
pub fn emit(layouts: &Layouts, options: &Options) -> Files {
    let mut emitter = Emitter { layouts, options, wanted: wanted(layouts, options), tokens: Tokens::new() };
    emitter.tokens = emitter.collect();
    let mut files = Files::new();
    let mut modules = BTreeMap::from([("layouts", Vec::new()), ("constants", Vec::new())]);
    for (name, definition) in &layouts.spec.definitions {
        let folder = if is_macros(definition) { "constants" } else { "layouts" };
        let Some(text) = emitter.file(name, definition) else { continue };
        files.insert(format!("{folder}/{}.rs", names::module(name)), text);
        modules.entry(folder).or_default().push(names::module(name));
    }
    for (folder, names) in modules {
        files.insert(format!("{folder}/mod.rs"), emitter.index(folder, &names));
    }
    files.insert("axis.rs".into(), emitter.axis());
    files.insert("members.rs".into(), emitter.tokens());
    files.insert("structures.rs".into(), emitter.structures());
    emitter.targets(&mut files);
    files
}

/// The same modules, one within the other, as a macro expands to them.
pub fn emit_inline(layouts: &Layouts, options: &Options) -> String {
    inline(&emit(layouts, options), "", "mod.rs", &["axis", "constants", "layouts", "members", "structures", "targets"])
}

fn inline(files: &Files, folder: &str, index: &str, roots: &[&str]) -> String {
    let text = match files.get(&format!("{folder}{index}")) {
        Some(text) => text.clone(),
        None => roots.iter().map(|root| format!("pub mod {root};\n")).collect(),
    };
    let mut result = String::new();
    for line in text.lines().filter(|line| !line.starts_with("//!")) {
        let module = line.strip_prefix("pub mod ").or(line.strip_prefix("mod ")).and_then(|l| l.strip_suffix(';'));
        match module {
            None => result.push_str(line),
            Some(name) => {
                let visible = if line.starts_with("pub") { "pub " } else { "" };
                let inner = match files.get(&format!("{folder}{name}.rs")) {
                    Some(text) => text.lines().filter(|l| !l.starts_with("//!")).collect::<Vec<_>>().join("\n"),
                    None => inline(files, &format!("{folder}{name}/"), "mod.rs", &[]),
                };
                result.push_str(&format!("{visible}mod {name} {{\n{inner}\n}}"));
            }
        }
        result.push('\n');
    }
    result
}

pub(super) struct Emitter<'a> {
    layouts: &'a Layouts,
    options: &'a Options,
    /// For each layout, the wanted targets that have it.
    wanted: Vec<TargetSet>,
    tokens: Tokens,
}

/// Sets of macros are one type for all targets; enumerations differ by target.
fn is_macros(definition: &Definition) -> bool {
    matches!(&definition.body, Body::Values(values) if values.kind != ValuesKind::Enum)
}

/// The wanted targets of each layout: of the wanted structures, and of what they embed or hold.
fn wanted(layouts: &Layouts, options: &Options) -> Vec<TargetSet> {
    let targets = match options.targets.is_empty() {
        true => layouts.spec.axis.all(),
        false => options.targets.clone(),
    };
    let mut names: Vec<&str> = options.structures.iter().map(String::as_str).collect();
    if names.is_empty() {
        names = layouts.spec.definitions.keys().map(String::as_str).collect();
    }
    let mut at = 0;
    while let Some(&name) = names.get(at) {
        for layout in layouts.layouts.iter().filter(|l| l.name == name) {
            if let Form::Aggregate(aggregate) = &layout.form {
                let new: Vec<_> = layouts.used(aggregate).into_iter().filter(|n| !names.contains(n)).collect();
                names.extend(new);
            }
        }
        at += 1;
    }
    let of = |layout: &Layout| match names.contains(&layout.name.as_str()) {
        true => layout.targets.intersection(&targets),
        false => TargetSet::default(),
    };
    layouts.layouts.iter().map(of).collect()
}

impl Emitter<'_> {
    /// The file of a definition, if any of it is wanted.
    fn file(&self, name: &str, definition: &Definition) -> Option<String> {
        let ids: Vec<_> =
            (0..self.wanted.len()).filter(|&id| self.layouts.layouts[id].name == name && !self.wanted[id].is_empty()).collect();
        if ids.is_empty() {
            return None;
        }
        let mut text = self.header(&format!("`{name}`."));
        text.push_str("#[allow(unused_imports)]\nuse super::*;\n");
        if let (true, Body::Values(values)) = (is_macros(definition), &definition.body) {
            self.macros(definition, values, &mut text);
            return Some(text);
        }
        for id in ids {
            match &self.layouts.layouts[id].form {
                Form::Aggregate(aggregate) => self.aggregate(id, aggregate, &mut text),
                Form::Enumeration(enumeration) => self.enumeration(id, enumeration, &mut text),
            }
        }
        Some(text)
    }

    fn index(&self, folder: &str, modules: &[String]) -> String {
        let what = match folder {
            "layouts" => {
                "Every distinct layout once, named by the first kernel that has it; the modules of the kernels have Microsoft's names."
            }
            _ => "Named values that exist only as macros.",
        };
        let mut text = self.header(what);
        if folder == "layouts" {
            text.push_str("#[allow(unused_imports)]\nuse super::{constants::*, members};\n");
        }
        let runtime = &self.options.runtime;
        text.push_str(&format!("#[allow(unused_imports)]\nuse {runtime}::{{self as runtime, Described, meta::{{self, Layout, Member, Named, Type, Values}}}};\n\n"));
        for module in modules {
            text.push_str(&format!("mod {module};\n"));
        }
        for module in modules {
            text.push_str(&format!("pub use {module}::*;\n"));
        }
        text
    }

    fn header(&self, what: &str) -> String {
        format!("//! {}\n//!\n//! {what}\n\n", self.options.header)
    }
}
