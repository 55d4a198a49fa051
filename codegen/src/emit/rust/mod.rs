//! Rust types with their checks, their tokens, and the table of their layouts.

mod aggregate;
mod docs;
mod events;
mod features;
mod members;
mod modules;
mod names;
mod structures;
mod targets;
mod tokens;
mod values;

pub(super) use aggregate::spelled;
pub use features::manifest;
pub use names::is_device;
pub(super) use names::{join, unnamed};
pub(super) use values::constants;

use super::{Files, packed};
use crate::axis::TargetSet;
use crate::layouts::{Form, Layout, LayoutId, Layouts};
use crate::registry::Registry;
use crate::spec::{Body, Definition, ValuesKind};
use features::Features;
use modules::Module;
use names::Names;
use std::collections::BTreeSet;
use std::fmt::Write;
use tokens::Tokens;

/// The options of the generation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of the runtime crate in generated code.
    pub runtime: String,
    /// The selected structures, which include all types that they embed; all structures if empty.
    pub structures: Vec<String>,
    /// The selected targets; all targets if empty.
    pub targets: TargetSet,
    /// The Cargo feature of structures whose specs name none; `None` for code without features.
    pub feature: Option<String>,
    /// The first line of each file.
    pub header: String,
    /// Path of the crate that decodes payloads in generated code; `None` for code without schemas of events.
    pub payload: Option<String>,
    /// The file with the table of layouts and examined builds for [`emit_inline`]; `None` for a table of the selected structures without
    /// examined builds.
    pub table: Option<TableFile>,
}

/// A file that `etw export layouts` wrote.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// Its path, which must be absolute.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            runtime: "::etw_layouts_runtime".into(),
            structures: Vec::new(),
            targets: TargetSet::default(),
            feature: None,
            header: "Generated from the specs. Do not edit.".into(),
            payload: None,
            table: None,
        }
    }
}

/// Writes the modules `constants`, `layouts`, `members`, `structures` and `targets`, and also `events` if the options name the crate
/// for payloads. Each module and submodule is a file. They include the table of layouts as the file `layouts.bin`, which
/// [`packed::table`] writes.
pub fn emit(layouts: &Layouts, options: &Options) -> Files {
    let mut files = Files::new();
    if let Some(payload) = &options.payload {
        events::events(&layouts.spec, options, payload).files("", &mut files);
    }
    let table = Table::File("layouts.bin".into());
    Emitter::new(layouts, options).modules(&table).iter().for_each(|module| module.files("", &mut files));
    files
}

/// Writes the same modules nested in one text, for the expansion of a macro. They include the table of the options, or contain one of the
/// selected structures at all targets, without examined builds.
///
/// # Errors
///
/// As [`packed::table`]; or the table of the options is corrupt, or has other layouts than the selected structures.
pub fn emit_inline(layouts: &Layouts, options: &Options) -> Result<String, String> {
    let mut text = String::new();
    let emitter = Emitter::new(layouts, options);
    let own = packed::table_of(layouts, &Registry::default(), |name| emitter.is_selected(name))?;
    let table = match &options.table {
        Some(TableFile { path, bytes }) => {
            let differs = |problem: String| format!("{path}: {problem}; write the file again with `etw export layouts`");
            let file = packed::Opened::from_bytes(bytes).map_err(|error| differs(error.to_string()))?;
            let of_specs = packed::Opened::from_bytes(&own).map_err(|error| error.to_string())?;
            packed::matching(&of_specs, &file).map_err(differs)?;
            Table::File(path.clone())
        }
        None => Table::Bytes(own),
    };
    for module in emitter.modules(&table) {
        // Names are Microsoft's, and no program uses all of them.
        text.push_str(
            "#[allow(non_snake_case, non_camel_case_types, non_upper_case_globals, unused, clippy::all, clippy::pedantic)]\n",
        );
        module.inline(&mut text);
    }
    Ok(text)
}

/// The table of layouts in the generated code.
enum Table {
    /// A file, by its absolute path or beside the code.
    File(String),
    /// The bytes.
    Bytes(Vec<u8>),
}

pub(super) struct Emitter<'a> {
    layouts: &'a Layouts,
    options: &'a Options,
    /// For each layout, the selected targets that have it.
    wanted: Vec<TargetSet>,
    names: Names,
    features: Features,
    tokens: Tokens,
}

/// Sets of macros are one type for all targets; enumerations differ by target.
pub(super) fn is_macros(definition: &Definition) -> bool {
    matches!(&definition.body, Body::Values(values) if values.kind != ValuesKind::Enum)
}

/// The selected targets of each layout, for the selected structures and for all types and values that they use.
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

impl<'a> Emitter<'a> {
    fn new(layouts: &'a Layouts, options: &'a Options) -> Self {
        let (wanted, names) = (wanted(layouts, options), Names::new(layouts));
        let features = options.feature.as_deref().map(|other| features::features(layouts, other)).unwrap_or_default();
        let mut new = Self { layouts, options, wanted, names, features, tokens: Tokens::new() };
        new.tokens = new.collect();
        new
    }

    fn modules(&self, table: &Table) -> Vec<Module> {
        vec![
            self.constants(),
            self.layouts(),
            Module::new("members", self.tokens()),
            Module::new("structures", self.structures(table)),
            self.targets(),
        ]
    }

    /// The module of constants and flags: one submodule for each, and their names. Glob re-exports would make compilation a sixth slower,
    /// because the compiler searches each glob for each imported name.
    fn constants(&self) -> Module {
        let (mut modules, mut names) = (self.modules_of(is_macros), String::new());
        let taken: BTreeSet<String> = modules.iter().map(|(_, module)| module.name.clone()).collect();
        for (name, module) in &mut modules {
            module.public = false;
            // A type can have the same name as a module. Then it must be re-exported by a glob, which the module can shadow.
            let own = if taken.contains(*name) { "*" } else { *name };
            let _ = writeln!(names, "pub use {}::{own};", module.name);
        }
        let modules = modules.into_iter().map(|(_, module)| module).collect();
        let head = format!("use {} as runtime;\n\n", self.options.runtime);
        Module {
            modules,
            tail: names,
            ..Module::new("constants", self.header("Named values that exist only as macros.") + &head)
        }
    }

    /// The private module of structures and enumerations. Users name their types by the modules of builds.
    fn layouts(&self) -> Module {
        let modules = self.modules_of(|definition| !is_macros(definition)).into_iter().map(|(_, module)| module).collect();
        let text = self.header(
            "Each distinct layout once, named after the first build that has it. These names are not public: another examined build can change \
             them. The modules of the builds use Microsoft's names.",
        );
        let (runtime, version) = (&self.options.runtime, etw_layouts_runtime::generated::VERSION);
        let text = text + &format!("#[allow(unused_imports)]\nuse super::constants::*;\nuse {runtime} as runtime;\n\n");
        let text = text + &format!("const _: () = runtime::generated::version({version});\n\n");
        Module { public: false, modules, ..Module::new("layouts", text) }
    }

    /// The modules of the selected definitions that `belongs` selects, each with the name of its definition.
    fn modules_of(&self, belongs: impl Fn(&Definition) -> bool) -> Vec<(&str, Module)> {
        let own = self.layouts.spec.definitions.iter().filter(|(_, definition)| belongs(definition));
        let modules = own.filter_map(|(name, definition)| {
            let text = self.definition(name, definition)?;
            Some((name.as_str(), Module { cfg: self.cfg(name), ..Module::new(names::module(name), text) }))
        });
        modules.collect()
    }

    /// The text of a definition's module; `None` if nothing of it is selected.
    fn definition(&self, name: &str, definition: &Definition) -> Option<String> {
        let ids: Vec<_> =
            (0..self.wanted.len()).filter(|&id| self.layouts.layouts[id].name == name && !self.wanted[id].is_empty()).collect();
        if ids.is_empty() {
            return None;
        }
        let mut text = self.header(&format!("`{name}`{}", if is_macros(definition) { "." } else { " in all its layouts." }));
        text.push_str(&self.imports(name, &ids));
        if let (true, Body::Values(values)) = (is_macros(definition), &definition.body) {
            self.macros(definition, values, &mut text);
            return Some(text);
        }
        self.structure(name, &ids, &mut text);
        for id in ids {
            if let Form::Enumeration(enumeration) = &self.layouts.layouts[id].form {
                self.enumeration(id, enumeration, &mut text);
            }
        }
        Some(text)
    }

    /// The imports of a definition: only the modules that its layouts use. A glob import of all modules would make compilation a
    /// tenth slower.
    fn imports(&self, name: &str, ids: &[LayoutId]) -> String {
        let mut used = BTreeSet::new();
        for &id in ids {
            if let Form::Aggregate(aggregate) = &self.layouts.layouts[id].form {
                used.extend(self.layouts.used(aggregate));
            }
        }
        used.remove(name);
        let path = |used: &str| match self.layouts.spec.definitions.get(used) {
            Some(definition) if is_macros(definition) => format!(", {used}"),
            _ => format!(", {}::*", names::module(used)),
        };
        let used: String = used.into_iter().map(path).collect();
        format!("#[allow(unused_imports)]\nuse super::{{runtime{used}}};\n")
    }

    fn header(&self, what: &str) -> String {
        format!("//! {what}\n//!\n//! {}\n\n", self.options.header)
    }
}
