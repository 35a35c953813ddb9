//! Jitted functions that something else calls, a loop of `jax.lax` perhaps: their jaxprs are in the cache of `jax.jit`.

use std::collections::HashMap;

use super::replay::Origin;
use crate::case::{Call, Case, DefForm, Form, Layer, Name, Step, Value, Verdict, Wrapper};
use crate::model::{CHANGED, Difference, Prediction};

/// The implementation whose cache they are in.
pub(super) const API: &str = "jax.jit";

/// The component of a stale trace that a call took over, of a jitted function inside.
pub(super) const CHANGED_INSIDE: &str = "value that no key sees inside";

/// What the calls of `jax.jit` in a recording say of its functions.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// By the number of the call around it, whether the body of one ran.
    runs: HashMap<usize, bool>,
    /// The number of the call with or in which a function was first called.
    first: HashMap<Name, usize>,
    /// By the number of the call around it, what one reads that was something else when it was traced.
    stale: HashMap<usize, Vec<Difference>>,
}

impl Inside {
    /// The step of `replay`, one of `jax.jit`, did what is predicted.
    pub fn learn(&mut self, step: &Step, origin: Origin, prediction: Option<&Prediction>) {
        let (Step::Call(call), Origin::Call(number) | Origin::Aside { after: number, .. }) = (step, origin) else {
            return;
        };
        if let Some(name) = call.function.as_ref().and_then(reference) {
            self.first.entry(name.clone()).or_insert(number);
        }
        if let (Origin::Aside { .. }, Some(Prediction { verdict: Verdict::Missed(missed), .. })) = (origin, prediction)
        {
            *self.runs.entry(number).or_default() |= missed.contains(Layer::Trace);
        }
    }

    /// The step of `replay`, of whichever implementation, took over the trace that is predicted.
    pub fn learn_stale(&mut self, step: &Step, origin: Origin, prediction: Option<&Prediction>, case: &Case) {
        let Step::Call(call) = step else { return };
        let (Origin::Aside { inside: Some(number), .. }, Some(prediction)) = (origin, prediction) else { return };
        let called = call.function.as_ref().and_then(reference).and_then(|name| match case.objects.get(name)? {
            Value::Form(form) => match &**form {
                Form::Def(DefForm { name, .. }) => name.as_deref(),
                _ => None,
            },
            _ => None,
        });
        for stale in prediction.stale.iter().chain(&prediction.stale_beside).filter(|stale| stale.component == CHANGED)
        {
            let path = called.map_or_else(|| stale.path.clone(), |called| format!("{} of {called}", stale.path));
            let inside = Difference { path, component: CHANGED_INSIDE.to_owned(), ..stale.clone() };
            let known = self.stale.entry(number).or_default();
            if !known.contains(&inside) {
                known.push(inside);
            }
        }
    }

    /// What a jitted function inside of the call of that number reads and was something else when it was traced.
    pub fn stale(&self, number: usize) -> &[Difference] {
        self.stale.get(&number).map_or(&[], Vec::as_slice)
    }

    /// Whether the body of a jitted function ran inside the call of that number, if there are such and the recording has them
    /// all: of a look-up that an earlier one was like it says nothing.
    pub fn of(&self, number: usize, call: &Call, case: &Case) -> Option<bool> {
        let mut jitted = Vec::new();
        call.function
            .iter()
            .chain(&call.args)
            .chain(call.kwargs.values())
            .for_each(|value| find(value, case, &mut jitted));
        let is_known =
            |name: &Option<&Name>| name.and_then(|name| self.first.get(name)).is_some_and(|at| *at <= number);
        let are_known = !jitted.is_empty() && jitted.iter().all(is_known);
        are_known.then(|| self.runs.get(&number).copied().unwrap_or(false))
    }
}

/// The functions in `value` that `jax.jit` wraps, by their names if they have one.
fn find<'c>(value: &'c Value, case: &'c Case, found: &mut Vec<Option<&'c Name>>) {
    if let Some(object) = reference(value).and_then(|name| case.objects.get(name)) {
        return find(object, case, found);
    }
    match value {
        Value::Form(form) if matches!(&**form, Form::Wrap(wrap) if wrap.by == Wrapper::Jit) => {
            found.extend(value.children().into_iter().map(reference));
        }
        _ => value.children().into_iter().for_each(|child| find(child, case, found)),
    }
}

/// The name of what is referred to.
pub(super) fn reference(value: &Value) -> Option<&Name> {
    match value {
        Value::Form(form) => match &**form {
            Form::Ref(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}
