//! Text of a trace, which can be long and can contain any character.

use etw_layouts_trace::etl::text::Escaped;
use std::fmt::Write;

/// Maximum length of a text, in bytes of JSON.
const MAX: usize = 240;

/// A text with escapes for control characters, invisible characters and characters that change the writing direction. A long text is cut, and its
/// whole length is stated.
pub fn shortened(text: &str) -> String {
    shortened_to(text, MAX)
}

/// The same with another maximum length, in bytes of JSON.
pub fn shortened_to(text: &str, max: usize) -> String {
    // Most names need no change.
    if json_size(text) <= max && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.to_owned();
    }
    let (mut short, mut size) = (String::new(), 0);
    for char in text.chars() {
        if size >= max {
            let _ = write!(short, "… ({} characters)", text.chars().count());
            break;
        }
        let start = short.len();
        let _ = write!(short, "{}", Escaped(char.encode_utf8(&mut [0; 4])));
        size += json_size(&short[start..]);
    }
    short
}

/// The size of a text in the data of a page, in bytes. The page escapes quotes, backslashes and the start of tags.
pub fn json_size(text: &str) -> usize {
    text.len() + text.bytes().filter(|byte| b"\"\\<".contains(byte)).count()
}

/// The number of bytes of a number as decimal digits and a separator.
pub fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 2
}
