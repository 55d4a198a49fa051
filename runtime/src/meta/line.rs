//! How a layout is chosen for a build: the one state machine, for metadata at run time and for the commands alike.

use super::axis::Build;
use super::standing::{Absent, Standing};

/// The kernels of one architecture, and what is known of one structure along them. Builds are those of the version axis: of those
/// that are the same kernel, the one that it names.
pub trait Line {
    /// A kernel of the version axis.
    type Kernel: Copy;
    /// A layout.
    type Layout: Copy + PartialEq;

    /// The kernels of the version axis, oldest first.
    fn kernels(&self) -> impl Iterator<Item = (Build, Self::Kernel)> + Clone;

    /// The newest build of the version axis, of any architecture.
    fn newest(&self) -> Option<Build>;

    /// The layout at a kernel; none if it does not have the structure.
    fn layout(&self, kernel: Self::Kernel) -> Option<Self::Layout>;

    /// The kernels of a build that were seen, in any order, and what was seen of the structure.
    fn seen(&self, number: [u32; 3]) -> impl Iterator<Item = (Build, Evidence)>;
}

/// What a witness says of a structure, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// It is a whole symbol table, and does not hold the structure.
    Lacks,
    /// It shows some members.
    Partly,
    /// It holds the structure, and was converted from another form.
    Converted,
    /// It holds the structure.
    Symbols,
}

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen<K, L> {
    /// The kernel of the version axis whose layout it is.
    pub kernel: K,
    /// The layout.
    pub layout: L,
    /// The kernel and layout of a neighbour that has another one.
    pub other: Option<(K, L)>,
    /// How sure the layout is.
    pub standing: Standing,
}

/// The kernel of an axis whose layouts a build has: of the same build the last at or before it, or the first; for a build that the axis
/// does not have, the first release of the one before, since its updates are a branch that others do not follow.
///
/// # Errors
///
/// There is no such kernel.
pub fn place<K>(
    build: Build,
    mut kernels: impl Iterator<Item = (Build, K)> + Clone,
    newest: Option<Build>,
) -> Result<(Build, K), Absent> {
    let mut own = kernels.clone().filter(|(kernel, _)| kernel.number == build.number);
    if let Some(found) = own.clone().take_while(|(kernel, _)| *kernel <= build).last().or_else(|| own.next()) {
        return Ok(found);
    }
    let Some((first, _)) = kernels.clone().next() else { return Err(Absent::Arch) };
    let Some((older, _)) = kernels.clone().take_while(|(kernel, _)| *kernel < build).last() else {
        return Err(Absent::Older { first });
    };
    let ends = |(newest, older): (Build, Build)| newest.number > older.number;
    if !kernels.clone().any(|(kernel, _)| kernel > build) && newest.is_some_and(|newest| ends((newest, older))) {
        return Err(Absent::Newer { last: older });
    }
    kernels.find(|(kernel, _)| kernel.number == older.number).ok_or(Absent::Older { first })
}

/// The layout for a build, and how sure it is.
///
/// # Errors
///
/// There is no such kernel, or it does not have the structure.
pub fn choose<S: Line>(line: &S, build: Build) -> Result<Chosen<S::Kernel, S::Layout>, Absent> {
    let at = |build| place(build, line.kernels(), line.newest());
    let has = |build| at(build).ok().and_then(|(_, kernel)| Some((kernel, line.layout(kernel)?)));
    let (row, kernel) = at(build)?;
    let layout = line.layout(kernel);
    let is_other = |there: Option<(S::Kernel, S::Layout)>| there.map(|(_, layout)| layout) != layout;

    // Of the kernels of this build whose symbols tell of the structure, the nearest before and after.
    let (mut own, mut older, mut newer, mut lacks) = (None, None, None, false);
    for (seen, evidence) in line.seen(build.number) {
        if seen == build {
            own = own.max(Some(evidence));
            continue;
        }
        lacks |= evidence == Evidence::Lacks;
        let tells = match evidence {
            Evidence::Symbols | Evidence::Converted => true,
            Evidence::Partly => false,
            Evidence::Lacks => has(seen).is_none(),
        };
        match tells {
            true if seen < build => older = older.max(Some((seen, evidence))),
            // Of several witnesses of a kernel the one that says the most counts.
            true if newer.is_none_or(|(nearest, known)| seen < nearest || (seen == nearest && evidence > known)) => {
                newer = Some((seen, evidence));
            }
            true => {}
            false => {}
        }
    }
    let whole =
        [older, newer].iter().all(|side: &Option<(Build, Evidence)>| side.is_some_and(|(_, said)| said == Evidence::Symbols));
    let [older, newer] = [older, newer].map(|side| side.map(|(seen, _)| seen));
    let [before, after] = [older, newer].map(|side| side.and_then(has));
    let mut sides = [before, after];
    let standing = match (own, older, newer) {
        (Some(Evidence::Symbols), ..) => Standing::Proven,
        (Some(Evidence::Converted), ..) => Standing::Converted,
        (Some(Evidence::Partly), ..) if row.number == build.number => Standing::Partly,
        (Some(Evidence::Lacks), ..) => Standing::NotCheckable,
        (_, Some(older), Some(newer)) => match is_other(before) || is_other(after) {
            false if whole => Standing::Agree { older, newer },
            false => Standing::Alike { older, newer },
            true => Standing::Differ { older, newer },
        },
        (_, Some(last), None) => Standing::Later { last },
        (_, None, Some(first)) => Standing::Earlier { first },
        (_, None, None) if lacks => Standing::NotCheckable,
        (_, None, None) if row.number == build.number => Standing::Stated,
        (_, None, None) => {
            let newer = line.kernels().find(|(kernel, _)| *kernel > build);
            let after = newer.and_then(|(_, kernel)| Some((kernel, line.layout(kernel)?)));
            sides = [None, after];
            let newer = newer.map(|(build, _)| build);
            match own {
                // The offsets that its image shows are those of one of its neighbours: of which, only tells where both have one layout.
                Some(_) if newer.is_none() || !is_other(after) => Standing::Partly,
                _ => Standing::Unseen { older: row, newer, same: newer.is_some() && !is_other(after) },
            }
        }
    };
    let Some(layout) = layout else { return Err(Absent::Structure { standing }) };
    let [before, after] = sides.map(|side| side.filter(|_| !standing.is_confirmed() && is_other(side)));
    Ok(Chosen { kernel, layout, other: after.or(before), standing })
}
