//! Doubly linked, singly linked and interlocked lists, from their heads to the structures that contain the links.

use crate::address::Address;
use crate::finding::{FindingKind, MemberLocation};
use crate::memory::Memory;
use crate::object::Object;
use crate::walk::Walk;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use etw_layouts::members::{LIST_ENTRY, SINGLE_LIST_ENTRY, SLIST_HEADER};
use etw_layouts::runtime::Token;
use etw_layouts::runtime::packed::{Structure, Type};
use etw_layouts::runtime::token::Tokens;
use etw_layouts::structures;

/// The links of a list by address, and the place for its findings.
struct Entries {
    place: MemberLocation,
    found: Vec<Address>,
    seen: BTreeSet<Address>,
}

impl Entries {
    fn new(place: MemberLocation) -> Self {
        Self { place, found: Vec::new(), seen: BTreeSet::new() }
    }

    /// Adds an entry; `false` if it is already present.
    fn add(&mut self, entry: Address) -> bool {
        let new = self.seen.insert(entry);
        if new {
            self.found.push(entry);
        }
        new
    }
}

impl<M: Memory + ?Sized> Walk<'_, M> {
    /// The structures in a list, in list order. The head is a member of an object, and the links are a member of each structure;
    /// the types of both members determine the kind of list.
    ///
    /// A doubly linked list is walked forward. If it breaks off, or its back links are inconsistent, it is also walked backward,
    /// and the entries that only back links lead to follow those before the break.
    pub fn list<S: Tokens, R: Tokens, K, L>(
        &mut self,
        head: &Object<S>,
        token: Token<S, K>,
        record: &Structure<'static, R>,
        link: Token<R, L>,
    ) -> Vec<Address> {
        let place = MemberLocation { structure: head.layout().name, address: head.address(), member: token.name() };
        let (Some(at), Some(kind)) = (head.place(token), kind(head, token)) else { return Vec::new() };
        let Some(member) = self.kernel().layout(record).and_then(|layout| layout.find(link)) else {
            self.report(MemberLocation { structure: record.name, ..place }, FindingKind::NoLayout);
            return Vec::new();
        };
        let single = !matches!(member.ty, Type::Layout(layout) if layout.name == "LIST_ENTRY");
        let first = head.part(token).and_then(|head| match kind {
            "SLIST_HEADER" => self.first(&head.of()?),
            "LIST_ENTRY" => head.of()?.unsigned(LIST_ENTRY::FLINK),
            _ => head.of()?.unsigned(SINGLE_LIST_ENTRY::NEXT),
        });
        let links = match (kind, single) {
            ("LIST_ENTRY", false) => self.double(place, at),
            // Before 5.1 the head of such a list has two links, one of which is used.
            _ => match first {
                Some(first) => self.single(place, at, first),
                None => Vec::new(),
            },
        };
        links.into_iter().filter_map(|entry| entry.minus(member.offset as u64)).collect()
    }

    /// The structures in an interlocked list with its head in a separate object.
    pub fn interlocked<R: Tokens, L>(
        &mut self,
        head: &Object<SLIST_HEADER::Type>,
        record: &Structure<'static, R>,
        link: Token<R, L>,
    ) -> Vec<Address> {
        let place = MemberLocation { structure: head.layout().name, address: head.address(), member: "" };
        let Some(member) = self.kernel().layout(record).and_then(|layout| layout.find(link)) else { return Vec::new() };
        let links = self.first(head).map(|first| self.single(place, head.address(), first)).unwrap_or_default();
        links.into_iter().filter_map(|entry| entry.minus(member.offset as u64)).collect()
    }

    /// The links of a doubly linked list with its head at an address.
    pub fn double(&mut self, place: MemberLocation, head: Address) -> Vec<Address> {
        let mut entries = Entries::new(place);
        let Some((next, last)) = self.links(place, head) else { return Vec::new() };
        if next.is_null() && last.is_null() {
            // The head has not been initialized.
            return Vec::new();
        }
        let end = self.forward(&mut entries, head, next);
        let whole = end == Some(last);
        if !whole {
            self.backward(&mut entries, head, last, end.is_some());
        }
        entries.found
    }

    /// Walks forward to the head, and returns the last entry; `None` if the head is not reached.
    fn forward(&mut self, entries: &mut Entries, head: Address, next: Address) -> Option<Address> {
        let (mut before, mut at) = (head, next);
        while at != head {
            if entries.found.len() >= self.limits().entries {
                self.report(entries.place, FindingKind::Limit(self.limits().entries as u64));
                return None;
            }
            if entries.seen.contains(&at) {
                self.report(entries.place, FindingKind::Loop(at));
                return None;
            }
            let (next, back) = self.links(entries.place, at)?;
            entries.add(at);
            if back != before {
                self.report(entries.place, FindingKind::BackLink { entry: at, expected: before, found: back });
            }
            (before, at) = (at, next);
        }
        Some(before)
    }

    /// Walks backward to the head or to a known entry, and adds new entries. If the forward walk was complete, these are hidden.
    fn backward(&mut self, entries: &mut Entries, head: Address, last: Address, whole: bool) {
        let (mut at, start) = (last, entries.found.len());
        let mut after = head;
        while at != head && !entries.seen.contains(&at) {
            if entries.found.len() >= self.limits().entries {
                self.report(entries.place, FindingKind::Limit(self.limits().entries as u64));
                break;
            }
            let Some((next, back)) = self.links(entries.place, at) else { break };
            // An entry is not part of this list if its forward link does not return to the previous one.
            if next != after {
                break;
            }
            entries.add(at);
            if whole {
                self.report(entries.place, FindingKind::Hidden(at));
            }
            (after, at) = (at, back);
        }
        if whole && entries.found.len() == start {
            let expected = entries.found.last().copied().unwrap_or(head);
            self.report(entries.place, FindingKind::BackLink { entry: head, expected, found: last });
        }
        entries.found[start..].reverse();
    }

    /// The links of a singly linked list, from its first entry to the null pointer or back to the head.
    fn single(&mut self, place: MemberLocation, head: Address, first: u64) -> Vec<Address> {
        let mut entries = Entries::new(place);
        let mut at = self.kernel().address(first);
        while !at.is_null() && at != head {
            if entries.found.len() >= self.limits().entries {
                self.report(place, FindingKind::Limit(self.limits().entries as u64));
                break;
            }
            if entries.seen.contains(&at) {
                self.report(place, FindingKind::Loop(at));
                break;
            }
            let Some(next) = self.aligned(place, at).and_then(|at| self.pointer_or_find(place, at)) else { break };
            entries.add(at);
            at = next;
        }
        entries.found
    }

    /// The first entry of an interlocked list.
    fn first(&mut self, head: &Object<SLIST_HEADER::Type>) -> Option<u64> {
        if let Some(next) = head.get(SLIST_HEADER::NEXT) {
            return next.unsigned(SINGLE_LIST_ENTRY::NEXT);
        }
        let forms = [SLIST_HEADER::HEADER_X64, SLIST_HEADER::HEADER_ARM64, SLIST_HEADER::HEADER16];
        let long = forms.into_iter().find_map(|form| head.get(form)?.view());
        let is_long = long.and_then(|form| form.member("HeaderType")).is_none_or(|ty| ty.unsigned() == 1);
        match long {
            Some(form) if is_long => Some(form.member("NextEntry")?.unsigned() << 4),
            _ => self.short(head),
        }
    }

    /// The first entry in the 8-byte form, which lacks the highest bits of the address. They are taken from the address of the head.
    fn short(&mut self, head: &Object<SLIST_HEADER::Type>) -> Option<u64> {
        let named = head.layout().find(SLIST_HEADER::HEADER8).is_some();
        // 5.2 uses this form too, although its symbols do not name it.
        let later = structures::SLIST_HEADER.layouts().find(|layout| layout.find(SLIST_HEADER::HEADER8).is_some())?;
        let head = if named { head.clone() } else { self.object_of(later, head.address())? };
        let form = head.get(SLIST_HEADER::HEADER8)?.view()?;
        let member = form.layout().member("NextEntry")?;
        let next = form.member("NextEntry")?.unsigned();
        let above = u64::MAX << (member.bits?.1 + 4).min(63);
        Some(if next == 0 { 0 } else { next << 4 | head.address().0 & above })
    }

    /// The two links at an address; adds a finding if they cannot be read.
    fn links(&mut self, place: MemberLocation, at: Address) -> Option<(Address, Address)> {
        let at = self.aligned(place, at)?;
        let layout = self.kernel().layout(&structures::LIST_ENTRY)?;
        let mut bytes = alloc::vec![0; layout.size];
        if !self.read(at, &mut bytes).is_empty() {
            self.report(place, FindingKind::Pointer(at));
            return None;
        }
        let view = etw_layouts::runtime::View::new(layout, &bytes).ok()?;
        let address = |value| self.kernel().address(value);
        Some((address(view.unsigned(LIST_ENTRY::FLINK)?), address(view.unsigned(LIST_ENTRY::BLINK)?)))
    }

    /// The address, if it is valid for a link.
    fn aligned(&mut self, place: MemberLocation, at: Address) -> Option<Address> {
        let aligned = at.0.is_multiple_of(self.kernel().arch().pointer_size());
        if !aligned {
            self.report(place, FindingKind::Pointer(at));
        }
        aligned.then_some(at)
    }

    fn pointer_or_find(&mut self, place: MemberLocation, at: Address) -> Option<Address> {
        let next = self.pointer(at);
        if next.is_none() {
            self.report(place, FindingKind::Pointer(at));
        }
        next
    }
}

/// The name of a member's type.
fn kind<S: Tokens, K>(object: &Object<S>, token: Token<S, K>) -> Option<&'static str> {
    match object.layout().find(token)?.ty {
        Type::Layout(layout) => Some(layout.name),
        _ => None,
    }
}
