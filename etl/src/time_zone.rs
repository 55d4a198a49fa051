//! The time zone in a log file header, with daylight saving time.

use crate::clock::{DAY, SECOND};
use crate::logfile::LogFile;
use crate::wire::RTL_TIME_ZONE_INFORMATION;
use bytemuck::Pod;
use etw_layouts_payload::FileTime;

/// Difference between local time and UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtcOffset {
    /// Local time minus UTC, in minutes.
    pub minutes: i64,
    /// Whether daylight saving time applies.
    pub is_daylight: bool,
}

const MINUTE: i64 = 60 * SECOND;

impl LogFile {
    /// The difference between local time and UTC at a system time, in units of 100 ns since 1601. The header states when daylight saving
    /// time begins and ends, as in TIME_ZONE_INFORMATION of the Windows SDK; if it states neither, standard time applies all year.
    pub fn utc_offset(&self, time: i64) -> UtcOffset {
        let zone = &self.time_zone;
        let [standard, daylight] = [zone.StandardBias, zone.DaylightBias].map(|more| i64::from(zone.Bias) + i64::from(more));
        let is_daylight = is_daylight(zone, time, standard, daylight);
        UtcOffset { minutes: -if is_daylight { daylight } else { standard }, is_daylight }
    }
}

/// `standard` and `daylight` are UTC minus local time, in minutes.
fn is_daylight(zone: &RTL_TIME_ZONE_INFORMATION, time: i64, standard: i64, daylight: i64) -> bool {
    let [begin, end] = [change(&zone.DaylightStart), change(&zone.StandardStart)];
    let local = time.saturating_sub(standard * MINUTE);
    let Some(year) = FileTime(local).digits(b' ').and_then(|digits| std::str::from_utf8(&digits[..4]).ok()?.parse().ok()) else {
        return false;
    };
    // Each change is stated in the local time before it.
    let begin = begin.at(year).map(|at| at.saturating_add(standard * MINUTE));
    let end = end.at(year).map(|at| at.saturating_add(daylight * MINUTE));
    match (begin, end) {
        (Some(begin), Some(end)) if begin < end => (begin..end).contains(&time),
        // In the southern hemisphere, standard time is in the middle of the year.
        (Some(begin), Some(end)) => !(end..begin).contains(&time),
        _ => false,
    }
}

/// A change between standard and daylight saving time: a date, or a weekday of a month each year.
struct Change {
    /// 0 for each year.
    year: u16,
    /// 0 if there is no change.
    month: u16,
    /// From 0 for Sunday.
    weekday: u16,
    /// For each year, the number of the weekday in the month: 5 means the last one.
    day: u16,
    /// Time of day, in units of 100 ns.
    time: i64,
}

/// The members are those of SYSTEMTIME, as the headers of all examined traces show: the weekday precedes the day.
fn change(fields: &impl Pod) -> Change {
    let mut words = bytemuck::bytes_of(fields).chunks_exact(2).map(|word| u16::from_le_bytes([word[0], word[1]]));
    let [year, month, weekday, day, hour, minute] = [(); 6].map(|()| words.next().unwrap_or_default());
    Change { year, month, weekday, day, time: (i64::from(hour) * 60 + i64::from(minute)) * MINUTE }
}

impl Change {
    /// The local time of the change in a year, in units of 100 ns since 1601; `None` if the year has no such change.
    fn at(&self, year: u16) -> Option<i64> {
        let date = |day: u16| format!("{year:04}-{:02}-{day:02}", self.month).parse().ok().map(|FileTime(time)| time);
        let start = match self.year {
            0 => {
                // 1601-01-01 was a Monday.
                let weekday = (date(1)?.div_euclid(DAY) + 1).rem_euclid(7);
                let first = 1 + (i64::from(self.weekday) - weekday).rem_euclid(7) as u16;
                (0..self.day.clamp(1, 5)).rev().map(|week| first + 7 * week).find_map(date)?
            }
            own if own == year => date(self.day)?,
            _ => return None,
        };
        Some(start + self.time)
    }
}
