#![allow(unused)]
use crate::input::{self, Files, Input};
use crate::output::stop::Stop;
use crate::output::{Output, no_table};
use super::Done;
use crate::selection::Wanted;
use etw_layouts_cli::no_stdout;
use std::path::PathBuf;
fn component(t:&str)->Result<u64,String>{Ok(0)}
/// x
#[derive(clap::Args)]
#[command(verbatim_doc_comment, mut_arg("format", no_table))]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Write the new file to this path, which must not exist; - for standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Match packets of this component of PktMon. Repeatable.
    #[arg(long, value_name = "ID", help_heading = "Event selection", value_parser = component)]
    component: Vec<u16>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
}
pub fn run(_: &Args, _: &[Input], _: &mut Output) -> Result<Done, Stop> { Ok(Done::default()) }
