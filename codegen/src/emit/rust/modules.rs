//! Modules, printed as one file each or nested in one text.

use crate::emit::Files;

/// A Rust module.
pub(super) struct Module {
    pub name: String,
    /// The attribute of its feature, followed by a space; empty without a feature.
    pub cfg: String,
    pub public: bool,
    /// The text before its submodules.
    pub head: String,
    pub modules: Vec<Module>,
    /// The text after its submodules.
    pub tail: String,
}

impl Module {
    /// A public module without submodules.
    pub fn new(name: impl Into<String>, text: String) -> Self {
        Self { name: name.into(), cfg: String::new(), public: true, head: text, modules: Vec::new(), tail: String::new() }
    }

    /// Adds a file for the module and for each submodule; `folder` is empty or ends in a slash.
    pub fn files(&self, folder: &str, files: &mut Files) {
        let name = &self.name;
        let declarations: String = self.modules.iter().map(|module| module.opened() + ";\n").collect();
        let text = format!("{}{declarations}{}", self.head, self.tail);
        let path = if self.modules.is_empty() { format!("{folder}{name}.rs") } else { format!("{folder}{name}/mod.rs") };
        files.insert(path, text);
        self.modules.iter().for_each(|module| module.files(&format!("{folder}{name}/"), files));
    }

    /// Appends the module with its submodules in braces.
    pub fn inline(&self, out: &mut String) {
        *out += &format!("{} {{\n{}", self.opened(), self.head);
        self.modules.iter().for_each(|module| module.inline(out));
        *out += &self.tail;
        out.push_str("}\n");
    }

    fn opened(&self) -> String {
        format!("{}{}mod {}", self.cfg, if self.public { "pub " } else { "" }, self.name)
    }
}
