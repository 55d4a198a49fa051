//! System time as text.

use std::fmt;

/// System time in units of 100 ns since 1601, shown as `2020-07-29 07:06:19.7984230`, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub i64);

impl Stamp {
    /// The same time as `2020-07-29T07:06:19.7984230Z`, as RFC 3339 has it; years beyond 0 to 9999 have a sign or more digits.
    pub fn rfc3339(self) -> impl fmt::Display {
        fmt::from_fn(move |f| self.write(f, 'T', "Z"))
    }

    fn write(self, f: &mut fmt::Formatter<'_>, between: char, end: &str) -> fmt::Result {
        const DAY: i64 = 86_400 * 10_000_000;
        let (days, rest) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = date(days);
        let (seconds, fraction) = (rest / 10_000_000, rest % 10_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{second:02}.{fraction:07}{end}")
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, ' ', "")
    }
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
