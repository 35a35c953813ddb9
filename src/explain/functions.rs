//! Which calls of a recording are of one function.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::inside::reference;
use super::methods::Methods;
use super::outside::unnumbered;
use super::recording::{Line, Recorded, Recording};
use crate::case::{ClearScope, Form, MethodForm, Name, Value, Wrapper};

/// So many wrappers, one after the other, are made by a loop.
const IN_A_LOOP: usize = 3;

/// One of the functions that are made in a place.
#[derive(Clone, Copy)]
struct Made<'r> {
    wrapper: Option<&'r Name>,
    /// Whose method it is.
    object: Option<&'r str>,
    number: usize,
    /// How often caches had been cleared when it was called last.
    cleared: usize,
}

impl Recording {
    /// For each call the number of its function. Functions that are made in one place are told apart by their wrappers: a new
    /// one is another function, unless it takes the place of one that is gone, and no cache was cleared in between. That of an
    /// object's method takes no other object's place where the object has one.
    fn numbered_functions(&self) -> Vec<usize> {
        let mut numbers = Vec::new();
        let (closed_over, branches, jitted, owners) =
            (self.closed_over(), self.branches(), self.jitted(), self.owners(Methods::class));
        let objects = self.owners(Methods::object);
        let mut made: HashMap<_, Vec<Made<'_>>> = HashMap::new();
        let (mut gone, mut count, mut cleared): (HashSet<&Name>, usize, usize) = Default::default();
        for line in &self.lines {
            let line = match line {
                Line::Call(line) => line,
                Line::Clear(scope, _) => {
                    cleared += usize::from(*scope == ClearScope::Jax);
                    continue;
                }
                Line::Aside(_) | Line::Beside(_) => continue,
            };
            gone.extend(&line.ended);
            let Recorded { api, called, name, at, wrapper, .. } = &line.recorded;
            let call = numbers.len();
            let made_of = (&closed_over[call], branches[call], jitted[call], owners[call]);
            let (here, wrapper) = (made.entry((api, called, name, at, made_of)).or_default(), wrapper.as_ref());
            let known = here.iter().position(|made| made.wrapper == wrapper);
            let object = objects[call];
            let has_its_own = object.is_some() && here.iter().any(|made| made.object == object);
            let is_left = |made: &Made<'_>| {
                made.cleared == cleared
                    && made.wrapper.is_some_and(|other| gone.contains(other))
                    && (!has_its_own || made.object == object)
            };
            let place = known.or_else(|| here.iter().position(is_left)).unwrap_or_else(|| {
                here.push(Made { wrapper, object, number: count, cleared });
                count += 1;
                here.len() - 1
            });
            here[place] = Made { wrapper, object, cleared, ..here[place] };
            numbers.push(here[place].number);
        }
        numbers
    }

    /// For each call what is asked of its function, if that is a method: the class of the object, say, since that of a library's class
    /// is another one of each.
    fn owners<'r>(&'r self, asked: impl Fn(&Methods<'r>, &'r MethodForm) -> Option<&'r str>) -> Vec<Option<&'r str>> {
        let (methods, calls) = (Methods::of(self), self.calls().collect::<Vec<_>>());
        let owner = |i| self.described(&calls, i).and_then(|call| asked(&methods, methods.called(call)?));
        // Of a call that has no description, what another one of its wrapper says.
        let of_wrappers: HashMap<&Name, &str> =
            (0..calls.len()).filter_map(|i| Some((calls[i].wrapper.as_ref()?, owner(i)?))).collect();
        let of_wrapper = |i: usize| calls[i].wrapper.as_ref().and_then(|wrapper| of_wrappers.get(wrapper).copied());
        (0..calls.len()).map(|i| owner(i).or_else(|| of_wrapper(i))).collect()
    }

    /// For each call the object whose method its function is, if several wrappers are of that one's: a loop that makes them makes none
    /// of another object's.
    fn with_several(&self) -> Vec<Option<&str>> {
        let owners = self.owners(Methods::object);
        let mut wrappers: HashMap<&str, HashSet<Option<&Name>>> = HashMap::new();
        for (owner, call) in owners.iter().zip(self.calls()) {
            owner.iter().for_each(|owner| _ = wrappers.entry(owner).or_default().insert(call.wrapper.as_ref()));
        }
        owners.into_iter().map(|owner| owner.filter(|owner| wrappers[owner].len() > 1)).collect()
    }

    /// For each call whether its function was jitted already: it is another one than what is in it.
    fn jitted(&self) -> Vec<bool> {
        let objects: HashMap<_, _> = self.news().flat_map(|news| &news.objects).collect();
        let calls: Vec<_> = self.calls().collect();
        let is_jitted = |i: usize| {
            let function = self.described(&calls, i).and_then(|call| call.function.as_ref())?;
            let object = reference(function).and_then(|name| objects.get(name)).copied().unwrap_or(function);
            Some(matches!(object, Value::Form(form) if matches!(&**form, Form::Wrap(wrap) if wrap.by == Wrapper::Jit)))
        };
        (0..calls.len()).map(|i| is_jitted(i).unwrap_or_default()).collect()
    }

    /// For each call the functions that its own ones close over: a helper that makes loops or wrappers of what it is given makes another
    /// one of each.
    fn closed_over(&self) -> Vec<Vec<&str>> {
        let reads: HashMap<&str, &IndexMap<String, String>> =
            self.news().flat_map(|news| &news.outside).map(|(name, it)| (name.as_str(), it)).collect();
        let calls: Vec<_> = self.calls().collect();
        let of_call = |(i, recorded): (usize, &&Recorded)| {
            let given = self.described(&calls, i);
            let args = given.filter(|_| recorded.api.starts_with("lax.")).into_iter().flat_map(|call| &call.args);
            let function = given.and_then(|call| call.function.as_ref());
            let named = args.chain(function).filter_map(reference);
            let read = named.filter_map(|name| reads.get(name.as_str())).flat_map(|reads| reads.values());
            read.map(|text| unnumbered(text).0).filter(|text| is_of_a_function(text)).collect()
        };
        calls.iter().enumerate().map(of_call).collect()
    }

    /// For each `lax.switch` how many branches it has: one with more of them is another program, and none that was made anew.
    fn branches(&self) -> Vec<usize> {
        let calls: Vec<_> = self.calls().collect();
        let of_call = |(i, recorded): (usize, &&Recorded)| {
            let given = self.described(&calls, i).filter(|_| recorded.api == "lax.switch");
            given.and_then(|call| call.args.get(1)).map_or(0, |branches| branches.children().into_iter().count())
        };
        calls.iter().enumerate().map(of_call).collect()
    }

    /// The same, and where a place makes wrapper after wrapper, each used up before the next, they are one function: what is in a
    /// cycle of references is gone whenever Python looks for such. What is there as the program ends is kept, and no such.
    pub(super) fn functions(&self) -> Vec<usize> {
        let mut numbers = self.numbered_functions();
        let (closed_over, owners, several) = (self.closed_over(), self.owners(Methods::class), self.with_several());
        let mut made: HashMap<_, IndexMap<Option<&Name>, (usize, usize)>> = HashMap::new();
        let (mut cleared, mut calls) = (0, 0);
        let mut kept: HashSet<&Name> = HashSet::new();
        for line in &self.lines {
            match line {
                Line::Clear(scope, _) => cleared += usize::from(*scope == ClearScope::Jax),
                Line::Aside(line) => kept.extend(&line.kept),
                Line::Beside(_) => {}
                Line::Call(line) => {
                    let Recorded { api, called, name, at, wrapper, .. } = &line.recorded;
                    let made_of = (&closed_over[calls], owners[calls], several[calls]);
                    let here = made.entry((cleared, api, called, name, at, made_of)).or_default();
                    here.entry(wrapper.as_ref()).or_insert((calls, calls)).1 = calls;
                    calls += 1;
                }
            }
        }
        for here in made.into_values().filter(|here| here.len() >= IN_A_LOOP) {
            let all: Vec<_> = here.into_iter().collect();
            // One within which others are made is kept as well, and the last one may be.
            let is_used_up = |(i, (wrapper, span)): &(usize, &(Option<&Name>, (usize, usize)))| {
                let is_kept = wrapper.is_some_and(|wrapper| kept.contains(wrapper));
                all.get(i + 1).is_none_or(|(_, next)| span.1 < next.0 && !is_kept)
            };
            let spans: Vec<_> = all.iter().enumerate().filter(is_used_up).map(|(_, (_, span))| *span).collect();
            if spans.len() >= IN_A_LOOP {
                let (first, rest) = (numbers[spans[0].0], spans.iter().map(|(call, _)| numbers[*call]));
                let merged: HashSet<usize> = rest.collect();
                numbers.iter_mut().filter(|number| merged.contains(number)).for_each(|number| *number = first);
            }
        }
        numbers
    }
}

/// Whether what is read from outside is a function, as a recording writes one: `step at a.py:3`, in an object perhaps.
fn is_of_a_function(text: &str) -> bool {
    let ends_so = |rest: &str| rest.trim_end_matches('>').ends_with(|c: char| c.is_ascii_digit());
    !text.starts_with(['\'', '"'])
        && text.rsplit_once(" at ").is_some_and(|(_, rest)| rest.contains(':') && ends_so(rest))
}
