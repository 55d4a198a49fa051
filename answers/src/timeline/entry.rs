//! An entry of a timeline.

use super::field::Field;
use super::kinds::Kind;
use etw_layouts_trace::etl::codes::BugCheck;
use etw_layouts_trace::etl::{FileTime, Uuid, codes};
use etw_layouts_trace::{Place, Process, ProcessIndex};
use std::borrow::Cow;

/// A thing that happened, and the event that states it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry<'t> {
    /// What kind of thing.
    pub kind: &'static Kind,
    /// When. `None` if the event has no time stamp. Of a file that was created, the end of the request.
    pub time: Option<FileTime>,
    /// Name of the computer, if the trace states it.
    pub host: Option<&'t str>,
    /// The process that the event describes, such as one that started or ended; otherwise the process that caused the event.
    pub process: Option<Participant<'t>>,
    /// The process that did it, if it is another one.
    pub by: Option<Participant<'t>>,
    /// The user: of the event, or of the process.
    pub user: Option<User<'t>>,
    /// The values of the event, in the order of [`Field::ALL`].
    pub fields: Vec<(Field, Value)>,
    /// Index of the file of the trace.
    pub file: usize,
    /// Place of the event in the file.
    pub place: Place,
    /// Name of the provider or of the class of kernel events.
    pub provider: String,
    /// GUID of the provider.
    pub guid: Option<Uuid>,
    /// Name of the event, such as `Process/Start`.
    pub event: String,
    /// ID of an event with a manifest; of a kernel event, its event type.
    pub id: Option<u16>,
}

/// A process that took part.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Participant<'t> {
    /// Its identifier.
    pub id: u32,
    /// Its index in the process table of the session.
    pub index: Option<ProcessIndex>,
    /// What the trace states about it; `None` if no event describes it.
    pub process: Option<&'t Process>,
    /// The process that created it, if the trace describes that one.
    pub parent: Option<&'t Process>,
}

/// A user by security identifier.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct User<'t> {
    /// Security identifier, such as `S-1-5-18`.
    pub sid: Cow<'t, str>,
    /// Whether it is the user of the process, and not stated by the event.
    pub is_of_process: bool,
}

/// A value of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A text.
    Text(String),
    /// An integer.
    Number(u64),
    /// An integer that is shown in hexadecimal digits.
    Hexadecimal(u64),
    /// The code or a parameter of a bug check, which is shown in hexadecimal digits, and its name or meaning, if it is known.
    BugCheck(u64, Option<Cow<'static, str>>),
    /// A code, and its name.
    Code(u32, Option<&'static str>),
    /// A path. The kernel's own form of it, if it was replaced by one with a drive letter.
    Path(String, Option<String>),
}

/// Number of characters of a text in a sentence; longer ones end with an ellipsis.
const LONGEST: usize = 200;

impl Value {
    /// The value without its name, in full.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) | Self::Path(text, _) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Hexadecimal(number) | Self::BugCheck(number, _) => format!("{number:#x}"),
            Self::Code(code, _) => code_text(*code),
        }
    }

    /// The name of a code or of a well-known security identifier; the meaning of a parameter of a bug check.
    #[must_use]
    pub fn name(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Code(_, name) => name.map(Cow::Borrowed),
            Self::BugCheck(_, meaning) => meaning.clone(),
            Self::Text(text) => codes::sid(text),
            _ => None,
        }
    }

    fn in_sentence(&self) -> String {
        match self {
            Self::Code(0, Some(name)) => (*name).to_owned(),
            Self::Code(code, Some(name)) => format!("{} {name}", code_text(*code)),
            Self::BugCheck(number, Some(meaning)) => format!("{number:#x} {meaning}"),
            Self::Text(text) => match text.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text.clone(),
            },
            value => value.text(),
        }
    }
}

/// Statuses have their severity in the highest bits, and are read in hexadecimal digits; small codes in decimal ones.
fn code_text(code: u32) -> String {
    if code > 0xFFFF { format!("{code:#x}") } else { code.to_string() }
}

impl<'t> Participant<'t> {
    /// File name of its image.
    #[must_use]
    pub fn image(&self) -> Option<&'t str> {
        self.process?.image()
    }
}

impl User<'_> {
    /// The name of a well-known user.
    #[must_use]
    pub fn name(&self) -> Option<Cow<'static, str>> {
        codes::sid(&self.sid)
    }
}

impl Entry<'_> {
    /// The value of a field.
    #[must_use]
    pub fn get(&self, field: Field) -> Option<&Value> {
        self.fields.iter().find(|(own, _)| *own == field).map(|(_, value)| value)
    }

    /// What happened, in a sentence. Texts of more than 200 characters are cut, with an ellipsis; [`fields`](Self::fields) has all of them.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut out = String::new();
        let mut rest = self.kind.sentence;
        while let Some(start) = rest.find('[') {
            let (before, part) = rest.split_at(start);
            // Every part of the table of kinds ends; a test checks it.
            let (part, after) = part[1..].split_once(']').unwrap_or((&part[1..], ""));
            out.push_str(&self.filled(before).0);
            let (text, is_whole) = self.filled(part);
            if is_whole {
                out.push_str(&text);
            }
            rest = after;
        }
        out.push_str(&self.filled(rest).0);
        out
    }

    /// A part of a sentence with its values, and whether all are known. An unknown one is `?`.
    fn filled(&self, mut part: &str) -> (String, bool) {
        let (mut out, mut is_whole) = (String::new(), true);
        while let Some((before, rest)) = part.split_once('{') {
            let (names, after) = rest.split_once('}').unwrap_or((rest, ""));
            out.push_str(before);
            match names.split('|').find_map(|name| self.value_named(name)) {
                // A port follows an address of IPv6.
                Some(address) if after.starts_with(":{") && address.contains(':') => out.extend(["[", &address, "]"]),
                Some(value) => out.push_str(&value),
                None => {
                    is_whole = false;
                    out.push('?');
                }
            }
            part = after;
        }
        out.push_str(part);
        (out, is_whole)
    }

    fn value_named(&self, name: &str) -> Option<String> {
        let field = Field::ALL.iter().find(|field| field.name() == name)?;
        if *field == Field::BugCheck
            && let Some(check) = bug_check_of(&self.fields)
        {
            return Some(check.to_string());
        }
        if let Some(value) = self.get(*field) {
            return Some(value.in_sentence());
        }
        let process = self.process?;
        let known = match field {
            Field::ImagePath => {
                process.process?.path.as_ref().map(|path| path.value.to_string()).or(process.image().map(str::to_owned))
            }
            Field::CommandLine => process.process?.command_line().map(str::to_owned),
            Field::ParentPath => process.parent?.image().map(str::to_owned),
            _ => None,
        };
        known.map(|text| Value::Text(text).in_sentence())
    }
}

/// The code of a bug check and its parameters.
pub(super) const BUG_CHECK: [Field; 5] =
    [Field::BugCheck, Field::Parameter1, Field::Parameter2, Field::Parameter3, Field::Parameter4];

/// The bug check that fields state, if they state all of its parameters.
pub(super) fn bug_check_of(fields: &[(Field, Value)]) -> Option<BugCheck> {
    let number = |wanted| {
        fields.iter().find_map(|(field, value)| match value {
            Value::BugCheck(number, _) if *field == wanted => Some(*number),
            _ => None,
        })
    };
    let [code, one, two, three, four] = BUG_CHECK.map(number);
    Some(BugCheck { code: code?.try_into().ok()?, parameters: [one?, two?, three?, four?] })
}
