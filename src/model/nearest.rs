//! Which earlier key is nearest to one that wasn't found: the one by which a miss is explained.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::ControlFlow;

use super::called::body;
use super::difference::{ABSENT, Difference, STATIC_ARGUMENT, STATIC_VALUE, leave_out_what_is_inside};
use super::distance::BUILT_OTHERWISE;
use super::facet::SHAPE;
use super::key::Key;
use super::object::{Kind, Obj};
use super::parts::{PROGRAM, Part};
use super::python;
use super::side_by_side::{Met, are_no_less, is_of_leaves, side_by_side};
use super::table::{NEVER_FAST, Program};
use crate::case::Name;
use crate::spec::Table;

/// What follows the value of an argument that is that of its parameter's default.
const ITS_DEFAULT: &str = ", its default";

/// How many more keys are looked at, beside one that differs in a shape or a static value alone.
const BESIDE_WHAT_IS_MEANT: usize = 64;

/// An entry that is nearest to a key that wasn't found.
pub struct Nearest {
    /// The call that filed it.
    pub call: usize,
    pub program: Program,
    /// How the keys differ.
    pub differences: Vec<Difference>,
}

/// An earlier key, and what is known of the call that has left something under it.
pub(super) struct Candidate<'k> {
    pub key: &'k Key,
    pub call: usize,
    pub program: Program,
    /// Whether that left a jaxpr alone, where this call asks for more.
    pub is_traced_alone: bool,
    /// How much else the two calls have in common.
    pub alike: usize,
    /// That it is of another function, which looks the same.
    pub other: Option<&'k Difference>,
}

/// How far a key is from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    standing: Standing,
    /// How much differs.
    far: usize,
    /// How much of that is often meant: shapes and static values, but for objects that look the same and were made anew.
    meant: usize,
    /// How many are such objects.
    anew: Reverse<usize>,
}

/// What counts more than how much differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Standing {
    /// Whether its call left no program.
    left_nothing: bool,
    /// Whether it left none below the trace.
    is_traced_alone: bool,
    /// Whether all that differs is the program above, which says nothing, as a call that failed left nothing to be found.
    says_nothing: bool,
    /// Whether that differs, among others.
    is_of_another_trace: bool,
    /// How far its function is from being the same, where that is an argument like any other.
    of_another: u8,
    alike: Reverse<usize>,
}

impl Rank {
    /// Whether one thing differs, and all the rest is the same.
    fn is_all_but_equal(&self) -> bool {
        let same = Standing {
            left_nothing: false,
            is_traced_alone: false,
            says_nothing: false,
            is_of_another_trace: false,
            of_another: 0,
            alike: Reverse(0),
        };
        self.standing == same && self.far == 1
    }
}

struct Best {
    rank: Rank,
    nearest: Nearest,
    /// Where it differs, if no key that differs there and elsewhere can be nearer.
    met: Option<Vec<Met>>,
}

impl Best {
    /// Whether a key of a later or earlier call is nearer.
    fn is_farther_than(&self, rank: &Rank, call: usize, differences: &[Difference]) -> bool {
        let (is_like, own) = (rank.standing == self.rank.standing, &self.nearest.differences);
        // However much a part has lost, another key that differs in it and elsewhere is farther.
        if is_like && is_less(differences, own) {
            true
        } else if is_like && is_less(own, differences) {
            false
        } else {
            (rank, Reverse(call)) < (&self.rank, Reverse(self.nearest.call))
        }
    }
}

/// The search for the key that is nearest to `key`, the last of several.
pub(super) struct Search<'k> {
    key: &'k Key,
    table: &'k Table,
    /// What the parameters of the function are if they aren't given, as texts: of those whose text says all of them.
    defaults: Vec<(Name, String)>,
    parts: Vec<Part<'k>>,
    best: Option<Best>,
    /// How many more keys are to be looked at.
    left: usize,
}

impl<'k> Search<'k> {
    pub fn new(function: &Obj, key: &'k Key, table: &'k Table) -> Self {
        let defaults = match &**body(function) {
            Kind::Function(function) => {
                let defaults = function.defaults.borrow();
                let is_said_whole = |value: &Obj| {
                    matches!(**value, Kind::None | Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) | Kind::Str(_))
                };
                let said = defaults.iter().filter(|(_, value)| is_said_whole(value));
                said.map(|(name, value)| (name.clone(), python::repr(value))).collect()
            }
            _ => Vec::new(),
        };
        Self { key, table, defaults, parts: key.parts(table), best: None, left: usize::MAX }
    }

    /// Looks at an earlier key; those of the last calls come first. Breaks where none of the rest can be nearer.
    pub fn look_at(&mut self, one: &Candidate<'_>) -> ControlFlow<()> {
        let Self { key, table, .. } = *self;
        let before = one.key.parts(table);
        let met = side_by_side(&before, &self.parts, table);
        let placed =
            met.as_deref().filter(|met| is_of_leaves(met, &self.parts) && !key.is_asked_otherwise(one.key, table));
        let is_no_nearer = placed.is_some_and(|met| self.is_no_nearer(one, met));
        if is_no_nearer && !cfg!(test) {
            return self.go_on();
        }
        let (found, far) = key.differences(&self.parts, one.key, &before, met.as_deref(), table);
        let says_all = placed.is_some_and(|met| met.len() == far);
        let mut differences: Vec<_> = one.other.into_iter().cloned().chain(found).collect();
        // Another function can have had another default.
        let of_it = differences.iter_mut().filter(|_| one.other.is_none());
        let given = of_it.map(|found| usize::from(self.names_a_default(found))).sum::<usize>();
        let is_often_meant = |found: &&Difference| {
            [SHAPE, STATIC_VALUE, STATIC_ARGUMENT].contains(&&*found.component)
                && !found.looks_the_same()
                && ![&found.before, &found.after].iter().any(|text| text.ends_with(ITS_DEFAULT))
        };
        // Of a loop whose functions were traced anew that is what would be the same if they were kept.
        let follows = self.key.is_of_other_jaxprs(one.key).is_some() && differences.iter().any(is_program);
        let rank = Rank {
            standing: self.standing(one, &differences),
            // The two calls mean the same.
            far: far + usize::from(one.other.is_some()) - usize::from(follows) - given * (BUILT_OTHERWISE - 1),
            meant: differences.iter().filter(is_often_meant).count(),
            anew: Reverse(differences.iter().filter(|found| found.looks_the_same()).count()),
        };
        leave_out_what_is_inside(&mut differences);
        if rank.is_all_but_equal() {
            // None of the rest, which are of earlier calls, can be nearer, but one that differs in what isn't meant.
            self.left = if rank.meant == 0 { 0 } else { self.left.min(BESIDE_WHAT_IS_MEANT) };
        }
        let is_nearer = self.best.as_ref().is_none_or(|best| best.is_farther_than(&rank, one.call, &differences));
        debug_assert!(!(is_nearer && is_no_nearer), "{differences:?}");
        if is_nearer {
            let nearest = Nearest { call: one.call, program: one.program, differences };
            self.best = Some(Best { rank, nearest, met: met.filter(|_| says_all) });
        }
        self.go_on()
    }

    /// The nearest one of those that were looked at.
    pub fn found(self) -> Option<Nearest> {
        let mut nearest = self.best?.nearest;
        self.key.leave_out_widths(&mut nearest.differences, self.table);
        Some(nearest)
    }

    /// Says of a static argument that one of the calls is given, and the other isn't, that it is what it would be anyway; whether it is.
    fn names_a_default(&self, found: &mut Difference) -> bool {
        let Difference { path, component, before, after } = found;
        let given = match (component == STATIC_ARGUMENT, before == ABSENT, after == ABSENT) {
            (true, true, false) => after,
            (true, false, true) => before,
            _ => return false,
        };
        let is_default = self.defaults.iter().any(|(name, default)| name.as_str() == path && default == given);
        if is_default {
            given.push_str(ITS_DEFAULT);
        }
        is_default
    }

    fn go_on(&mut self) -> ControlFlow<()> {
        match self.left.checked_sub(1) {
            None => ControlFlow::Break(()),
            Some(left) => {
                self.left = left;
                ControlFlow::Continue(())
            }
        }
    }

    /// Whether it differs where the nearest one does, and elsewhere, so that it can't be nearer.
    fn is_no_nearer(&self, one: &Candidate<'_>, met: &[Met]) -> bool {
        let Some(Best { rank, nearest, met: Some(known) }) = &self.best else { return false };
        let at_best = Standing {
            left_nothing: one.program == NEVER_FAST,
            is_traced_alone: one.is_traced_alone,
            is_of_another_trace: self.key.is_of_other_jaxprs(one.key).unwrap_or(rank.standing.is_of_another_trace),
            alike: Reverse(one.alike),
            ..rank.standing
        };
        met.len() > 1 && one.call <= nearest.call && at_best >= rank.standing && are_no_less(met, known)
    }

    fn standing(&self, one: &Candidate<'_>, differences: &[Difference]) -> Standing {
        let of_another = || differences.iter().map(of_another).max().unwrap_or_default();
        Standing {
            left_nothing: one.program == NEVER_FAST,
            is_traced_alone: one.is_traced_alone,
            says_nothing: self.key.primitive.is_none() && differences.iter().all(is_program),
            is_of_another_trace: self
                .key
                .is_of_other_jaxprs(one.key)
                .unwrap_or_else(|| differences.iter().any(is_program)),
            // Where the function is an argument like any other, keys of its own say more than those of another.
            of_another: if self.table.function.is_none() { of_another() } else { 0 },
            alike: Reverse(one.alike),
        }
    }
}

fn is_program(found: &Difference) -> bool {
    found.component == PROGRAM
}

/// How far a function is from another, by a difference of what `filter_jit` has among the arguments: 1 for one that was made anew, 2
/// for another one or one that is built otherwise.
fn of_another(difference: &Difference) -> u8 {
    match difference.is_the_function() {
        false => 0,
        true if difference.looks_the_same() => 1,
        true => 2,
    }
}

/// Whether these are at some of the places of the others, and those at more.
fn is_less(some: &[Difference], others: &[Difference]) -> bool {
    some.len() < others.len() && {
        let places: HashSet<_> = others.iter().map(|found| (&found.path, &found.component)).collect();
        some.iter().all(|found| places.contains(&(&found.path, &found.component)))
    }
}
