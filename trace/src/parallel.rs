//! Work on the parts of a trace by several threads, with results in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Calls `work` for each item, on up to `threads` threads, and passes the results to `take` on this thread, in the order of the items. Each thread
/// has a state, which `state` creates. At most one more item than there are threads is worked on or waits to be taken, so memory is limited. With one thread, everything runs on
/// this one.
///
/// # Errors
///
/// `take` returns an error. The items that are not started yet are not worked on then.
pub fn in_order<I: Send, S, R: Send, E>(
    items: impl IntoIterator<Item = I, IntoIter: Send>,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    if threads <= 1 {
        let mut state = state();
        return items.into_iter().try_for_each(|item| take(work(&mut state, item)));
    }
    let queue = Queue {
        shared: Mutex::new(Shared {
            items: items.into_iter(),
            started: 0,
            taken: 0,
            done: BTreeMap::new(),
            running: threads,
            is_stopped: false,
        }),
        changed: Condvar::new(),
        ahead: threads as u64 + 1,
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // A panic of `work` must not leave the other threads waiting.
                let _guard = Guard(&queue);
                let mut state = state();
                while let Some((number, item)) = queue.next() {
                    let result = work(&mut state, item);
                    queue.put(number, result);
                }
            });
        }
        let mut result = Ok(());
        while result.is_ok()
            && let Some(done) = queue.take()
        {
            result = take(done);
        }
        queue.stop();
        result
    })
}

struct Queue<I, R> {
    shared: Mutex<Shared<I, R>>,
    changed: Condvar,
    /// Number of items that are started before the first of them is taken.
    ahead: u64,
}

struct Shared<I, R> {
    items: I,
    started: u64,
    taken: u64,
    done: BTreeMap<u64, R>,
    running: usize,
    is_stopped: bool,
}

impl<I: Iterator, R> Queue<I, R> {
    /// The next item; waits until there is space for its result.
    fn next(&self) -> Option<(u64, I::Item)> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |shared: &mut Shared<I, R>| !shared.is_stopped && shared.started >= shared.taken + self.ahead;
        let mut shared = self.changed.wait_while(shared, is_full).unwrap_or_else(PoisonError::into_inner);
        let item = if shared.is_stopped { None } else { shared.items.next() }?;
        shared.started += 1;
        Some((shared.started - 1, item))
    }

    fn put(&self, number: u64, result: R) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).done.insert(number, result);
        self.changed.notify_all();
    }

    /// The next result in order; `None` after the last one.
    fn take(&self) -> Option<R> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |shared: &mut Shared<I, R>| shared.running > 0 && !shared.done.contains_key(&shared.taken);
        let mut shared = self.changed.wait_while(shared, waits).unwrap_or_else(PoisonError::into_inner);
        let taken = shared.taken;
        let result = shared.done.remove(&taken)?;
        shared.taken += 1;
        self.changed.notify_all();
        Some(result)
    }
}

impl<I, R> Queue<I, R> {
    /// Starts no more items: results are no longer taken.
    fn stop(&self) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).is_stopped = true;
        self.changed.notify_all();
    }
}

/// Counts a thread as ended.
struct Guard<'q, I, R>(&'q Queue<I, R>);

impl<I, R> Drop for Guard<'_, I, R> {
    fn drop(&mut self) {
        self.0.shared.lock().unwrap_or_else(PoisonError::into_inner).running -= 1;
        self.0.changed.notify_all();
    }
}
