//! Folded stacks, for flame graphs: process, thread and functions, the outermost first, separated by `;`, then a space and the sum.

use super::Profile;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a profile.
///
/// # Errors
///
/// It cannot be written.
pub(super) fn write(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let mut sums = BTreeMap::<_, u64>::new();
    for sample in &profile.samples {
        let sum = sums.entry((sample.thread, sample.stack)).or_default();
        *sum = sum.saturating_add(profile.weight(sample));
    }
    let mut lines = BTreeMap::<_, u64>::new();
    for ((thread, stack), sum) in sums {
        let Some(thread) = profile.threads.get(thread as usize) else { continue };
        let process = profile.processes.get(thread.process as usize).map(|process| profile.process_name(process));
        let mut names = vec![process.unwrap_or_default(), profile.thread_name(thread)];
        let start = names.len();
        for frame in profile.frames_of(stack) {
            names.extend(frame.inlined.iter().map(|function| function.name.to_string()));
            names.push(frame.label().into_owned());
        }
        names[start..].reverse();
        let names: Vec<_> = names.iter().map(|name| plain(name)).collect();
        let line = lines.entry(names.join(";")).or_default();
        *line = line.saturating_add(sum);
    }
    lines.into_iter().try_for_each(|(line, sum)| writeln!(out, "{line} {sum}"))
}

/// A name without the separators of the format.
fn plain(name: &str) -> String {
    name.chars().map(|char| if char == ';' || char.is_control() { '_' } else { char }).collect()
}
