//! `etw`: the commands, with specs and facts as parts of the program.

#![forbid(unsafe_code)]

mod dump;
mod etl;

use clap::{Arg, Parser, Subcommand, value_parser};
use etw_layouts_cli::{exit, is_hidden};
use etw_layouts_project::Project;
use etw_layouts_project::project::Files;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// The memory layouts of Event Tracing for Windows: known, proven, and used.
///
/// Specs and facts are part of the program, so that it works in any folder. With --specs it works on specs of your own. What
/// these do not have is completed from ours: the version axis, the scalars, and each type that a member embeds.
#[derive(Parser)]
#[command(name = "etw", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// A folder of specs, in place of those that are part of the program.
    #[arg(long, global = true, value_name = "DIR")]
    specs: Option<PathBuf>,
    /// A folder of facts to hold the specs of --specs against, and to keep those of imported kernels in; none by default.
    #[arg(long, global = true, value_name = "DIR", requires = "specs")]
    facts: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    OnSpecs(etw_layouts_cli::Command),
    /// Read trace files (.etl) of any Windows, on any host.
    ///
    ///     etw etl info trace.etl
    ///     etw etl events --order time trace.etl
    ///     etw etl events --provider PROCESS --columns default,level trace.etl
    ///     etw etl stat --by process folder
    ///     etw etl save --provider PROCESS -o processes.etl trace.etl
    ///     etw etl check --format json folder
    ///
    /// Exit status: 0 good, 1 findings, 2 unusable input.
    #[command(subcommand, verbatim_doc_comment, arg(no_effect("specs")), arg(no_effect("facts")))]
    Etl(etl::Command),
    /// Read what ETW has in crash dumps (.dmp), on any host: minidumps, full dumps, and those of the kernel's memory.
    ///
    ///     etw dump info minidump.dmp
    ///     etw dump events minidump.dmp
    ///     etw dump save -o traces folder
    ///     etw dump info --symbol-path 'srv*symbols*https://msdl.microsoft.com/download/symbols' MEMORY.DMP
    ///
    /// Since Windows 10 the kernel adds buffers of several sessions to a minidump: what happened in the
    /// last moments before the system stopped. In a full dump all sessions, providers and consumers are
    /// found where the kernel has them. For that, give it the kernel's symbols; without them sessions are
    /// found from Windows 7 on, of 64-bit systems, and their events have no times.
    ///
    /// Exit status: 0 good, 1 findings, 2 unusable input.
    #[command(subcommand, verbatim_doc_comment, arg(no_effect("specs")), arg(no_effect("facts")))]
    Dump(dump::Command),
}

/// A global option that a command refuses, and does not show.
fn no_effect(name: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("DIR").value_parser(value_parser!(PathBuf)).global(true).hide(true)
}

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    exit(match &cli.command {
        Command::OnSpecs(command) => command.run(&cli.project()),
        Command::Etl(_) if cli.specs.is_some() => {
            Err("trace files are read with the layouts of this program, without --specs".into())
        }
        Command::Dump(_) if cli.specs.is_some() => {
            Err("crash dumps are read with the layouts of this program, without --specs".into())
        }
        Command::Etl(command) => etl::run(command),
        Command::Dump(command) => dump::run(command),
    })
}

/// Prints an error of the command line, which can quote any text: where that does more than stand there, escaped.
fn refuse(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    if error.use_stderr() && text.lines().any(|line| line.contains(is_hidden)) {
        let lines: String = text.lines().map(|line| format!("{}\n", etl::output::Escaped(line))).collect();
        let _ = io::stderr().write_all(lines.as_bytes());
        std::process::exit(error.exit_code());
    }
    error.exit()
}

impl Cli {
    fn project(&self) -> Project {
        let (specs, facts) = match &self.specs {
            Some(specs) => (Files::Folder(specs.clone()), self.facts.clone().map_or(Files::Embedded(&[]), Files::Folder)),
            None => (Files::Embedded(etw_layouts_specs::FILES), Files::Embedded(etw_layouts_facts::FILES)),
        };
        Project { standard: etw_layouts_specs::FILES, listed: etw_layouts_facts::UPDATES, ..Project::of(specs, facts) }
    }
}
