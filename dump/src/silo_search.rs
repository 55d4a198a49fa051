//! Finds the state of the host in the image of a kernel whose variables have unknown addresses.

use crate::error::Error;
use crate::source::Source;
use crate::system::MemoryDump;
use crate::wire::pointers;
use etw_layouts::members::{ESERVERSILO_GLOBALS, ETW_SILODRIVERSTATE};
use etw_layouts::{Build, structures};
use etw_layouts_memory::{Address, ReadError};

/// Maximum number of pointers to follow.
const FOLLOWED: usize = 1 << 20;

impl<S: Source> MemoryDump<S> {
    /// Searches the image of the kernel for the variable `PspHostSiloGlobals`, and returns its address in bytes from the image base.
    ///
    /// This is an ESERVERSILO_GLOBALS whose member `EtwSiloState` points out of the image to an ETW_SILODRIVERSTATE whose member `SiloGlobals` points
    /// back. The layouts are those of `build`; if they are not those of the kernel, nothing is found. `None` also before 1703, where nothing points back,
    /// without an image, and if there are several such places.
    ///
    /// # Errors
    ///
    /// The memory cannot be read.
    pub fn find_host(&self, build: Build) -> Result<Option<u64>, Error> {
        let Some(image) = self.image() else { return Ok(None) };
        let arch = self.header().arch;
        let globals = structures::ESERVERSILO_GLOBALS.select(build, arch).ok().map(|selected| selected.layout);
        let state = structures::ETW_SILODRIVERSTATE.select(build, arch).ok().map(|selected| selected.layout);
        let to_state = globals.and_then(|layout| layout.find(ESERVERSILO_GLOBALS::ETW_SILO_STATE));
        let to_globals = state.and_then(|layout| layout.find(ETW_SILODRIVERSTATE::SILO_GLOBALS));
        let (Some(to_state), Some(to_globals)) = (to_state, to_globals) else { return Ok(None) };
        let (size, range) = (arch.pointer_size(), image.base.0..image.base.0.saturating_add(image.file.size.into()));
        let points_back = |state: u64, globals: u64| -> Result<bool, ReadError> {
            let back = Address(state).plus(to_globals.offset as u64).map_or(Ok(None), |at| self.pointer(at))?;
            Ok(back == Some(Address(globals)))
        };
        let (mut followed, mut found) = (0, Vec::new());
        self.pages_of_image(image, |page, bytes| {
            for (state, index) in pointers(bytes, size as usize).zip(0_u64..) {
                if !self.is_in_system(state) || range.contains(&state) {
                    continue;
                }
                let globals = page.0.saturating_add(index * size).saturating_sub(to_state.offset as u64);
                followed += 1;
                if range.contains(&globals) && points_back(state, globals)? {
                    found.push(globals - range.start);
                }
                if followed == FOLLOWED || found.len() > 1 {
                    // Without a look at the rest, the only place can be a coincidence.
                    found.clear();
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        Ok(found.pop())
    }
}
