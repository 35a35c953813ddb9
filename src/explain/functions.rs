//! Which calls of a recording are of one function.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::inside::reference;
use super::methods::Methods;
use super::outside::unnumbered;
use super::recording::{Line, Recorded, Recording};
use crate::case::{ClearScope, Form, Name, Value, Wrapper};

/// So many wrappers, one after the other, are made by a loop.
const IN_A_LOOP: usize = 3;

impl Recording {
    /// For each call the number of its function. Functions that are made in one place are told apart by their wrappers: a new
    /// one is another function, unless it takes the place of one that is gone, and no cache was cleared in between.
    fn numbered_functions(&self) -> Vec<usize> {
        let mut numbers = Vec::new();
        let (closed_over, branches, jitted, owners) =
            (self.closed_over(), self.branches(), self.jitted(), self.owners());
        // With the wrapper, and how often caches had been cleared when it was called last.
        let mut made: HashMap<_, Vec<(Option<&Name>, usize, usize)>> = HashMap::new();
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
            let known = here.iter().position(|(other, ..)| *other == wrapper);
            let is_left = |(other, _, last): &(Option<&Name>, usize, usize)| {
                *last == cleared && other.is_some_and(|other| gone.contains(other))
            };
            let place = known.or_else(|| here.iter().position(is_left)).unwrap_or_else(|| {
                here.push((wrapper, count, cleared));
                count += 1;
                here.len() - 1
            });
            (here[place].0, here[place].2) = (wrapper, cleared);
            numbers.push(here[place].1);
        }
        numbers
    }

    /// For each call the class of the object whose method its function is: that of a library's class is another one of each.
    fn owners(&self) -> Vec<Option<&str>> {
        let (methods, calls) = (Methods::of(self), self.calls().collect::<Vec<_>>());
        let owner = |i| self.described(&calls, i).and_then(|call| methods.class(methods.called(call)?));
        // Of a call that has no description, what another one of its wrapper says.
        let of_wrappers: HashMap<&Name, &str> =
            (0..calls.len()).filter_map(|i| Some((calls[i].wrapper.as_ref()?, owner(i)?))).collect();
        let of_wrapper = |i: usize| calls[i].wrapper.as_ref().and_then(|wrapper| of_wrappers.get(wrapper).copied());
        (0..calls.len()).map(|i| owner(i).or_else(|| of_wrapper(i))).collect()
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
        let (closed_over, owners) = (self.closed_over(), self.owners());
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
                    let here =
                        made.entry((cleared, api, called, name, at, (&closed_over[calls], owners[calls]))).or_default();
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
