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
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// List the images that were loaded in each process. CSV then has a row for each image instead of each process.
    #[arg(long)]
    images: bool,
}
pub fn run(_: &Args, _: &[Input], _: &mut Output) -> Result<Done, Stop> { Ok(Done::default()) }
pub fn with_images(_: crate::input::Opened<'_>, _: &mut Output) -> Result<etw_layouts_cli::Outcome, Stop> { Ok(etw_layouts_cli::Outcome::Good) }
