//! Spelling of names and numbers.

use crate::model::Integer;

const INTEGERS: [(&str, Integer); 12] = [
    ("b1", Integer::Bool),
    ("c1", Integer::Char),
    ("i1", Integer::SignedChar),
    ("u1", Integer::UnsignedChar),
    ("i2", Integer::Short),
    ("u2", Integer::UnsignedShort),
    ("int", Integer::Int),
    ("uint", Integer::UnsignedInt),
    ("i4", Integer::Long),
    ("u4", Integer::UnsignedLong),
    ("i8", Integer::LongLong),
    ("u8", Integer::UnsignedLongLong),
];

pub(super) fn integer(code: &str) -> Option<Integer> {
    INTEGERS.iter().find(|(known, _)| *known == code).map(|(_, integer)| *integer)
}

pub(super) fn integer_code(integer: Integer) -> &'static str {
    INTEGERS.iter().find(|(_, known)| *known == integer).map_or("", |(code, _)| code)
}

/// Parses a decimal number that consists of digits only.
pub(crate) fn decimal<T: std::str::FromStr>(digits: &str) -> Option<T> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// Parses a hexadecimal number with the prefix `0x`.
pub(crate) fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    let valid = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    valid.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// Parses four decimal numbers separated by dots: major and minor version, build, revision.
pub(crate) fn build(text: &str) -> Option<[u32; 4]> {
    let mut numbers = text.split('.').map(decimal);
    let build = [numbers.next()??, numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(build)
}

/// A name as a field of a line; with `spaces`, as the rest of a line.
pub(super) fn escape(name: &str, spaces: bool) -> String {
    if name.is_empty() {
        return "%".to_owned();
    }
    let mut escaped = String::with_capacity(name.len());
    for char in name.chars() {
        if char.is_control() || char == '%' || (char == ' ' && !spaces) {
            for byte in char.encode_utf8(&mut [0; 4]).bytes() {
                escaped += &format!("%{byte:02X}");
            }
        } else {
            escaped.push(char);
        }
    }
    escaped
}

/// The name in a field, if the field is spelled as by [`escape`].
pub(super) fn unescape(field: &str, spaces: bool) -> Option<String> {
    if field == "%" {
        return Some(String::new());
    }
    if !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%') {
        return Some(field.to_owned());
    }
    let mut parts = field.split('%');
    let mut name = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        name.push(u8::from_str_radix(digits, 16).ok()?);
        name.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(name).ok().filter(|name| escape(name, spaces) == field)
}
