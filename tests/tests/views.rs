//! Views read what the specs say is there, at every target, and tell what is not.

use etw_layouts::axis::AXIS;
use etw_layouts::members::{UNICODE_STRING as TEXT, WMI_LOGGER_CONTEXT as CONTEXT};
use etw_layouts::runtime::token::Any;
use etw_layouts::runtime::{Error, Reason, Token, View, ViewMut, bytes};
use etw_layouts::win10_2004::{x64, x86};
use etw_layouts::{bytemuck, structures};
use etw_layouts_codegen::layouts::Form;
use etw_layouts_codegen::{Sources, read, resolve};
use std::path::Path;

/// Each structure at each target: every token against the layout that the specs give there.
#[test]
fn every_member_at_every_target() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let layouts = resolve(read(Sources::load(&specs).unwrap()).unwrap()).unwrap();
    let memory: Vec<u8> = (0..8192_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let (mut present, mut absent) = (0, 0);
    for structure in structures::ALL {
        for (target, &(kernel, arch)) in AXIS.targets.iter().enumerate() {
            let ours = layouts.get(target, structure.name).map(|layout| match &layout.form {
                Form::Aggregate(aggregate) => aggregate,
                Form::Enumeration(_) => panic!("{} is a structure", structure.name),
            });
            let entry = structure.entries.iter().find(|entry| entry.targets.contains(&(target as u16)));
            let Some((ours, entry)) = ours.zip(entry) else {
                assert!(ours.is_none() && entry.is_none(), "{} at {target}", structure.name);
                continue;
            };
            let selected = structure.select(AXIS.kernels[usize::from(kernel)].build, arch).unwrap();
            assert!(std::ptr::eq(selected.layout, entry.layout), "{} at {target}", structure.name);
            // At an odd address.
            let view = View::at(selected.layout, &memory, 1).unwrap();
            for (index, name) in selected.layout.of.names.iter().enumerate() {
                let what = format!("{}.{name} at {}", structure.name, layouts.spec.axis.target_name(target));
                let value = view.get(Token::<Any>::new(selected.layout.of, index as u16));
                let flat = ours.flat();
                let Some(flat) = flat.iter().find(|flat| flat.name == *name) else {
                    assert!(value.is_none(), "{what}");
                    absent += 1;
                    continue;
                };
                let value = value.unwrap_or_else(|| panic!("{what}"));
                let start = 1 + flat.offset as usize;
                let expected = &memory[start..start + flat.field.size as usize];
                assert_eq!(value.bytes(), expected, "{what}");
                if let Some(bits) = flat.field.bits {
                    let unit = expected.iter().rev().fold(0_u64, |unit, &byte| unit << 8 | u64::from(byte));
                    assert_eq!(value.unsigned(), (unit & bits.mask()) >> bits.position, "{what}");
                }
                present += 1;
            }
        }
    }
    assert!(present > 10_000 && absent > 5_000, "{present} members present, {absent} absent");
}

/// What a view gives is what the static type has, and what it sets as well.
#[test]
fn views_and_static_types() {
    let mut context: x64::WMI_LOGGER_CONTEXT = bytemuck::Zeroable::zeroed();
    let layout = structures::WMI_LOGGER_CONTEXT.select(AXIS.kernels[27].build, etw_layouts::Arch::X64).unwrap().layout;
    let mut view = ViewMut::new(layout, bytemuck::bytes_of_mut(&mut context)).unwrap();
    view.set(CONTEXT::BUFFERS_WRITTEN, 77).unwrap();
    view.set(CONTEXT::LOGGER_STATUS, -3).unwrap();
    view.set(CONTEXT::LOGGER_THREAD, 0xFFFF_8000_1234_5678).unwrap();
    view.set(CONTEXT::LOGGER_MODE, 0x0800_0102).unwrap();
    view.set(CONTEXT::PERSISTENT, 1).unwrap();
    view.set(CONTEXT::REAL_TIME, 1).unwrap();
    assert_eq!(view.set(CONTEXT::PERSISTENT, 2).unwrap_err().reason, Reason::Wide);
    assert_eq!(view.set(CONTEXT::BUFFERS_WRITTEN, 1 << 32).unwrap_err().reason, Reason::Wide);
    assert_eq!(view.set(CONTEXT::KERNEL_TRACE_ON, 1).unwrap_err().reason, Reason::Absent);
    let name = view.bytes(CONTEXT::LOGGER_NAME).unwrap();
    let name_layout = structures::UNICODE_STRING.select(AXIS.kernels[27].build, etw_layouts::Arch::X64).unwrap().layout;
    ViewMut::new(name_layout, name).unwrap().set(TEXT::LENGTH, 0x1234).unwrap();

    assert_eq!((context.BuffersWritten, context.LoggerStatus), (77, -3));
    assert_eq!(context.LoggerThread.0, 0xFFFF_8000_1234_5678);
    assert_eq!((context.Persistent(), context.AutoLogger(), context.RealTime()), (1, 0, 1));
    assert_eq!((context.LoggerMode.0, context.LoggerName.Length), (0x0800_0102, 0x1234));

    let view = View::new(layout, bytemuck::bytes_of(&context)).unwrap();
    assert_eq!(view.get(CONTEXT::BUFFERS_WRITTEN), Some(77));
    assert_eq!(view.get(CONTEXT::LOGGER_STATUS), Some(-3));
    assert_eq!(view.get(CONTEXT::PERSISTENT), Some(1));
    assert_eq!(view.get(CONTEXT::AUTO_LOGGER), Some(0));
    assert_eq!(view.get(CONTEXT::KERNEL_TRACE_ON), None);
    assert_eq!(view.get(TEXT::LENGTH), None, "a token of another structure");
    assert_eq!(view.get(CONTEXT::LOGGER_NAME).unwrap().get(TEXT::LENGTH), Some(0x1234));
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
    assert_eq!(bytes::borrow::<Context>(memory, 9).unwrap_err(), error(9, Reason::Unaligned(align_of::<Context>())));
    assert_eq!(bytes::copy::<Context>(memory, end - 3).unwrap_err(), error(end - 3, Reason::Short(3)));
    assert_eq!(bytes::copy::<Context>(memory, usize::MAX).unwrap_err(), error(usize::MAX, Reason::Short(0)));
    assert_eq!(bytes::store(memory, 17, &context).unwrap_err(), error(17, Reason::Short(end - 17)));
    let layout = <Context as etw_layouts::Described>::LAYOUT;
    let short = View::at(layout, memory, end - 3).unwrap_err();
    assert_eq!(short, error(end - 3, Reason::Short(3)));
    assert_eq!(short.to_string(), format!("{size:#x} bytes at {:#x}: there are only 0x3", end - 3));
}
