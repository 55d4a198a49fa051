//! The options that say which events are wanted.

use etw_layouts_cli::Error;
use etw_layouts_etl::{Filter, Guid, Stamp, names};
use std::num::IntErrorKind;
use std::str::FromStr;

/// Which events, by what their headers tell. An option that is given several times asks for any of its values; an event has to
/// have what every option asks for. One whose header does not tell is left out.
#[derive(clap::Args)]
#[command(next_help_heading = "Which events")]
pub struct Wanted {
    /// Of this provider: a GUID, or a group of kernel events, such as PROCESS or EVENT_TRACE_GROUP_PROCESS.
    #[arg(long, value_name = "GUID|GROUP", value_parser = provider)]
    provider: Vec<Guid>,
    /// With this id: of a kernel event its hook identifier or the name of that, of a message its number.
    #[arg(long, value_name = "ID|HOOK", value_parser = id)]
    id: Vec<u16>,
    /// With this opcode, such as 1 for a start and 2 for an end.
    #[arg(long, value_name = "N", value_parser = number::<u8>)]
    opcode: Vec<u8>,
    /// Of this level: 1 critical, 2 error, 3 warning, 4 information, 5 verbose.
    #[arg(long, value_name = "N", value_parser = number::<u8>)]
    level: Vec<u8>,
    /// With one of these bits in their keyword; 0 for a keyword without bits.
    #[arg(long, value_name = "MASK", value_parser = number::<u64>)]
    keyword: Vec<u64>,
    /// Of this process.
    #[arg(long, value_name = "N", value_parser = number::<u32>)]
    process: Vec<u32>,
    /// Of this thread.
    #[arg(long, value_name = "N", value_parser = number::<u32>)]
    thread: Vec<u32>,
    /// Of this processor.
    #[arg(long, value_name = "N", value_parser = number::<u16>)]
    processor: Vec<u16>,
    /// At this time or later: UTC, such as 2020-07-29T07:06:19.798, or seconds from the start of the trace, such as 1.5.
    #[arg(long, value_name = "TIME|SECONDS", allow_negative_numbers = true)]
    from: Option<Time>,
    /// At this time or earlier.
    #[arg(long, value_name = "TIME|SECONDS", allow_negative_numbers = true)]
    to: Option<Time>,
}

impl Wanted {
    /// The filter for a trace, whose start gives a meaning to seconds.
    pub fn filter(&self, start: i64) -> Filter {
        let mut filter = self.at_any_time();
        if let Some(from) = self.from {
            filter = filter.from(from.of(start));
        }
        match self.to {
            Some(to) => filter.to(to.of(start)),
            None => filter,
        }
    }

    /// The filter that leaves times out of it.
    pub fn at_any_time(&self) -> Filter {
        let mut filter = Filter::new();
        macro_rules! ask {
            ($($name:ident),*) => {$(
                for value in &self.$name {
                    filter = filter.$name(*value);
                }
            )*};
        }
        ask!(provider, id, opcode, level, keyword, process, thread, processor);
        filter
    }

    /// # Errors
    ///
    /// The times have nothing between them. Of one from the start of a trace and one that is not, only a trace can tell.
    pub fn check(&self) -> Result<(), Error> {
        match (self.from, self.to) {
            (Some(Time::Absolute(from)), Some(Time::Absolute(to))) | (Some(Time::Since(from)), Some(Time::Since(to)))
                if from > to =>
            {
                Err("--from is later than --to: there is no event between them".into())
            }
            _ => Ok(()),
        }
    }

    /// Whether an event without a time is none of them.
    pub fn asks_for_times(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// Whether one of the times counts from the start of the trace.
    pub fn asks_since_start(&self) -> bool {
        [self.from, self.to].iter().any(|time| matches!(time, Some(Time::Since(_))))
    }
}

/// A time, absolute or from the start of a trace; in units of 100 ns.
#[derive(Clone, Copy)]
enum Time {
    Absolute(i64),
    Since(i64),
}

impl Time {
    fn of(self, start: i64) -> i64 {
        match self {
            Self::Absolute(time) => time,
            Self::Since(time) => start.saturating_add(time),
        }
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(Stamp(time)) = text.parse() {
            return Ok(Self::Absolute(time));
        }
        seconds(text)
            .map(Self::Since)
            .ok_or_else(|| "neither a time such as 2020-07-29T07:06:19.798 nor seconds such as 1.5".into())
    }
}

/// Decimal seconds in units of 100 ns, exactly: a floating number would lose digits.
fn seconds(text: &str) -> Option<i64> {
    let (sign, bare) = text.strip_prefix('-').map_or((1, text), |bare| (-1, bare));
    let (whole, fraction) = bare.split_once('.').unwrap_or((bare, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 7 {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<7}").parse().ok()?;
    Some(sign * whole.parse::<i64>().ok()?.checked_mul(10_000_000)?.checked_add(fraction)?)
}

fn provider(text: &str) -> Result<Guid, String> {
    let named = || names::provider_named(text);
    text.parse().ok().or_else(named).ok_or_else(|| {
        "neither a GUID nor a group of kernel events, such as PROCESS; names of other providers are not known: give the GUID"
            .into()
    })
}

fn id(text: &str) -> Result<u16, String> {
    let none = "neither a number nor the name of a hook identifier, such as 43, 0x2b or WMI_LOG_TYPE_PROCESS_CREATE";
    names::hook_named(text).map_or_else(|| number_or(text, none), Ok)
}

fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    number_or(text, "not a number, such as 4 or 0x1c0")
}

/// A number, decimal or with 0x; or what is said of a text that is none.
fn number_or<T: TryFrom<u64>>(text: &str, none: &str) -> Result<T, String> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let value = match u64::from_str_radix(digits, radix) {
        Ok(value) if !digits.starts_with('+') => Some(value),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => None,
        _ => return Err(none.into()),
    };
    let value = value.and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| format!("more than its {} bits can say", 8 * size_of::<T>()))
}
