//! A spec file with a structure, as an author states it.

/// A structure with scopes in scopes, and with piecewise values.
#[derive(Clone, Debug)]
pub struct File {
    pub scope: Option<String>,
    /// Whether it has a source, so that its assertions apply to the documented targets.
    pub source: bool,
    pub size: Value,
    /// The value of `unverifiable`.
    pub reason: Value,
    pub items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub enum Item {
    Member { name: String, scope: Option<String>, ty: Value },
    Group { scope: String, items: Vec<Item> },
}

/// A piecewise value.
#[derive(Clone, Debug)]
pub enum Value {
    One(String),
    Table(Vec<(String, Value)>),
}

impl File {
    /// The text of the file.
    pub fn text(&self) -> String {
        let scope = self.scope.as_ref().map(|scope| format!("in = {scope:?}\n")).unwrap_or_default();
        let items: Vec<_> = self.items.iter().map(Item::text).collect();
        let source = if self.source { "source = \"document\"\n" } else { "" };
        let (size, reason) = (self.size.text(&|number| number.to_owned()), self.reason.text(&quoted));
        let values = format!("{source}size = {size}\nunverifiable = {reason}\n");
        format!("[struct]\nname = \"S\"\n{scope}{values}members = [\n{}]\n", items.concat())
    }
}

impl Item {
    fn text(&self) -> String {
        match self {
            Self::Member { name, scope, ty } => {
                let scope = scope.as_ref().map(|scope| format!(", in = {scope:?}")).unwrap_or_default();
                format!("{{ name = {name:?}, type = {}{scope} }},\n", ty.text(&quoted))
            }
            Self::Group { scope, items } => {
                let items: Vec<_> = items.iter().map(Self::text).collect();
                format!("{{ in = {scope:?}, members = [\n{}] }},\n", items.concat())
            }
        }
    }
}

impl Value {
    fn text(&self, word: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::One(value) => word(value),
            Self::Table(entries) => {
                let entries: Vec<_> = entries.iter().map(|(scope, value)| format!("{scope:?} = {}", value.text(word))).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }
}

fn quoted(word: &str) -> String {
    format!("{word:?}")
}
