//! Walks a `WMI_LOGGER_CONTEXT` in a memory image of which the build is not known: every layout that the structure ever had is
//! tried, and the one under which most of it makes sense is printed: names, buffers, modes, flags, and every member.
//!
//! ```text
//! walk_logger_context                             a small image that it makes itself, of Windows 10 1803
//! walk_logger_context IMAGE BASE ADDRESS          a file; the address of its first byte, that of the structure (hexadecimal)
//! ```

use etw_layouts::members::{LIST_ENTRY as LIST, UNICODE_STRING as TEXT, WMI_LOGGER_CONTEXT as CONTEXT};
use etw_layouts::runtime::token::Nested;
use etw_layouts::runtime::{LayoutOf, Token, View, ViewMut};
use etw_layouts::{Arch, Build, structures};
use std::error::Error;

/// A session by one of the layouts.
type Session<'a> = View<'a, CONTEXT::Type>;

/// Memory as a dump holds it: the bytes from an address on.
struct Image {
    base: u64,
    bytes: Vec<u8>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (image, address) = match &arguments[..] {
        [] => demo()?,
        [file, base, address] => {
            let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
            (Image { base: hexadecimal(base)?, bytes }, hexadecimal(address)?)
        }
        _ => return Err("give nothing, or IMAGE BASE ADDRESS".into()),
    };
    let rest = image.at(address).ok_or("the address of the structure is not in the image")?;
    // A layout of which there are too few bytes is none.
    let views = structures::WMI_LOGGER_CONTEXT.layouts().filter_map(|layout| View::new(layout, rest).ok());
    let views: Vec<_> = views.map(|view| (sense(&view, address, &image), view)).collect();
    let best = views.iter().map(|(sense, _)| *sense).max().ok_or("the image ends before the structure does")?;
    let mut equal = views.iter().filter(|(sense, _)| *sense == best).map(|(_, view)| view);
    if let Some(view) = equal.next() {
        print(view, &image);
    }
    equal.for_each(|view| println!("as much makes sense as in {}", builds(view.layout())));
    Ok(())
}

/// How many facts hold that hold for every session.
fn sense(view: &Session, address: u64, image: &Image) -> usize {
    let name = |name| text(view.get(name), image).is_some_and(|name| name.chars().all(|c| !c.is_control()) && !name.is_empty());
    let number = |token| view.unsigned(token);
    let list = |token| closes(view, token, address, image) == Some(true);
    let facts = [
        name(CONTEXT::LOGGER_NAME),
        name(CONTEXT::LOG_FILE_NAME),
        number(CONTEXT::BUFFER_SIZE).is_some_and(|size| size >= 1024 && size % 1024 == 0),
        number(CONTEXT::MINIMUM_BUFFERS)
            .zip(number(CONTEXT::MAXIMUM_BUFFERS))
            .is_some_and(|(least, most)| 0 < least && least <= most),
        number(CONTEXT::LOGGER_ID).is_some_and(|id| id < 64),
        view.get(CONTEXT::CLOCK_TYPE).is_some_and(|clock| clock.choice().name().is_some()),
        view.signed(CONTEXT::LOGGER_STATUS) == Some(0),
        view.unsigned(CONTEXT::COLLECTION_ON).is_none_or(|on| on == 0 || on == 1),
        list(CONTEXT::GLOBAL_LIST),
        list(CONTEXT::CONSUMERS),
    ];
    facts.into_iter().filter(|holds| *holds).count()
}

/// Whether the entry after a list's head points back to the head.
fn closes(view: &Session, token: Token<CONTEXT::Type, Nested<LIST::Type>>, address: u64, image: &Image) -> Option<bool> {
    let (head, offset) = (view.get(token)?, view.layout().find(token)?.offset as u64);
    let next = View::new(head.layout(), image.at(head.unsigned(LIST::FLINK)?)?).ok()?;
    Some(next.unsigned(LIST::BLINK) == Some(address + offset))
}

fn print(view: &Session, image: &Image) {
    println!("WMI_LOGGER_CONTEXT of {:#x} bytes, as in {}", view.layout().size, builds(view.layout()));
    println!("  logger   {:?}", text(view.get(CONTEXT::LOGGER_NAME), image));
    println!("  file     {:?}", text(view.get(CONTEXT::LOG_FILE_NAME), image));
    println!("  mode     {:?}", view.get(CONTEXT::LOGGER_MODE));
    println!("  clock    {:?}", view.get(CONTEXT::CLOCK_TYPE));
    let count = |token| view.unsigned(token).map_or("not in this build".into(), |count: u64| count.to_string());
    println!("  buffers  of {} bytes, {} written", count(CONTEXT::BUFFER_SIZE), count(CONTEXT::BUFFERS_WRITTEN));
    println!(
        "           {} at least, {} at most, {} events lost",
        count(CONTEXT::MINIMUM_BUFFERS),
        count(CONTEXT::MAXIMUM_BUFFERS),
        count(CONTEXT::EVENTS_LOST)
    );
    println!(
        "  flags    persistent {}, real time {}, autologger {}",
        count(CONTEXT::PERSISTENT),
        count(CONTEXT::REAL_TIME),
        count(CONTEXT::AUTO_LOGGER)
    );
    println!("members");
    for (member, value) in view.members() {
        println!("  {:#05x} {} {} = {value:?}", member.offset, member.c, member.name);
    }
}

/// The revisions that have a layout.
fn builds(layout: LayoutOf<'_, CONTEXT::Type>) -> String {
    let targets = structures::WMI_LOGGER_CONTEXT.targets().filter(|target| *target.layout == *layout);
    targets.map(|target| format!("{} {}", target.revision.build, target.arch)).collect::<Vec<_>>().join(", ")
}

/// A string that a structure points to: pointers are addresses, and following them is for the image.
fn text(string: Option<View<TEXT::Type>>, image: &Image) -> Option<String> {
    let string = string?;
    let (length, room) = (string.unsigned(TEXT::LENGTH)?, string.unsigned(TEXT::MAXIMUM_LENGTH)?);
    let bytes = image.at(string.unsigned(TEXT::BUFFER)?)?.get(..length as usize)?;
    let units: Vec<u16> = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
    String::from_utf16(&units).ok().filter(|_| length <= room && length % 2 == 0)
}

impl Image {
    fn at(&self, address: u64) -> Option<&[u8]> {
        let offset = address.checked_sub(self.base)?;
        self.bytes.get(usize::try_from(offset).ok()?..)
    }
}

fn hexadecimal(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).map_err(|error| format!("{text}: {error}"))
}

/// Windows 10 1803.
const BUILD: Build = Build::new(10, 0, 17134, 0);

/// An image of some pages with a session in it.
fn demo() -> Result<(Image, u64), Box<dyn Error>> {
    let (base, at) = (0xFFFF_BA01_2345_0000_u64, 0x40);
    let layout = structures::WMI_LOGGER_CONTEXT.select(BUILD, Arch::X64)?.layout;
    let mut bytes = vec![0; 0x3000];
    let mut context = ViewMut::at(layout, &mut bytes, at)?;
    context.set(CONTEXT::LOGGER_ID, 5)?;
    context.set(CONTEXT::BUFFER_SIZE, 0x10000)?;
    context.set(CONTEXT::MINIMUM_BUFFERS, 4)?;
    context.set(CONTEXT::MAXIMUM_BUFFERS, 26)?;
    context.set(CONTEXT::NUMBER_OF_BUFFERS, 8)?;
    context.set(CONTEXT::BUFFERS_WRITTEN, 1234)?;
    context.set(CONTEXT::LOGGER_MODE, 0x0800_0101)?;
    context.set(CONTEXT::CLOCK_TYPE, 1)?;
    context.set(CONTEXT::PERSISTENT, 1)?;
    context.set(CONTEXT::REAL_TIME, 1)?;
    let strings = [(CONTEXT::LOGGER_NAME, "Demo Session", 0x2000), (CONTEXT::LOG_FILE_NAME, r"C:\Logs\demo.etl", 0x2100)];
    let list = structures::LIST_ENTRY.select(BUILD, Arch::X64)?.layout;
    for token in [CONTEXT::GLOBAL_LIST, CONTEXT::CONSUMERS] {
        let head = at + layout.find(token).ok_or("the build has both lists")?.offset;
        let mut list = ViewMut::at(list, &mut bytes, head)?;
        list.set(LIST::FLINK, base + head as u64)?;
        list.set(LIST::BLINK, base + head as u64)?;
    }
    for (token, text, place) in strings {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let member = layout.find(token).ok_or("the build has both names")?;
        let string = structures::UNICODE_STRING.select(BUILD, Arch::X64)?.layout;
        let mut string = ViewMut::at(string, &mut bytes, at + member.offset)?;
        string.set(TEXT::LENGTH, units.len() as u64)?;
        string.set(TEXT::MAXIMUM_LENGTH, units.len() as u64 + 2)?;
        string.set(TEXT::BUFFER, base + place)?;
        let place = place as usize;
        bytes[place..place + units.len()].copy_from_slice(&units);
    }
    Ok((Image { base, bytes }, base + at as u64))
}
