//! The options that say which events are wanted.

use etw_layouts_cli::Error;
use etw_layouts_etl::{Filter, Guid, HeaderType, Stamp, names};
use std::num::IntErrorKind;
use std::str::FromStr;

/// Which events, by what their headers tell. An option that is given several times asks for any of its values; an event has to
/// have what every option asks for. One whose header does not tell is left out.
#[derive(clap::Args)]
#[command(next_help_heading = "Which events")]
pub struct Wanted {
    /// Of this provider: a GUID; a group of kernel events, such as PROCESS, EVENT_TRACE_GROUP_PROCESS or "group 0x0f"; or a name
    /// that events carry themselves, as those of TraceLogging do. Other names are not known: give the GUID.
    #[arg(long, value_name = "GUID|GROUP|NAME", value_parser = provider)]
    provider: Vec<Provider>,
    /// With this id: of a kernel event its hook identifier or the name of that, of a message its number.
    #[arg(long, value_name = "ID|HOOK", value_parser = id)]
    id: Vec<u16>,
    /// With this opcode: a number, or a name, such as START, END or STOP.
    #[arg(long, value_name = "N|NAME", value_parser = opcode)]
    opcode: Vec<u8>,
    /// Of this level: a number, or one of critical (1), error (2), warning (3), information (4) and verbose (5).
    #[arg(long, value_name = "N|NAME", value_parser = level)]
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
    /// At this time or later (UTC): 2020-07-29T07:06:19.798; 07:06:19.8, in the 24 hours that begin one hour before the trace; 1.5,
    /// in seconds from the start of the trace; or 132404799797984230, in units of 100 ns since 1601 (16 digits and more).
    #[arg(long, value_name = "TIME|SECONDS", allow_negative_numbers = true)]
    from: Option<Time>,
    /// At this time or earlier, written as for --from.
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
        for provider in &self.provider {
            filter = match provider {
                Provider::Guid(guid) => filter.provider(*guid),
                Provider::Group(group) => filter.group(*group),
                Provider::Name(name) => filter.provider_name(name),
            };
        }
        ask!(id, opcode, level, keyword, process, thread, processor);
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
        [self.from, self.to].iter().any(|time| matches!(time, Some(Time::Since(_) | Time::OfDay(_))))
    }

    /// A remedy for names that no event carried; nothing if none is asked for.
    pub fn on_names(&self) -> &'static str {
        match self.provider.iter().any(|provider| matches!(provider, Provider::Name(_))) {
            true => "; only events that carry their provider's name are found by it: give the provider's GUID",
            false => "",
        }
    }
}

/// A provider, as it is asked for.
#[derive(Clone)]
enum Provider {
    Guid(Guid),
    /// Of kernel events that have no GUID.
    Group(u8),
    Name(String),
}

/// A time, in units of 100 ns.
#[derive(Clone, Copy)]
enum Time {
    Absolute(i64),
    /// From the start of a trace.
    Since(i64),
    /// From midnight, of the day that begins an hour before the trace: events can be a little older than it.
    OfDay(i64),
}

const HOUR: i64 = 3600 * 10_000_000;

impl Time {
    fn of(self, start: i64) -> i64 {
        match self {
            Self::Absolute(time) => time,
            Self::Since(time) => start.saturating_add(time),
            Self::OfDay(time) => {
                let least = start.saturating_sub(HOUR);
                least.saturating_add(time.saturating_sub(least).rem_euclid(24 * HOUR))
            }
        }
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(Stamp(time)) = text.parse() {
            return Ok(Self::Absolute(time));
        }
        // Times of day are those of the first day.
        if let Ok(Stamp(time)) = format!("1601-01-01 {text}").parse() {
            return Ok(Self::OfDay(time));
        }
        if text.len() >= 16
            && let Ok(time) = text.parse()
        {
            return Ok(Self::Absolute(time));
        }
        let none = "neither a time such as 2020-07-29T07:06:19.798 or 07:06:19.8 nor seconds such as 1.5";
        seconds(text).map(Self::Since).ok_or_else(|| none.into())
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

fn provider(text: &str) -> Result<Provider, String> {
    if let Some(guid) = text.parse().ok().or_else(|| names::provider_named(text)) {
        return Ok(Provider::Guid(guid));
    }
    match text.strip_prefix("group ") {
        Some(group) => number(group).map(Provider::Group),
        None if text.is_empty() => Err("no provider is given".into()),
        None => Ok(Provider::Name(text.to_owned())),
    }
}

fn opcode(text: &str) -> Result<u8, String> {
    let is = |opcode: u8, ty| names::opcode(ty, opcode).is_some_and(|name| name.eq_ignore_ascii_case(text));
    let named = (0..=u8::MAX).find(|opcode| [HeaderType::Full64, HeaderType::Event64].into_iter().any(|ty| is(*opcode, ty)));
    named.map_or_else(|| number_or(text, "neither a number nor the name of an opcode, such as 1 or START"), Ok)
}

fn level(text: &str) -> Result<u8, String> {
    let names = ["critical", "error", "warning", "information", "verbose"];
    let named = (1..).zip(names).find(|(_, name)| name.eq_ignore_ascii_case(text));
    named.map_or_else(|| number_or(text, "neither a number nor the name of a level, such as 2 or error"), |(level, _)| Ok(level))
}

fn id(text: &str) -> Result<u16, String> {
    let none = "neither a number nor the name of a hook identifier, such as 43, 0x2b or WMI_LOG_TYPE_PROCESS_CREATE";
    let text = text.strip_prefix("hook ").unwrap_or(text);
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
