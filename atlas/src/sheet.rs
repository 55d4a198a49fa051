//! A layout as a sheet: one row for each line of its declaration in C. Pages and the script make the table and the text from it.

use etw_layouts_codegen::layouts::LayoutId;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A layout of a structure or union.
pub struct Sheet {
    /// Its number among the layouts of the structure.
    pub number: i32,
    pub kind: &'static str,
    pub size: u64,
    pub align: u64,
    /// Explicit packing, or 0.
    pub pack: u64,
    /// The rows, each with its offset.
    pub rows: Vec<(u64, Row)>,
    /// The layouts of the structures, unions and enumerations that it embeds.
    pub embeds: Vec<LayoutId>,
}

/// A line of a declaration.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Row {
    #[serde(skip_serializing_if = "is_none")]
    pub depth: usize,
    /// The path of the member, including the enclosing members; empty if it has no name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The displayed name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub ty: String,
    pub size: u64,
    /// The bits of a bit field, such as `3-5`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bits: String,
    /// The enumeration or flags of its values.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub values: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Its evidence, if it differs from that of the whole layout.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The line in C, indented; empty for padding.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub c: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(depth: &usize) -> bool {
    *depth == 0
}

impl Row {
    /// Whether the row only closes a nested declaration.
    pub fn is_end(&self) -> bool {
        self.name.is_empty()
    }
}

impl Sheet {
    /// The declaration in C, with the offset of each member before it.
    pub fn c(&self, name: &str) -> String {
        let [head, end] = self.ends(name);
        let mut text = head;
        for (offset, row) in self.rows.iter().filter(|(_, row)| !row.c.is_empty()) {
            let _ = match row.is_end() {
                true => writeln!(text, "            {}", row.c),
                false => writeln!(text, "/* {offset:#05x} */ {}", row.c),
            };
        }
        text + &end
    }

    /// The text before and after the members in the C declaration.
    pub fn ends(&self, name: &str) -> [String; 2] {
        let [push, pop] = match self.pack {
            0 => [String::new(), String::new()],
            pack => [format!("#pragma pack(push, {pack})\n"), "#pragma pack(pop)\n".to_owned()],
        };
        [format!("{push}typedef {} _{name} {{\n", self.kind), format!("}} {name}; /* {:#x} bytes */\n{pop}", self.size)]
    }

    /// The ids of the members' rows in the table with this suffix, for the links of the byte map.
    pub fn ids(&self, suffix: &str) -> Vec<String> {
        let mut ids = BTreeSet::new();
        let rows = self.rows.iter().enumerate().filter(|(_, (_, row))| !row.is_end());
        rows.map(|(index, (_, row))| match !row.path.is_empty() && ids.insert(&row.path) {
            true => format!("{}{suffix}", row.path),
            false => format!("r-{index}{suffix}"),
        })
        .collect()
    }
}
