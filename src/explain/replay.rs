//! The calls of one implementation in a recording, as a case that the model can go through.

use std::collections::{HashMap, HashSet};

use super::recording::Line;
use super::{Recording, Repair};
use crate::case::{Case, CaseError, Layer, Name, Part, Step};
use crate::spec::Profile;

/// The calls of one implementation.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// Every call that can be made again, and what happened between the calls.
    pub case: Case,
    /// For each step that is a call its number in the recording, from one.
    pub numbers: Vec<Option<usize>>,
    /// The numbers of the calls that are left out, and why.
    pub left_out: Vec<(usize, String)>,
}

impl Replay {
    /// The calls of `api` in `recording`.
    pub fn of(recording: &Recording, api: &str) -> Self {
        // An array says on which device it is, and nothing how many there are.
        let mut replay = Self { case: Case { devices: u32::MAX, ..Case::default() }, ..Self::default() };
        let calls: Vec<_> = recording.calls().collect();
        let mut number = 0;
        for line in &recording.lines {
            let line = match line {
                Line::Clear(scope, _) => {
                    replay.push(Step::Clear(scope.clone()), None);
                    continue;
                }
                Line::Call(line) => line,
            };
            number += 1;
            replay.case.classes.extend(line.classes.clone());
            replay.case.objects.extend(line.objects.clone());
            line.dropped.iter().for_each(|name| replay.push(Step::Drop(name.clone()), None));
            if line.recorded.api != api {
                continue;
            }
            let given = recording.given[number - 1].as_ref().ok().and_then(|place| calls[*place].call.clone());
            if let Some(mut call) = given {
                call.wrapper.clone_from(&line.recorded.wrapper);
                call.effect = line.effect;
                call.raises = line.recorded.observed.error.as_ref().map(|error| error.class.clone());
                replay.push(Step::Call(call), Some(number));
            }
        }
        while replay.leaves_out() {}
        replay
    }

    /// What mends call `second`, which missed `layer` and is nearest to call `first`; both numbers are of the recording.
    pub fn repair(&self, first: usize, second: usize, layer: Layer, profile: &Profile) -> Option<Repair> {
        let place = |number| self.numbers.iter().position(|known| *known == Some(number));
        let (i, j) = (place(first)?, place(second)?);
        let (Step::Call(first), Step::Call(second)) = (self.case.steps.get(i)?, self.case.steps.get(j)?) else {
            return None;
        };
        let between: Vec<_> = self.case.steps.get(i..j)?.iter().filter_map(dropped).collect();
        Repair::of(&self.case, first, second, &between, layer, profile)
    }

    fn push(&mut self, step: Step, number: Option<usize>) {
        self.case.steps.push(step);
        self.numbers.push(number);
    }

    /// Leaves out what is wrong, and says whether there was anything. What remains can be wrong without it.
    fn leaves_out(&mut self) -> bool {
        let (mut named, mut steps): (HashSet<Name>, HashMap<usize, CaseError>) = Default::default();
        for (part, error) in self.case.faults() {
            match part {
                Part::Class(name) | Part::Object(name) => drop(named.insert(name)),
                Part::Step(i) => drop(steps.insert(i, error)),
                Part::Whole => {}
            }
        }
        self.case.classes.retain(|name, _| !named.contains(name));
        self.case.objects.retain(|name, _| !named.contains(name));
        let all = std::mem::take(&mut self.case.steps).into_iter().zip(std::mem::take(&mut self.numbers));
        for (i, (step, number)) in all.enumerate() {
            match (steps.get(&i), number) {
                (None, _) => self.push(step, number),
                (Some(error), Some(number)) => self.left_out.push((number, without_step(i, error))),
                (Some(_), None) => {}
            }
        }
        !(named.is_empty() && steps.is_empty())
    }
}

fn dropped(step: &Step) -> Option<&Name> {
    match step {
        Step::Drop(name) => Some(name),
        _ => None,
    }
}

/// The number of a step says nothing to who reads a recording.
fn without_step(i: usize, error: &CaseError) -> String {
    let text = error.to_string();
    let inside = text.strip_prefix(&format!("step {}", i + 1)).unwrap_or(&text);
    inside.trim_start_matches([',', ':', ' ']).to_owned()
}
