#[doc(hidden)] #[allow(missing_docs)]
pub mod mutant_switch {
    use std::io::Write;
    use std::sync::atomic::{AtomicU32, AtomicBool, Ordering::Relaxed};
    pub static ACTIVE: AtomicU32 = AtomicU32::new(u32::MAX);
    const RECORD: u32 = u32::MAX - 1;
    static SEEN: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];
    #[cold] #[inline(never)]
    fn slow(n: u32, active: u32) -> bool {
        let active = if active != u32::MAX { active } else {
            let a = if std::env::var_os("MUT_RECORD").is_some() { RECORD }
                else { std::env::var("MUT_ACTIVE").ok().and_then(|v| v.parse().ok()).unwrap_or(0) };
            ACTIVE.store(a, Relaxed);
            a
        };
        if active == RECORD {
            if !SEEN[n as usize].swap(true, Relaxed) {
                let path = std::env::var_os("MUT_RECORD").unwrap();
                let mut f = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
                f.write_all(format!("{n}\n").as_bytes()).unwrap();
            }
            return false;
        }
        active == n
    }
    #[inline(always)]
    pub fn mutant(n: u32) -> bool {
        let active = ACTIVE.load(Relaxed);
        if active >= RECORD { slow(n, active) } else { active == n }
    }
    #[derive(Clone)]
    pub enum Either<A, B> { A(A), B(B) }
    impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for Either<A, B> {
        type Item = A::Item;
        fn next(&mut self) -> Option<A::Item> { match self { Self::A(a) => a.next(), Self::B(b) => b.next() } }
        fn size_hint(&self) -> (usize, Option<usize>) { match self { Self::A(a) => a.size_hint(), Self::B(b) => b.size_hint() } }
    }
    impl<A: DoubleEndedIterator, B: DoubleEndedIterator<Item = A::Item>> DoubleEndedIterator for Either<A, B> {
        fn next_back(&mut self) -> Option<A::Item> { match self { Self::A(a) => a.next_back(), Self::B(b) => b.next_back() } }
    }
    impl<A: ExactSizeIterator, B: ExactSizeIterator<Item = A::Item>> ExactSizeIterator for Either<A, B> {}
}
#[doc(hidden)]
pub use mutant_switch::{Either, mutant};
