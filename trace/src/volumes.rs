//! Disks and volumes of the computer of a session.

use crate::specified::number;
use etw_layouts_etl::{Event, Schemas, Uuid};
use std::borrow::Cow;

/// A volume on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Volume {
    /// Number of the disk, as in `PhysicalDrive0`.
    pub disk: u32,
    /// Number of the partition on the disk.
    pub partition: u32,
    /// Drive letter with a colon; empty if it has none.
    pub drive: String,
    /// Offset from the start of the disk, in bytes.
    pub start: u64,
    /// Size in bytes.
    pub size: u64,
}

/// What a trace says about disks, volumes and paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Volumes {
    pub volumes: Vec<Volume>,
    /// Beginnings of paths of the kernel, and what users see in their place.
    paths: Vec<(String, String)>,
}

/// Hook identifier of SystemConfig/LogDisk.
const LOG_DISK: u16 = 0x0B0C;

/// The types of SysConfig/SystemPaths and SysConfig/VolumeMapping.
const PATHS: [u8; 2] = [33, 35];

const SYS_CONFIG: Uuid = Uuid::from_u128(0x9b79ee91_b5fd_41c0_a243_4248e266e9d0);

/// Maximum number of volumes and of paths.
const MAX_VOLUMES: usize = 1024;

impl Volumes {
    /// Adds an event.
    pub fn add(&mut self, event: &Event<'_>) {
        let is_candidate = match event.hook() {
            Some(hook) => hook == LOG_DISK,
            None => event.opcode().is_some_and(|ty| PATHS.contains(&ty)) && event.provider() == Some(SYS_CONFIG),
        };
        let Some(decoded) = is_candidate.then(|| event.decode(Schemas::BUILT_IN)).flatten() else { return };
        let text = |name: &str| decoded.get(name).map(|value| value.to_string()).unwrap_or_default();
        let integer = |name: &str| number(&decoded.fields, &[name]).unwrap_or_default();
        match decoded.schema.event {
            "LogDisk" if self.volumes.len() < MAX_VOLUMES => {
                let new = Volume {
                    disk: integer("DiskNumber") as u32,
                    partition: integer("PartitionNumber") as u32,
                    drive: text("DriveLetterString"),
                    start: integer("StartOffset"),
                    size: integer("PartitionSize"),
                };
                // Each part of a session states them again.
                if !self.volumes.contains(&new) {
                    self.volumes.push(new);
                }
            }
            "VolumeMapping" => self.add_path(text("NtPath"), text("DosPath")),
            "SystemPaths" => {
                // Many events of images state the path without its volume, such as `\\Windows\\System32\\ntdll.dll`.
                let windows = text("SystemWindowsDirectory");
                if let Some((_, folder)) = windows.split_once(':').filter(|(_, folder)| folder.len() > 1) {
                    self.add_path(folder.to_owned(), windows.clone());
                }
            }
            _ => {}
        }
    }

    fn add_path(&mut self, kernel: String, user: String) {
        let new = (kernel, user);
        if self.paths.len() < MAX_VOLUMES && !new.0.is_empty() && !self.paths.contains(&new) {
            self.paths.push(new);
        }
    }

    /// A path of the kernel as users see it; unchanged if the trace does not state that.
    pub fn user_path<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let begins =
            |(kernel, _): &&(String, String)| path.get(..kernel.len()).is_some_and(|start| start.eq_ignore_ascii_case(kernel));
        match self.paths.iter().filter(begins).max_by_key(|(kernel, _)| kernel.len()) {
            Some((kernel, user)) => Cow::Owned(format!("{user}{}", &path[kernel.len()..])),
            None => Cow::Borrowed(path),
        }
    }
}
