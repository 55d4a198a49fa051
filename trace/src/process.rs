//! A process, and how each of its properties is known.

use etw_layouts_etl::FileTime;
use std::fmt;
use std::sync::Arc;

/// A process of a session. Properties that no event states are `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Process {
    /// Identifier of the process. Windows reuses identifiers.
    pub id: u32,
    /// Address of the process object (EPROCESS), which tells processes with the same identifier apart.
    pub key: Option<u64>,
    /// Number of the process since the boot (ProcessSequenceNumber), which is never reused.
    pub sequence: Option<u64>,
    /// Identifier of the process that created this one.
    pub parent_id: Option<Known<u32>>,
    /// The process that created this one, if it is in the table: the one that had the identifier when this one started. A process that
    /// is known to have started later is not the parent: the identifier was reused.
    pub parent: Option<ProcessIndex>,
    /// Identifier of the terminal session; `None` also if the process has none.
    pub session: Option<Known<u32>>,
    /// Its start.
    pub start: Option<Known<Moment>>,
    /// Its end; `None` if no event says that it ended.
    pub end: Option<Known<Moment>>,
    /// Exit code.
    pub exit_status: Option<Known<u32>>,
    /// File name of the image, without its path.
    pub image: Option<Known<Arc<str>>>,
    /// Path of the image, as the kernel names it.
    pub path: Option<Known<Arc<str>>>,
    /// Command line.
    pub command_line: Option<Known<Arc<str>>>,
    /// Security identifier of the user, such as `S-1-5-18`.
    pub user: Option<Known<Arc<str>>>,
    /// Full name of the application package.
    pub package: Option<Known<Arc<str>>>,
}

impl Process {
    /// File name of the image, without its path.
    #[must_use]
    pub fn image(&self) -> Option<&str> {
        self.image.as_ref().map(|known| &*known.value)
    }

    /// Command line.
    #[must_use]
    pub fn command_line(&self) -> Option<&str> {
        self.command_line.as_ref().map(|known| &*known.value)
    }

    /// Security identifier of the user, such as `S-1-5-18`.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.user.as_ref().map(|known| &*known.value)
    }

    /// Full name of the application package.
    #[must_use]
    pub fn package(&self) -> Option<&str> {
        self.package.as_ref().map(|known| &*known.value)
    }
}

/// The index of a process in its [`ProcessTable`](crate::ProcessTable).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ProcessIndex(pub u32);

/// A value, and the event that states it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Known<T> {
    /// The value.
    pub value: T,
    /// The event.
    pub by: StatedBy,
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Moment {
    /// The time of the event itself.
    At {
        /// Time stamp by the clock of the session.
        tick: i64,
        /// System time; `None` if the file states no clock.
        time: Option<FileTime>,
    },
    /// A system time that a later event states.
    Stated(FileTime),
    /// Unknown, but before the event that states it: a rundown lists existing or ended processes without times. The rundown at the start of
    /// a session lists processes from before the trace.
    Earlier,
}

impl Moment {
    /// System time; `None` if it is unknown.
    #[must_use]
    pub fn time(self) -> Option<FileTime> {
        match self {
            Self::At { time, .. } => time,
            Self::Stated(time) => Some(time),
            Self::Earlier => None,
        }
    }

    /// The better known one comes first.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::At { .. } => 0,
            Self::Stated(_) => 1,
            Self::Earlier => 2,
        }
    }
}

/// The event that states a property of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the events")]
pub enum StatedBy {
    Start,
    End,
    DcStart,
    DcEnd,
    Defunct,
    ManifestStart,
    ManifestStop,
    ManifestRundown,
    /// An image that was loaded in the process.
    Image,
    /// An event of another process with the same identifier.
    Reuse,
}

impl StatedBy {
    /// The name of the event, such as `Process/Start`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "Process/Start",
            Self::End => "Process/End",
            Self::DcStart => "Process/DCStart",
            Self::DcEnd => "Process/DCEnd",
            Self::Defunct => "Process/Defunct",
            Self::ManifestStart => "Microsoft-Windows-Kernel-Process/ProcessStart",
            Self::ManifestStop => "Microsoft-Windows-Kernel-Process/ProcessStop",
            Self::ManifestRundown => "Microsoft-Windows-Kernel-Process/ProcessRundown",
            Self::Image => "Image",
            Self::Reuse => "reused identifier",
        }
    }

    /// Whether it is an event of the provider with a manifest, Microsoft-Windows-Kernel-Process.
    pub(crate) fn is_manifest(self) -> bool {
        matches!(self, Self::ManifestStart | Self::ManifestStop | Self::ManifestRundown)
    }
}

impl fmt::Display for StatedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An image in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LoadedImage {
    /// Path of the image file.
    pub path: String,
    /// Address at which it is mapped.
    pub base: u64,
    /// Size in memory, in bytes.
    pub size: u64,
    /// When it was loaded.
    pub load: Moment,
    /// When it was unloaded; `None` if no event says so.
    pub unload: Option<Moment>,
}
