//! Events that state a name: of a file, an image, its program database, a method of .NET, or its module.

use crate::providers::{KERNEL_FILE, KERNEL_PROCESS, RUNTIME};
use crate::specified::{is_of_manifest, number};
use etw_layouts_etl::payload::{Field, Fields, InType, PointerSize, Schema};
use etw_layouts_etl::{Event, Schemas, Uuid};

/// An event that states a name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameEvent<'a> {
    pub subject: Subject,
    pub step: Step,
    fields: Fields<'a>,
}

/// What has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A file object, or the key of a file.
    File(u64),
    /// Addresses of an image in a process.
    Image(Range),
    /// Addresses of a method in a process.
    Method(Range),
    /// The module of .NET with an identifier in a process.
    Module { process: u32, id: u64 },
    /// The program database of the image at an address of a process.
    Pdb { process: u32, base: u64 },
}

/// Addresses in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub process: u32,
    pub start: u64,
    /// Size in bytes.
    pub size: u32,
}

/// What the event says about the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is valid from the event on.
    Begin,
    /// It was valid before the event.
    End,
    /// It is valid before and after the event.
    Exists,
}

/// The groups of the hook identifiers of files and images, and that of processes, which has the loads of images.
const FILES: u16 = 0x04;
const IMAGES: u16 = 0x14;
const PROCESSES: u16 = 0x03;

const DOT_NET_RUNDOWN: Uuid = Uuid::from_u128(0xa669021c_c450_4609_a035_5af59af4df18);

/// The providers with manifests whose events state names, processes or threads.
pub(crate) const PROVIDERS: [Uuid; 4] = [KERNEL_FILE, KERNEL_PROCESS, RUNTIME, DOT_NET_RUNDOWN];

// The schemas of providers with manifests, because few traces have them, and those only at their end. Later versions append fields.
const NAME: Schema<'_> = fields(0, &[Field::new("FileKey", InType::POINTER), Field::new("FileName", InType::UNICODESTRING)]);
const CREATE_0: Schema<'_> = fields(
    0,
    &[
        Field::new("Irp", InType::POINTER),
        Field::new("ThreadId", InType::POINTER),
        Field::new("FileObject", InType::POINTER),
        Field::new("CreateOptions", InType::UINT32),
        Field::new("CreateAttributes", InType::UINT32),
        Field::new("ShareAccess", InType::UINT32),
        Field::new("FileName", InType::UNICODESTRING),
    ],
);
const CREATE_1: Schema<'_> = fields(
    1,
    &[
        Field::new("Irp", InType::POINTER),
        Field::new("FileObject", InType::POINTER),
        Field::new("IssuingThreadId", InType::UINT32),
        Field::new("CreateOptions", InType::UINT32),
        Field::new("CreateAttributes", InType::UINT32),
        Field::new("ShareAccess", InType::UINT32),
        Field::new("FileName", InType::UNICODESTRING),
    ],
);
const IMAGE: Schema<'_> = fields(
    0,
    &[
        Field::new("ImageBase", InType::POINTER),
        Field::new("ImageSize", InType::POINTER),
        Field::new("ProcessId", InType::UINT32),
        Field::new("ImageCheckSum", InType::UINT32),
        Field::new("TimeDateStamp", InType::UINT32),
        Field::new("DefaultBase", InType::POINTER),
        Field::new("FileName", InType::UNICODESTRING),
    ],
);
const METHOD: Schema<'_> = fields(
    0,
    &[
        Field::new("MethodID", InType::UINT64),
        Field::new("ModuleID", InType::UINT64),
        Field::new("MethodStartAddress", InType::UINT64),
        Field::new("MethodSize", InType::UINT32),
        Field::new("MethodToken", InType::UINT32),
        Field::new("MethodFlags", InType::UINT32),
        Field::new("MethodNamespace", InType::UNICODESTRING),
        Field::new("MethodName", InType::UNICODESTRING),
        Field::new("MethodSignature", InType::UNICODESTRING),
    ],
);

const MODULE: Schema<'_> = fields(
    0,
    &[
        Field::new("ModuleID", InType::UINT64),
        Field::new("AssemblyID", InType::UINT64),
        Field::new("ModuleFlags", InType::UINT32),
        Field::new("Reserved1", InType::UINT32),
        Field::new("ModuleILPath", InType::UNICODESTRING),
        Field::new("ModuleNativePath", InType::UNICODESTRING),
    ],
);

const fn fields<'a>(version: u8, fields: &'a [Field<'a>]) -> Schema<'a> {
    Schema::specified("", "", version, fields)
}

impl<'a> NameEvent<'a> {
    /// What an event states; `None` if it states no name.
    #[inline]
    pub fn read(event: &Event<'a>) -> Option<Self> {
        match event.hook() {
            Some(hook) => match (hook >> 8, hook & 0xFF) {
                (FILES, 0 | 32 | 35 | 36 | 64 | 78) | (IMAGES, 1..=4) | (PROCESSES, 10) => Self::of_kernel(event),
                _ => None,
            },
            None if is_of_manifest(event) => Self::of_provider(event, event.provider()?),
            // Kernel events with the GUID of their class.
            None if matches!(event.opcode(), Some(0 | 2..=4 | 10 | 32 | 35 | 36 | 64)) => Self::of_kernel(event),
            None => None,
        }
    }

    fn of_kernel(event: &Event<'a>) -> Option<Self> {
        let decoded = event.decode(Schemas::BUILT_IN)?;
        let fields = decoded.fields;
        let step = match decoded.schema.event {
            "Name" | "FileCreate" | "Create" | "CreateNew" | "Load" | "ImageLoad" => Step::Begin,
            "FileDelete" | "UnLoad" => Step::End,
            "FileRundown" | "DCStart" | "DCEnd" | "DbgID_RSDS" => Step::Exists,
            _ => return None,
        };
        let subject = match decoded.schema.provider {
            "FileIo" => Subject::File(number(&fields, &["FileObject"])?),
            "Image" => Subject::Image(image(event, &fields)?),
            "ImageID" => {
                Subject::Pdb { process: number(&fields, &["ProcessId"])? as u32, base: number(&fields, &["ImageBase"])? }
            }
            _ => return None,
        };
        Some(Self { subject, step, fields })
    }

    fn of_provider(event: &Event<'a>, provider: Uuid) -> Option<Self> {
        let (schema, step) = match (provider, event.id()?) {
            (KERNEL_FILE, 10) => (&NAME, Step::Begin),
            (KERNEL_FILE, 11) => (&NAME, Step::End),
            (KERNEL_FILE, 12 | 30) if event.version() == Some(0) => (&CREATE_0, Step::Begin),
            (KERNEL_FILE, 12 | 30) => (&CREATE_1, Step::Begin),
            (KERNEL_PROCESS, 5) => (&IMAGE, Step::Begin),
            (KERNEL_PROCESS, 6) => (&IMAGE, Step::End),
            (RUNTIME, 143) => (&METHOD, Step::Begin),
            (RUNTIME, 144) => (&METHOD, Step::End),
            (DOT_NET_RUNDOWN, 143 | 144) => (&METHOD, Step::Exists),
            (RUNTIME, 152) => (&MODULE, Step::Begin),
            (RUNTIME, 153) => (&MODULE, Step::End),
            (DOT_NET_RUNDOWN, 153 | 154) => (&MODULE, Step::Exists),
            _ => return None,
        };
        let fields = schema.decode(event.payload(), event.pointer_size().unwrap_or(PointerSize::Bits64));
        let subject = match provider {
            KERNEL_FILE => Subject::File(number(&fields, &["FileKey", "FileObject"])?),
            KERNEL_PROCESS => Subject::Image(image(event, &fields)?),
            _ if matches!(event.id()?, 152..=154) => {
                Subject::Module { process: event.process()?, id: number(&fields, &["ModuleID"])? }
            }
            _ => Subject::Method(Range {
                process: event.process()?,
                start: number(&fields, &["MethodStartAddress"])?,
                size: number(&fields, &["MethodSize"])? as u32,
            }),
        };
        Some(Self { subject, step, fields })
    }

    /// The name. `None` if the event has none, or an empty one.
    pub fn name(&self) -> Option<String> {
        let text = |name: &str| self.fields.get(name).map(|value| value.to_string()).filter(|text| !text.is_empty());
        match self.subject {
            Subject::File(_) | Subject::Image(_) => ["FileName", "OpenPath", "ImageFileName"].into_iter().find_map(text),
            Subject::Method(_) => {
                let name = text("MethodName")?;
                Some(text("MethodNamespace").map_or(name.clone(), |namespace| format!("{namespace}.{name}")))
            }
            Subject::Module { .. } => text("ModuleILPath"),
            Subject::Pdb { .. } => text("PdbFileName"),
        }
    }

    /// GUID and age of a program database.
    pub fn identity(&self) -> Option<(Uuid, u32)> {
        let guid = self.fields.get("GuidSig")?.bytes.first_chunk().map(|bytes| Uuid::from_bytes_le(*bytes))?;
        Some((guid, number(&self.fields, &["Age"])? as u32))
    }

    /// Time stamp in the header of an image.
    pub fn time_stamp(&self) -> Option<u32> {
        number(&self.fields, &["TimeDateStamp"]).map(|stamp| stamp as u32)
    }

    /// Identifier of the module of a method.
    pub fn module(&self) -> Option<u64> {
        number(&self.fields, &["ModuleID"])
    }

    /// The signature of a method.
    pub fn signature(&self) -> Option<String> {
        self.fields.get("MethodSignature").map(|value| value.to_string()).filter(|text| !text.is_empty())
    }
}

fn image(event: &Event<'_>, fields: &Fields<'_>) -> Option<Range> {
    let size = number(fields, &["ImageSize", "ModuleSize"])?;
    Some(Range {
        process: number(fields, &["ProcessId"]).map(|process| process as u32).or(event.process())?,
        start: number(fields, &["ImageBase", "BaseAddress"])?,
        size: u32::try_from(size).unwrap_or(u32::MAX),
    })
}
