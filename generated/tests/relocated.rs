//! Declared members of ETW's own structures: equal to views in all builds, to published offsets in some, and as certain as they are.

use etw_layouts::members::{UNICODE_STRING, WMI_LOGGER_CONTEXT as CONTEXT};
use etw_layouts::runtime::meta::Confidence;
use etw_layouts::runtime::relocated::{ListHead, MemorySlice, PlanProblem, Presence, Relocated, UnicodeString};
use etw_layouts::runtime::{Uuid, View};
use etw_layouts::{Arch, Build, LAYOUTS, structures};
use etw_layouts_macros::Relocated;

#[allow(non_snake_case)]
#[derive(Debug, Relocated)]
#[relocated(WMI_LOGGER_CONTEXT)]
struct Session {
    LoggerId: u32,
    BufferSize: u32,
    LoggerStatus: i32,
    LoggerName: UnicodeString,
    LogFileName: UnicodeString,
    InstanceGuid: Uuid,
    StartTime: i64,
    NumberOfBuffers: i32,
    EventsLost: u32,
    BuffersWritten: u32,
    CollectionOn: i32,
    #[relocated("Flags.Persistent")]
    persistent: Option<bool>,
    #[relocated("Flags.RealTime")]
    real_time: Option<bool>,
    ClockType: Option<u32>,
    Consumers: Option<ListHead<Event>>,
    NumConsumers: Option<u32>,
    KernelTraceOn: Presence<u32>,
}

/// An embedded structure whose own confidence counts.
#[derive(Debug, Relocated)]
#[relocated(WMI_LOGGER_CONTEXT)]
struct WithEvent {
    #[relocated("LoggerEvent")]
    _event: Event,
}

#[derive(Debug, Relocated)]
#[relocated(KEVENT)]
struct Event {
    #[relocated("Header.SignalState")]
    _state: i32,
}

#[test]
fn every_build() {
    let bytes: Vec<u8> = (0..8192_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let memory = MemorySlice { address: 0x8000_0000, bytes: &bytes };
    let mut plans = 0;
    let targets = structures::WMI_LOGGER_CONTEXT.targets();
    for target in targets.step_by(if cfg!(miri) { 40 } else { 1 }) {
        let (build, arch) = (target.revision.build, target.arch);
        let what = format!("{build} {arch}");
        let plan = Session::plan(&LAYOUTS, build, arch).unwrap_or_else(|error| panic!("{what}: {error}"));
        let session = plan.read(&memory, memory.address).unwrap();
        let view = View::new(target.layout, &bytes).unwrap();
        let numbers = [
            (CONTEXT::LOGGER_ID, Some(u64::from(session.LoggerId))),
            (CONTEXT::BUFFER_SIZE, Some(session.BufferSize.into())),
            (CONTEXT::EVENTS_LOST, Some(session.EventsLost.into())),
            (CONTEXT::BUFFERS_WRITTEN, Some(session.BuffersWritten.into())),
            (CONTEXT::PERSISTENT, session.persistent.map(u64::from)),
            (CONTEXT::REAL_TIME, session.real_time.map(u64::from)),
            (CONTEXT::CLOCK_TYPE, session.ClockType.map(u64::from)),
            (CONTEXT::NUM_CONSUMERS, session.NumConsumers.map(u64::from)),
            (CONTEXT::KERNEL_TRACE_ON, session.KernelTraceOn.value().map(u64::from)),
        ];
        for (token, value) in numbers {
            assert_eq!(view.unsigned(token), value, "{what}: {token:?}");
            assert_eq!(plan.exists(token), value.is_some(), "{what}: {token:?}");
        }
        let signed = [
            (CONTEXT::LOGGER_STATUS, session.LoggerStatus),
            (CONTEXT::NUMBER_OF_BUFFERS, session.NumberOfBuffers),
            (CONTEXT::COLLECTION_ON, session.CollectionOn),
        ];
        for (token, value) in signed {
            assert_eq!(view.signed(token), Some(value.into()), "{what}: {token:?}");
        }
        for (token, text) in [(CONTEXT::LOGGER_NAME, session.LoggerName), (CONTEXT::LOG_FILE_NAME, session.LogFileName)] {
            let name = view.get(token).unwrap();
            assert_eq!(name.unsigned(UNICODE_STRING::LENGTH), Some(text.length.into()), "{what}: {token:?}");
            assert_eq!(name.unsigned(UNICODE_STRING::MAXIMUM_LENGTH), Some(text.maximum_length.into()), "{what}: {token:?}");
            assert_eq!(name.unsigned(UNICODE_STRING::BUFFER), Some(text.buffer.address), "{what}: {token:?}");
        }
        assert_eq!(view.get(CONTEXT::INSTANCE_GUID).unwrap().bytes(), session.InstanceGuid.to_bytes_le(), "{what}");
        assert_eq!(view.get(CONTEXT::START_TIME).unwrap().bytes(), session.StartTime.to_le_bytes(), "{what}");
        if let Some(list) = session.Consumers {
            let offset = plan.offset(CONTEXT::CONSUMERS).unwrap();
            let size = if arch == Arch::X86 { 4 } else { 8 };
            let mut first = [0; 8];
            first[..size].copy_from_slice(&bytes[offset..offset + size]);
            assert_eq!((list.address, list.first), (memory.address + offset as u64, u64::from_le_bytes(first)), "{what}");
        }
        plans += 1;
    }
    assert!(plans > if cfg!(miri) { 2 } else { 100 }, "{plans} builds");
}

/// Offsets as the spec states them from published references.
#[test]
fn published_offsets() {
    for (build, arch, events_lost, written) in [
        (Build::new(5, 1, 2600, 5512), Arch::X86, 0xF8, 0xFC),
        (Build::new(6, 1, 7601, 17514), Arch::X86, 0xA0, 0xA4),
        (Build::new(6, 1, 7601, 17514), Arch::X64, 0xE8, 0xEC),
        (Build::new(10, 0, 14393, 0), Arch::X64, 0xF0, 0xF8),
        (Build::new(10, 0, 19041, 1415), Arch::X64, 0x100, 0x108),
        (Build::new(10, 0, 19041, 1415), Arch::Arm64, 0x100, 0x108),
    ] {
        let plan = Session::plan(&LAYOUTS, build, arch).unwrap();
        let mut bytes = vec![0; plan.layout().size];
        bytes[events_lost..events_lost + 4].copy_from_slice(&[1, 2, 3, 4]);
        bytes[written..written + 4].copy_from_slice(&[5, 6, 7, 8]);
        let session = plan.read(&MemorySlice { address: 0, bytes: &bytes }, 0).unwrap();
        assert_eq!((session.EventsLost, session.BuffersWritten), (0x0403_0201, 0x0807_0605), "{build} {arch}");
    }
}

/// Only the declared members count.
#[test]
fn confidence() {
    #[derive(Relocated)]
    #[relocated(WMI_LOGGER_CONTEXT)]
    struct Id {
        #[relocated("LoggerId")]
        _id: u32,
    }
    let examined = Build::new(10, 0, 19041, 1415);
    let plan = Session::plan(&LAYOUTS, examined, Arch::X64).unwrap();
    assert!(plan.confidence().is_sure());
    assert_eq!(plan.confidence().to_string(), "WMI_LOGGER_CONTEXT: verified against the symbols of this build");

    let (mut same, mut other) = (0, 0);
    let unexamined = LAYOUTS.examined().map(|seen| (Build { revision: seen.build.revision + 1, ..seen.build }, seen.arch));
    for (build, arch) in unexamined.step_by(if cfg!(miri) { 100 } else { 9 }) {
        let Ok(selection) = structures::WMI_LOGGER_CONTEXT.select(build, arch) else { continue };
        let plan = Id::plan(&LAYOUTS, build, arch).unwrap();
        assert_eq!(plan.confidence().is_sure(), selection.is_sure_of(CONTEXT::LOGGER_ID), "{build} {arch}");
        assert_eq!(plan.confidence().confidence, selection.confidence, "{build} {arch}");
        let is_uncertain = matches!(selection.confidence, Confidence::Uncertain { .. });
        if is_uncertain && plan.confidence().is_sure() {
            same += 1;
            assert!(
                plan.confidence().to_string().ends_with("; the declared members are the same in both"),
                "{}",
                plan.confidence()
            );
        } else if is_uncertain {
            other += 1;
        }
    }
    assert!(cfg!(miri) || same > 0 && other > 0, "{same} and {other}");
    // An embedded structure is as certain as its own layout.
    for (build, arch) in LAYOUTS.examined().map(|seen| (seen.build, seen.arch)).step_by(if cfg!(miri) { 100 } else { 9 }) {
        let Ok(plan) = WithEvent::plan(&LAYOUTS, build, arch) else { continue };
        let own = structures::WMI_LOGGER_CONTEXT.select(build, arch).unwrap().confidence;
        let inner = structures::KEVENT.select(build, arch).unwrap().confidence;
        let is_sure = plan.confidence().is_sure();
        if own.is_sure() {
            assert_eq!(is_sure, inner.is_sure(), "{build} {arch}: {own}, {inner}");
        } else {
            assert!(!is_sure || own.is_sure_if_same(|| true) && inner.is_sure_if_same(|| true), "{build} {arch}: {own}, {inner}");
        }
    }
}

/// An error names what the build lacks.
#[test]
fn absent_members() {
    #[derive(Debug, Relocated)]
    #[relocated(WMI_LOGGER_CONTEXT)]
    struct Traced {
        #[relocated("KernelTraceOn")]
        _is_on: u32,
    }
    let (old, new) = (Build::new(5, 1, 2600, 5512), Build::new(10, 0, 19041, 1415));
    assert!(Traced::plan(&LAYOUTS, old, Arch::X86).is_ok());
    let error = Traced::plan(&LAYOUTS, new, Arch::X86).unwrap_err();
    assert_eq!((error.member, error.problem), ("KernelTraceOn", PlanProblem::Absent));
}
