//! A miss alone: the call whose key is nearest and the one that missed, and that one mended, tried on the model.
//!
//! The two calls differ in some places of their texts. Which of them matter is found out by trying: the first call, made
//! again with one place as in the second. The second call with all that matter as in the first is the repaired one.

use std::collections::HashSet;
use std::fmt;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Tree;

use super::call::aspect;
use crate::case::{Call, Case, Layer, LayerSet, Name, Step, Verdict};
use crate::model::{Difference, Prediction, Simulation};
use crate::spec::Profile;

/// Calls that differ in more places than this are not taken apart.
const PLACES: usize = 64;

/// Why the repair of a miss was not tried, or nothing came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untried {
    /// That of the call of this number was, which differs at the same places for the same causes.
    Like(usize),
    /// So many others were.
    Others(usize),
    /// No earlier call explains it.
    Unexplained,
    /// The function of a case can't return what its options ask for.
    Returns,
    /// The nearest key is that of no recorded call.
    Aside,
    /// It's what a transformation makes of the function that was compiled anew.
    Transformed,
    /// The function has an effect.
    Effect,
    /// The two calls differ in too many places.
    Places,
    /// The model doesn't know one of the calls that would have to be made.
    Unknown,
    /// The first call, made again, misses as well.
    Again,
    /// The call misses all the same.
    Missed,
}

impl fmt::Display for Untried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Like(number) => write!(f, "that of call {number} was, which is like it"),
            Self::Others(some) => write!(f, "the first {some} that are unlike each other were"),
            Self::Unexplained => f.write_str("it is not explained by an earlier one"),
            Self::Returns => f.write_str("a case's function can't return what its options ask for"),
            Self::Aside => f.write_str("the key nearest to it is of no call of the recording"),
            Self::Transformed => f.write_str("the model has no keys of what a transformation makes of a function"),
            Self::Effect => f.write_str("the function has an effect, which the model doesn't take apart"),
            Self::Places => write!(f, "the two calls differ in more than {PLACES} places"),
            Self::Unknown => f.write_str("the model doesn't know what a call does that has some of each"),
            Self::Again => f.write_str("the nearest call misses, too, when it is made again"),
            Self::Missed => f.write_str("there is more that the call misses by"),
        }
    }
}

impl Serialize for Untried {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A miss, and what mends it.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// The two calls.
    pub missing: Case,
    /// The first call, and the second as it would have to be.
    pub repaired: Case,
    /// For each place that matters what the keys differ in if it is left as it is: each of them is enough to miss.
    pub each: Vec<Vec<Difference>>,
    /// The layers below that the repaired call misses all the same.
    pub left: LayerSet,
    /// What the keys differ in there.
    pub by: Vec<Difference>,
}

impl Repair {
    /// What mends `second`, which missed `layer` where `first` had been called. `case` has what both speak of, and `between`
    /// are the objects that were dropped between the two.
    ///
    /// # Errors
    /// If the first call would miss the layer again itself, if the model doesn't know one of the calls to try, or if they differ in
    /// too many places.
    pub fn of(
        case: &Case,
        first: &Call,
        second: &Call,
        between: &[&Name],
        layer: Layer,
        profile: &Profile,
    ) -> Result<Self, Untried> {
        if layer == Layer::Dispatch && (first.effect.is_some() || second.effect.is_some()) {
            // It is what keeps them off the fast path, and nothing to the other layers.
            return Err(Untried::Effect);
        }
        let trial = Trial { case, first, between, layer, profile };
        let [before, after] = [first, second].map(|call| serde_json::to_value(call).expect("every call has a text"));
        let mut places = Vec::new();
        differing(Some(&before), Some(&after), "", &mut places);
        if places.len() > PLACES {
            return Err(Untried::Places);
        }
        if !trial.missed(&before).ok_or(Untried::Unknown)?.is_empty() {
            return Err(Untried::Again);
        }
        let (mut mended, mut each) = (after.clone(), Vec::new());
        for place in &places {
            // A part alone can make no sense.
            let whole = place.match_indices('/').rev().map(|(end, _)| &place[..end]);
            let mut tried = std::iter::once(place.as_str()).chain(whole).map(|place| {
                let call = grafted(&before, place, &after)?;
                Some((place, trial.missed(&call)?))
            });
            let (place, missed) = tried.find_map(|tried| tried).ok_or(Untried::Unknown)?;
            if !missed.is_empty() {
                mended = grafted(&mended, place, &before).ok_or(Untried::Unknown)?;
                each.push(missed);
            }
        }
        // A body that doesn't run raises nothing, and what the program doesn't use is what that of the first call doesn't.
        if let (Tree::Object(parts), Tree::Object(first)) = (&mut mended, &before) {
            parts.shift_remove("raises");
            parts.shift_remove("unused");
            parts.extend(first.get("unused").map(|unused| ("unused".to_owned(), unused.clone())));
        }
        let (repaired, prediction) = trial.predicted(&mended).ok_or(Untried::Unknown)?;
        let Verdict::Missed(missed) = prediction.verdict else { return Err(Untried::Unknown) };
        if missed.contains(layer) {
            return Err(Untried::Missed);
        }
        let left: LayerSet =
            [Layer::Lower, Layer::Compile].into_iter().filter(|below| missed.contains(*below)).collect();
        let mut by: Vec<Difference> = Vec::new();
        // An eager loop is looked up as a whole, and its program is made for what differs there.
        let layers = if left.is_empty() { left } else { left.with(Layer::Dispatch) };
        let mut explanations = prediction.explanations;
        explanations.retain(|explanation| layers.contains(explanation.layer));
        explanations.sort_by_key(|explanation| explanation.layer == Layer::Dispatch);
        for explanation in explanations {
            if explanation.layer == Layer::Dispatch && !by.is_empty() {
                break;
            }
            // Another program is what the rest makes, and one argument says the same at each layer.
            let known: HashSet<_> = by.iter().map(aspect).collect();
            let is_new = |found: &Difference| found.component != "program" && !known.contains(&aspect(found));
            let new: Vec<_> = explanation.differences.into_iter().filter(is_new).collect();
            by.extend(new);
        }
        let missing = trial.case(&after).ok_or(Untried::Unknown)?;
        Ok(Self { missing, repaired, each, left, by })
    }
}

/// What is called after one and the same call.
struct Trial<'c> {
    case: &'c Case,
    first: &'c Call,
    between: &'c [&'c Name],
    layer: Layer,
    profile: &'c Profile,
}

impl Trial<'_> {
    /// The first call and another one, with what they speak of and nothing else; `None` if that is no call.
    fn case(&self, second: &Tree) -> Option<Case> {
        let second: Call = serde_json::from_value(second.clone()).ok()?;
        let [of_first, of_second] = [self.first, &second].map(|call| mentioned(self.case, call));
        let is_gone = |name: &&&Name| of_first.contains(name.as_str()) && !of_second.contains(name.as_str());
        let gone = self.between.iter().filter(is_gone).map(|name| Step::Drop((*name).clone()));
        // What a body reads and does besides and whether it fails is the recording's to know.
        let alone = |call: Call| {
            Step::Call(Call {
                reads: IndexMap::new(),
                reads_each: Vec::new(),
                effect: None,
                fails_as_it_runs: false,
                fails_at: None,
                ..call
            })
        };
        let mut steps = vec![alone(self.first.clone())];
        steps.extend(gone);
        steps.push(alone(second));
        let is_known = |name: &Name| of_first.contains(name.as_str()) || of_second.contains(name.as_str());
        // What a recording speaks of can be much more.
        let Case { classes, objects, function, options, context, .. } = self.case;
        let classes =
            classes.iter().filter(|(name, _)| is_known(name)).map(|(name, class)| (name.clone(), class.clone()));
        let objects =
            objects.iter().filter(|(name, _)| is_known(name)).map(|(name, value)| (name.clone(), value.clone()));
        let case = Case {
            classes: classes.collect(),
            objects: objects.collect(),
            function: function.clone(),
            options: options.clone(),
            context: context.clone(),
            steps,
            ..Case::default()
        };
        // As many as it needs.
        (0..10).map(|power| Case { devices: 1 << power, ..case.clone() }).find(|case| case.validate().is_ok())
    }

    /// What the key of another call differs in at the layer; nothing if it is served there. `None` if the model doesn't know
    /// the call, or it raises.
    fn missed(&self, second: &Tree) -> Option<Vec<Difference>> {
        let (_, last) = self.predicted(second)?;
        match last.verdict {
            Verdict::Missed(missed) if missed.contains(self.layer) => {
                let of_layer = last.explanations.into_iter().find(|explanation| explanation.layer == self.layer);
                Some(of_layer?.differences)
            }
            Verdict::Missed(_) => Some(Vec::new()),
            Verdict::Error(_) => None,
        }
    }

    /// The first call and another one, and what the model says of the other; `None` if it knows nothing of it.
    fn predicted(&self, second: &Tree) -> Option<(Case, Prediction)> {
        let case = self.case(second)?;
        let mut simulation = Simulation::of_recording(&case, self.profile).ok()?;
        let steps: Result<Vec<Option<Prediction>>, _> = case.steps.iter().map(|step| simulation.step(step)).collect();
        let last = steps.ok()?.pop()??;
        Some((case, last))
    }
}

/// The names of classes and objects that a call speaks of, whatever else is called so; what those speak of is among them.
fn mentioned(case: &Case, call: &Call) -> HashSet<String> {
    let mut mentioned = HashSet::new();
    let mut open = vec![serde_json::to_value(call).expect("every call has a text")];
    while let Some(tree) = open.pop() {
        match tree {
            Tree::String(name) => {
                let class = case.classes.get(name.as_str()).map(serde_json::to_value);
                let object = case.objects.get(name.as_str()).map(serde_json::to_value);
                if mentioned.insert(name) {
                    open.extend(class.into_iter().chain(object).map(|tree| tree.expect("every value has a text")));
                }
            }
            Tree::Array(items) => open.extend(items),
            Tree::Object(items) => open.extend(items.into_iter().map(|(_, item)| item)),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }
    mentioned
}

/// The smallest places, as JSON pointers, in which two texts differ. An absent part is one of a map that has others.
fn differing(before: Option<&Tree>, after: Option<&Tree>, at: &str, found: &mut Vec<String>) {
    // Maps are equal in any order, and are written in theirs.
    let text = |tree: Option<&Tree>| tree.map(ToString::to_string);
    match (before, after) {
        _ if text(before) == text(after) => {}
        // From the names of static arguments follow their positions, and the other way round.
        _ if at == "/options" => found.push(at.to_owned()),
        // What an instance consists of depends on its class, and what its children are called on how many there are.
        (Some(Tree::Object(old)), Some(Tree::Object(new)))
            if old.get("class") != new.get("class") || children(old) != children(new) =>
        {
            found.push(at.to_owned());
        }
        (Some(Tree::Object(old)), Some(Tree::Object(new))) if old.keys().eq(new.keys()) || old.len() != new.len() => {
            for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
                let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                differing(old.get(key), new.get(key), &place, found);
            }
        }
        (Some(Tree::Array(old)), Some(Tree::Array(new))) if old.len() == new.len() => {
            for (i, (old, new)) in old.iter().zip(new).enumerate() {
                differing(Some(old), Some(new), &format!("{at}/{i}"), found);
            }
        }
        _ => found.push(at.to_owned()),
    }
}

/// How many children the text of an instance has.
fn children(instance: &serde_json::Map<String, Tree>) -> Option<usize> {
    instance.get("children").and_then(Tree::as_array).map(Vec::len)
}

/// The text `tree` with `place` as in `other`; `None` if there is no such place.
fn grafted(tree: &Tree, place: &str, other: &Tree) -> Option<Tree> {
    let Some((parent, key)) = place.rsplit_once('/') else { return Some(other.clone()) };
    let mut tree = tree.clone();
    let part = other.pointer(place).cloned();
    match (tree.pointer_mut(parent)?, part) {
        (Tree::Array(items), Some(part)) => *items.get_mut(key.parse::<usize>().ok()?)? = part,
        (Tree::Object(items), Some(part)) => drop(items.insert(key.replace("~1", "/").replace("~0", "~"), part)),
        (Tree::Object(items), None) => drop(items.shift_remove(&key.replace("~1", "/").replace("~0", "~"))),
        _ => return None,
    }
    Some(tree)
}
