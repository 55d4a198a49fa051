//! Views and bytes beside the static types: all that the runtime does with memory.

use etw_layouts::members::{UNICODE_STRING as TEXT, WMI_LOGGER_CONTEXT as CONTEXT};
use etw_layouts::runtime::{Error, ErrorKind, View, ViewMut, bytes};
use etw_layouts::win10_2004::{x64, x86};
use etw_layouts::{Build, LAYOUTS, bytemuck, structures};

const BUILD: Build = Build::new(10, 0, 19041, 0);

/// Each layout at an odd address, read whole and printed: no part is left out.
#[test]
#[cfg_attr(miri, ignore = "it takes minutes")]
fn every_layout() {
    let memory: Vec<u8> = (0..16384_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let layouts = LAYOUTS.structures().flat_map(|structure| structure.layouts());
    let mut members = 0;
    for layout in layouts {
        let view = View::at(layout, &memory, 1).unwrap();
        assert_eq!(view.bytes(), &memory[1..=layout.size]);
        let text = format!("{view:?}");
        assert!(text.starts_with(layout.name) && !text.contains(".."), "{text}");
        members += view.members().filter(|(member, value)| value.bytes().len() == member.size).count();
    }
    assert!(members > 20, "{members} members");
}

/// What a view gives is what the static type has, and what it sets as well.
#[test]
fn views_and_static_types() {
    let mut context: x64::WMI_LOGGER_CONTEXT = bytemuck::Zeroable::zeroed();
    let layout = structures::WMI_LOGGER_CONTEXT.select(BUILD, etw_layouts::Arch::X64).unwrap().layout;
    let mut view = ViewMut::new(layout, bytemuck::bytes_of_mut(&mut context)).unwrap();
    view.set(CONTEXT::BUFFERS_WRITTEN, 77).unwrap();
    view.set(CONTEXT::LOGGER_STATUS, -3).unwrap();
    view.set(CONTEXT::LOGGER_THREAD, 0xFFFF_8000_1234_5678_u64).unwrap();
    view.set(CONTEXT::LOGGER_MODE, 0x0800_0102).unwrap();
    view.set(CONTEXT::PERSISTENT, 1).unwrap();
    view.set(CONTEXT::REAL_TIME, 1).unwrap();
    assert_eq!(view.set(CONTEXT::PERSISTENT, 2).unwrap_err().reason, ErrorKind::Wide);
    assert_eq!(view.set(CONTEXT::BUFFERS_WRITTEN, 1_u64 << 32).unwrap_err().reason, ErrorKind::Wide);
    assert_eq!(view.set(CONTEXT::BUFFERS_WRITTEN, -1).unwrap_err().reason, ErrorKind::Wide);
    assert_eq!(view.set(CONTEXT::GLOBAL_LIST_VALUE, 0).unwrap_err().reason, ErrorKind::NoNumber);
    assert_eq!(view.set(CONTEXT::KERNEL_TRACE_ON, 1).unwrap_err().reason, ErrorKind::Absent);
    let name = view.bytes(CONTEXT::LOGGER_NAME).unwrap();
    let name_layout = structures::UNICODE_STRING.select(BUILD, etw_layouts::Arch::X64).unwrap().layout;
    ViewMut::new(name_layout, name).unwrap().set(TEXT::LENGTH, 0x1234).unwrap();

    assert_eq!((context.BuffersWritten, context.LoggerStatus), (77, -3));
    assert_eq!(context.LoggerThread.0, 0xFFFF_8000_1234_5678);
    assert_eq!((context.Persistent(), context.AutoLogger(), context.RealTime()), (1, 0, 1));
    assert_eq!((context.LoggerMode.0, context.LoggerName.Length), (0x0800_0102, 0x1234));

    let view = View::new(layout, bytemuck::bytes_of(&context)).unwrap();
    assert_eq!(view.unsigned(CONTEXT::BUFFERS_WRITTEN), Some(77));
    assert_eq!(view.signed(CONTEXT::LOGGER_STATUS), Some(-3));
    assert_eq!(view.unsigned(CONTEXT::PERSISTENT), Some(1));
    assert_eq!(view.unsigned(CONTEXT::AUTO_LOGGER), Some(0));
    // Members that are found once; a view of another layout does not read them.
    let [written, thread] = [CONTEXT::BUFFERS_WRITTEN, CONTEXT::LOGGER_THREAD].map(|token| layout.resolved(token).unwrap());
    assert_eq!(view.read(written).map(|value| value.unsigned()), Some(77));
    assert_eq!(view.read(thread).map(|value| value.unsigned()), Some(0xFFFF_8000_1234_5678));
    let text = layout.resolved(CONTEXT::LOGGER_NAME).unwrap();
    assert_eq!(view.read(text).unwrap().unsigned(TEXT::LENGTH), Some(0x1234));
    assert!(layout.resolved(CONTEXT::KERNEL_TRACE_ON).is_none());
    let other = structures::WMI_LOGGER_CONTEXT.select(BUILD, etw_layouts::Arch::X86).unwrap().layout;
    assert!(View::new(other, bytemuck::bytes_of(&context)).unwrap().read(written).is_none());
    assert_eq!(view.unsigned(CONTEXT::KERNEL_TRACE_ON), None);
    assert_eq!(view.get(CONTEXT::LOGGER_NAME).unwrap().unsigned(TEXT::LENGTH), Some(0x1234));
    // In 5.0 it is a structure, and since then a number.
    assert!(view.get(CONTEXT::FLUSH_TIMER).is_none() && view.unsigned(CONTEXT::FLUSH_TIMER_VALUE) == Some(0));
    assert!(view.of::<TEXT::Type>().is_none(), "another structure");
    assert!(View::new(layout.layout(), view.bytes()).unwrap().of::<CONTEXT::Type>().is_some());
    let mode = view.get(CONTEXT::LOGGER_MODE).unwrap();
    assert_eq!(
        format!("{mode:?}"),
        "EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_INDEPENDENT_SESSION_MODE"
    );
    let printed = view.members().map(|(member, value)| format!("{}: {value:?}", member.name)).collect::<Vec<_>>().join(", ");
    assert!(format!("{view:?}").contains(&printed));
}

#[test]
fn bytes_and_their_errors() {
    type Context = x86::WMI_LOGGER_CONTEXT;
    let size = size_of::<Context>();
    let mut memory = vec![0_u64; size / 8 + 2];
    let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
    let mut context: Context = bytemuck::Zeroable::zeroed();
    context.BuffersWritten = 5;
    bytes::store(memory, 8, &context).unwrap();
    bytes::borrow_mut::<Context>(memory, 8).unwrap().BuffersWritten += 1;
    assert!(matches!(bytes::load::<Context>(memory, 8), Ok(bytes::Loaded::Borrowed(context)) if context.BuffersWritten == 6));
    memory.copy_within(8..8 + size, 9);
    assert!(matches!(bytes::load::<Context>(memory, 9), Ok(bytes::Loaded::Copied(context)) if context.BuffersWritten == 6));
    assert_eq!(bytes::copy::<Context>(memory, 9).unwrap().BuffersWritten, 6);

    let error = |offset, reason| Error { offset, size, reason };
    let end = memory.len();
    assert_eq!(bytes::borrow::<Context>(memory, 9).unwrap_err(), error(9, ErrorKind::Unaligned(align_of::<Context>())));
    assert_eq!(bytes::copy::<Context>(memory, end - 3).unwrap_err(), error(end - 3, ErrorKind::Short(3)));
    assert_eq!(bytes::copy::<Context>(memory, usize::MAX).unwrap_err(), error(usize::MAX, ErrorKind::Short(0)));
    assert_eq!(bytes::store(memory, 17, &context).unwrap_err(), error(17, ErrorKind::Short(end - 17)));
    let layout = structures::WMI_LOGGER_CONTEXT.select(BUILD, etw_layouts::Arch::X86).unwrap().layout;
    let short = View::at(layout, memory, end - 3).unwrap_err();
    assert_eq!(short, error(end - 3, ErrorKind::Short(3)));
    assert_eq!(short.to_string(), format!("{size:#x} bytes at {:#x}: only 0x3 bytes left", end - 3));
}
