//! `cargo xtask ci`.

use crate::{Error, Outcome};

/// Run every check.
#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: &Args) -> Result<Outcome, Error> {
    Ok(Outcome::Good)
}
