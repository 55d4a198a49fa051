//! Reader for the tables of statements about events.

use crate::Error;

/// The statements of all sources.
#[derive(Default)]
pub struct Statements {
    /// One statement per list of fields.
    pub list: Vec<Statement>,
}

/// A list of fields as a source states it.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The source, such as `mof`: the name of its table.
    pub source: String,
    /// Path and line.
    pub place: String,
    /// The provider or group of the events.
    pub of: Stated,
    /// The version, if the source states one.
    pub version: Option<u8>,
    /// The event types.
    pub types: Vec<u8>,
    /// The names of the event types, by number, if the source states them.
    pub names: Vec<(u8, String)>,
    /// The name of the class or structure.
    pub class: String,
    /// The Windows versions that state it, in words.
    pub windows: String,
    /// Each field: name and type.
    pub fields: Vec<(String, String)>,
    /// The size of a structure with pointers of 4 and of 8 bytes.
    pub size: Option<[u64; 2]>,
}

/// The identification of the events that a statement describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stated {
    /// By a GUID, in lower case.
    Guid(String),
    /// By the group in the hook.
    Group(u8),
}

impl Statement {
    /// Whether it is a C structure: its members have offsets.
    pub fn is_structure(&self) -> bool {
        self.size.is_some()
    }
}

impl Statements {
    /// Reads tables, each given by path and text.
    ///
    /// # Errors
    ///
    /// A row cannot be read; the error has its place.
    pub fn parse<'a>(tables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Error> {
        let mut list = Vec::new();
        for (path, text) in tables {
            let name = path.rsplit('/').next().unwrap_or(path);
            let source = name.strip_suffix(".tsv").unwrap_or(name);
            let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
            let columns: Vec<&str> = lines.next().map(|(_, line)| line.split('\t').collect()).unwrap_or_default();
            for (number, line) in lines {
                let place = format!("{path}:{}", number + 1);
                let cells: Vec<&str> = line.split('\t').collect();
                let cell = |name: &str| {
                    let at = columns.iter().position(|column| *column == name)?;
                    cells.get(at).copied()
                };
                rows(source, &place, &cell, &mut list).ok_or_else(|| format!("{place}: invalid row of event facts"))?;
            }
        }
        Ok(Self { list })
    }

    /// Whether a source has any statement.
    pub fn has(&self, source: &str) -> bool {
        self.list.iter().any(|statement| statement.source == source)
    }
}

/// Adds the statements of a row: one, or one for each hook.
fn rows<'a>(source: &str, place: &str, cell: &dyn Fn(&str) -> Option<&'a str>, list: &mut Vec<Statement>) -> Option<()> {
    let field = |text: &str| {
        let (name, ty) = text.trim().split_once(' ')?;
        Some((name.to_owned(), ty.to_owned()))
    };
    let fields = cell("fields").or_else(|| cell("members")).unwrap_or_default();
    let fields = fields.split(", ").filter(|text| !text.trim().is_empty()).map(field).collect::<Option<Vec<_>>>()?;
    let statement = Statement {
        source: source.to_owned(),
        place: place.to_owned(),
        of: Stated::Group(0),
        version: None,
        types: Vec::new(),
        names: Vec::new(),
        class: cell("class").or_else(|| cell("struct")).unwrap_or_default().to_owned(),
        windows: cell("windows").unwrap_or_default().to_owned(),
        fields,
        size: cell("size").map(pair).unwrap_or_default(),
    };
    let Some(hooks) = cell("hooks") else {
        let version = cell("version").unwrap_or_default();
        let version = if version.is_empty() { None } else { Some(version.parse().ok()?) };
        // `1 2 3`, or with names `1 Start, 2 End`.
        let types = cell("types").unwrap_or_default();
        let mut statement = Statement { of: Stated::Guid(cell("guid")?.to_ascii_lowercase()), version, ..statement };
        if types.contains(|c: char| c.is_ascii_alphabetic()) {
            for part in types.split(", ") {
                let (number, name) = part.split_once(' ').unwrap_or((part, ""));
                let number = number.parse().ok()?;
                statement.types.push(number);
                statement.names.push((number, name.split_whitespace().collect()));
            }
        } else {
            statement.types =
                types.split([' ', ',']).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect::<Option<_>>()?;
        }
        list.push(statement);
        return Some(());
    };
    // Events with this header are identified by a GUID, which the source does not state. Their type is not a hook.
    if statement.fields.first().is_some_and(|(_, ty)| ty.starts_with("EVENT_TRACE_HEADER")) {
        return Some(());
    }
    for hook in hooks.split(' ').filter(|hook| !hook.is_empty()) {
        let (of, ty) = of_hook(hook)?;
        list.push(Statement { of, types: vec![ty], ..statement.clone() });
    }
    Some(())
}

/// Parses a hook such as `0532` into group and type. An event outside the system's groups is written `GUID/22`, with its type in
/// hexadecimal.
fn of_hook(text: &str) -> Option<(Stated, u8)> {
    if let Some((guid, ty)) = text.split_once('/') {
        return Some((Stated::Guid(guid.to_ascii_lowercase()), u8::from_str_radix(ty, 16).ok()?));
    }
    let hook = u16::from_str_radix(text, 16).ok()?;
    Some((Stated::Group((hook >> 8) as u8), hook as u8))
}

/// Parses `832` or `820/832`: a number of bytes with pointers of 4 and of 8 bytes.
pub(super) fn pair(text: &str) -> Option<[u64; 2]> {
    let (first, second) = text.split_once('/').unwrap_or((text, text));
    Some([first.parse().ok()?, second.parse().ok()?])
}
