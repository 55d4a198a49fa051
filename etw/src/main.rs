//! The program `etw`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    etw_layouts_cli::program(std::env::args_os())
}
