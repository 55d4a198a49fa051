#![allow(unused)]
use crate::input::{self, Files, Input};
use crate::output::stop::Stop;
use crate::output::{Output, no_table};
use super::Done;
use crate::selection::Wanted;
use etw_layouts_cli::no_stdout;
use std::path::PathBuf;
/// x
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Write the new file to this path, which must not exist.
    #[arg(short, long, value_name = "FILE", value_parser = no_stdout())]
    output: PathBuf,
    /// Compress the buffers of the new file. Windows 8 and later can read compressed buffers.
    #[arg(long)]
    compress: bool,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}
pub fn run(_: &Args, _: &[Input], _: &mut Output) -> Result<Done, Stop> { Ok(Done::default()) }
