//! Clocks and processors of the computer.

use crate::kernel::Time;
use crate::memory::Memory;
use crate::session::Session;
use crate::walk::Walk;
use etw_layouts::members::{TRACE_LOGFILE_HEADER as HEADER, WMI_LOGGER_CONTEXT as LOGGER};
use etw_layouts::structures;

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// Properties of the computer's clocks and processors, from the caller, the kernel's global variables, or, up to 5.2, the
    /// file header that the session has prepared.
    pub fn time(&mut self, session: &Session) -> Time {
        let known = self.kernel().time();
        let at = session.context.unsigned(LOGGER::LOGGER_HEADER).map(|at| self.kernel().address(at)).filter(|at| !at.is_null());
        let header = at.and_then(|at| self.object(&structures::TRACE_LOGFILE_HEADER, at));
        let of_header = |token| header.as_ref().and_then(|header| header.quad(token));
        let mhz = header.as_ref().and_then(|header| header.unsigned(HEADER::CPU_SPEED_IN_M_HZ)).map(|mhz| mhz as i64);
        let processors = self.processors().map(|count| count as u32);
        let mut global = |name, size| self.integer(self.kernel().global(name)?, size).map(|value| value as i64);
        let of_global = global("EtwCPUSpeedInMHz", 4).or(mhz).and_then(|mhz| u32::try_from(mhz).ok());
        Time {
            perf_frequency: known.perf_frequency.or_else(|| global("EtwPerfFreq", 8)).or(of_header(HEADER::PERF_FREQ)),
            boot_time: known.boot_time.or_else(|| global("EtwpBootTime", 8)).or(of_header(HEADER::BOOT_TIME)),
            cpu_mhz: known.cpu_mhz.or(of_global),
            processors,
        }
    }
}
