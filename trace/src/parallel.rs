//! Work on the parts of a trace by several threads, with results in order.

use std::iter::Fuse;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls `work` for each item, on up to `threads` threads, and passes its results to `take` on this thread, in the order of the items. Each thread
/// has a state, which `state` creates. `work` passes each result to a function, which returns whether more are taken. With one thread, everything
/// runs on this one.
///
/// At most one more item than there are threads is worked on or has results that wait. At most [16](MOST_WAITING) results of an item wait, so results of
/// limited size limit the memory.
///
/// # Errors
///
/// `take` returns an error. The items that are not started yet are not worked on then.
pub fn in_order<I: Send, S, R: Send, E>(
    items: impl IntoIterator<Item = I, IntoIter: Send>,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I, &mut dyn FnMut(R) -> bool) + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    if threads <= 1 {
        let mut state = state();
        return items.into_iter().try_for_each(|item| {
            let mut taken = Ok(());
            work(&mut state, item, &mut |result| {
                if taken.is_ok() {
                    taken = take(result);
                }
                taken.is_ok()
            });
            taken
        });
    }
    let (order, results) = sync_channel::<Receiver<R>>(threads);
    let (items, state, work) = (Mutex::new(items.into_iter().fuse()), &state, &work);
    let items = &items;
    thread::scope(|scope| {
        for order in vec![order; threads] {
            scope.spawn(move || {
                let mut state = state();
                while let Some((item, sender)) = next(items, &order) {
                    work(&mut state, item, &mut |result| sender.send(result).is_ok());
                }
            });
        }
        results.into_iter().flatten().try_for_each(take)
    })
}

/// Maximum number of results of an item that wait to be taken.
const MOST_WAITING: usize = 16;

/// The next item, and the sender of its results. `order` passes on their receivers in the order of the items, and waits until there is space. An error
/// means that no more results are taken.
fn next<I: Iterator, R>(items: &Mutex<Fuse<I>>, order: &SyncSender<Receiver<R>>) -> Option<(I::Item, SyncSender<R>)> {
    let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
    let item = items.next()?;
    let (sender, results) = sync_channel(MOST_WAITING);
    order.send(results).ok()?;
    Some((item, sender))
}
