//! What is accepted of tables that are less than faithful.

/// What is accepted of a table, as its producer demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Nothing: the table states what the compiler wrote.
    Faithful,
    /// Each [`Rule`]: the table was converted from a form that lost these facts.
    Converted,
}

impl Rules {
    /// The rules for a table by its producer: a name that begins with `converted from` makes it a converted one.
    pub fn for_producer(producer: &str) -> Rules {
        if producer.starts_with("converted from") { Rules::Converted } else { Rules::Faithful }
    }
}

/// A loss of converted tables that is accepted. Each was found by comparing converted tables with faithful ones of the
/// same kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A pointer to a function reads as a pointer to `void`.
    FunctionPointer,
    /// `char` reads as `unsigned char`.
    Char,
    /// `unsigned int` reads as `unsigned long`.
    Int,
    /// Of the constants of an enumeration that share a value, one is left.
    SharedValue,
    /// An enumeration has lost its name.
    EnumerationName,
    /// Whether a type is a structure or a union is guessed, and often wrongly, where it is unnamed or no two of its members
    /// are at one offset; so of `TRACE_LOGFILE_HEADER.VersionDetail` for 6.3.9600 and 10.0.17134 on x64, and of
    /// `SLIST_HEADER` for 5.2.3790 on x64.
    Kind,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 6] =
        [Rule::FunctionPointer, Rule::Char, Rule::Int, Rule::SharedValue, Rule::EnumerationName, Rule::Kind];

    /// A short name that stays the same.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::FunctionPointer => "function-pointer",
            Rule::Char => "char",
            Rule::Int => "int",
            Rule::SharedValue => "shared-value",
            Rule::EnumerationName => "enumeration-name",
            Rule::Kind => "kind",
        }
    }

    /// A sentence that says what is accepted.
    pub fn description(self) -> &'static str {
        match self {
            Rule::FunctionPointer => "A pointer to a function reads as a pointer to void.",
            Rule::Char => "char reads as unsigned char.",
            Rule::Int => "unsigned int reads as unsigned long.",
            Rule::SharedValue => "Of the constants of an enumeration that share a value, one is left.",
            Rule::EnumerationName => "An enumeration has lost its name.",
            Rule::Kind => "Whether a type is a structure or a union is guessed, where its offsets do not tell.",
        }
    }
}
