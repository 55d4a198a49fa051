//! System time as text.

use core::fmt;
use core::str::FromStr;

/// System time in units of 100 ns since 1601, displayed in UTC as `2020-07-29 07:06:19.7984230`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime(pub i64);

impl FileTime {
    /// The beginning of 1970 in UTC, the start of Unix time.
    pub const UNIX_EPOCH: Self = Self(116_444_736_000_000_000);

    /// The same time in RFC 3339 form, `2020-07-29T07:06:19.7984230Z`; years outside 0 to 9999 have a sign or more digits.
    pub fn rfc3339(self) -> Rfc3339 {
        Rfc3339(self)
    }

    /// The 27 characters of a time in the years 0 to 9999, with `between` as the separator of date and time of day; `None` for
    /// other years.
    pub fn digits(self, between: u8) -> Option<[u8; 27]> {
        let Parts { year, month, day, hour, minute, second, fraction } = self.parts();
        let year = u64::try_from(year).ok().filter(|year| *year <= 9999)?;
        let mut text = *b"0000-00-00 00:00:00.0000000";
        text[10] = between;
        let fields: [(usize, usize, u64); 7] =
            [(0, 4, year), (5, 2, month), (8, 2, day), (11, 2, hour), (14, 2, minute), (17, 2, second), (20, 7, fraction)];
        for (at, length, mut value) in fields {
            for digit in text[at..at + length].iter_mut().rev() {
                *digit = b'0' + (value % 10) as u8;
                value /= 10;
            }
        }
        Some(text)
    }

    fn write(self, f: &mut fmt::Formatter<'_>, between: char, end: &str) -> fmt::Result {
        if let Some(text) = self.digits(between as u8) {
            f.write_str(core::str::from_utf8(&text).unwrap_or_default())?;
            return f.write_str(end);
        }
        let Parts { year, month, day, hour, minute, second, fraction } = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{second:02}.{fraction:07}{end}")
    }

    fn parts(self) -> Parts {
        const DAY: i64 = 86_400 * 10_000_000;
        let (days, rest) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY) as u64);
        let (year, month, day) = date(days);
        let (seconds, fraction) = (rest / 10_000_000, rest % 10_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        Parts { year, month: month as u64, day: day as u64, hour, minute, second, fraction }
    }
}

/// The components of a time.
struct Parts {
    year: i64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    /// In units of 100 ns.
    fraction: u64,
}

/// A time, displayed in the form of RFC 3339.
#[derive(Clone, Copy, Debug)]
pub struct Rfc3339(FileTime);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, 'T', "Z")
    }
}

impl fmt::Display for FileTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, ' ', "")
    }
}

/// As text in the form of RFC 3339.
#[cfg(feature = "serde")]
impl serde_core::Serialize for FileTime {
    fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.rfc3339())
    }
}

/// Parses the displayed form: a date and a time of day in hours, minutes and optional seconds with up to seven fraction digits.
/// The separator is a space or a `T`. A final `Z` is optional; instead of it, the time can end with its difference to UTC, as `-07:00`.
impl FromStr for FileTime {
    type Err = ParseFileTimeError;

    fn from_str(text: &str) -> Result<Self, ParseFileTimeError> {
        parse(text).map(Self).ok_or(ParseFileTimeError)
    }
}

/// Error of a text that is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseFileTimeError;

impl fmt::Display for ParseFileTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid time; expected a form such as 2020-07-29T07:06:19.798Z")
    }
}

impl core::error::Error for ParseFileTimeError {}

fn parse(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (day, clock) = text.split_once(['T', ' ']).unwrap_or((text, "0:0"));
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok()).flatten();
    // The difference of local time to UTC, in minutes.
    let (clock, offset) = match clock.rfind(['+', '-']).map(|at| clock.split_at(at)) {
        Some((clock, offset)) => {
            let (hours, minutes) =
                offset[1..].split_once(':').filter(|(hours, minutes)| (hours.len(), minutes.len()) == (2, 2))?;
            let (hours, minutes) = (number(hours)?, number(minutes)?);
            let size = (hours <= 23 && minutes <= 59).then_some(hours * 60 + minutes)?;
            (clock, if offset.starts_with('-') { -size } else { size })
        }
        None => (clock, 0),
    };
    let mut parts = day.splitn(3, '-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    // A date exists if converting its day number back yields the same date.
    let days = (1601..=9999).contains(&year).then(|| days(year, month, day)).filter(|days| date(*days) == (year, month, day))?;
    let (clock, fraction) =
        clock.split_once('.').filter(|(_, fraction)| !fraction.is_empty()).unwrap_or((clock.trim_end_matches('.'), "0"));
    let mut parts = clock.splitn(3, ':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    if hour > 23 || minute > 59 || second > 59 || fraction.len() > 7 {
        return None;
    }
    let fraction = number(fraction)? * 10_i64.pow(7 - fraction.len() as u32);
    Some((((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 10_000_000 + fraction)
}

/// Days since 1601-01-01, for any date from 1601 to 9999.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, as in `date`.
    let year = year - 1600 - i64::from(month < 3);
    let month = (month + 9) % 12;
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 306
}

/// Year, month and day of the Gregorian calendar for a number of days since 1601-01-01.
fn date(days: i64) -> (i64, i64, i64) {
    // Years begin in March, so that a leap day is the last day; eras of 400 years have 146,097 days each.
    let days = days + 306;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let shift = i64::from(month >= 10);
    (1600 + era * 400 + year + shift, if shift == 1 { month - 9 } else { month + 3 }, date)
}
