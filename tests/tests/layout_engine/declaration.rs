//! Declarations of structures, as far as specs and C can both state them.

/// Declarations of which later ones may embed earlier ones.
pub type Group = Vec<Record>;

/// A structure or union.
#[derive(Clone)]
pub struct Record {
    pub union: bool,
    /// `#pragma pack`; of those with a name only.
    pub pack: Option<u64>,
    /// `__declspec(align)`
    pub align: Option<u64>,
    pub members: Vec<Member>,
}

#[derive(Clone)]
pub struct Member {
    /// A bit field or an unnamed structure needs none.
    pub named: bool,
    pub of: Of,
    pub bits: Option<u64>,
    /// `__declspec(align)`; of no bit field.
    pub align: Option<u64>,
    /// Lengths of an array, each with its brackets.
    pub lengths: String,
}

#[derive(Clone)]
pub enum Of {
    /// A scalar, an enumeration, or a pointer to one, by its name.
    Type(&'static str),
    /// A pointer to a function.
    Function,
    /// A declaration of the same group.
    Record(usize),
    /// An unnamed one.
    Inline(Record),
}

impl Record {
    /// Itself, and the unnamed ones within.
    pub fn count(&self) -> usize {
        let inner = self.members.iter().filter_map(|member| match &member.of {
            Of::Inline(inner) => Some(inner.count()),
            _ => None,
        });
        1 + inner.sum::<usize>()
    }

    /// Whether it ends in an array without a length.
    pub fn is_flexible(&self, group: &[Record]) -> bool {
        self.members.iter().any(|member| match &member.of {
            _ if !member.lengths.is_empty() => member.lengths.starts_with("[]"),
            Of::Record(index) => group[*index].is_flexible(group),
            Of::Inline(inner) => inner.is_flexible(group),
            Of::Type(_) | Of::Function => false,
        })
    }
}
