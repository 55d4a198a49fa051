//! Names of codes: results of functions, bug checks and security identifiers.
//!
//! The names are those on which two sources agree; each file in `codes` states its sources. A code that has several names has the one that its header
//! states first.

use etw_layouts::constants::NTSTATUS_VALUE;
use etw_layouts::runtime::Named;
use etw_layouts_payload::OutType;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

type Names = HashMap<u32, &'static str>;

/// The name of a status of the kernel, such as `STATUS_ACCESS_VIOLATION` for 0xC0000005.
#[must_use]
pub fn ntstatus(code: u32) -> Option<&'static str> {
    static NAMES: LazyLock<Names> =
        LazyLock::new(|| NTSTATUS_VALUE::CONSTANTS.iter().map(|(name, value)| (*value as u32, *name)).collect());
    NAMES.get(&code).copied()
}

/// The name of an error of Windows' functions, such as `ERROR_ACCESS_DENIED` for 5.
#[must_use]
pub fn win32(code: u32) -> Option<&'static str> {
    static NAMES: LazyLock<Names> = LazyLock::new(|| names(include_str!("codes/win32.tsv")));
    NAMES.get(&code).copied()
}

/// The name of a result of COM, such as `E_FAIL` for 0x80004005. If it contains an error of Windows' functions or a status of the kernel, their name.
#[must_use]
pub fn hresult(code: u32) -> Option<&'static str> {
    static NAMES: LazyLock<Names> = LazyLock::new(|| names(include_str!("codes/hresult.tsv")));
    let own = NAMES.get(&code).copied();
    own.or_else(|| match code >> 16 {
        // FACILITY_WIN32
        0x8007 => win32(code & 0xFFFF),
        _ if code & FACILITY_NT_BIT != 0 => ntstatus(code & !FACILITY_NT_BIT),
        _ => None,
    })
}

const FACILITY_NT_BIT: u32 = 0x1000_0000;

/// The name of a bug check, such as `IRQL_NOT_LESS_OR_EQUAL` for 0xA.
#[must_use]
pub fn bug_check(code: u32) -> Option<&'static str> {
    static NAMES: LazyLock<Names> = LazyLock::new(|| names(include_str!("codes/bug_check.tsv")));
    NAMES.get(&code).copied()
}

/// The meanings of the four parameters of a bug check; empty for a reserved one. For some codes they depend on the first parameter. `None` for codes that
/// are not in the table, which has frequent codes only.
#[must_use]
pub fn bug_check_parameters(code: u32, first: u64) -> Option<[&'static str; 4]> {
    type Rows = HashMap<(u32, Option<u64>), [&'static str; 4]>;
    static MEANINGS: LazyLock<Rows> = LazyLock::new(|| {
        let row = |(code, rest): (&'static str, &'static str)| {
            let mut cells = rest.split('\t');
            let first = cells.next()?;
            let cells = [cells.next()?, cells.next()?, cells.next()?, cells.next()?];
            Some(((number(code)?, number(first).map(u64::from)), cells))
        };
        rows(include_str!("codes/bug_check_parameters.tsv")).filter_map(row).collect()
    });
    MEANINGS.get(&(code, Some(first))).or_else(|| MEANINGS.get(&(code, None))).copied()
}

/// A bug check. Displayed as its code and its parameters, each with its name or meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BugCheck {
    /// The code, such as 0xA.
    pub code: u32,
    /// The parameters. A bug check with fewer has zeros.
    pub parameters: [u64; 4],
}

impl BugCheck {
    /// The name: see [`bug_check`].
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        bug_check(self.code)
    }

    /// The meaning of a parameter by its index, with the name of a status of the kernel: see [`bug_check_parameters`].
    #[must_use]
    pub fn meaning(&self, index: usize) -> Option<Cow<'static, str>> {
        let meaning = *bug_check_parameters(self.code, self.parameters[0])?.get(index).filter(|meaning| !meaning.is_empty())?;
        let value = *self.parameters.get(index)?;
        // A status has 32 bits, and its sign can be extended to 64.
        let is_status = meaning.ends_with("status") || meaning == "exception code";
        let status = value as u32;
        let has_bits = value == u64::from(status) || value == i64::from(status.cast_signed()).cast_unsigned();
        let status = if is_status && has_bits { ntstatus(status) } else { None };
        Some(status.map_or(Cow::Borrowed(meaning), |status| format!("{meaning} {status}").into()))
    }
}

impl fmt::Display for BugCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.code)?;
        if let Some(name) = self.name() {
            write!(f, " {name}")?;
        }
        for (index, parameter) in self.parameters.iter().enumerate() {
            write!(f, "{}{parameter:#x}", if index == 0 { " (" } else { ", " })?;
            if let Some(meaning) = self.meaning(index) {
                write!(f, " {meaning}")?;
            }
        }
        f.write_str(")")
    }
}

/// The name of the exit status of a process, if it is one that an unhandled exception leaves. Programs choose lower values as they like.
#[must_use]
pub fn exit_status(code: u32) -> Option<&'static str> {
    if code < 0x4000_0000 { None } else { ntstatus(code) }
}

/// The accounts of the desktop window manager and of the font driver host in each terminal session. Their identifiers and names end with its number.
const OF_SESSIONS: [(&str, &str); 2] = [("S-1-5-90-0-", r"Window Manager\DWM-"), ("S-1-5-96-0-", r"Font Driver Host\UMFD-")];

/// The name of a well-known security identifier, such as `NT AUTHORITY\SYSTEM` for `S-1-5-18`.
#[must_use]
pub fn sid(sid: &str) -> Option<Cow<'static, str>> {
    static NAMES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| rows(include_str!("codes/sid.tsv")).collect());
    let of_session = |(start, name): &(&str, &str)| {
        let session: u32 = sid.strip_prefix(start)?.parse().ok()?;
        Some(format!("{name}{session}").into())
    };
    NAMES.get(sid).map(|name| Cow::Borrowed(*name)).or_else(|| OF_SESSIONS.iter().find_map(of_session))
}

/// The name of a code with the display format of a field.
#[must_use]
pub fn of(format: OutType, code: u32) -> Option<&'static str> {
    match format {
        OutType::NTSTATUS => ntstatus(code),
        OutType::WIN32ERROR => win32(code),
        OutType::HRESULT => hresult(code),
        _ => None,
    }
}

fn rows(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn names(text: &'static str) -> Names {
    rows(text).filter_map(|(code, name)| Some((number(code)?, name))).collect()
}
