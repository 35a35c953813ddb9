//! Why nothing was near to a call that missed, though its function had been called before.

use std::collections::HashMap;

use super::Recording;
use super::methods::Methods;
use super::recording::{CallLine, Line};
use crate::case::{Array, Call, ClearScope, Layer, LayerSet, Library, MethodForm, Name, Subclass, Value, Via};
use crate::model::Difference;

/// The component of a function that is wrapped anew in each call, so that nothing is ever found, whatever else differs.
pub(super) const WRAPPING: &str = "wrapping";

/// The component of a key that was not found since nothing is there, by what became of it; `spec/causes.yaml` says what each means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absence {
    /// Its program has effects, and so no fast path.
    Effect,
    /// It is given an object with `__jax_array__`, which the fast path doesn't know.
    Converted,
    /// Caches were cleared since the function was called last.
    Cleared,
    /// Every earlier call of the function raised.
    Failed,
    /// Every earlier call of the function raised, when it had its program already.
    Ran,
    /// An earlier call raised, and what failed once never takes the fast path.
    Raised,
    /// An earlier call of the loop raised while it was traced, and nothing is kept for what failed once.
    Blocked,
    /// The call before could not be described, and nothing is known of what it left.
    Undescribed,
    /// The function was traced, lowered or compiled before, and never called.
    Ahead,
    /// `lax.map` wraps what it is given in a lambda of its own each time.
    Wrapped,
    /// The function was made and wrapped anew, and what was left for the one before went with it.
    Anew,
    /// None of these: what earlier calls left is gone.
    Gone,
}

impl Absence {
    /// At the function of that name, which is a `method` perhaps, `Model.run`, of the same object as before or of another.
    fn difference(self, function: &str, method: Option<&str>, is_of_the_same: bool) -> Difference {
        let (component, before, after) = match self {
            Self::Effect => ("effect", "none", "one"),
            Self::Converted => ("object with __jax_array__", "none", "one"),
            Self::Cleared => ("clearing", "there", "cleared"),
            Self::Failed => ("failed calls", "raised", "returned"),
            Self::Ran => ("failed runs", "raised", "returned"),
            Self::Raised => ("failed call", "raised", "returned"),
            Self::Blocked => ("failed trace", "raised", "returned"),
            Self::Undescribed => ("earlier call", "without words", "described"),
            Self::Ahead => ("ahead of time", "never called", "called"),
            Self::Wrapped => (WRAPPING, "a lambda", "another"),
            Self::Anew => {
                let of = if is_of_the_same { " of the same object" } else { "" };
                let text = method.map_or_else(|| function.to_owned(), |name| format!("<bound method {name}{of}>"));
                return Difference::new("", "function", &text, format!("another {text}"));
            }
            Self::Gone => ("lifetime", "there", "gone"),
        };
        Difference::new(function, component, before, after)
    }
}

/// What the calls of a function have left.
struct Left<'r> {
    clearings: [usize; 2],
    called: bool,
    /// Whether the last call has no words.
    undescribed: bool,
    /// Whether something was traced, lowered or compiled ahead of time.
    ahead: bool,
    /// The last of its wrappers.
    wrapper: Option<&'r Name>,
    /// The method that this one wrapped, if it was one.
    method: Option<&'r MethodForm>,
}

/// How often caches were cleared.
#[derive(Default)]
struct Clearings<'r> {
    jax: usize,
    equinox: usize,
    wrappers: HashMap<&'r Name, usize>,
}

impl<'r> Clearings<'r> {
    fn note(&mut self, scope: &'r ClearScope) {
        match scope {
            ClearScope::Jax => self.jax += 1,
            ClearScope::Equinox => self.equinox += 1,
            ClearScope::Wrapper(name) => *self.wrappers.entry(name).or_default() += 1,
            ClearScope::Function => {}
        }
    }

    /// Of those that matter to the call: of everything, and of its wrapper.
    fn of(&self, line: &CallLine) -> [usize; 2] {
        let of_equinox = if line.recorded.api == "equinox.filter_jit" { self.equinox } else { 0 };
        let of_wrapper = line.recorded.wrapper.as_ref().and_then(|wrapper| self.wrappers.get(wrapper));
        [self.jax + of_equinox, of_wrapper.copied().unwrap_or_default()]
    }
}

/// For each call, whose functions are numbered, what differs from the calls before if nothing is near to it.
pub(super) fn absences(recording: &Recording, functions: &[usize]) -> Vec<Difference> {
    let mut clearings = Clearings::default();
    let mut left: HashMap<usize, Left<'_>> = HashMap::new();
    let mut raised: HashMap<usize, Vec<(usize, [usize; 2])>> = HashMap::new();
    let mut absences = Vec::new();
    let calls: Vec<_> = recording.calls().collect();
    let methods = Methods::of(recording);
    for line in &recording.lines {
        let line = match line {
            Line::Clear(scope, _) => {
                clearings.note(scope);
                continue;
            }
            Line::Aside(_) | Line::Beside(_) => continue,
            Line::Call(line) => line,
        };
        let (function, now) = (functions[absences.len()], clearings.of(line));
        let observed = &line.recorded.observed;
        let only_dispatch: LayerSet = [Layer::Dispatch].into_iter().collect();
        let earlier = left.get(&function);
        let given = recording.described(&calls, absences.len());
        let is_converted = || given.is_some_and(|call| call.args.iter().chain(call.kwargs.values()).any(converts));
        let is_given_so = |earlier: usize| {
            let alike = |(a, b): (&Call, &Call)| a.args == b.args && a.kwargs == b.kwargs;
            recording.described(&calls, earlier).zip(given).is_none_or(alike)
        };
        let has_options = |earlier: usize| {
            recording.described(&calls, earlier).zip(given).is_none_or(|(then, now)| then.options == now.options)
        };
        // What was made ahead of time is found but by the fast path, whatever other arguments raised.
        let has_raised = |earlier: &Left<'_>| {
            let mut raised = raised.get(&function).into_iter().flatten().filter(|(_, then)| *then == now);
            raised.any(|(call, _)| has_options(*call) && (!earlier.ahead || is_given_so(*call)))
        };
        let is_traced_loop = line.recorded.api.starts_with("lax.") && observed.missed.contains(Layer::Trace);
        let absence = match earlier {
            _ if line.effect.is_some() && observed.missed == only_dispatch => Absence::Effect,
            Some(_) if observed.missed == only_dispatch && is_converted() => Absence::Converted,
            None if observed.missed == only_dispatch => Absence::Ran,
            None => Absence::Failed,
            Some(earlier) if earlier.clearings != now => Absence::Cleared,
            Some(earlier) if observed.missed == only_dispatch && has_raised(earlier) => Absence::Raised,
            // The jaxpr of a function that is jitted itself serves all the same.
            Some(_) if line.recorded.api == "lax.map" && observed.missed.contains(Layer::Lower) => Absence::Wrapped,
            Some(earlier) if is_traced_loop && has_raised(earlier) => Absence::Blocked,
            Some(earlier) if earlier.undescribed => Absence::Undescribed,
            // What has its jaxpr and was never lowered was traced alone, or under a transformation.
            Some(earlier) if !earlier.called || (earlier.ahead && !observed.missed.contains(Layer::Trace)) => {
                Absence::Ahead
            }
            Some(earlier) if earlier.wrapper != line.recorded.wrapper.as_ref() => Absence::Anew,
            Some(_) => Absence::Gone,
        };
        let method = given.and_then(|call| methods.called(call));
        let name = method.and_then(|method| methods.name(method));
        let is_of_the_same = method.zip(earlier.and_then(|it| it.method)).is_some_and(|(now, then)| now.of == then.of);
        absences.push(absence.difference(&line.recorded.name, name.as_deref(), is_of_the_same));
        if observed.error.is_some() {
            raised.entry(function).or_default().push((absences.len() - 1, now));
        } else {
            let is_call = given.is_some_and(|call| call.via == Via::Call);
            let earlier = earlier.filter(|earlier| earlier.clearings == now);
            let called = is_call || earlier.is_some_and(|earlier| earlier.called);
            let undescribed = given.is_none();
            let ahead = !(is_call || undescribed) || earlier.is_some_and(|earlier| earlier.ahead);
            let wrapper = line.recorded.wrapper.as_ref();
            left.insert(function, Left { clearings: now, called, undescribed, ahead, wrapper, method });
        }
    }
    absences
}

/// Whether an object with `__jax_array__` is or is in the value.
fn converts(value: &Value) -> bool {
    let is_it = |array: &Array| matches!(array.library, Library::Numpy { subclass: Subclass::Converted, .. });
    matches!(value, Value::Array(array) if is_it(array)) || value.children().into_iter().any(converts)
}
