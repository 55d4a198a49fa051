//! The kinds of things that happen. To add a kind, add a row here, and one in `rows.rs` for each event that states it.

/// A kind of thing that happens.
#[derive(Debug)]
pub struct Kind {
    /// Its name, such as `process_started`.
    pub name: &'static str,
    /// Whether it is listed unless kinds are chosen. Kinds that fill a timeline are not.
    pub is_default: bool,
    /// What happened, with `{field}` for values, `{a|b}` for the first that is known, and `[…]` for a part that is left out if a value in it is unknown.
    pub(super) sentence: &'static str,
    /// `event.category` and `event.type` of the Elastic Common Schema.
    pub(super) ecs: (&'static str, &'static str),
    /// Class and activity of the Open Cybersecurity Schema Framework.
    pub(super) ocsf: (u32, u32),
}

const fn kind(
    name: &'static str,
    is_default: bool,
    ecs: (&'static str, &'static str),
    ocsf: (u32, u32),
    sentence: &'static str,
) -> Kind {
    Kind { name, is_default, sentence, ecs, ocsf }
}

const PROCESS: u32 = 1007;
const MODULE: u32 = 1005;
const FILE: u32 = 1001;
const NETWORK: u32 = 4001;
const DNS: u32 = 4003;
const HTTP: u32 = 4002;
const SCRIPT: u32 = 1009;
const AUTHENTICATION: u32 = 3002;
const JOB: u32 = 1006;
const REGISTRY_KEY: u32 = 201_001;
const REGISTRY_VALUE: u32 = 201_002;
const DETECTION: u32 = 2004;
const SERVICE: u32 = 201_004;
const EVENT_LOG: u32 = 1008;
/// Base event.
const BASE: u32 = 0;
const OTHER: u32 = 99;

/// All kinds.
#[rustfmt::skip]
pub static KINDS: &[Kind] = &[
    kind("process_started", true, ("process", "start"), (PROCESS, 1), "process started[: {command_line|image_path}][, parent {parent_path|parent}]"),
    kind("process_ended", true, ("process", "end"), (PROCESS, 2), "process ended[ with exit status {exit_status}]"),
    kind("driver_loaded", true, ("driver", "start"), (MODULE, 1), "driver or kernel image loaded[: {path}]"),
    kind("image_loaded", false, ("library", "start"), (MODULE, 1), "image loaded[: {library}]"),
    kind("file_created", true, ("file", "creation"), (FILE, 1), "file created: {path|file_object}"),
    kind("file_deleted", true, ("file", "deletion"), (FILE, 4), "deletion requested: {path|requested_path|file_object}"),
    kind("file_renamed", true, ("file", "change"), (FILE, 5), "rename requested: {path|file_object}[, path in the request {requested_path}]"),
    kind("registry_key_created", false, ("registry", "creation"), (REGISTRY_KEY, 1), "registry key created[: {registry_key}]"),
    kind("registry_key_deleted", false, ("registry", "deletion"), (REGISTRY_KEY, 4), "registry key deleted[: {registry_key}]"),
    kind("registry_value_set", false, ("registry", "change"), (REGISTRY_VALUE, 2), "registry value set[: {registry_key}][: {registry_value}]"),
    kind("registry_value_deleted", false, ("registry", "deletion"), (REGISTRY_VALUE, 4), "registry value deleted[: {registry_key}][: {registry_value}]"),
    kind("connection_made", true, ("network", "start"), (NETWORK, 1), "TCP connection made from {local_address}:{local_port} to {remote_address}:{remote_port}"),
    kind("connection_accepted", true, ("network", "start"), (NETWORK, 1), "TCP connection accepted at {local_address}:{local_port} from {remote_address}:{remote_port}"),
    kind("connection_ended", true, ("network", "end"), (NETWORK, 2), "TCP connection ended from {local_address}:{local_port} to {remote_address}:{remote_port}"),
    kind("connection_failed", true, ("network", "connection"), (NETWORK, 4), "TCP connection failed[ with code {failure}]"),
    kind("dns_query", true, ("network", "protocol"), (DNS, 1), "DNS query for {query}[, type {query_type}]"),
    kind("dns_answer", true, ("network", "protocol"), (DNS, 2), "DNS answer for {query}[, type {query_type}][: {answers}][, status {status}]"),
    kind("http_request_sent", true, ("web", "access"), (HTTP, OTHER), "HTTP request sent[: {method}][ {url}]"),
    kind("http_request_received", true, ("web", "access"), (HTTP, OTHER), "HTTP request received[: {url}]"),
    kind("script_run", true, ("process", "info"), (SCRIPT, 1), "PowerShell script block {part} of {parts}[ of {path}][: {script}]"),
    kind("content_scanned", true, ("process", "info"), (SCRIPT, OTHER), "content scanned for malware[: {content_name}][, of {application}][, result {scan_result}]"),
    kind("logged_on", true, ("authentication", "start"), (AUTHENTICATION, 1), "{user_name|user_sid} logged on[, type {logon_type}][, from {remote_address|client}]"),
    kind("logon_failed", true, ("authentication", "start"), (AUTHENTICATION, 1), "log-on of {user_name|user_sid} failed[, type {logon_type}][, from {remote_address|client}][, status {nt_status}]"),
    kind("logged_off", true, ("authentication", "end"), (AUTHENTICATION, 2), "{user_name|user_sid} logged off[, type {logon_type}]"),
    kind("credentials_used", true, ("authentication", "info"), (AUTHENTICATION, OTHER), "log-on with explicit credentials of {user_name|user_sid}[, at {client}]"),
    kind("session_changed", true, ("session", "change"), (BASE, OTHER), "terminal session {terminal_session} of {user_name|user_sid} disconnected or reconnected[, from {client}]"),
    kind("service_installed", true, ("configuration", "installation"), (SERVICE, 1), "service installed: {service}[, {image_path}][, account {account}]"),
    kind("service_changed", true, ("configuration", "change"), (SERVICE, OTHER), "service {service}[: {service_state}][, start type {start_type}]"),
    kind("task_created", true, ("configuration", "creation"), (JOB, 1), "scheduled task created: {task}"),
    kind("task_changed", true, ("configuration", "change"), (JOB, 2), "scheduled task changed: {task}"),
    kind("task_deleted", true, ("configuration", "deletion"), (JOB, 3), "scheduled task deleted: {task}"),
    kind("task_started", true, ("process", "info"), (JOB, 6), "scheduled task started: {task}[, {action|image_path}][, process {created_process}]"),
    kind("task_ended", true, ("process", "info"), (JOB, OTHER), "scheduled task ended: {task}[, {action}][, result {result}]"),
    kind("malware_found", true, ("malware", "info"), (DETECTION, 1), "malware found[: {threat}][, {severity}][, in {resource}]"),
    kind("malware_handled", true, ("malware", "info"), (DETECTION, 2), "action on malware[: {threat}][, {action}][, in {resource}]"),
    kind("protection_disabled", true, ("configuration", "change"), (BASE, OTHER), "real-time protection disabled"),
    kind("wmi_process_created", true, ("process", "info"), (BASE, OTHER), "process {created_process} created by WMI[: {command_line}][, from {client}]"),
    kind("wmi_subscription", true, ("configuration", "creation"), (BASE, OTHER), "WMI subscription[ in {namespace}][: {consumer}]"),
    kind("transfer_started", true, ("network", "start"), (BASE, OTHER), "BITS transfer started[: {job}][: {url}]"),
    kind("transfer_ended", true, ("network", "end"), (BASE, OTHER), "BITS transfer ended[: {job}][: {url}][, result {result}]"),
    kind("log_cleared", true, ("configuration", "deletion"), (EVENT_LOG, 1), "event log cleared[: {event_log}][, by {user_name}]"),
    kind("system_started", true, ("host", "start"), (BASE, OTHER), "Windows started"),
    kind("system_stopped", true, ("host", "end"), (BASE, OTHER), "Windows stopped"),
    kind("bug_check", true, ("host", "error"), (BASE, OTHER), "Windows restarted after a bug check: {bug_check|description}"),
    kind("unclean_restart", true, ("host", "error"), (BASE, OTHER), "Windows restarted without a clean stop"),
];

/// The kind with a name.
#[must_use]
pub fn kind_named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
