//! Conversions of `printf` in the formats of messages.

/// A conversion such as `08x`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conversion {
    left: bool,
    zeros: bool,
    plus: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// The letter at its end; `s` if there is none.
    pub letter: char,
}

/// Maximum width and precision.
const MAX_WIDTH: usize = 1024;

impl Conversion {
    /// Reads flags, width, precision, length and letter.
    pub fn parse(text: &str) -> Self {
        let mut conversion = Self { letter: 's', ..Self::default() };
        let flags = text.len() - text.trim_start_matches(['-', '+', ' ', '#', '0']).len();
        let (flags, rest) = text.split_at_checked(flags).unwrap_or_default();
        for flag in flags.chars() {
            match flag {
                '-' => conversion.left = true,
                '0' => conversion.zeros = true,
                '+' => conversion.plus = true,
                '#' => conversion.alternate = true,
                _ => {}
            }
        }
        let (width, rest) = digits(rest);
        conversion.width = width.unwrap_or_default();
        let rest = match rest.strip_prefix('.') {
            Some(rest) => {
                let (precision, rest) = digits(rest);
                conversion.precision = Some(precision.unwrap_or_default());
                rest
            }
            None => rest,
        };
        // Lengths such as `I64` and `ll` are ignored, because the type of the argument determines the size.
        conversion.letter = rest.chars().next_back().filter(char::is_ascii_alphabetic).unwrap_or('s');
        conversion
    }

    /// A text, truncated to the precision and padded to the width.
    pub fn text(self, text: &str) -> String {
        let cut: String = text.chars().take(self.precision.unwrap_or(usize::MAX)).collect();
        self.filled(cut, false)
    }

    /// An integer with the given number of bits.
    pub fn integer(self, value: i128, bits: u32) -> String {
        let unsigned = value.cast_unsigned() & ((1u128 << bits) - 1);
        let signed = (unsigned.cast_signed() << (128 - bits)) >> (128 - bits);
        let digits = |text: String| format!("{text:0>width$}", width = self.precision.unwrap_or_default());
        let prefix = |text: &'static str| if self.alternate { text } else { "" };
        let text = match self.letter {
            'x' => prefix("0x").to_owned() + &digits(format!("{unsigned:x}")),
            'X' => prefix("0X").to_owned() + &digits(format!("{unsigned:X}")),
            'p' => return format!("{unsigned:0width$X}", width = bits as usize / 4),
            'o' => digits(format!("{unsigned:o}")),
            'u' => digits(unsigned.to_string()),
            'c' | 'C' => {
                let code = u32::try_from(unsigned).ok().and_then(char::from_u32).filter(|c| !c.is_control());
                return self.text(&code.unwrap_or('.').to_string());
            }
            'd' | 'i' => {
                let sign = if signed < 0 {
                    "-"
                } else if self.plus {
                    "+"
                } else {
                    ""
                };
                sign.to_owned() + &digits(signed.unsigned_abs().to_string())
            }
            _ => value.to_string(),
        };
        self.filled(text, self.precision.is_none())
    }

    /// A floating-point number.
    pub fn float(self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        match self.letter {
            'e' => self.filled(format!("{value:.precision$e}"), true),
            'f' => self.filled(format!("{value:.precision$}"), true),
            _ => self.filled(value.to_string(), true),
        }
    }

    fn filled(self, text: String, is_number: bool) -> String {
        let width = self.width;
        if self.left {
            return format!("{text:<width$}");
        }
        if !(self.zeros && is_number) {
            return format!("{text:>width$}");
        }
        let signs = text.len() - text.trim_start_matches(['-', '+']).len();
        let signs = if text.get(signs..).is_some_and(|rest| rest.starts_with("0x") || rest.starts_with("0X")) {
            signs + 2
        } else {
            signs
        };
        let (sign, digits) = text.split_at_checked(signs).unwrap_or_default();
        format!("{sign}{digits:0>width$}", width = width.saturating_sub(signs))
    }
}

/// The number at the start of a text, if any, and the rest.
fn digits(text: &str) -> (Option<usize>, &str) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = text.strip_suffix(rest).filter(|digits| !digits.is_empty());
    (number.map(|digits| digits.parse().unwrap_or(MAX_WIDTH).min(MAX_WIDTH)), rest)
}
