//! The properties of what happened, and how they are read from fields of events.

use etw_layouts_trace::etl::codes;

/// How a value is read and shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Format {
    /// As the field displays.
    Text,
    /// An integer.
    Number,
    /// An integer in hexadecimal digits.
    Hexadecimal,
    /// A path: with a drive letter, if the trace has the volume.
    Path,
    /// A security identifier.
    Sid,
    /// The code of a bug check, or a parameter, whose meaning depends on the code: an integer in hexadecimal digits.
    BugCheck,
    /// A code with a name.
    Code(fn(u32) -> Option<&'static str>),
}

macro_rules! fields {
    ($($(#[$attribute:meta])* $variant:ident $name:literal $format:expr, $ecs:literal;)*) => {
        /// A property of what happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the names say it")]
        #[non_exhaustive]
        pub enum Field {
            $($(#[$attribute])* $variant,)*
        }

        impl Field {
            /// All fields, in the order of the columns of a table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name, such as `command_line`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How its values are read.
            #[must_use]
            pub fn format(self) -> Format {
                match self { $(Self::$variant => $format,)* }
            }

            /// The field of the Elastic Common Schema with the same meaning. Empty if the schema has no such field.
            pub(super) fn ecs(self) -> &'static str {
                match self { $(Self::$variant => $ecs,)* }
            }
        }
    };
}

fields! {
    /// Identifier of the process that the event is about, which becomes the process of the entry.
    Process "process" Format::Number, "process.pid";
    ImagePath "image_path" Format::Path, "process.executable";
    CommandLine "command_line" Format::Text, "process.command_line";
    Parent "parent" Format::Number, "process.parent.pid";
    ParentPath "parent_path" Format::Path, "process.parent.executable";
    TerminalSession "terminal_session" Format::Number, "";
    ExitStatus "exit_status" Format::Code(codes::exit_status), "process.exit_code";
    CreatedProcess "created_process" Format::Number, "";
    UserSid "user_sid" Format::Sid, "user.id";
    UserName "user_name" Format::Text, "user.name";
    UserDomain "user_domain" Format::Text, "user.domain";
    LogonType "logon_type" Format::Code(logon_type), "";
    Library "library" Format::Path, "dll.path";
    Path "path" Format::Path, "file.path";
    /// Address of the file object or of its context, for a file whose name the trace does not have.
    FileObject "file_object" Format::Hexadecimal, "";
    /// The path that a request to rename or delete states.
    RequestedPath "requested_path" Format::Path, "";
    Base "base" Format::Hexadecimal, "";
    Size "size" Format::Number, "";
    RegistryKey "registry_key" Format::Text, "registry.path";
    RegistryValue "registry_value" Format::Text, "registry.value";
    LocalAddress "local_address" Format::Text, "";
    LocalPort "local_port" Format::Number, "";
    RemoteAddress "remote_address" Format::Text, "";
    RemotePort "remote_port" Format::Number, "";
    Failure "failure" Format::Number, "error.code";
    Query "query" Format::Text, "dns.question.name";
    QueryType "query_type" Format::Code(dns_type), "dns.question.type";
    Answers "answers" Format::Text, "";
    Url "url" Format::Text, "url.original";
    Method "method" Format::Text, "http.request.method";
    Script "script" Format::Text, "";
    ScriptId "script_id" Format::Text, "";
    Part "part" Format::Number, "";
    Parts "parts" Format::Number, "";
    Application "application" Format::Text, "";
    ContentName "content_name" Format::Text, "";
    Content "content" Format::Text, "";
    ScanResult "scan_result" Format::Code(scan_result), "";
    Service "service" Format::Text, "service.name";
    ServiceState "service_state" Format::Text, "service.state";
    StartType "start_type" Format::Text, "";
    Account "account" Format::Text, "";
    Task "task" Format::Text, "";
    Action "action" Format::Text, "";
    Threat "threat" Format::Text, "";
    Severity "severity" Format::Text, "";
    /// The files and other objects in which malware was found, as the scanner names them.
    Resource "resource" Format::Text, "";
    Job "job" Format::Text, "";
    EventLog "event_log" Format::Text, "";
    Namespace "namespace" Format::Text, "";
    Consumer "consumer" Format::Text, "";
    /// The computer from which a request came.
    Client "client" Format::Text, "";
    Win32Status "status" Format::Code(codes::win32), "error.code";
    NtStatus "nt_status" Format::Code(codes::ntstatus), "error.code";
    Hresult "result" Format::Code(codes::hresult), "error.code";
    BugCheck "bug_check" Format::BugCheck, "error.code";
    Parameter1 "parameter_1" Format::BugCheck, "";
    Parameter2 "parameter_2" Format::BugCheck, "";
    Parameter3 "parameter_3" Format::BugCheck, "";
    Parameter4 "parameter_4" Format::BugCheck, "";
    Description "description" Format::Text, "error.message";
}

/// The kinds of log-on, as ntsecapi.h names them (SECURITY_LOGON_TYPE).
fn logon_type(code: u32) -> Option<&'static str> {
    const NAMES: [&str; 14] = [
        "System",
        "",
        "Interactive",
        "Network",
        "Batch",
        "Service",
        "Proxy",
        "Unlock",
        "NetworkCleartext",
        "NewCredentials",
        "RemoteInteractive",
        "CachedInteractive",
        "CachedRemoteInteractive",
        "CachedUnlock",
    ];
    NAMES.get(code as usize).copied().filter(|name| !name.is_empty())
}

/// The types of DNS records that programs ask for most (RFC 1035, 3596, 2782, 9460).
fn dns_type(code: u32) -> Option<&'static str> {
    Some(match code {
        1 => "A",
        2 => "NS",
        5 => "CNAME",
        6 => "SOA",
        12 => "PTR",
        15 => "MX",
        16 => "TXT",
        28 => "AAAA",
        33 => "SRV",
        65 => "HTTPS",
        255 => "ANY",
        _ => return None,
    })
}

/// The results of the antimalware scan interface, as amsi.h names them (AMSI_RESULT).
fn scan_result(code: u32) -> Option<&'static str> {
    Some(match code {
        0 => "AMSI_RESULT_CLEAN",
        1 => "AMSI_RESULT_NOT_DETECTED",
        0x4000..=0x4FFF => "AMSI_RESULT_BLOCKED_BY_ADMIN",
        0x8000.. => "AMSI_RESULT_DETECTED",
        _ => return None,
    })
}
