"""Clocks: the time of an event is StartTime + (stamp - stamp of the trace header) x scale, in integers, rounded down."""

import sources as s
import wire
from trace import add, trace

# The stamp of the trace header is the value of the clock at StartTime, 2024-03-01T12:00:00Z.
BEGIN = 1_000_000_000_000


def clock(name, rule, stamps, times, **log):
    events = [wire.event(bytes([index]), stamp=stamp) for index, stamp in enumerate(stamps)]
    data = trace(*events, start_stamp=BEGIN, **log)
    expected = [dict(time=time, payload=f"{index:02x}") for index, time in enumerate(times)]
    add(f"clocks-{name}", rule, [s.CLOCK, s.MEASURED], data, expected)


PERFORMANCE = dict(clock=1)
CYCLES = dict(clock=3)

clock("performance-10-mhz", "The performance counter (1) at 10 MHz: a tick is 100 ns.", [BEGIN, BEGIN + 1, BEGIN + 10_000_000],
      ["2024-03-01T12:00:00.0000000Z", "2024-03-01T12:00:00.0000001Z", "2024-03-01T12:00:01.0000000Z"], frequency=10_000_000,
      **PERFORMANCE)
clock("performance-2994853", "The performance counter at 2,994,853 Hz, a rate of Windows 7: one second, and one tick more (333 ns).",
      [BEGIN + 2_994_853, BEGIN + 2_994_854], ["2024-03-01T12:00:01.0000000Z", "2024-03-01T12:00:01.0000003Z"], frequency=2_994_853,
      **PERFORMANCE)
clock("performance-3579545", "The performance counter at 3,579,545 Hz, the ACPI timer: an hour.", [BEGIN + 3_579_545 * 3600],
      ["2024-03-01T13:00:00.0000000Z"], frequency=3_579_545, **PERFORMANCE)
clock("performance-14318180", "The performance counter at 14,318,180 Hz, the HPET: one tick is 69 ns, rounded down to 0.",
      [BEGIN + 1, BEGIN + 2, BEGIN + 14_318_180],
      ["2024-03-01T12:00:00.0000000Z", "2024-03-01T12:00:00.0000001Z", "2024-03-01T12:00:01.0000000Z"], frequency=14_318_180,
      **PERFORMANCE)
clock("performance-19200000", "The performance counter at 19.2 MHz, a rate of ARM64: 96 ticks are 5 microseconds.", [BEGIN + 96, BEGIN + 97],
      ["2024-03-01T12:00:00.0000050Z", "2024-03-01T12:00:00.0000050Z"], frequency=19_200_000, **PERFORMANCE)
clock("performance-24-mhz", "The performance counter at 24 MHz.", [BEGIN + 24, BEGIN + 24_000_000 * 86_400],
      ["2024-03-01T12:00:00.0000010Z", "2024-03-02T12:00:00.0000000Z"], frequency=24_000_000, **PERFORMANCE)
clock("performance-1-ghz", "The performance counter at 1 GHz: 100 ticks are 100 ns.", [BEGIN + 99, BEGIN + 100],
      ["2024-03-01T12:00:00.0000000Z", "2024-03-01T12:00:00.0000001Z"], frequency=1_000_000_000, **PERFORMANCE)
clock("performance-32768", "A rate below 10 MHz: one tick of 32,768 Hz is 30.517578 microseconds.", [BEGIN + 1, BEGIN + 3, BEGIN + 32_768],
      ["2024-03-01T12:00:00.0000305Z", "2024-03-01T12:00:00.0000915Z", "2024-03-01T12:00:01.0000000Z"], frequency=32_768, **PERFORMANCE)
clock("performance-30-days", "Thirty days at 3,579,545 Hz: the time is exact to 100 ns, which needs integers.",
      [BEGIN + 3_579_545 * 86_400 * 30 + 1], ["2024-03-31T12:00:00.0000002Z"], frequency=3_579_545, **PERFORMANCE)
clock("performance-100-years", "A hundred years (36,525 days) at 24 MHz: no overflow of 64 bits.", [BEGIN + 24_000_000 * 86_400 * 36_525],
      ["2124-03-02T12:00:00.0000000Z"], frequency=24_000_000, **PERFORMANCE)
clock("performance-before-start", "A stamp before that of the trace header is a time before StartTime.", [BEGIN - 10_000_000],
      ["2024-03-01T11:59:59.0000000Z"], frequency=10_000_000, **PERFORMANCE)
clock("performance-before-start-by-ticks", "A difference below zero is exact where whole seconds are.", [BEGIN - 3_579_545 * 60],
      ["2024-03-01T11:59:00.0000000Z"], frequency=3_579_545, **PERFORMANCE)
clock("performance-start-zero", "The stamp of the trace header is subtracted, not the first event's.", [BEGIN + 5, BEGIN + 7],
      ["2024-03-01T12:00:00.0000005Z", "2024-03-01T12:00:00.0000007Z"], frequency=10_000_000, **PERFORMANCE)
clock("cycles-3000", "Processor cycles (3) at 3,000 MHz: 300 cycles are 100 ns.", [BEGIN + 299, BEGIN + 300, BEGIN + 3_000_000_000],
      ["2024-03-01T12:00:00.0000000Z", "2024-03-01T12:00:00.0000001Z", "2024-03-01T12:00:01.0000000Z"], mhz=3000, **CYCLES)
clock("cycles-2394", "Processor cycles at 2,394 MHz; PerfFreq is not their rate.", [BEGIN + 2_394_000_000 * 60],
      ["2024-03-01T12:01:00.0000000Z"], mhz=2394, frequency=14_318_180, **CYCLES)
clock("cycles-1", "Processor cycles at 1 MHz: a cycle is a microsecond.", [BEGIN + 1], ["2024-03-01T12:00:00.0000010Z"], mhz=1, **CYCLES)


def system(name, rule, stamps, times, **log):
    events = [wire.event(bytes([index]), stamp=stamp) for index, stamp in enumerate(stamps)]
    expected = [dict(time=time, payload=f"{index:02x}") for index, time in enumerate(times)]
    add(f"clocks-{name}", rule, [s.CLOCK, s.FILETIME], trace(*events, clock=2, **log), expected)


system("system", "The system clock (2): a stamp is a time in units of 100 ns since 1601.", [wire.START + 12_345_678],
       ["2024-03-01T12:00:01.2345678Z"])
system("system-ignores-rates", "The system clock does not use PerfFreq and CpuSpeedInMHz.", [wire.START + 10_000_000],
       ["2024-03-01T12:00:01.0000000Z"], frequency=3_579_545, mhz=2394)
system("system-time-zone", "Stamps are UTC: the time zone of the trace header is not added.", [wire.START + 1],
       ["2024-03-01T12:00:00.0000001Z"], bias=-60)
system("system-32-bit", "The clock of a 32-bit system: ReservedFlags is at 0x108.", [wire.START + 1], ["2024-03-01T12:00:00.0000001Z"],
       pointer_size=4)
clock("performance-32-bit", "The clock of a 32-bit system: PerfFreq is at 0xF8, StartTime at 0x100.", [BEGIN + 3_579_545],
      ["2024-03-01T12:00:01.0000000Z"], frequency=3_579_545, pointer_size=4, **PERFORMANCE)
