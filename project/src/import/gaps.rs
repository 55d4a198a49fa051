//! Alignments that symbols do not tell: where a member is further than its type puts it, something aligned it.

use super::tree::{Definition, Node, Subject};
use etw_layouts_codegen::axis::Arch;
use etw_layouts_codegen::ctype::CType;
use etw_layouts_codegen::spec::{Kind, Spec};
use etw_layouts_symbols::{TypeFacts, Types};
use std::collections::{BTreeMap, BTreeSet};

/// Aligns what was entered, or packs it, where its members are not where their types put them. What an explicit alignment cannot
/// say is left as it is, and does not pass the check of the whole.
pub fn explain(spec: &Spec, target: usize, types: &Types, entered: &BTreeSet<String>, all: &mut BTreeMap<String, Definition>) {
    let arch = spec.axis.targets[target].arch;
    let mut known = Known { spec, target, arch, types, entered, all, alignments: BTreeMap::new(), depth: 0 };
    for name in entered {
        known.definition(name);
    }
}

struct Known<'a> {
    spec: &'a Spec,
    target: usize,
    arch: Arch,
    types: &'a Types,
    entered: &'a BTreeSet<String>,
    all: &'a mut BTreeMap<String, Definition>,
    /// Of definitions.
    alignments: BTreeMap<String, u64>,
    /// How many definitions hold the one that is looked at.
    depth: usize,
}

/// How many definitions within definitions are looked at: more than any specs have that resolve.
const DEEPEST: usize = 256;

/// Bytes and alignment.
#[derive(Clone, Copy)]
struct Extent {
    size: u64,
    align: u64,
}

/// A member lies below its natural alignment.
struct Packed;

impl Known<'_> {
    /// The alignment of a definition, whose members are explained on the way.
    fn definition(&mut self, name: &str) -> Option<u64> {
        if let Some(align) = self.alignments.get(name) {
            return Some(*align);
        }
        if self.depth == DEEPEST {
            return None;
        }
        // What holds itself is an error of its own.
        let mut definition = self.all.remove(name)?;
        self.depth += 1;
        let align = match definition.subject {
            Subject::Enumeration => match self.types.get(name) {
                Some(TypeFacts::Enumeration(facts)) => facts.size.max(1),
                _ => 4,
            },
            Subject::Aggregate(kind) => self.aggregate(name, kind, &mut definition),
        };
        self.depth -= 1;
        self.all.insert(name.to_owned(), definition);
        self.alignments.insert(name.to_owned(), align);
        Some(align)
    }

    fn aggregate(&mut self, name: &str, kind: Kind, definition: &mut Definition) -> u64 {
        let explain = self.entered.contains(name);
        let fresh = definition.path.is_empty();
        let root = &mut definition.root;
        loop {
            let stated = |key: &str| root.number_at(key, self.target).and_then(|n| u64::try_from(n).ok());
            let (pack, align, size) = match &root.now {
                Some(now) => (now.pack, now.align, now.size),
                None => (stated("pack"), stated("align"), None),
            };
            let packed = match self.members(kind, &mut root.children, 0, pack.unwrap_or(8), explain) {
                Ok(extent) => {
                    let least = extent.align.max(align.unwrap_or(1));
                    let own = extent.size.next_multiple_of(least);
                    let Some(size) = size.filter(|size| explain && *size != own) else { return least };
                    if own < size {
                        let Some(align) = raising(own, size) else { return least };
                        if let Some(now) = &mut root.now {
                            now.align = Some(align);
                        }
                        root.remark(&format!("an alignment of {align} bytes is inferred from the size"));
                        return align;
                    }
                    true
                }
                Err(Packed) => true,
            };
            let next = match pack {
                None => 4,
                Some(pack) => pack / 2,
            };
            let Some(now) = root.now.as_mut().filter(|_| packed && fresh && next > 0) else { return 1 };
            now.pack = Some(next);
            root.remark("the packing is inferred from members below their natural alignment");
        }
    }

    /// The extent of members from `start` on, without the padding behind them.
    fn members(&mut self, kind: Kind, nodes: &mut [Node], start: u64, pack: u64, explain: bool) -> Result<Extent, Packed> {
        let mut end = start;
        let mut most = 1;
        let mut unit = None;
        for node in nodes {
            let Some(own) = self.member(kind, node, pack, explain)? else { continue };
            let Some(now) = &mut node.now else {
                most = most.max(own.align);
                continue;
            };
            let offset = now.offset.unwrap_or(start);
            let bits = now.bits.map(|_| (offset, own.size));
            if bits.is_some() && bits == unit {
                continue;
            }
            unit = bits;
            let mut align = own.align.max(now.align.unwrap_or(1));
            let from = if kind == Kind::Union { start } else { end };
            let natural = from.next_multiple_of(align);
            if explain && offset < natural {
                return Err(Packed);
            }
            if let Some(more) = raising(natural, offset).filter(|_| explain && offset > natural) {
                now.align = Some(more);
                align = align.max(more);
                node.remark(&format!("an alignment of {more} bytes is inferred from the gap before it"));
            }
            end = end.max(offset.saturating_add(own.size));
            most = most.max(align);
        }
        Ok(Extent { size: end - start, align: most })
    }

    /// The extent of a member; nothing if the kernel lacks it.
    fn member(&mut self, kind: Kind, node: &mut Node, pack: u64, explain: bool) -> Result<Option<Extent>, Packed> {
        if node.now.is_none() && !node.active(self.target) {
            return Ok(None);
        }
        if let Some(group) = node.group {
            // Members of a named one count from its own start.
            let offset = node.now.as_ref().and_then(|now| now.offset).unwrap_or(0);
            let start = if node.name.is_empty() { offset } else { 0 };
            let inner = self.members(group, &mut node.children, start, pack, explain)?;
            return Ok(Some(Extent { size: inner.size.next_multiple_of(inner.align), align: inner.align }));
        }
        let (ty, size, bits) = match &node.now {
            Some(now) => (now.ty.clone(), now.size.unwrap_or(0), now.bits.is_some()),
            None => (node.type_at(self.target).map(str::to_owned), 0, node.number_at("bits", self.target).is_some()),
        };
        let natural = ty.and_then(|ty| self.ctype(&CType::parse(&ty).ok()?, 0)).unwrap_or(1);
        // Packing does not lower what is more than 8: that is explicit.
        let align = match natural {
            _ if bits && kind == Kind::Union => 1,
            9.. => natural,
            _ => natural.min(pack),
        };
        Ok(Some(Extent { size, align }))
    }

    /// The natural alignment of a type.
    fn ctype(&mut self, ty: &CType, depth: usize) -> Option<u64> {
        match ty {
            _ if depth > 16 => None,
            CType::Pointer { .. } | CType::Function { .. } => Some(self.arch.pointer_size()),
            CType::Array { of, .. } => self.ctype(of, depth + 1),
            CType::Name { name, .. } => {
                if let Some(scalar) = self.spec.scalars.get(name) {
                    return Some(scalar.size.max(1));
                }
                if let Some(typedef) = self.spec.typedefs.get(name) {
                    return self.ctype(&typedef.get(self.target)?.value, depth + 1);
                }
                self.definition(name)
            }
        }
    }
}

/// The least alignment that raises an offset to another.
fn raising(from: u64, to: u64) -> Option<u64> {
    (1..=13).map(|bit| 1 << bit).find(|align| from.checked_next_multiple_of(*align) == Some(to))
}
