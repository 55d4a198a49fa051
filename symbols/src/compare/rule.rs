//! Accepted differences of tables that are not exact.
//!
//! A converted table does not show which facts its conversion lost: only an exact layout shows whether an `unsigned char` was a
//! `char`. So each accepted difference is counted by its rule.

/// The rules for a table, by its producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// No differences: the table has the facts of the compiler.
    Faithful,
    /// Every [`Rule`]: the table was converted from a form that lost these facts.
    Converted,
}

impl Rules {
    /// The rules for a table with this producer: a name that begins with `converted from` indicates a converted table.
    pub fn for_producer(producer: &str) -> Rules {
        if producer.starts_with("converted from") { Rules::Converted } else { Rules::Faithful }
    }
}

/// An accepted loss of converted tables. Each was found by comparing converted and exact tables of the same builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A pointer to a function appears as a pointer to `void`.
    FunctionPointer,
    /// `char` appears as `unsigned char`.
    Char,
    /// `unsigned int` appears as `unsigned long`.
    Int,
    /// Of the constants of an enumeration with the same value, only one remains.
    SharedValue,
    /// An enumeration lost its name.
    EnumerationName,
    /// Whether a type is a structure or a union is guessed, often wrongly, if the type is unnamed or no two of its members have
    /// the same offset. Examples are `TRACE_LOGFILE_HEADER.VersionDetail` for 6.3.9600 and 10.0.17134 on x64, and `SLIST_HEADER`
    /// for 5.2.3790 on x64.
    Kind,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 6] =
        [Rule::FunctionPointer, Rule::Char, Rule::Int, Rule::SharedValue, Rule::EnumerationName, Rule::Kind];

    /// Stable identifier of the rule.
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

    /// Description of the accepted difference, as a sentence.
    pub fn description(self) -> &'static str {
        match self {
            Rule::FunctionPointer => "A pointer to a function appears as a pointer to void.",
            Rule::Char => "char appears as unsigned char.",
            Rule::Int => "unsigned int appears as unsigned long.",
            Rule::SharedValue => "Of the constants of an enumeration with the same value, only one remains.",
            Rule::EnumerationName => "An enumeration lost its name.",
            Rule::Kind => "Whether a type is a structure or a union is guessed if its offsets do not determine it.",
        }
    }
}
