//! The calls of one implementation in a recording, as a case that the model can go through.

use std::collections::{HashMap, HashSet};

use super::recording::{Aside, Line, News};
use super::{Recording, Repair, Untried};
use crate::case::{Call, Case, CaseError, Form, Layer, Name, Part, Step, Value};
use crate::spec::Profile;

/// The calls of one implementation.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// Every call that can be made again, and what happened between the calls.
    pub case: Case,
    /// What each step is in the recording.
    pub origins: Vec<Origin>,
    /// The numbers of the calls that are left out, and why.
    pub left_out: Vec<(usize, String)>,
    /// The arrays that have no buffers any more.
    gone: HashSet<Name>,
}

/// Where a step comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The call of that number, from one.
    Call(usize),
    /// A call of which nothing was observed, made after so many calls had begun, and inside of the trace of the call of that number.
    Aside { after: usize, inside: Option<usize> },
    /// A call before the recording that was given what the call of that number is, which has found what that left.
    Before(usize),
    /// What happened between calls.
    Event,
}

/// What is raised for an array without buffers.
const GONE: [&str; 2] = ["RuntimeError", "ValueError"];

impl Replay {
    /// The calls of `api` in `recording`.
    pub fn of(recording: &Recording, api: &str) -> Self {
        // An array says on which device it is, and nothing how many there are.
        let mut replay = Self { case: Case { devices: u32::MAX, ..Case::default() }, ..Self::default() };
        let calls: Vec<_> = recording.calls().collect();
        let described = |number: usize| recording.described(&calls, number - 1).cloned();
        let mut number = 0;
        let mut unused: HashMap<Option<Name>, Vec<usize>> = HashMap::new();
        for line in &recording.lines {
            let line = match line {
                Line::Clear(scope, _) => {
                    replay.push(Step::Clear(scope.clone()), Origin::Event);
                    continue;
                }
                Line::Aside(line) => {
                    replay.learn(&line.news);
                    let Some(Aside { api: of, wrapper, call, again, via, inside }) = &line.aside else { continue };
                    let earlier = || again.and_then(|again| recording.place(again));
                    let wrapper = wrapper.as_ref().or_else(|| calls[earlier()?].wrapper.as_ref());
                    let given = call.clone().or_else(|| described(earlier()? + 1)).filter(|_| of == api);
                    if let Some(call) = given {
                        let later = earlier().map(|place| place + 1).filter(|place| *place > number);
                        let mut call = Call { wrapper: wrapper.cloned(), via: via.unwrap_or(call.via), ..call };
                        if later.is_some() {
                            // What its body read nobody has seen.
                            call.reads.clear();
                            call.reads_each.clear();
                        }
                        replay.push(
                            Step::Call(call),
                            later.map_or(Origin::Aside { after: number, inside: *inside }, Origin::Before),
                        );
                    }
                    continue;
                }
                Line::Beside(_) => continue,
                Line::Call(line) => line,
            };
            number += 1;
            replay.learn(&line.news);
            if line.recorded.api != api {
                continue;
            }
            if let Some(mut call) = described(number) {
                call.wrapper.clone_from(&line.recorded.wrapper);
                call.effect = line.effect;
                call.traced_with_any = line.recorded.any_jaxpr;
                call.loaded = line.loaded;
                // A call that is served at once has the program of one before.
                let of_wrapper = unused.entry(line.recorded.wrapper.clone()).or_default();
                let is_known = line.recorded.transformed.is_none() && !line.unused.is_empty();
                if is_known || line.recorded.observed.missed.contains(Layer::Dispatch) {
                    of_wrapper.clone_from(&line.unused);
                }
                call.unused.clone_from(of_wrapper);
                call.fails_as_it_runs = line.recorded.raised_as_it_ran();
                // What has no buffers is looked up as if it had.
                let is_gone = call.args.iter().chain(call.kwargs.values()).any(|value| replay.is_gone(value));
                let is_for_want = |class: &String| is_gone && GONE.contains(&class.as_str());
                let raised = line.recorded.raised_before_it_ran().filter(|class| !is_for_want(class));
                match line.recorded.fails_at() {
                    Some(layer) => call.fails_at = raised.map(|class| (layer, class)),
                    None => call.raises = raised,
                }
                call.reads_no_gone = is_gone && line.recorded.observed.error.is_none();
                replay.push(Step::Call(call), Origin::Call(number));
            }
        }
        while replay.leaves_out() {}
        replay
    }

    /// What mends call `second`, which missed `layer` and is nearest to call `first`; both numbers are of the recording.
    pub fn repair(&self, first: usize, second: usize, layer: Layer, profile: &Profile) -> Result<Repair, Untried> {
        let place = |number| self.origins.iter().position(|known| *known == Origin::Call(number));
        let (i, j) = place(first).zip(place(second)).filter(|(i, j)| i < j).ok_or(Untried::Unknown)?;
        let (Step::Call(first), Step::Call(second)) = (&self.case.steps[i], &self.case.steps[j]) else {
            return Err(Untried::Unknown);
        };
        let between: Vec<_> = self.case.steps[i..j].iter().filter_map(dropped).collect();
        Repair::of(&self.case, first, second, &between, layer, profile)
    }

    fn learn(&mut self, news: &News) {
        self.case.classes.extend(news.classes.clone());
        self.case.objects.extend(news.objects.clone());
        let News { dropped, deleted, donated, .. } = news;
        self.gone.extend(deleted.iter().chain(donated).cloned());
        let steps = dropped.iter().map(|name| Step::Drop(name.clone()));
        let steps = steps.chain(deleted.iter().map(|name| Step::Delete(name.clone())));
        for step in steps.chain(donated.iter().map(|name| Step::Donate(name.clone()))) {
            self.push(step, Origin::Event);
        }
    }

    /// Whether the value is or holds an array that has no buffers any more.
    fn is_gone(&self, value: &Value) -> bool {
        !self.gone.is_empty()
            && (matches!(value, Value::Form(form) if matches!(&**form, Form::Ref(name) if self.gone.contains(name)))
                || value.children().into_iter().any(|child| self.is_gone(child)))
    }

    fn push(&mut self, step: Step, origin: Origin) {
        self.case.steps.push(step);
        self.origins.push(origin);
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
        let all = std::mem::take(&mut self.case.steps).into_iter().zip(std::mem::take(&mut self.origins));
        for (i, (step, origin)) in all.enumerate() {
            match (steps.get(&i), origin) {
                (None, _) => self.push(step, origin),
                (Some(error), Origin::Call(number)) => self.left_out.push((number, without_step(i, error))),
                (Some(_), _) => {}
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
