//! Declarations of structures that both specs and C can express.

/// Declarations. Later ones may embed earlier ones.
pub type Group = Vec<Record>;

/// A structure or union.
#[derive(Clone)]
pub struct Record {
    pub union: bool,
    /// `#pragma pack`; only for structures with a name.
    pub pack: Option<u64>,
    /// `__declspec(align)`
    pub align: Option<u64>,
    pub members: Vec<Member>,
}

#[derive(Clone)]
pub struct Member {
    /// Whether it has a name. A bit field or an unnamed structure needs none.
    pub named: bool,
    pub of: Of,
    pub bits: Option<u64>,
    /// `__declspec(align)`; not for bit fields.
    pub align: Option<u64>,
    /// Lengths of an array, each with its brackets.
    pub lengths: String,
}

#[derive(Clone)]
pub enum Of {
    /// A scalar, an enumeration, or a pointer to one of these, by its name.
    Type(&'static str),
    /// A pointer to a function.
    Function,
    /// A declaration of the same group.
    Record(usize),
    /// An unnamed structure or union.
    Inline(Record),
}

impl Record {
    /// The number of records: this one and the unnamed ones in it.
    pub fn count(&self) -> usize {
        let inner = self.members.iter().filter_map(|member| match &member.of {
            Of::Inline(inner) => Some(inner.count()),
            _ => None,
        });
        1 + inner.sum::<usize>()
    }

    /// Whether it ends with an array without a length.
    pub fn is_flexible(&self, group: &[Record]) -> bool {
        self.members.iter().any(|member| match &member.of {
            _ if !member.lengths.is_empty() => member.lengths.starts_with("[]"),
            Of::Record(index) => group[*index].is_flexible(group),
            Of::Inline(inner) => inner.is_flexible(group),
            Of::Type(_) | Of::Function => false,
        })
    }
}
