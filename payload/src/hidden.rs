//! Characters that output shows as escapes, and texts that a spreadsheet would run.

use core::fmt;

/// Whether a character controls a terminal, changes the direction of text, or has no visible form: the Unicode categories Cc, Zl, Zp and Cf
/// (without Prepended_Concatenation_Mark, which are visible), the property Default_Ignorable_Code_Point, and the blank Braille pattern U+2800.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a spreadsheet would interpret a text as a formula, or the text begins with an apostrophe, which prevents that. Such a text is
/// written with one more apostrophe.
pub fn is_formula(text: &[u8]) -> bool {
    let text = core::str::from_utf8(text).unwrap_or_default();
    text.starts_with(['=', '+', '-', '@', '\'', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'])
}

/// The escape of a character in JSON: `\u` and four digits for each of its UTF-16 units.
pub fn escape(c: char) -> impl fmt::Display {
    Escape(c)
}

struct Escape(char);

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))
    }
}
