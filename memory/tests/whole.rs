//! All data in the generated image of a kernel is read back, without findings.

use etw_layouts::{Arch, Build};
use etw_layouts_dump::{BufferSelection, DumpSession, SaveError};
use etw_layouts_etl::Trace;
use etw_layouts_etl::wire::{EVENT_TRACE_CLOCK, LOG_FILE_MODE};
use etw_layouts_memory::{Census, Kind, Limits, Owner, Session, State, Time, Uuid, Walk};
use std::error::Error;
use std::io::Cursor;
use test_support::kernels::plan::{self, Plan, REFERENCE};

#[test]
fn images_are_read_back() {
    let (mut targets, mut providers, mut of_silos) = (0, 0, 0);
    for (build, arch) in Plan::targets() {
        let plan = Plan::of(build, arch);
        let kernel = plan.kit.kernel();
        let mut walk = Walk::new(&plan.kit.image, &kernel);
        let census = walk.census();
        let name = format!("{build} {arch}");
        sessions(&plan, &census, &mut walk, &name);
        self::providers(&plan, &census, &mut walk, &name);
        let silos = walk.silos(&census.providers);
        assert_eq!(silos.iter().map(|silo| silo.address().0).collect::<Vec<_>>(), Vec::from_iter(plan.silo), "{name}");
        for silo in &silos {
            let sessions: Vec<_> = walk.sessions_of(silo).into_iter().filter_map(|session| session.name).collect();
            let providers: Vec<_> = walk.providers_of(silo).into_iter().map(|provider| provider.guid).collect();
            assert_eq!(
                (&*sessions, &*providers),
                (&["Last".to_owned()][..], &[Some(Uuid::from_bytes_le(plan.providers[0].guid))][..]),
                "{name}"
            );
            of_silos += 1;
        }
        assert!(walk.findings().is_empty(), "{name}: {}", walk.findings()[0]);
        (targets, providers) = (targets + 1, providers + census.providers.len());
    }
    println!("{targets} kernels, {providers} providers, {of_silos} silos");
    assert!(targets >= 80 && providers > 400 && of_silos > 30);
}

fn sessions(plan: &Plan, census: &Census, walk: &mut Walk<'_, test_support::kernels::Image>, name: &str) {
    assert_eq!(census.sessions.len(), plan.sessions.len(), "{name}");
    let mut consumers = census.consumers.iter();
    for (session, planned) in census.sessions.iter().zip(&plan.sessions) {
        assert_eq!((session.number, session.context.address().0), (planned.number, planned.at), "{name}");
        assert_eq!((session.name.as_deref(), session.file.as_deref()), (Some(planned.name), Some(planned.file)), "{name}");
        assert_eq!(session.mode.map(|mode| mode.0), Some(planned.mode), "{name}");
        assert!(planned.mode & 0x100 == 0 || session.mode_names.contains(&"EVENT_TRACE_REAL_TIME_MODE"), "{name}");
        assert_eq!(session.clock.map(|clock| clock.0), Some(1), "{name}");
        let is_5_0 = plan.kit.build.number < [5, 1, 0];
        assert_eq!(session.reference, (!is_5_0).then_some(REFERENCE), "{name}");
        assert_eq!(session.start_time, Some(REFERENCE.0), "{name}");
        let counts = [session.minimum_buffers, session.maximum_buffers, session.buffers_written, session.events_lost];
        assert_eq!(counts, [Some(4), Some(26), Some(1000 + planned.number), Some(9)], "{name}");
        let lost = [session.buffers_lost, session.real_time_buffers_lost, session.buffer_size];
        assert_eq!(lost, [Some(7), Some(8), Some(plan::BUFFER)], "{name}");
        if plan.kit.build.number >= [6, 0, 0] {
            assert_eq!(session.security.map(|at| at.0), Some(planned.security), "{name}");
            assert!(["Persistent", "RealTime"].iter().all(|flag| session.flags.contains(flag)), "{name}: {:?}", session.flags);
        }
        for &(at, process) in &planned.consumers {
            let consumer = consumers.next().unwrap();
            assert_eq!(consumer.record.address().0, at, "{name}");
            let stated = consumer.process.map(|process| process.0).or(consumer.process_id.map(u64::from));
            assert_eq!(stated, Some(process), "{name}");
        }
        let buffers = walk.buffers(session);
        assert_eq!(buffers.len(), planned.buffers.len(), "{name}");
        for (buffer, planned) in buffers.iter().zip(&planned.buffers) {
            assert_eq!((buffer.header.address().0, buffer.processor), (planned.at, Some(planned.processor)), "{name}");
            let state = match planned.state {
                // Buffers of 5.0 have no state.
                _ if is_5_0 => State::Other,
                plan::State::Free => State::Free,
                plan::State::Logging => State::Logging,
                plan::State::Flush => State::Flush,
            };
            assert_eq!(buffer.state, state, "{name}");
            let known = planned_current(plan) && planned.state == plan::State::Logging;
            assert_eq!((buffer.is_listed, buffer.is_current), (true, known), "{name}");
        }
    }
    assert!(consumers.next().is_none(), "{name}");
}

/// Whether walks of this kernel can find the current buffers of processors.
fn planned_current(plan: &Plan) -> bool {
    let kept = plan.kit.place("ETW_SILODRIVERSTATE", 0, "ProcessorBlocks").is_some();
    kept || plan.kit.place("WMI_LOGGER_CONTEXT", 0, "ProcessorBuffers").is_some()
}

fn providers(plan: &Plan, census: &Census, walk: &mut Walk<'_, test_support::kernels::Image>, name: &str) {
    assert_eq!(census.providers.len(), plan.providers.len(), "{name}");
    for planned in &plan.providers {
        let provider = census.providers.iter().find(|provider| provider.entry.address().0 == planned.at).unwrap();
        let kind = if planned.kind == 2 { Kind::Group } else { Kind::Trace };
        assert_eq!((provider.guid, provider.kind), (Some(Uuid::from_bytes_le(planned.guid)), kind), "{name}");
        assert!(provider.to_string().starts_with(&Uuid::from_bytes_le(planned.guid).to_string()), "{provider}");
        assert!(provider.entry.is_whole() && provider.security.is_none(), "{name}");
        assert!(format!("{:?}", provider.entry).starts_with("Object {"));
        assert!(provider.bucket.is_none_or(|bucket| bucket == planned.bucket), "{name}");
        let enabled: Vec<_> =
            provider.enabled.iter().map(|enable| (enable.slot, enable.session as u32, enable.level, enable.any)).collect();
        assert_eq!(enabled, planned.enabled, "{name}");
        let last = provider.last.map(|last| (last.is_enabled, last.session, last.level, last.flags));
        assert_eq!((last, provider.enable_summary.is_some()), (planned.last, !planned.enabled.is_empty()), "{name}");
        if planned.kind == 2 {
            let members = plan.providers.iter().flat_map(|provider| &provider.registrations);
            let members: Vec<_> = members.filter(|one| one.group == Some(planned.at)).map(|one| one.at).collect();
            let found: Vec<_> = provider.registrations.iter().map(|one| one.entry.address().0).collect();
            assert_eq!(found, members, "{name}");
            continue;
        }
        assert_eq!(provider.registrations.len(), planned.registrations.len(), "{name}");
        for (registration, planned) in provider.registrations.iter().zip(&planned.registrations) {
            let owner = match registration.owner {
                Owner::Process(process) => Ok(process.0),
                Owner::Either(_) => panic!("{name}"),
                Owner::Kernel { callback, context } => {
                    assert_eq!(context.0, 0x77, "{name}");
                    Err(callback.0)
                }
            };
            assert_eq!((registration.entry.address().0, owner), (planned.at, planned.owner), "{name}");
            let flag = if planned.owner.is_ok() { "DbgUserRegistration" } else { "DbgKernelRegistration" };
            let is_flag = |name: &&str| name.starts_with("Dbg");
            assert!(
                registration.flags.contains(&flag) && registration.flags.iter().all(is_flag),
                "{name}: {:?}",
                registration.flags
            );
            assert_eq!((registration.mask, registration.group_mask), (Some(planned.mask), planned.group_mask), "{name}");
            let traits = walk.traits(registration).map(|traits| (traits.name, traits.group));
            assert_eq!(traits, planned.traits.clone().map(|(name, group)| (name, group.map(Uuid::from_bytes_le))), "{name}");
            assert_eq!(registration.group.map(|group| group.0), planned.group, "{name}");
        }
    }
}

/// A session with unknown properties cannot be saved. The caller can state properties of clocks.
#[test]
fn sessions_that_cannot_be_saved() {
    let plan = Plan::of(Build::new(10, 0, 19041, 1415), Arch::X64);
    let time = Time { perf_frequency: Some(5), boot_time: Some(6), cpu_mhz: Some(7), ..Time::default() };
    let kernel = plan.kit.kernel().with_time(time);
    assert_eq!(kernel.time(), time);
    let limits = Limits { entries: 9, ..Limits::default() };
    let mut walk = Walk::new(&plan.kit.image, &kernel).with_limits(limits);
    assert_eq!(walk.limits().entries, limits.entries);
    assert!(kernel.chosen().any(|(name, chosen)| name == "WMI_LOGGER_CONTEXT" && chosen.is_ok()));
    let session = walk.sessions().remove(0);
    let mut save = |session: &Session| {
        let mut file = Cursor::new(Vec::new());
        DumpSession::read(&mut walk, session, BufferSelection::All).save(&mut file)?;
        Ok::<_, SaveError>(Trace::from_bytes(file.get_ref()).unwrap().log_file().clone())
    };
    let log = save(&session).unwrap();
    assert_eq!((log.perf_frequency, log.boot_time, log.cpu_mhz), (5, 6, 7));
    let long = Session {
        name: Some("x".repeat(plan::BUFFER as usize / 2)),
        file: Some("a.etl".into()),
        clock: Some(EVENT_TRACE_CLOCK(2)),
        ..session.clone()
    };
    let log = save(&long).unwrap();
    assert_eq!((&*log.logger_name, &*log.file_name, log.clock), ("", "", 2));
    let none = Session { buffer_size: None, ..session.clone() };
    let error = save(&none).unwrap_err();
    assert!(error.to_string().contains("unknown buffer size") && error.source().is_none(), "{error}");
    let odd = Session { buffer_size: Some(7), ..session };
    let error = save(&odd).unwrap_err();
    assert!(error.source().is_some_and(|source| source.to_string() == error.to_string()), "{error}");
    let kernel = plan.kit.kernel().with_time(Time { perf_frequency: Some(0), ..time });
    let session = walk.sessions().remove(0);
    let session = DumpSession::read(&mut Walk::new(&plan.kit.image, &kernel), &session, BufferSelection::All);
    let error = session.save(Cursor::new(Vec::new())).unwrap_err();
    assert!(error.to_string().contains("unknown rate"), "{error}");
}

/// Every state of a buffer, for kernels with the state as a number in the buffer header.
#[test]
fn each_state() {
    use State::{Compressed, ContextSwitch, Flush, Free, Logging, Other, PendingCompression, Placeholder};
    let mut kernels = 0;
    for (build, arch) in Plan::targets().filter(|(build, _)| build.number >= [10, 0, 14393]) {
        let mut plan = Plan::of(build, arch);
        let at = plan.sessions[0].buffers[0].at;
        let states = [Free, Logging, ContextSwitch, Flush, PendingCompression, Compressed, Placeholder, Other];
        for (number, state) in states.into_iter().enumerate() {
            assert!(plan.kit.set("WMI_BUFFER_HEADER", at, "State", number as u64));
            let kernel = plan.kit.kernel();
            let mut walk = Walk::new(&plan.kit.image, &kernel);
            let session = walk.sessions().remove(0);
            assert_eq!(walk.buffers(&session)[0].state, state, "{build} {arch}: {number}");
        }
        kernels += 1;
    }
    assert!(kernels > 30, "{kernels}");
}

/// The saved file of each session has the generated events, in time order.
#[test]
fn saved_files() {
    let mut files = 0;
    for (build, arch) in Plan::targets() {
        let plan = Plan::of(build, arch);
        let kernel = plan.kit.kernel();
        let mut walk = Walk::new(&plan.kit.image, &kernel);
        for (session, planned) in walk.sessions().iter().zip(&plan.sessions) {
            for which in [BufferSelection::Pending, BufferSelection::All] {
                let name = format!("{build} {arch} {} {which:?}", planned.name);
                let mut file = Cursor::new(Vec::new());
                let saved = DumpSession::read(&mut walk, session, which)
                    .save(&mut file)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let stated = build.number >= [5, 1, 0];
                let kept = |buffer: &&plan::Buffer| which == BufferSelection::All || buffer.state != plan::State::Free || !stated;
                let of = |buffer: &plan::Buffer| {
                    let processor = buffer.processor;
                    buffer.events.iter().map(move |(stamp, payload)| (*stamp, processor, payload.clone())).collect::<Vec<_>>()
                };
                let mut expected: Vec<_> = planned.buffers.iter().filter(kept).flat_map(of).collect();
                expected.sort();
                let trace = Trace::from_bytes(file.get_ref()).unwrap();
                let log = trace.log_file();
                let events = trace.events().map(|event| event.unwrap_or_else(|finding| panic!("{name}: {finding}")));
                let mut found: Vec<_> =
                    events.map(|event| (event.time_stamp().unwrap(), event.processor(), event.payload().to_vec())).collect();
                // The log file header is the first event.
                assert_eq!(found.remove(0).0, log.start_stamp, "{name}");
                found.sort();
                assert!(found == expected, "{name}: {} of {}", found.len(), expected.len());
                let kept = planned.buffers.iter().filter(kept).count();
                assert_eq!((saved.buffers, saved.events), (kept, expected.len()), "{name}");
                assert_eq!((&*log.logger_name, &*log.file_name), (planned.name, planned.file), "{name}");
                let times = (log.boot_time, log.perf_frequency, log.clock, log.start_time);
                assert_eq!(times, (plan::BOOT, plan::FREQUENCY, 1, REFERENCE.0), "{name}");
                // 5.0 stores no reference point of the clock, so the time stamp of the first event is used.
                let first = expected.first().map_or(0, |first| first.0);
                assert_eq!(log.start_stamp, if stated { REFERENCE.1 } else { first }, "{name}");
                assert_eq!((log.processors, log.events_lost), (plan::PROCESSORS, 9), "{name}");
                assert_eq!(log.pointer_size as usize, plan.kit.pointer_size(), "{name}");
                let compressed = LOG_FILE_MODE::EVENT_TRACE_COMPRESSED_MODE.0;
                assert_eq!((log.mode, log.timer_resolution), (planned.mode & !compressed, 0), "{name}");
                assert_eq!((log.buffer_size, log.maximum_file_size, log.buffers_lost), (plan::BUFFER, 20, 7), "{name}");
                assert!(build.number < [6, 0, 0] || log.cpu_mhz == 2400, "{name}: {}", log.cpu_mhz);
                let shown = session.to_string();
                assert!(
                    shown.contains(planned.name)
                        && shown.contains(planned.file)
                        && shown.ends_with(session.mode_names.last().unwrap_or(&planned.file)),
                    "{shown}"
                );
                files += 1;
            }
        }
        // In 5.0, the end of a buffer is known only from its events.
        assert!(build.number < [5, 1, 0] || walk.findings().is_empty(), "{build} {arch}: {}", walk.findings()[0]);
    }
    println!("{files} files");
}
