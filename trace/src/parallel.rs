//! Work on the parts of a trace by several threads, with results in order.

use crate::order::Slice;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::{thread, vec};

/// Calls `work` for each slice, on up to `threads` threads, and passes its results to `take` on this thread, in the order of the slices. Each thread
/// has a state, which `state` creates. `work` passes each result to a function, which returns whether more are taken. With one thread, everything
/// runs on this one.
///
/// At most `threads` + 1 slices are in progress or have waiting results, with at most 16 waiting results per slice. If slices are large,
/// fewer threads run: all buffers in progress use at most 32 MiB, 8 MiB per thread, or the size of one slice, whichever is largest.
///
/// # Errors
///
/// `take` returns an error. The slices that are not started yet are not worked on then.
pub fn in_order<S, R: Send, E>(
    slices: Vec<Slice>,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Slice, &mut dyn FnMut(R) -> bool) + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let largest = slices.iter().map(|slice| slice.size).max().unwrap_or_default().max(1);
    let threads = threads.min((MEMORY.max(threads as u64 * MEMORY_OF_THREAD) / largest) as usize);
    if threads <= 1 {
        let mut state = state();
        return slices.into_iter().try_for_each(|slice| {
            let mut taken = Ok(());
            work(&mut state, slice, &mut |result| {
                if taken.is_ok() {
                    taken = take(result);
                }
                taken.is_ok()
            });
            taken
        });
    }
    let (order, results) = sync_channel::<Receiver<R>>(threads);
    let (slices, state, work) = (&Mutex::new(slices.into_iter()), &state, &work);
    thread::scope(|scope| {
        for order in vec![order; threads] {
            scope.spawn(move || {
                let mut state = state();
                while let Some((slice, sender)) = next(slices, &order) {
                    work(&mut state, slice, &mut |result| sender.send(result).is_ok());
                }
            });
        }
        results.into_iter().flatten().try_for_each(take)
    })
}

/// Limits of the buffers of all slices that are worked on, in bytes: the larger one holds.
const MEMORY: u64 = 32 << 20;
const MEMORY_OF_THREAD: u64 = 8 << 20;

/// Maximum number of results of a slice that wait to be taken.
const MAX_WAITING: usize = 16;

/// The next slice, and the sender of its results. `order` passes on the receivers in the order of the slices, and waits until there is space; it fails if
/// no more results are taken.
fn next<R>(slices: &Mutex<vec::IntoIter<Slice>>, order: &SyncSender<Receiver<R>>) -> Option<(Slice, SyncSender<R>)> {
    let mut slices = slices.lock().unwrap_or_else(PoisonError::into_inner);
    let slice = slices.next()?;
    let (sender, results) = sync_channel(MAX_WAITING);
    order.send(results).ok()?;
    Some((slice, sender))
}
