//! The events that state what happened, and the meaning of their fields.

use super::field::Field;
use super::field::Field::*;
use etw_layouts_trace::providers;

/// The events that state a kind, and the meaning of their fields.
#[derive(Debug)]
pub struct Row {
    /// Name of the kind.
    pub kind: &'static str,
    /// The events.
    pub source: Source,
    /// Each field with its name in the event. `@NAME` is a file object or key, and means the name of the file; `A|B` is the field that the event has.
    pub fields: &'static [(Field, &'static str)],
    /// The field that must have this value.
    pub only: Option<(&'static str, u64)>,
    /// How the end of the request states that it happened.
    pub completion: Option<&'static Completion>,
}

/// The events that a row is about.
#[derive(Debug)]
pub enum Source {
    /// Events of a class of the kernel, by the names in the specs.
    Kernel(&'static str, &'static [&'static str]),
    /// Events of a provider with a manifest, by name, GUID and IDs.
    Provider(&'static str, u128, &'static [u16]),
}

/// The end of a request: its event, and how it states that a file was created.
#[derive(Debug)]
pub struct Completion {
    /// The field with the request packet (IRP), in the request.
    pub request: &'static str,
    /// The event of the end.
    pub source: Source,
    /// The field with the request packet, in the event of the end.
    pub packet: &'static str,
    /// Its field with the status of the request.
    pub status: &'static str,
    /// Its field with `IoStatusBlock.Information`.
    pub information: &'static str,
}

/// `IoStatusBlock.Information` of a create request that created a file.
pub(super) const FILE_CREATED: u64 = 2;

const fn kernel(
    kind: &'static str,
    class: &'static str,
    events: &'static [&'static str],
    fields: &'static [(Field, &'static str)],
) -> Row {
    Row { kind, source: Source::Kernel(class, events), fields, only: None, completion: None }
}

const fn provider(
    kind: &'static str,
    (name, guid): (&'static str, u128),
    ids: &'static [u16],
    fields: &'static [(Field, &'static str)],
) -> Row {
    Row { kind, source: Source::Provider(name, guid, ids), fields, only: None, completion: None }
}

impl Row {
    const fn only(self, field: &'static str, value: u64) -> Self {
        Self { only: Some((field, value)), ..self }
    }

    const fn completed_by(self, completion: &'static Completion) -> Self {
        Self { completion: Some(completion), ..self }
    }
}

/// The name and the GUID of a provider.
type Provider = (&'static str, u128);

const KERNEL_PROCESS: Provider = ("Microsoft-Windows-Kernel-Process", providers::KERNEL_PROCESS.as_u128());
const KERNEL_FILE: Provider = ("Microsoft-Windows-Kernel-File", providers::KERNEL_FILE.as_u128());
const KERNEL_NETWORK: Provider = ("Microsoft-Windows-Kernel-Network", 0x7dd42a49_5329_4832_8dfd_43d979153a88);
const KERNEL_REGISTRY: Provider = ("Microsoft-Windows-Kernel-Registry", 0x70eb4f03_c1de_4f73_a051_33d13d5413bd);
const KERNEL_POWER: Provider = ("Microsoft-Windows-Kernel-Power", 0x331c3b3a_2005_44c2_ac5e_77220c37d6b4);
const KERNEL_GENERAL: Provider = ("Microsoft-Windows-Kernel-General", 0xa68ca8b7_004f_d7b6_a698_07e2de0f1f5d);
const ERROR_REPORTING: Provider = ("Microsoft-Windows-WER-SystemErrorReporting", 0xabce23e7_de45_4366_8631_84fa6c525952);
const DNS_CLIENT: Provider = ("Microsoft-Windows-DNS-Client", 0x1c95126e_7eea_49a9_a3fe_a378b03ddb4d);
const POWERSHELL: Provider = ("Microsoft-Windows-PowerShell", 0xa0c1853b_5c40_4b15_8766_3cf1c58f985a);
const AMSI: Provider = ("Microsoft-Antimalware-Scan-Interface", 0x2a576b87_09a7_520e_c21a_4942f0271d67);
const WININET: Provider = ("Microsoft-Windows-WinINet", 0x43d1a55c_76d6_4f7e_995c_64c711e5cafe);
const WEBIO: Provider = ("Microsoft-Windows-WebIO", 0x50b3e73c_9370_461d_bb9f_26f32d68887d);
const HTTP_SERVICE: Provider = ("Microsoft-Windows-HttpService", 0xdd5ef90a_6398_47a4_ad34_4dcecdef795f);
const SECURITY: Provider = ("Microsoft-Windows-Security-Auditing", 0x54849625_5478_4994_a5ba_3e3b0328c30d);
const WINLOGON: Provider = ("Microsoft-Windows-Winlogon", 0xdbe9b383_7cf3_4331_91cc_a3cb16a3b538);
const SESSIONS: Provider = ("Microsoft-Windows-TerminalServices-LocalSessionManager", 0x5d896912_022d_40aa_a3a8_4fa5515c76d7);
const SERVICES: Provider = ("Service Control Manager", 0x555908d1_a6d7_4695_8e1e_26931d2012f4);
const TASKS: Provider = ("Microsoft-Windows-TaskScheduler", 0xde7b24ea_73c8_4a09_985d_5bdadcfa9017);
const DEFENDER: Provider = ("Microsoft-Windows-Windows Defender", 0x11cd958a_c507_4ef3_b3f2_5fd9dfbd2c78);
const WMI: Provider = ("Microsoft-Windows-WMI-Activity", 0x1418ef04_b0b4_4623_bf7e_d74ab47bbdaa);
const BITS: Provider = ("Microsoft-Windows-Bits-Client", 0xef1cc15b_46c1_414e_bb95_e76b077bd51e);
const EVENT_LOGS: Provider = ("Microsoft-Windows-Eventlog", 0xfc65ddd8_d6ef_4962_83d5_6e5cfe9ce148);

/// In all events of TCP, `saddr` is the local address, and `daddr` the remote one.
const ENDPOINTS: &[(Field, &str)] =
    &[(LocalAddress, "saddr"), (LocalPort, "sport"), (RemoteAddress, "daddr"), (RemotePort, "dport")];

const CREATED: &Completion = &Completion {
    request: "IrpPtr",
    source: Source::Kernel("FileIo", &["OperationEnd"]),
    packet: "IrpPtr",
    status: "NtStatus",
    information: "ExtraInfo",
};

const CREATED_BY_PROVIDER: &Completion = &Completion {
    request: "Irp",
    source: Source::Provider(KERNEL_FILE.0, KERNEL_FILE.1, &[24]),
    packet: "Irp",
    status: "Status",
    information: "ExtraInformation",
};

const TARGET_USER: &[(Field, &str)] = &[
    (UserSid, "TargetUserSid"),
    (UserName, "TargetUserName"),
    (UserDomain, "TargetDomainName"),
    (LogonType, "LogonType"),
    (RemoteAddress, "IpAddress"),
    (RemotePort, "IpPort"),
    (Client, "WorkstationName"),
    (ImagePath, "ProcessName"),
    (NtStatus, "Status"),
];

/// A successful log-on states no status.
const TARGET_USER_LOGON: &[(Field, &str)] = TARGET_USER.split_last().expect("the list has a status").1;

/// The rows: the first that matches an event is used.
#[rustfmt::skip]
pub static ROWS: &[Row] = &[
    kernel("process_started", "Process", &["Start"], &[
        (Process, "ProcessId"), (Parent, "ParentId"), (TerminalSession, "SessionId"), (UserSid, "UserSID"), (CommandLine, "CommandLine"),
    ]),
    provider("process_started", KERNEL_PROCESS, &[1], &[
        (Process, "ProcessID"), (Parent, "ParentProcessID"), (TerminalSession, "SessionID"), (ImagePath, "ImageName"),
    ]),
    provider("process_started", SECURITY, &[4688], &[
        (Process, "NewProcessId"), (ImagePath, "NewProcessName"), (CommandLine, "CommandLine"), (Parent, "ProcessId"),
        (ParentPath, "ParentProcessName"), (UserSid, "SubjectUserSid"), (UserName, "SubjectUserName"), (UserDomain, "SubjectDomainName"),
    ]),
    kernel("process_ended", "Process", &["End"], &[(Process, "ProcessId"), (ExitStatus, "ExitStatus")]),
    provider("process_ended", KERNEL_PROCESS, &[2], &[(Process, "ProcessID"), (ExitStatus, "ExitCode")]),
    provider("process_ended", SECURITY, &[4689], &[
        (Process, "ProcessId"), (ImagePath, "ProcessName"), (ExitStatus, "Status"), (UserSid, "SubjectUserSid"), (UserName, "SubjectUserName"),
        (UserDomain, "SubjectDomainName"),
    ]),
    kernel("driver_loaded", "Image", &["Load", "ImageLoad"], &[
        (Path, "FileName|ImageFileName"), (Base, "ImageBase|BaseAddress"), (Size, "ImageSize|ModuleSize"),
    ]).only("ProcessId", 0),
    kernel("image_loaded", "Image", &["Load", "ImageLoad"], &[
        (Process, "ProcessId"), (Library, "FileName|ImageFileName"), (Base, "ImageBase|BaseAddress"), (Size, "ImageSize|ModuleSize"),
    ]),
    provider("driver_loaded", KERNEL_PROCESS, &[5], &[(Path, "ImageName"), (Base, "ImageBase"), (Size, "ImageSize")]).only("ProcessID", 0),
    provider("image_loaded", KERNEL_PROCESS, &[5], &[(Process, "ProcessID"), (Library, "ImageName"), (Base, "ImageBase"), (Size, "ImageSize")]),
    kernel("file_created", "FileIo", &["Create"], &[(Path, "OpenPath"), (FileObject, "FileObject")]).completed_by(CREATED),
    provider("file_created", KERNEL_FILE, &[12, 30], &[(Path, "FileName"), (FileObject, "FileObject")]).completed_by(CREATED_BY_PROVIDER),
    kernel("file_deleted", "FileIo", &["Delete"], &[(Path, "@FileKey"), (FileObject, "FileKey")]),
    kernel("file_deleted", "FileIo", &["DletePath"], &[(Path, "@FileKey"), (FileObject, "FileKey"), (RequestedPath, "FileName")]),
    provider("file_deleted", KERNEL_FILE, &[18], &[(Path, "@FileKey"), (FileObject, "FileKey")]),
    provider("file_deleted", KERNEL_FILE, &[26], &[(Path, "@FileKey"), (FileObject, "FileKey"), (RequestedPath, "FilePath")]),
    kernel("file_renamed", "FileIo", &["Rename"], &[(Path, "@FileKey"), (FileObject, "FileKey")]),
    kernel("file_renamed", "FileIo", &["RenamePath"], &[(Path, "@FileKey"), (FileObject, "FileKey"), (RequestedPath, "FileName")]),
    provider("file_renamed", KERNEL_FILE, &[19, 29], &[(Path, "@FileKey"), (FileObject, "FileKey")]),
    provider("file_renamed", KERNEL_FILE, &[27], &[(Path, "@FileKey"), (FileObject, "FileKey"), (RequestedPath, "FilePath")]),
    // Disposition 1 is REG_CREATED_NEW_KEY.
    provider("registry_key_created", KERNEL_REGISTRY, &[1], &[(RegistryKey, "RelativeName"), (NtStatus, "Status")]).only("Disposition", 1),
    provider("registry_key_deleted", KERNEL_REGISTRY, &[3], &[(RegistryKey, "KeyName"), (NtStatus, "Status")]),
    provider("registry_value_set", KERNEL_REGISTRY, &[5], &[(RegistryKey, "KeyName"), (RegistryValue, "ValueName"), (NtStatus, "Status")]),
    provider("registry_value_deleted", KERNEL_REGISTRY, &[6], &[(RegistryKey, "KeyName"), (RegistryValue, "ValueName"), (NtStatus, "Status")]),
    kernel("registry_key_deleted", "Registry", &["Delete"], &[(RegistryKey, "KeyName"), (NtStatus, "Status")]),
    kernel("registry_value_set", "Registry", &["SetValue"], &[(RegistryValue, "KeyName"), (NtStatus, "Status")]),
    kernel("registry_value_deleted", "Registry", &["DeleteValue"], &[(RegistryValue, "KeyName"), (NtStatus, "Status")]),
    kernel("connection_made", "TcpIp", &["Connect", "ConnectIPV4", "ConnectIPV6"], ENDPOINTS),
    provider("connection_made", KERNEL_NETWORK, &[12, 28], ENDPOINTS),
    kernel("connection_accepted", "TcpIp", &["Accept", "AcceptIPV4", "AcceptIPV6"], ENDPOINTS),
    provider("connection_accepted", KERNEL_NETWORK, &[15, 31], ENDPOINTS),
    kernel("connection_ended", "TcpIp", &["Disconnect", "DisconnectIPV4", "DisconnectIPV6"], ENDPOINTS),
    provider("connection_ended", KERNEL_NETWORK, &[13, 29], ENDPOINTS),
    kernel("connection_failed", "TcpIp", &["Fail"], &[(Failure, "FailureCode")]),
    provider("connection_failed", KERNEL_NETWORK, &[17], &[(Failure, "FailureCode")]),
    provider("dns_query", DNS_CLIENT, &[3006], &[(Query, "QueryName"), (QueryType, "QueryType")]),
    provider("dns_answer", DNS_CLIENT, &[3008], &[
        (Query, "QueryName"), (QueryType, "QueryType"), (Answers, "QueryResults"), (Win32Status, "QueryStatus"),
    ]),
    provider("dns_answer", DNS_CLIENT, &[3018, 3020], &[
        (Query, "QueryName"), (QueryType, "QueryType"), (Answers, "QueryResults"), (Win32Status, "Status"), (Process, "ClientPID"),
    ]),
    provider("http_request_sent", WININET, &[104], &[(Method, "Verb"), (Url, "ObjectName")]),
    provider("http_request_sent", WEBIO, &[17], &[(Method, "Method"), (Url, "URI")]),
    provider("http_request_received", HTTP_SERVICE, &[2], &[(Url, "Url")]),
    provider("script_run", POWERSHELL, &[4104], &[
        (Part, "MessageNumber"), (Parts, "MessageTotal"), (Script, "ScriptBlockText"), (ScriptId, "ScriptBlockId"), (Path, "Path"),
    ]),
    provider("content_scanned", AMSI, &[1101], &[
        (Application, "appname"), (ContentName, "contentname"), (ScanResult, "scanResult"), (Content, "content"), (Size, "contentsize"),
    ]),
    provider("logged_on", SECURITY, &[4624], TARGET_USER_LOGON),
    provider("logon_failed", SECURITY, &[4625], TARGET_USER),
    provider("logged_off", SECURITY, &[4634], &[
        (UserSid, "TargetUserSid"), (UserName, "TargetUserName"), (UserDomain, "TargetDomainName"), (LogonType, "LogonType"),
    ]),
    provider("logged_off", SECURITY, &[4647], &[(UserSid, "TargetUserSid"), (UserName, "TargetUserName"), (UserDomain, "TargetDomainName")]),
    provider("credentials_used", SECURITY, &[4648], &[
        (UserName, "TargetUserName"), (UserDomain, "TargetDomainName"), (Client, "TargetServerName"), (ImagePath, "ProcessName"),
    ]),
    provider("logged_on", WINLOGON, &[7001], &[(UserSid, "UserSid"), (TerminalSession, "TSId")]),
    provider("logged_off", WINLOGON, &[7002], &[(UserSid, "UserSid"), (TerminalSession, "TSId")]),
    provider("logged_on", SESSIONS, &[21], &[(UserName, "User"), (TerminalSession, "SessionID"), (Client, "Address")]),
    provider("logged_off", SESSIONS, &[23], &[(UserName, "User"), (TerminalSession, "SessionID")]),
    provider("session_changed", SESSIONS, &[24, 25], &[(UserName, "User"), (TerminalSession, "SessionID"), (Client, "Address")]),
    provider("service_installed", SERVICES, &[7045], &[
        (Service, "ServiceName"), (ImagePath, "ImagePath"), (StartType, "StartType"), (Account, "AccountName"),
    ]),
    provider("service_installed", SECURITY, &[4697], &[
        (Service, "ServiceName"), (ImagePath, "ServiceFileName"), (StartType, "ServiceStartType"), (Account, "ServiceAccount"),
        (UserSid, "SubjectUserSid"), (UserName, "SubjectUserName"), (UserDomain, "SubjectDomainName"),
    ]),
    provider("service_changed", SERVICES, &[7036], &[(Service, "param1"), (ServiceState, "param2")]),
    provider("service_changed", SERVICES, &[7040], &[(Service, "param1"), (StartType, "param3")]),
    provider("task_created", TASKS, &[106], &[(Task, "TaskName"), (UserName, "UserContext")]),
    provider("task_created", SECURITY, &[4698], &[
        (Task, "TaskName"), (Content, "TaskContent"), (UserSid, "SubjectUserSid"), (UserName, "SubjectUserName"), (UserDomain, "SubjectDomainName"),
    ]),
    provider("task_changed", TASKS, &[140, 142], &[(Task, "TaskName"), (UserName, "UserName")]),
    provider("task_deleted", TASKS, &[141], &[(Task, "TaskName"), (UserName, "UserName")]),
    provider("task_started", TASKS, &[100], &[(Task, "TaskName"), (UserName, "UserContext")]),
    provider("task_started", TASKS, &[129], &[(Task, "TaskName"), (ImagePath, "Path"), (CreatedProcess, "ProcessID")]),
    provider("task_started", TASKS, &[200], &[(Task, "TaskName"), (Action, "ActionName")]),
    provider("task_ended", TASKS, &[102], &[(Task, "TaskName"), (UserName, "UserContext")]),
    provider("task_ended", TASKS, &[201], &[(Task, "TaskName"), (Action, "ActionName"), (Hresult, "ResultCode")]),
    provider("malware_found", DEFENDER, &[1006, 1116], &[
        (Threat, "ThreatName|Threat Name"), (Severity, "SeverityName|Severity Name"), (Resource, "PathFound|Path|Path Found"),
        (ImagePath, "ProcessName|Process Name"), (UserName, "User|DetectionUser|Detection User"),
    ]),
    provider("malware_handled", DEFENDER, &[1007, 1117], &[
        (Threat, "ThreatName|Threat Name"), (Severity, "SeverityName|Severity Name"), (Resource, "Path"),
        (Action, "CleaningAction|ActionName|Cleaning Action|Action Name"), (UserName, "User|DetectionUser|Detection User"),
    ]),
    provider("protection_disabled", DEFENDER, &[5001], &[]),
    provider("wmi_process_created", WMI, &[23], &[
        (CreatedProcess, "CreatedProcessId"), (CommandLine, "Commandline"), (Client, "ClientMachine"), (UserName, "User"),
        (Process, "ClientProcessId"),
    ]),
    provider("wmi_subscription", WMI, &[5861], &[(Namespace, "Namespace"), (Consumer, "CONSUMER"), (Description, "PossibleCause")]),
    provider("transfer_started", BITS, &[59], &[(Job, "name"), (Url, "url")]),
    provider("transfer_ended", BITS, &[60, 61], &[(Job, "name"), (Url, "url"), (Hresult, "hr")]),
    provider("log_cleared", EVENT_LOGS, &[104], &[(EventLog, "Channel"), (UserName, "SubjectUserName"), (UserDomain, "SubjectDomainName")]),
    provider("log_cleared", EVENT_LOGS, &[1102], &[(UserSid, "SubjectUserSid"), (UserName, "SubjectUserName"), (UserDomain, "SubjectDomainName")]),
    provider("system_started", KERNEL_GENERAL, &[12], &[]),
    provider("system_stopped", KERNEL_GENERAL, &[13], &[]),
    provider("unclean_restart", KERNEL_POWER, &[41], &[]).only("BugcheckCode", 0),
    provider("bug_check", KERNEL_POWER, &[41], &[
        (BugCheck, "BugcheckCode"), (Parameter1, "BugcheckParameter1"), (Parameter2, "BugcheckParameter2"), (Parameter3, "BugcheckParameter3"),
        (Parameter4, "BugcheckParameter4"),
    ]),
    provider("bug_check", ERROR_REPORTING, &[1001], &[(Description, "param1"), (Path, "param2")]),
];
