//! The generated crate by itself: what Miri interprets, and what runs on 32-bit hosts.

mod generated;
mod views;
