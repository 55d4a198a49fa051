//! The program `etw`: the commands, with built-in specs and facts.

use crate::{Command as OnSpecs, dump, etl, exit, is_hidden, output};
use clap::{Arg, Parser, Subcommand, value_parser};
use etw_layouts_cli::Error;
use etw_layouts_codegen::layouts::Layouts;
use etw_layouts_project::Project;
use etw_layouts_project::project::Files;
use etw_layouts_project::stored::Stored;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

/// Inspect, verify and export the structure layouts of Event Tracing for Windows.
///
/// Built in are specs (declarations with versions) and facts (reduced symbol tables); --specs selects your own. The built-in
/// specs then supply missing parts: the builds, the scalar types, and embedded types.
#[derive(Parser)]
#[command(name = "etw", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Use specs from DIR instead of the built-in ones.
    #[arg(long, global = true, value_name = "DIR")]
    specs: Option<PathBuf>,
    /// Use the facts (symbol tables, reduced to the types in the specs) in DIR; only with --specs. Default: the built-in facts.
    #[arg(long, global = true, value_name = "DIR", requires = "specs")]
    facts: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    OnSpecs(OnSpecs),
    /// Read trace files (.etl) of any Windows version, on any host.
    ///
    ///     etw etl info trace.etl
    ///     etw etl events --order time trace.etl
    ///     etw etl events --provider PROCESS --columns default,level trace.etl
    ///     etw etl stat --by process folder
    ///     etw etl save --provider PROCESS -o processes.etl trace.etl
    ///     etw etl check --format json folder
    ///
    /// Exit status: 0 no diagnostics, 1 diagnostics, 2 unusable input.
    #[command(subcommand, verbatim_doc_comment, arg(no_effect("specs")), arg(no_effect("facts")))]
    Etl(etl::Command),
    /// Read the ETW state in crash dumps (.dmp), on any host: minidumps, kernel memory dumps and full dumps.
    ///
    ///     etw dump info minidump.dmp
    ///     etw dump events minidump.dmp
    ///     etw dump save -o traces folder
    ///     etw dump info --symbol-path 'srv*symbols*https://msdl.microsoft.com/download/symbols' MEMORY.DMP
    ///
    /// In Windows 10 and later, the kernel adds buffers of several sessions to a minidump. These buffers contain
    /// the last events before the system stopped. A full dump contains all sessions, providers and consumers.
    /// To find them, etw needs the addresses of kernel variables. Many are built in; for other kernels, give
    /// symbols with --symbol-path or --symbols. Without addresses, only sessions of 64-bit Windows 7 and later
    /// are found, and their events have no times.
    ///
    /// Exit status: 0 no diagnostics, 1 diagnostics, 2 unusable input.
    #[command(subcommand, verbatim_doc_comment, arg(no_effect("specs")), arg(no_effect("facts")))]
    Dump(dump::Command),
}

/// A global option that the help of a command omits, because the command rejects it.
fn no_effect(name: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("DIR").value_parser(value_parser!(PathBuf)).global(true).hide(true)
}

/// Runs the program with its arguments. The first one is its name. Invalid arguments and requests for help end the process.
pub fn program(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = Cli::try_parse_from(args).unwrap_or_else(|error| refuse(&error));
    exit(match &cli.command {
        Command::OnSpecs(OnSpecs::Fmt(_)) if cli.facts.is_some() => {
            Err("--facts has no effect on `etw fmt`, which reads specs only; remove --facts".into())
        }
        Command::OnSpecs(command) => command.run(&cli.project()),
        Command::Etl(command) => cli.without_effect("etl").and_then(|()| etl::run(command, None)),
        Command::Dump(command) => cli.without_effect("dump").and_then(|()| dump::run(command)),
    })
}

/// Prints a command-line error. The error can quote any argument, so control characters and invisible characters are escaped.
fn refuse(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    if error.use_stderr() && text.lines().any(|line| line.contains(is_hidden)) {
        let lines: String = text.lines().map(|line| format!("{}\n", output::Escaped(line))).collect();
        let _ = io::stderr().write_all(lines.as_bytes());
        std::process::exit(error.exit_code());
    }
    error.exit()
}

impl Cli {
    /// The error for an option that a command on the built-in layouts does not use.
    fn without_effect(&self, command: &str) -> Result<(), Error> {
        let option = match (&self.specs, &self.facts) {
            (Some(_), _) => "--specs",
            (None, Some(_)) => "--facts",
            (None, None) => return Ok(()),
        };
        Err(format!("{option} has no effect on `etw {command}`, which uses the built-in layouts; remove {option}").into())
    }

    fn project(&self) -> Project {
        let built_in = built_in();
        let Some(specs) = &self.specs else { return built_in };
        let facts = self.facts.clone().map_or(Files::Embedded(&[]), Files::Folder);
        Project { specs: Files::Folder(specs.clone()), facts, ..built_in }
    }
}

/// The specs and facts of the program.
#[must_use]
pub fn built_in() -> Project {
    let (specs, facts) = (Files::Embedded(etw_layouts_specs::FILES), Files::Embedded(etw_layouts_facts::FILES));
    let (listed, events) = (etw_layouts_facts::UPDATES, etw_layouts_facts::EVENTS);
    static READ: OnceLock<Layouts> = OnceLock::new();
    // The program would contain a constant once for each unit that uses it.
    static SPECS: [u8; include_bytes!("stored/specs.bin").len()] = *include_bytes!("stored/specs.bin");
    static FACTS: [u8; include_bytes!("stored/facts.bin").len()] = *include_bytes!("stored/facts.bin");
    let stored = Stored { specs: &SPECS, facts: &FACTS, read: Some(&READ) };
    Project { standard: etw_layouts_specs::FILES, listed, events, stored, ..Project::of(specs, facts) }
}
