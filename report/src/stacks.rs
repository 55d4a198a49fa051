//! The call stacks of the samples of the profiler, as a tree.

use crate::text::{digits, json_size, shortened};
use etw_layouts_answers::top::Slots;
use etw_layouts_answers::{Frame, FrameKind, Frames, Functions};
use etw_layouts_trace::etl::text::Several;
use etw_layouts_trace::kernel::perfinfo::SampleProf;
use etw_layouts_trace::{Error, Event, Trace};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// A tree of call stacks. The nodes below the root are processes; below them are functions, the outermost first. Consecutive frames of an image
/// whose functions are not known are one node. Samples of the idle process are left out.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Stacks {
    /// Different names.
    pub names: Vec<String>,
    /// Index of the parent of each node; the first node is the root, and its own parent.
    pub parents: Vec<u32>,
    /// Index of the name of each node.
    pub frames: Vec<u32>,
    /// The number of samples in each node itself, by slot.
    pub slots: Vec<Vec<u64>>,
    /// Number of samples in the tree.
    pub samples: u64,
    /// Number of samples of the idle process.
    pub idle: u64,
    /// Number of samples without a call stack: they have the sampled address alone.
    pub without_stack: u64,
    /// Number of frames in images whose functions are not known.
    pub without_function: u64,
}

/// Name of the nodes with the rest.
const OTHERS: &str = "(others)";

/// The node with the samples that have no other node.
const OTHERS_NODE: u32 = 1;

/// Maximum number of nodes, and of slots of all nodes, that are counted separately.
const MAX_NODES: usize = 1 << 16;
const MAX_SLOTS: usize = 1 << 18;

/// Maximum number of nodes in a report, and limit of their size in bytes of JSON.
const MAX_SHOWN: usize = 4000;
const MAX_SIZE: usize = 192 << 10;

/// Maximum number of frames of a call stack; the innermost ones beyond it are left out.
const MAX_DEPTH: usize = 200;

/// A function in the call stack of its callers.
#[derive(Default)]
struct Node {
    parent: u32,
    name: u32,
    slots: Vec<u64>,
}

/// Collects call stacks.
pub(crate) struct StacksBuilder<'t> {
    slots: Slots,
    /// Of each session.
    frames: Vec<Frames<'t>>,
    names: Vec<Arc<str>>,
    name_indices: HashMap<Arc<str>, u32>,
    nodes: Vec<Node>,
    node_indices: HashMap<(u32, u32), u32>,
    /// Number of slots of all nodes.
    slot_count: usize,
    /// Number of stacks that were cut, and of samples beyond the limits.
    cut: u64,
    beyond: u64,
    stacks: Stacks,
}

impl<'t> StacksBuilder<'t> {
    pub fn new(trace: &'t Trace, slots: Slots, functions: &Functions) -> Self {
        let names = (0..trace.sessions().len()).filter_map(|session| trace.names(session));
        let mut new = Self {
            slots,
            frames: names.map(|names| Frames::with_functions(names, functions.clone())).collect(),
            names: Vec::new(),
            name_indices: HashMap::new(),
            nodes: vec![Node::default()],
            node_indices: HashMap::new(),
            slot_count: 0,
            cut: 0,
            beyond: 0,
            stacks: Stacks::default(),
        };
        new.name("all samples");
        new.push(0, OTHERS);
        new
    }

    pub fn add(&mut self, event: &Event<'t>) -> Result<(), Error> {
        let Some(sample) = event.get::<SampleProf>() else { return Ok(()) };
        let by = event.who().by;
        if by.process == Some(0) && by.thread.is_none_or(|thread| thread == 0) {
            self.stacks.idle += 1;
            return Ok(());
        }
        self.stacks.samples += 1;
        let slot = event.relative_time().map_or(0, |time| self.slots.of(time));
        let frames = &mut self.frames[event.session_index()];
        let stack = match frames.of(event)? {
            Some(stack) => stack,
            None => {
                self.stacks.without_stack += 1;
                vec![frames.frame(by.process.unwrap_or_default(), sample.instruction_pointer(), event.tick())?]
            }
        };
        let image = by.index.and_then(|index| event.session().processes().get(index)?.image());
        let process = match (image, by.process) {
            (Some(image), Some(id)) => format!("{image} ({id})"),
            (None, Some(id)) => format!("process {id}"),
            _ => "unknown process".to_owned(),
        };
        self.cut += u64::from(stack.len() > MAX_DEPTH);
        let node = self.node(&process, &stack[stack.len().saturating_sub(MAX_DEPTH)..]).filter(|_| self.slot_count < MAX_SLOTS);
        self.beyond += u64::from(node.is_none());
        let slots = &mut self.nodes[node.unwrap_or(OTHERS_NODE) as usize].slots;
        match slots.chunks_exact_mut(2).rev().find(|slots| slots[0] == u64::from(slot)) {
            Some(count) => count[1] += 1,
            None => {
                slots.extend([slot.into(), 1]);
                self.slot_count += 1;
            }
        }
        Ok(())
    }

    /// The node of a call stack of a process, whose innermost frame is the first; `None` if there are too many nodes.
    fn node(&mut self, process: &str, stack: &[Arc<Frame>]) -> Option<u32> {
        let mut node = self.child(0, process, false)?;
        for frame in stack.iter().rev() {
            let is_module = frame.kind == FrameKind::Module;
            self.stacks.without_function += u64::from(is_module);
            let name = frame.qualified().or_else(|| frame.module_name().map(Cow::Borrowed));
            node = self.child(node, &name.unwrap_or(Cow::Borrowed("(unknown address)")), is_module)?;
            for function in frame.inlined.iter().rev() {
                node = self.child(node, &function.name, false)?;
            }
        }
        Some(node)
    }

    /// The node of a function that a node calls. An image is one node until another function follows.
    fn child(&mut self, parent: u32, name: &str, is_module: bool) -> Option<u32> {
        let short = shortened(name);
        if is_module && *self.names[self.nodes[parent as usize].name as usize] == *short {
            return Some(parent);
        }
        let known = self.name_indices.get(&*short).and_then(|name| self.node_indices.get(&(parent, *name)));
        known.copied().or_else(|| (self.nodes.len() < MAX_NODES).then(|| self.push(parent, &short)))
    }

    fn push(&mut self, parent: u32, name: &str) -> u32 {
        let (name, node) = (self.name(name), self.nodes.len() as u32);
        self.nodes.push(Node { parent, name, slots: Vec::new() });
        self.node_indices.insert((parent, name), node);
        node
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(index) = self.name_indices.get(name) {
            return *index;
        }
        let (name, index): (Arc<str>, _) = (name.into(), self.names.len() as u32);
        self.names.push(name.clone());
        self.name_indices.insert(name, index);
        index
    }

    /// The tree, in which small nodes are parts of nodes with the name [`OTHERS`].
    pub fn finish(self, reduced: &mut Vec<String>) -> Stacks {
        let own: Vec<u64> = self.nodes.iter().map(|node| node.slots.chunks_exact(2).map(|slot| slot[1]).sum()).collect();
        let mut totals = own;
        // Parents come before their children.
        for node in (1..self.nodes.len()).rev() {
            totals[self.nodes[node].parent as usize] += totals[node];
        }
        let mut least = 1;
        let mut tree = self.tree(&totals, least);
        while !fits(&tree) {
            least *= 2;
            tree = self.tree(&totals, least);
        }
        let folded = totals.iter().skip(1).filter(|total| (1..least).contains(*total)).count() as u64;
        if folded > 0 {
            reduced.push(format!(
                "Call stacks: {} with fewer than {} folded into \"{OTHERS}\".",
                Several(folded, "node"),
                Several(least, "sample")
            ));
        }
        if self.cut > 0 {
            reduced.push(format!("Call stacks: {} cut to the {MAX_DEPTH} outermost frames.", Several(self.cut, "stack")));
        }
        if self.beyond > 0 {
            reduced.push(format!(
                "Call stacks: {} in \"{OTHERS}\", because there are more stacks than are kept.",
                Several(self.beyond, "sample")
            ));
        }
        Stacks { names: tree.names, parents: tree.parents, frames: tree.frames, slots: tree.slots, ..self.stacks }
    }

    /// The tree in which nodes with fewer samples than `least` are parts of others.
    fn tree(&self, totals: &[u64], least: u64) -> Stacks {
        let is_shown = |node: usize| node == 0 || totals[node] >= least;
        let mut out = Stacks::default();
        let mut texts = HashMap::new();
        // The place of each node in the report. That of a folded node is the node that stands for it.
        let mut places = vec![0; self.nodes.len()];
        let mut others = HashMap::new();
        let others_name = self.nodes[OTHERS_NODE as usize].name;
        for (node, Node { parent, name, slots }) in self.nodes.iter().enumerate() {
            let mut add = |parent: u32, name: u32| {
                let text = *texts.entry(name).or_insert_with(|| {
                    out.names.push(self.names[name as usize].to_string());
                    (out.names.len() - 1) as u32
                });
                out.parents.push(parent);
                out.frames.push(text);
                out.slots.push(Vec::new());
                (out.parents.len() - 1) as u32
            };
            let above = places[*parent as usize];
            places[node] = if node == 0 {
                add(0, *name)
            } else if totals[node] == 0 || !is_shown(*parent as usize) {
                above
            } else if is_shown(node) && node != OTHERS_NODE as usize {
                add(above, *name)
            } else {
                *others.entry(above).or_insert_with(|| add(above, others_name))
            };
            for slot in slots.chunks_exact(2) {
                add_to(&mut out.slots[places[node] as usize], slot[0], slot[1]);
            }
        }
        out
    }
}

/// Whether a tree is within the limits of a report.
fn fits(tree: &Stacks) -> bool {
    let names: usize = tree.names.iter().map(|name| json_size(name)).sum();
    let slots: usize = tree.slots.iter().map(|slots| 16 + slots.iter().map(|number| digits(*number)).sum::<usize>()).sum();
    tree.slots.len() <= MAX_SHOWN && names + slots <= MAX_SIZE
}

/// Adds to the number in a slot. Numbers are in the order of slots.
fn add_to(slots: &mut Vec<u64>, slot: u64, count: u64) {
    let at = slots.chunks_exact(2).position(|known| known[0] >= slot).map_or(slots.len(), |index| index * 2);
    if slots.get(at) == Some(&slot) {
        slots[at + 1] += count;
    } else {
        slots.splice(at..at, [slot, count]);
    }
}
