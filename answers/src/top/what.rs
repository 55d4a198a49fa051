//! The questions, as a table.

use super::key::Key;

/// What is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum What {
    /// Samples of the profiler.
    Cpu,
    /// Time that threads ran, from context switches.
    Run,
    /// Time that threads waited, from context switches.
    Wait,
    /// Time that threads were ready to run and did not run, from context switches.
    Ready,
    /// Deferred procedure calls.
    Dpc,
    /// Interrupt service routines.
    Isr,
    /// Operations of disks.
    Disk,
    /// Operations on files.
    Files,
    /// Page faults.
    Faults,
    /// Data that was sent and received.
    Net,
    /// Suspensions of .NET programs.
    Gc,
    /// Samples of allocations of .NET programs.
    Alloc,
    /// Images that were loaded.
    Images,
    /// Events of any kind.
    Events,
}

/// A number in each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measure {
    /// Name, such as `ms`.
    pub name: &'static str,
    /// Unit of the [values](super::Answer::values).
    pub unit: Unit,
    /// Whether it is the largest of the amounts instead of their sum.
    pub is_maximum: bool,
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A number of things.
    Count,
    /// Milliseconds; amounts in [`Row`](super::Row) are in units of 100 ns.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// Percent of the total of the main measure, or of the time without the idle process.
    Percent,
}

/// A question, and the events that answer it.
struct Facts {
    what: What,
    name: &'static str,
    summary: &'static str,
    measures: &'static [Measure],
    /// Index of the measure by which rows are sorted.
    main: usize,
    /// Index of the measure without the idle process.
    busy: Option<usize>,
    /// The keys, the default ones first.
    keys: &'static [Key],
    default_keys: usize,
    needs: &'static str,
    /// Commands that record the events. The profiles of wpr are built in. The flags of xperf are those of
    /// <https://learn.microsoft.com/previous-versions/windows/desktop/xperf/wpa-providers> and
    /// <https://learn.microsoft.com/windows-hardware/test/wpt/keyword--in-systemprovider->. The command of logman is that of
    /// <https://learn.microsoft.com/dotnet/framework/performance/controlling-logging>: logman lists the provider of .NET by another name, so it needs the GUID.
    record: &'static str,
}

const fn count(name: &'static str) -> Measure {
    Measure { name, unit: Unit::Count, is_maximum: false }
}

const fn bytes(name: &'static str) -> Measure {
    Measure { name, unit: Unit::Bytes, is_maximum: false }
}

const fn time(name: &'static str) -> Measure {
    Measure { name, unit: Unit::Milliseconds, is_maximum: false }
}

const fn longest() -> Measure {
    Measure { name: "longest_ms", unit: Unit::Milliseconds, is_maximum: true }
}

use Key::{
    Cause, Device, Endpoint, Event, File, Function, Generation, Local, Module, Process, Processor, Reason, Stack, Thread, Type,
};

/// In the order in which help lists them.
const FACTS: &[Facts; 14] = &[
    Facts {
        what: What::Cpu,
        name: "cpu",
        summary: "Samples of the profiler: processor time, statistically",
        measures: &[count("samples"), time("ms"), time("busy_ms")],
        main: 0,
        busy: Some(2),
        keys: &[Process, Thread, Module, Function, Stack, Processor],
        default_keys: 1,
        needs: "PerfInfo/SampleProf (kernel flag PROFILE)",
        record: "wpr -start CPU, or xperf -on PROC_THREAD+LOADER+PROFILE -stackwalk Profile",
    },
    Facts {
        what: What::Run,
        name: "run",
        summary: "Time that threads ran on processors, from context switches",
        measures: &[count("intervals"), time("ms"), longest(), time("busy_ms")],
        main: 1,
        busy: Some(3),
        keys: &[Process, Thread, Processor],
        default_keys: 1,
        needs: "Thread/CSwitch (kernel flag CSWITCH)",
        record: "wpr -start CPU, or xperf -on PROC_THREAD+LOADER+CSWITCH",
    },
    Facts {
        what: What::Wait,
        name: "wait",
        summary: "Time that threads waited, from context switches",
        measures: &[count("waits"), time("ms"), longest()],
        main: 1,
        busy: None,
        keys: &[Process, Reason, Thread, Stack],
        default_keys: 2,
        needs: "Thread/CSwitch (kernel flag CSWITCH)",
        record: "wpr -start CPU, or xperf -on PROC_THREAD+LOADER+CSWITCH+DISPATCHER -stackwalk CSwitch+ReadyThread",
    },
    Facts {
        what: What::Ready,
        name: "ready",
        summary: "Time that threads were ready, but did not run, from context switches",
        measures: &[count("intervals"), time("ms"), longest()],
        main: 1,
        busy: None,
        keys: &[Process, Thread, Stack, Processor],
        default_keys: 1,
        needs: "Thread/CSwitch and Thread/ReadyThread (kernel flags CSWITCH and DISPATCHER)",
        record: "wpr -start CPU, or xperf -on PROC_THREAD+LOADER+CSWITCH+DISPATCHER",
    },
    Facts {
        what: What::Dpc,
        name: "dpc",
        summary: "Time in deferred procedure calls",
        measures: &[count("calls"), time("ms"), longest()],
        main: 1,
        busy: None,
        keys: &[Module, Function, Event, Processor, Stack],
        default_keys: 1,
        needs: "PerfInfo/DPC, ThreadedDPC or TimerDPC (kernel flag DPC)",
        record: "wpr -start CPU, or xperf -on PROC_THREAD+LOADER+DPC",
    },
    Facts {
        what: What::Isr,
        name: "isr",
        summary: "Time in interrupt service routines",
        measures: &[count("calls"), time("ms"), longest()],
        main: 1,
        busy: None,
        keys: &[Module, Function, Event, Processor, Stack],
        default_keys: 1,
        needs: "PerfInfo/ISR, ISR-MSI or ISR-PASS (kernel flag INTERRUPT)",
        record: "wpr -start CPU, or xperf -on PROC_THREAD+LOADER+INTERRUPT",
    },
    Facts {
        what: What::Disk,
        name: "disk",
        summary: "Operations of disks: time, bytes and time in the queue",
        measures: &[count("operations"), bytes("bytes"), time("service_ms"), time("queue_ms"), time("response_ms"), longest()],
        main: 2,
        busy: None,
        keys: &[Process, File, Device, Event, Thread, Stack],
        default_keys: 2,
        needs: "DiskIo/Read, Write or FlushBuffers (kernel flag DISK_IO)",
        record: "wpr -start DiskIO, or xperf -on PROC_THREAD+LOADER+DISK_IO+DISK_IO_INIT+FILENAME",
    },
    Facts {
        what: What::Files,
        name: "files",
        summary: "Operations on files: bytes that were requested, and time",
        measures: &[count("operations"), bytes("bytes"), time("ms"), longest()],
        main: 0,
        busy: None,
        keys: &[Process, File, Event, Thread, Stack],
        default_keys: 2,
        needs: "FileIo/Create, Read, Write, ... (kernel flag FILE_IO_INIT), or Microsoft-Windows-Kernel-File",
        record: "wpr -start FileIO, or xperf -on PROC_THREAD+LOADER+FILE_IO+FILE_IO_INIT+FILENAME",
    },
    Facts {
        what: What::Faults,
        name: "faults",
        summary: "Page faults; the time and the bytes of hard faults",
        measures: &[count("faults"), bytes("bytes"), time("ms"), longest()],
        main: 0,
        busy: None,
        keys: &[Process, Event, File, Thread, Module, Function, Stack],
        default_keys: 2,
        needs: "PageFault/HardFault (kernel flag HARD_FAULTS), or the other faults (kernel flag ALL_FAULTS)",
        record: "wpr -start GeneralProfile, or xperf -on PROC_THREAD+LOADER+HARD_FAULTS+FILENAME",
    },
    Facts {
        what: What::Net,
        name: "net",
        summary: "Data that was sent and received over TCP and UDP",
        measures: &[count("transfers"), bytes("bytes"), bytes("sent_bytes"), bytes("received_bytes")],
        main: 1,
        busy: None,
        keys: &[Process, Endpoint, Local, Event, Thread],
        default_keys: 2,
        needs: "TcpIp and UdpIp (kernel flag NETWORKTRACE), or Microsoft-Windows-Kernel-Network",
        record: "wpr -start Network, or xperf -on PROC_THREAD+LOADER+NETWORKTRACE",
    },
    Facts {
        what: What::Gc,
        name: "gc",
        summary: "Suspensions of .NET programs, for garbage collections and other reasons",
        measures: &[count("pauses"), time("ms"), longest()],
        main: 1,
        busy: None,
        keys: &[Process, Reason, Generation, Cause, Thread],
        default_keys: 2,
        needs: "GCSuspendEEBegin and GCRestartEEEnd of Microsoft-Windows-DotNETRuntime (keyword 0x1, level 4)",
        record: "logman start gc -p {e13c0d23-ccbc-4e12-931b-d9cc2eee27e4} 0x1 0x4 -ets -o gc.etl",
    },
    Facts {
        what: What::Alloc,
        name: "alloc",
        summary: "Allocations of .NET programs, from samples of about 100 KB",
        measures: &[count("samples"), bytes("bytes")],
        main: 1,
        busy: None,
        keys: &[Process, Type, Reason, Thread, Stack],
        default_keys: 2,
        needs: "GCAllocationTick of Microsoft-Windows-DotNETRuntime (keyword 0x1, level 5)",
        record: "logman start gc -p {e13c0d23-ccbc-4e12-931b-d9cc2eee27e4} 0x1 0x5 -ets -o gc.etl",
    },
    Facts {
        what: What::Images,
        name: "images",
        summary: "Images that were loaded during the trace",
        measures: &[count("loads"), bytes("bytes")],
        main: 0,
        busy: None,
        keys: &[Process, File, Event, Stack],
        default_keys: 1,
        needs: "Image/Load (kernel flag LOADER), or ImageLoad of Microsoft-Windows-Kernel-Process",
        record: "wpr -start GeneralProfile, or xperf -on PROC_THREAD+LOADER",
    },
    Facts {
        what: What::Events,
        name: "events",
        summary: "Events of any kind, with their size",
        measures: &[count("events"), bytes("bytes")],
        main: 0,
        busy: None,
        keys: &[Event, Process, Thread, Processor, Stack],
        default_keys: 1,
        needs: "any event",
        record: "wpr -start GeneralProfile",
    },
];

/// The table has the order of the enumeration, by which it is indexed.
const _: () = {
    let mut index = 0;
    while index < FACTS.len() {
        assert!(FACTS[index].what as usize == index);
        index += 1;
    }
};

impl What {
    /// All questions.
    pub fn all() -> impl Iterator<Item = Self> {
        FACTS.iter().map(|facts| facts.what)
    }

    /// The question with a name, such as `cpu`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|what| what.name() == name)
    }

    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }

    /// Name, such as `cpu`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// What it is, in a line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.facts().summary
    }

    /// The numbers in each row.
    #[must_use]
    pub fn measures(self) -> &'static [Measure] {
        self.facts().measures
    }

    /// Index of the measure by which rows are sorted.
    #[must_use]
    pub fn main(self) -> usize {
        self.facts().main
    }

    /// Index of the measure that is the time without the idle process, if the question has one.
    #[must_use]
    pub fn busy(self) -> Option<usize> {
        self.facts().busy
    }

    /// Adds amounts to sums, or keeps the largest.
    pub(super) fn combine(self, sums: &mut [u64], amounts: &[u64]) {
        for ((sum, amount), measure) in sums.iter_mut().zip(amounts).zip(self.measures()) {
            *sum = if measure.is_maximum { (*sum).max(*amount) } else { sum.saturating_add(*amount) };
        }
    }

    /// The keys that its events have.
    #[must_use]
    pub fn keys(self) -> &'static [Key] {
        self.facts().keys
    }

    /// The keys that are used if none are given.
    #[must_use]
    pub fn default_keys(self) -> &'static [Key] {
        &self.facts().keys[..self.facts().default_keys]
    }

    /// The events that answer the question.
    #[must_use]
    pub fn needs(self) -> &'static str {
        self.facts().needs
    }

    /// A command of Windows that records these events.
    #[must_use]
    pub fn record(self) -> &'static str {
        self.facts().record
    }
}
