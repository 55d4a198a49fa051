//! Starting points of walks: the ETW state of the host silo, or global variables in kernels without silos.

use crate::address::Address;
use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::object::Object;
use crate::published;
use crate::walk::Walk;
use etw_layouts::constants::WMI_LOGGER_LIMITS;

/// The table of sessions, an array of pointers by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub address: Address,
    pub count: usize,
}

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// The ETW state of the host, an ETW_SILODRIVERSTATE: in 1607 and later, found through `PspHostSiloGlobals` or
    /// `EtwpHostSiloState`. `None` if the kernel has none, or neither address is known.
    pub fn host(&mut self) -> Option<Object> {
        let state = self.kernel().named("ETW_SILODRIVERSTATE")?;
        let address = self.host_by_silo().or_else(|| self.host_by_pointer())?;
        self.object_of(state, address)
    }

    fn host_by_silo(&mut self) -> Option<Address> {
        let globals = self.kernel().named("ESERVERSILO_GLOBALS")?;
        let silo = self.object_of(globals, self.kernel().global("PspHostSiloGlobals")?)?;
        let address = self.kernel().address(silo.member("EtwSiloState")?.unsigned());
        Some(address).filter(|address| !address.is_null())
    }

    fn host_by_pointer(&mut self) -> Option<Address> {
        let address = self.pointer(self.kernel().global("EtwpHostSiloState")?)?;
        Some(address).filter(|address| !address.is_null())
    }

    /// The table of sessions: from a silo's state, otherwise from a global variable, otherwise from the debugger data.
    pub(crate) fn table(&mut self, state: Option<&Object>) -> Option<Table> {
        if let Some(table) = state.and_then(|state| self.table_in(state)) {
            return Some(table);
        }
        // 5.0 has half the slots of all other versions.
        let places = WMI_LOGGER_LIMITS::MAXLOGGERS.0 as usize;
        let count = if self.kernel().build().number < [5, 1, 0] { places / 2 } else { places };
        let global = ["WmipLoggerContext", "EtwpLoggerContext"].into_iter().find_map(|name| self.kernel().global(name));
        let address = global.or_else(|| published::table(self));
        if address.is_none() {
            let name = if state.is_some() { "EtwpDebuggerData" } else { "PspHostSiloGlobals or WmipLoggerContext" };
            self.report(
                MemberLocation { structure: "WMI_LOGGER_CONTEXT", address: Address::NULL, member: "" },
                FindingKind::NoGlobal(name),
            );
        }
        address.map(|address| Table { address, count })
    }

    /// The table in a silo's state: embedded up to 1703, a pointer since.
    pub(crate) fn table_in(&mut self, state: &Object) -> Option<Table> {
        if let Some(table) = state.layout().member("WmipLoggerContext") {
            let count = table.size / self.kernel().arch().pointer_size() as usize;
            return Some(Table { address: state.address().plus(table.offset as u64)?, count });
        }
        let address = self.kernel().address(state.member("EtwpLoggerContext")?.unsigned());
        let count = state.member("MaxLoggers")?.unsigned() as usize;
        (!address.is_null()).then_some(Table { address, count })
    }
}
