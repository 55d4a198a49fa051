//! C types in the spelling of specs: `ULONG [2]`, `WMI_BUFFER_HEADER **`, `LONGLONG (*) (VOID)`.

use core::fmt;

/// A C type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CType {
    /// A type by its name.
    Name {
        /// The name.
        name: String,
        /// Whether it is volatile.
        volatile: bool,
    },
    /// A pointer.
    Pointer {
        /// The type that it points to.
        to: Box<CType>,
        /// Whether the pointer itself is volatile.
        volatile: bool,
    },
    /// A function; only behind a pointer.
    Function {
        /// The type of the result.
        returns: Box<CType>,
        /// The types of the parameters.
        parameters: Vec<CType>,
    },
    /// An array.
    Array {
        /// The type of the elements.
        of: Box<CType>,
        /// The number of elements.
        length: Length,
    },
}

/// The length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Length {
    /// A fixed number of elements.
    Count(u64),
    /// `[ANYSIZE_ARRAY]`: one element, and more after it.
    AnySize,
    /// `[]`: no element, and some after the structure.
    Flexible,
}

/// The recursion limit; no declaration needs more.
const DEPTH: usize = 16;

impl CType {
    /// Parses a type, or returns a message about an error in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokens(text)?, next: 0 };
        let ty = parser.ty(0)?;
        match parser.peek() {
            None => Ok(ty),
            Some(token) => Err(format!("unexpected `{token}` after a complete type")),
        }
    }

    /// The declaration of `name` with this type; for an empty name, the type in the spelling of specs.
    pub fn declare(&self, name: &str) -> String {
        self.declare_inner(name.to_owned())
    }

    fn declare_inner(&self, inner: String) -> String {
        let spaced = |inner: String| match inner.is_empty() {
            true => inner,
            false => format!(" {inner}"),
        };
        match self {
            Self::Name { name, volatile } => {
                let volatile = if *volatile { " volatile" } else { "" };
                format!("{name}{volatile}{}", spaced(inner))
            }
            Self::Pointer { to, volatile } => {
                let inner = match (*volatile, inner.starts_with('*') || inner.is_empty()) {
                    (true, _) => format!("* volatile{}", spaced(inner)),
                    (false, true) => format!("*{inner}"),
                    (false, false) => format!("*{}{inner}", if inner.starts_with('[') { " " } else { "" }),
                };
                match **to {
                    Self::Function { .. } | Self::Array { .. } => to.declare_inner(format!("({inner})")),
                    _ => to.declare_inner(inner),
                }
            }
            Self::Function { returns, parameters } => {
                let parameters: Vec<_> = parameters.iter().map(|p| p.declare("")).collect();
                returns.declare_inner(format!("{inner} ({})", parameters.join(", ")))
            }
            Self::Array { of, length } => {
                let gap = if inner.is_empty() || inner.ends_with(']') { "" } else { " " };
                of.declare_inner(format!("{inner}{gap}[{length}]"))
            }
        }
    }

    /// The name of the innermost type.
    pub fn base(&self) -> &str {
        match self {
            Self::Name { name, .. } => name,
            Self::Pointer { to: of, .. } | Self::Array { of, .. } | Self::Function { returns: of, .. } => of.base(),
        }
    }

    /// All names in it, including those of results and parameters.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Name { name, .. } => vec![name],
            Self::Pointer { to: of, .. } | Self::Array { of, .. } => of.names(),
            Self::Function { returns, parameters } => [&**returns].into_iter().chain(parameters).flat_map(Self::names).collect(),
        }
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declare(""))
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(n) => write!(f, "{n}"),
            Self::AnySize => f.write_str("ANYSIZE_ARRAY"),
            Self::Flexible => Ok(()),
        }
    }
}

struct Parser<'a> {
    tokens: Vec<&'a str>,
    next: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.next).copied()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.take(token) {
            true => Ok(()),
            false => Err(format!("expected `{token}`, found {}", self.here())),
        }
    }

    fn here(&self) -> String {
        self.peek().map_or("the end".into(), |token| format!("`{token}`"))
    }

    fn ty(&mut self, depth: usize) -> Result<CType, String> {
        if depth > DEPTH {
            return Err("type is nested too deeply".into());
        }
        let name = match self.peek() {
            Some(token) if token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => token.to_owned(),
            _ => return Err(format!("expected the name of a type, found {}", self.here())),
        };
        self.next += 1;
        let volatile = self.take("volatile");
        let mut ty = CType::Name { name, volatile };
        let mut pointers = 0;
        while self.take("*") {
            pointers += 1;
            if pointers > DEPTH {
                return Err("type is nested too deeply".into());
            }
            let volatile = self.take("volatile");
            ty = CType::Pointer { to: ty.into(), volatile };
        }
        if self.take("(") {
            self.expect("*")?;
            let volatile = self.take("volatile");
            let lengths = self.lengths()?;
            self.expect(")")?;
            self.expect("(")?;
            let mut parameters = vec![self.ty(depth + 1)?];
            while self.take(",") {
                parameters.push(self.ty(depth + 1)?);
            }
            self.expect(")")?;
            let returns = ty.into();
            let to = CType::Function { returns, parameters }.into();
            return Ok(array(CType::Pointer { to, volatile }, lengths));
        }
        Ok(array(ty, self.lengths()?))
    }

    fn lengths(&mut self) -> Result<Vec<Length>, String> {
        let mut lengths = Vec::new();
        while self.take("[") {
            let length = match self.peek() {
                Some("]") => Length::Flexible,
                Some("ANYSIZE_ARRAY") => Length::AnySize,
                Some(token) => Length::Count(number(token)?),
                None => return Err("missing `]`".into()),
            };
            self.next += usize::from(length != Length::Flexible);
            self.expect("]")?;
            if lengths.len() == DEPTH {
                return Err("type is nested too deeply".into());
            }
            lengths.push(length);
        }
        Ok(lengths)
    }
}

/// `T [2][3]` is two arrays of three.
fn array(ty: CType, lengths: Vec<Length>) -> CType {
    let wrap = |of: CType, length| CType::Array { of: of.into(), length };
    lengths.into_iter().rev().fold(ty, wrap)
}

fn number(token: &str) -> Result<u64, String> {
    let parsed = match token.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => token.parse(),
    };
    match parsed {
        Ok(0) | Err(_) => Err(format!("invalid array length `{token}`")),
        Ok(n) => Ok(n),
    }
}

fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match first {
            '*' | '(' | ')' | '[' | ']' | ',' => 1,
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            c => return Err(format!("unexpected character `{c}` in a type")),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}
