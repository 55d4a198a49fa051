//! System time as text.

use std::fmt;
use std::str::FromStr;

/// System time in units of 100 ns since 1601, shown as `2020-07-29 07:06:19.7984230`, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub i64);

impl Stamp {
    /// The same time as `2020-07-29T07:06:19.7984230Z`, as RFC 3339 has it; years beyond 0 to 9999 have a sign or more digits.
    pub fn rfc3339(self) -> impl fmt::Display {
        fmt::from_fn(move |f| self.write(f, 'T', "Z"))
    }

    /// The 27 characters of a time from year 0 to 9999, with what is to stand between date and time of day.
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
            f.write_str(std::str::from_utf8(&text).unwrap_or_default())?;
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

/// A time, taken apart.
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

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, ' ', "")
    }
}

/// The text that a time is shown as: a date, and a time of day of hours, minutes, and, if need be, seconds with up to seven digits
/// of a fraction. Between them is a space or a T, behind them nothing or a Z.
impl FromStr for Stamp {
    type Err = NoStamp;

    fn from_str(text: &str) -> Result<Self, NoStamp> {
        parse(text).map(Self).ok_or(NoStamp)
    }
}

/// That a text is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoStamp;

impl fmt::Display for NoStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a time such as 2020-07-29T07:06:19.798Z")
    }
}

impl std::error::Error for NoStamp {}

fn parse(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (day, clock) = text.split_once(['T', ' ']).unwrap_or((text, "0:0"));
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok()).flatten();
    let mut parts = day.splitn(3, '-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    // Whoever computes the same date from the days has found a real one.
    let days = (1601..=9999).contains(&year).then(|| days(year, month, day)).filter(|days| date(*days) == (year, month, day))?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.splitn(3, ':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    if hour > 23 || minute > 59 || second > 59 || fraction.len() > 7 {
        return None;
    }
    let fraction = number(&format!("{fraction:0<7}"))?;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 10_000_000 + fraction)
}

/// Days since 1601-01-01, of any date of those years.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, as in `date`.
    let year = year - 1600 - i64::from(month < 3);
    let month = (month + 9) % 12;
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 306
}

/// Year, month and day of the Gregorian calendar, by days since 1601-01-01.
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
