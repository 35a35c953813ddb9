//! A generated case: the plan says which rules, the source says all the rest.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::de::DeserializeOwned;
use smallvec::SmallVec;

use super::plant::{Definitions, Flag, Planted, Surroundings, broken, instantiate, plant, tagged, wrap};
use super::sequence::sequence;
use super::source::Source;
use crate::case::{
    Behaviour, Call, Case, Context, DefForm, Dtype, Form, Layer, LayerSet, Library, Name, Step, Value, Verdict, Via,
    text,
};
use crate::spec::{
    Bindings, Body, CallSpec, Composition, FillError, Holes, Outcome, Passing, Pattern, Planting, Profile, Rule, Spec,
    Tree, Version,
};

/// Why a draw gave no case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Discard {
    /// The case has a dtype that the implementation doesn't compile.
    #[error("a dtype that the implementation doesn't compile")]
    Uncompilable,
    /// The model doesn't know what a random program does.
    #[error("a program that the model doesn't know")]
    Unknown,
    /// Metavariables that must differ kept coming out the same.
    #[error("metavariables that must differ are the same")]
    NotDistinct,
    /// The rule has no position that the implementation has.
    #[error("no position that the implementation has")]
    NoPosition,
    /// The patterns came out as something that is no case: a defect of the rule.
    #[error("no case: {0}")]
    Broken(String),
}

/// The rules whose pairs make one case.
#[derive(Debug, Clone)]
pub struct Plan<'s> {
    /// The first is the one that the case was made for.
    pub rules: Vec<&'s Rule>,
}

impl Plan<'_> {
    /// The ids, joined by `+`.
    #[must_use]
    pub fn name(&self) -> String {
        self.rules.iter().map(|rule| rule.id.as_str()).collect::<Vec<_>>().join(" + ")
    }
}

/// What the rules say of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// One for each call; none where the rule leaves them to the model.
    pub calls: Vec<Behaviour>,
}

/// A case with what the rules say of it.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The case.
    pub case: Case,
    /// What the rules say.
    pub expected: Expected,
    /// The positions at which pairs were planted.
    pub positions: Vec<String>,
}

/// Makes cases for one implementation at one version.
#[derive(Debug)]
pub struct Generator<'s> {
    spec: &'s Spec,
    implementation: &'s str,
    positions: &'s [String],
    uncompilable: &'s [Dtype],
    /// By id.
    rules: IndexMap<&'s str, (&'s Rule, &'s Outcome), FxBuildHasher>,
    /// How many rules further on the next plan's is.
    stride: usize,
    composable: Vec<&'s Rule>,
    flags: Vec<Flag>,
    profile: &'s Profile,
    version: Version,
    via: Via,
}

/// How many pairs a case has beside the first, by weight.
const COMPOSED: [u32; 4] = [6, 2, 1, 1];

impl<'s> Generator<'s> {
    /// The generator for the rules that speak of `implementation` at `version` and that `wanted` lets through; `None` if
    /// there is no profile for it.
    pub fn new(
        spec: &'s Spec,
        implementation: &'s str,
        version: &Version,
        wanted: impl Fn(&Rule) -> bool,
    ) -> Option<Self> {
        let profile = spec.profile(implementation, version)?;
        let rules: IndexMap<_, _, _> = spec
            .rules
            .values()
            .filter(|rule| wanted(rule))
            .filter_map(|rule| Some((rule.id.as_str(), (rule, rule.expect.get(implementation)?.at(version)?))))
            .collect();
        let composable = rules
            .values()
            .filter(|(rule, _)| rule.pair.is_some() && rule.compose == Composition::Any)
            .map(|(rule, _)| *rule)
            .collect();
        // Without a registry every flag of the spec has one other value.
        let other = |name: &String| (name.clone(), tagged("str", "other".into()));
        let flags = flags_of(profile, profile.flags.keys().map(other));
        Some(Self {
            spec,
            implementation,
            positions: &profile.positions,
            uncompilable: &profile.uncompilable,
            stride: stride(rules.len()),
            rules,
            composable,
            flags,
            profile,
            version: version.clone(),
            via: Via::Call,
        })
    }

    /// The same with the config flags of a target, by name with their present and another value; beside it the names of
    /// those that the spec doesn't know.
    ///
    /// # Panics
    /// Never: every value has a text form.
    #[must_use]
    pub fn with_flags(self, registry: &IndexMap<String, [Value; 2]>) -> (Self, Vec<String>) {
        let other = |(name, [_, other]): (&String, &[Value; 2])| {
            (name.clone(), text::from_yaml(&text::to_yaml(other)).expect("what was written can be read"))
        };
        let unknown = registry.keys().filter(|name| !self.profile.flags.contains_key(*name)).cloned().collect();
        if registry.is_empty() {
            return (self, unknown);
        }
        let flags = flags_of(self.profile, registry.iter().map(other));
        (Self { flags, ..self }, unknown)
    }

    /// The same for functions that are traced and never run: pairs only, whose expectations are those of the trace layer,
    /// and none whose error comes from running the body or that says of itself that tracing does otherwise.
    #[must_use]
    pub fn tracing_only(mut self) -> Self {
        let traces = |rule: &Rule, outcome: &Outcome| {
            rule.pair.is_some()
                && !(rule.body == Body::Uses && can_raise(outcome))
                && !rule.otherwise_ahead.iter().any(|versions| versions.matches(&self.version))
        };
        self.rules.retain(|_, (rule, outcome)| traces(rule, outcome));
        self.composable.retain(|rule| self.rules.contains_key(rule.id.as_str()));
        Self { via: Via::Trace, stride: stride(self.rules.len()), ..self }
    }

    /// The rules, in the order of the spec.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &'s Rule> + '_ {
        self.rules.values().map(|(rule, _)| *rule)
    }

    /// What `rule` says here.
    #[must_use]
    pub fn outcome(&self, rule: &Rule) -> Option<&'s Outcome> {
        self.rules.get(rule.id.as_str()).map(|(_, outcome)| *outcome)
    }

    /// The `index`-th plan of a campaign: as many in a row as there are rules are for one each, and few are of every large
    /// family already.
    pub fn plan(&self, index: usize, source: &mut Source) -> Plan<'s> {
        let places = self.rules.len();
        self.plan_for(index % places * self.stride % places, source)
    }

    /// A plan for the rule that stands there in the spec, with others beside it now and then.
    fn plan_for(&self, place: usize, source: &mut Source) -> Plan<'s> {
        let (rule, outcome) = self.rules[place];
        let mut plan = Plan { rules: vec![rule] };
        if rule.pair.is_none() || rule.compose == Composition::Alone {
            return plan;
        }
        // Which of two errors wins is a law of its own; a composition has one at most.
        let mut may_raise = !can_raise(outcome);
        let mut may_surround = !self.is_ambient(rule);
        for _ in 0..source.weighted(COMPOSED.into_iter()) {
            let other = *source.pick(&self.composable);
            // Two contexts could set the same thing.
            let surrounds = self.is_ambient(other);
            if surrounds && !may_surround {
                continue;
            }
            may_surround &= !surrounds;
            let raises = self.outcome(other).is_some_and(can_raise);
            if !raises || may_raise {
                may_raise &= !raises;
                plan.rules.push(other);
            }
        }
        plan
    }

    /// Any pair of any rule.
    pub fn any(&self, source: &mut Source) -> Result<(Plan<'s>, Pair), Discard> {
        let rule = source.below(u32::try_from(self.rules.len()).unwrap_or(u32::MAX)) as usize;
        let plan = self.plan_for(rule, source);
        let pair = self.pair(&plan, source)?;
        Ok((plan, pair))
    }

    /// A pair of the rule of that id, alone.
    pub fn pair_of(&self, rule: &str, source: &mut Source) -> Result<Pair, Discard> {
        let (rule, _) = self.rules.get(rule).ok_or(Discard::NoPosition)?;
        self.pair(&Plan { rules: vec![rule] }, source)
    }

    /// Two calls that have the same random context around these values, which stand at `position`.
    pub fn around(&self, position: &str, sides: &[Value; 2], source: &mut Source) -> Result<Case, Discard> {
        let is_ambient = || self.spec.contexts.positions[position].ambient;
        if !self.positions.iter().any(|known| known == position) || is_ambient() {
            return Err(Discard::NoPosition);
        }
        let mut definitions = Definitions::default();
        let sides = sides.clone();
        let planted = plant(source, self.surroundings(), true, position, sides, &mut definitions, "tree")?;
        let in_tree = self.stands_in_tree(position);
        let arguments = self.in_trees(vec![(planted, in_tree)], source, &mut definitions)?;
        let written = self.spec.contexts.calls.get(self.implementation);
        let mut case = self.calls(written, arguments, Vec::new(), source)?;
        definitions.objects.extend(objects(written.map(|written| &written.objects))?);
        define(&mut case, definitions);
        let checked = self.checked(Pair { case, expected: Expected { calls: Vec::new() }, positions: Vec::new() })?;
        Ok(checked.case)
    }

    /// Whether the last thing around that position is a random tree.
    fn stands_in_tree(&self, position: &str) -> bool {
        self.spec.contexts.positions[position].through.last().is_some_and(|stage| stage == "tree")
    }

    /// The case that `plan` and the choices of `source` make.
    pub fn pair(&self, plan: &Plan<'s>, source: &mut Source) -> Result<Pair, Discard> {
        let rule = plan.rules[0];
        if let Some(steps) = rule.sequence {
            let expected = Expected { calls: Vec::new() };
            let case = sequence(source, self.profile, steps);
            return self.checked(Pair { case, expected, positions: Vec::new() });
        }
        if let Some(pattern) = &rule.case {
            let outcome = self.outcome(rule).ok_or(Discard::NoPosition)?;
            let mut definitions = Definitions::default();
            let pattern = std::slice::from_ref(pattern);
            let filled = instantiate(source, self.surroundings(), rule, &mut definitions, pattern, Pattern::fill)?;
            let mut case: Case = filled.into_iter().next().ok_or(Discard::NoPosition)?;
            define(&mut case, definitions);
            let expected = Expected { calls: outcome.calls.clone() };
            return self.checked(Pair { case, expected, positions: Vec::new() });
        }
        let mut definitions = Definitions::default();
        let written = self.spec.contexts.calls.get(self.implementation);
        definitions.objects.extend(objects(written.map(|written| &written.objects))?);
        let (mut planted, mut surrounding, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for rule in &plan.rules {
            let position = self.position(rule, source)?;
            positions.push(position.to_owned());
            if self.spec.contexts.positions[position].ambient {
                surrounding.push(self.sides(rule, source, &mut definitions, Pattern::fill)?);
            } else {
                planted.push(self.planted(rule, position, source, &mut definitions)?);
            }
        }
        let arguments = self.in_trees(planted, source, &mut definitions)?;
        let mut case = self.calls(written, arguments, surrounding, source)?;
        let body_must_use = plan.rules.iter().any(|rule| rule.body == Body::Uses);
        if !body_must_use && source.below(4) != 0 {
            match written {
                Some(written) => definitions.objects.extend(objects(Some(&written.idle))?),
                None => case.function = idle_function(),
            }
        }
        define(&mut case, definitions);
        self.checked(Pair { case, expected: self.expected(plan)?, positions })
    }

    fn checked(&self, pair: Pair) -> Result<Pair, Discard> {
        pair.case.validate().map_err(broken)?;
        let values = || pair.case.objects.values().chain(pair.case.arguments());
        if !self.uncompilable.is_empty() && values().any(|value| has_dtype(value, self.uncompilable)) {
            return Err(Discard::Uncompilable);
        }
        Ok(pair)
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { contexts: &self.spec.contexts, implementation: self.implementation, flags: &self.flags }
    }

    /// Whether the pair of `rule` surrounds the calls.
    fn is_ambient(&self, rule: &Rule) -> bool {
        let positions = &self.spec.contexts.positions;
        rule.places.of(self.implementation).iter().any(|place| positions.get(place).is_some_and(|spec| spec.ambient))
    }

    /// One of the positions that `rule` has here.
    fn position<'r>(&self, rule: &'r Rule, source: &mut Source) -> Result<&'r str, Discard> {
        let places: SmallVec<[&String; 8]> =
            rule.places.of(self.implementation).iter().filter(|place| self.positions.contains(place)).collect();
        if places.is_empty() {
            return Err(Discard::NoPosition);
        }
        Ok(source.pick(&places).as_str())
    }

    /// Both sides of the pair of `rule`, as `fill` fills in its patterns.
    fn sides<T: DeserializeOwned>(
        &self,
        rule: &Rule,
        source: &mut Source,
        definitions: &mut Definitions,
        fill: fn(&Pattern, &Bindings) -> Result<T, FillError>,
    ) -> Result<[T; 2], Discard> {
        let patterns = rule.pair.as_ref().ok_or(Discard::NoPosition)?;
        let filled = instantiate(source, self.surroundings(), rule, definitions, patterns, fill)?;
        filled.try_into().map_err(|_| Discard::NoPosition)
    }

    /// The pair of `rule`, planted through all stages but the last one, the tree; and whether that stage is to come.
    fn planted(
        &self,
        rule: &Rule,
        position: &str,
        source: &mut Source,
        definitions: &mut Definitions,
    ) -> Result<(Planted, bool), Discard> {
        let sides = self.sides(rule, source, definitions, Pattern::fill_value)?;
        let anywhere = rule.planting == Planting::Anywhere;
        let planted = plant(source, self.surroundings(), anywhere, position, sides, definitions, "tree")?;
        Ok((planted, anywhere && self.stands_in_tree(position)))
    }

    /// Puts a random tree around each planted pair that stands in one; now and then two of them share it.
    fn in_trees(
        &self,
        planted: Vec<(Planted, bool)>,
        source: &mut Source,
        definitions: &mut Definitions,
    ) -> Result<Vec<Planted>, Discard> {
        let mut arguments: Vec<(Planted, bool)> = Vec::new();
        for (next, in_tree) in planted {
            let host = arguments.iter_mut().find(|(_, hosts)| *hosts && in_tree);
            match host {
                Some((host, _)) if source.one_in(2) => {
                    for (side, other) in host.sides.iter_mut().zip(next.sides) {
                        *side = Form::Tuple(vec![std::mem::replace(side, Value::None), other]).into();
                    }
                }
                _ => arguments.push((next, in_tree)),
            }
        }
        for (argument, in_tree) in &mut arguments {
            if *in_tree {
                wrap(source, self.surroundings(), "tree", &mut argument.sides, definitions)?;
            }
        }
        Ok(arguments.into_iter().map(|(argument, _)| argument).collect())
    }

    /// Makes two calls, and puts around each what surrounds it.
    fn calls(
        &self,
        written: Option<&CallSpec>,
        arguments: Vec<Planted>,
        surrounding: Vec<[Context; 2]>,
        source: &mut Source,
    ) -> Result<Case, Discard> {
        let mut case = match written {
            Some(written) => self.write(written, arguments, source)?,
            None => self.assemble(arguments, source)?,
        };
        for sides in surrounding {
            let calls =
                case.steps.iter_mut().filter_map(|step| if let Step::Call(call) = step { Some(call) } else { None });
            calls.zip(sides).for_each(|(call, side)| call.context = side);
        }
        case.devices = case.arguments().map(devices).max().unwrap_or(1);
        Ok(case)
    }

    /// Makes two calls that are written so: what is planted at a part of the call stands there, and one tree of all else
    /// is the operand.
    fn write(&self, written: &CallSpec, arguments: Vec<Planted>, source: &mut Source) -> Result<Case, Discard> {
        let (parts, mut arguments): (Vec<_>, Vec<_>) =
            arguments.into_iter().partition(|planted| written.parts.contains_key(planted.position.as_str()));
        let together =
            parts.iter().enumerate().any(|(i, part)| parts[..i].iter().any(|other| other.position == part.position));
        if together {
            return Err(Discard::NotDistinct);
        }
        self.add_siblings(&mut arguments, source)?;
        let mut calls = [Call::default(), Call::default()];
        let bindings: Bindings = written.parts.clone().into_iter().collect();
        for (i, call) in calls.iter_mut().enumerate() {
            let mut holes = Holes::new();
            for part in &parts {
                holes.push((Name::new(part.position.as_str()).map_err(broken)?, Some(part.sides[i].clone())));
            }
            let operand = match &arguments[..] {
                [] => self.spec.contexts.leaves.first().map_or(Ok(Value::None), Tree::value).map_err(broken)?,
                [only] => only.sides[i].clone(),
                several => Form::Tuple(several.iter().map(|argument| argument.sides[i].clone()).collect()).into(),
            };
            holes.push((Name::new("operand").expect("a literal name"), Some(operand)));
            for pattern in &written.args {
                call.args.push(pattern.fill_around(&bindings, &mut holes).map_err(broken)?);
            }
        }
        Ok(Case { steps: calls.into_iter().map(Step::Call).collect(), ..Case::default() })
    }

    /// Puts some values that are the same in both calls beside the planted arguments.
    fn add_siblings(&self, arguments: &mut Vec<Planted>, source: &mut Source) -> Result<(), Discard> {
        let contexts = &self.spec.contexts;
        for _ in 0..source.number(contexts.arguments) {
            let value = source.pick(&contexts.leaves).value().map_err(broken)?;
            let sides = [value.clone(), value];
            let extra = Planted { sides, position: String::new(), is_static: false, by: Passing::Any };
            let place = source.below(u32::try_from(arguments.len() + 1).unwrap_or(1)) as usize;
            arguments.insert(arguments.len() - place, extra);
        }
        Ok(())
    }

    /// Makes two calls of the planted arguments and some more that are the same in both.
    fn assemble(&self, mut arguments: Vec<Planted>, source: &mut Source) -> Result<Case, Discard> {
        self.add_siblings(&mut arguments, source)?;
        let mut case = Case::default();
        let mut calls = [0; 2].map(|_| Call { via: self.via, ..Call::default() });
        let mut keyword_names = ["a", "b", "c", "d", "e", "f"].into_iter();
        for argument in arguments {
            let keyword = match argument.by {
                Passing::Position => false,
                Passing::Keyword => true,
                Passing::Any => source.one_in(4),
            };
            let name = keyword.then(|| Name::new(keyword_names.next().unwrap_or("z")).expect("a literal name"));
            if argument.is_static {
                match &name {
                    Some(name) => case.options.static_argnames.push(name.clone()),
                    None => {
                        let position = i32::try_from(calls[0].args.len()).unwrap_or(i32::MAX);
                        case.options.static_argnums.push(position);
                    }
                }
            }
            for (call, value) in calls.iter_mut().zip(argument.sides) {
                match &name {
                    Some(name) => drop(call.kwargs.insert(name.clone(), value)),
                    None => call.args.push(value),
                }
            }
        }
        case.steps = calls.into_iter().map(Step::Call).collect();
        Ok(case)
    }

    /// Composes what the rules of the plan say, layer by layer: a layer's keys differ if any pair differs there, and a
    /// layer below the fast path is looked at only if something missed the fast path.
    fn expected(&self, plan: &Plan<'s>) -> Result<Expected, Discard> {
        let outcomes: Vec<&Outcome> =
            plan.rules.iter().map(|rule| self.outcome(rule).ok_or(Discard::NoPosition)).collect::<Result<_, _>>()?;
        if outcomes.iter().any(|outcome| outcome.is_predicted()) {
            return Ok(Expected { calls: Vec::new() });
        }
        let first = outcomes
            .iter()
            .filter(|outcome| outcome.calls.len() == 2)
            .map(|outcome| outcome.calls[0].verdict.clone())
            .find(|verdict| matches!(verdict, Verdict::Error(_)))
            .unwrap_or(Verdict::TRACE);
        // Without a run the fast path is never asked.
        let runs = self.via == Via::Call;
        let visible = if runs { LayerSet::ALL } else { LayerSet::NONE.with(Layer::Trace) };
        let mut verdicts: Vec<&Verdict> = outcomes.iter().map(|outcome| &outcome.last().verdict).collect();
        let fast = runs && verdicts.iter().all(|verdict| **verdict == Verdict::HIT);
        if !fast {
            verdicts.extend(outcomes.iter().filter_map(|outcome| outcome.when_missed.as_ref()));
        }
        let error = verdicts.iter().find(|verdict| matches!(verdict, Verdict::Error(_)));
        let last = match error {
            Some(error) => (*error).clone(),
            None => Verdict::Missed(verdicts.iter().fold(LayerSet::NONE, |all, verdict| match verdict {
                Verdict::Missed(missed) => missed.iter().fold(all, LayerSet::with),
                Verdict::Error(_) => all,
            })),
        };
        // Whatever is not traced again is served by the program of the first call.
        let served = matches!(last, Verdict::Missed(missed) if !missed.contains(Layer::Trace));
        let lasts = |outcome: &&Outcome| outcome.last().stale && (fast || outcome.when_missed.is_none());
        let stale = served && outcomes.iter().any(lasts);
        let calls = [first.into(), Behaviour { verdict: last, stale }];
        Ok(Expected { calls: calls.map(|call| call.seen_by(visible, true)).to_vec() })
    }
}

/// How far those in a row stand apart of so many places that each is met once before the first one comes again. Steps near the golden
/// ratio leave even gaps; of these it is the one that leaves the smallest in the first tenth.
fn stride(places: usize) -> usize {
    let common = |step| std::iter::successors(Some((places, step)), |&(a, b)| (b > 0).then(|| (b, a % b))).last();
    let largest_gap = |step: &usize| {
        let mut met: Vec<_> = (0..places / 10).map(|index| index * step % places).collect();
        met.sort_unstable();
        met.push(places);
        met.windows(2).map(|pair| pair[1] - pair[0]).max()
    };
    let near = places * 3 / 5..=places * 16 / 25;
    near.filter(|&step| common(step) == Some((1, 0))).min_by_key(largest_gap).unwrap_or(1)
}

/// The flags that the profile knows.
fn flags_of(profile: &Profile, named: impl Iterator<Item = (String, Tree)>) -> Vec<Flag> {
    let known = |(name, value): (String, Tree)| {
        let effect = profile.flags.get(&name)?.clone();
        Some(Flag { name, value, effect })
    };
    named.filter_map(known).collect()
}

/// A function whose body uses nothing: all its programs are the same, so that compiling them costs little.
fn idle_function() -> Value {
    Form::Def(DefForm { uses: Some(Vec::new()), ..DefForm::default() }).into()
}

fn can_raise(outcome: &Outcome) -> bool {
    let calls = outcome.calls.iter().map(|call| &call.verdict);
    calls.chain(&outcome.when_missed).any(|verdict| matches!(verdict, Verdict::Error(_)))
}

fn define(case: &mut Case, definitions: Definitions) {
    case.classes.extend(definitions.classes);
    case.objects.extend(definitions.objects);
}

/// The objects that a way of calling has.
fn objects(written: Option<&IndexMap<Name, Tree>>) -> Result<Vec<(Name, Value)>, Discard> {
    let object = |(name, tree): (&Name, &Tree)| Ok((name.clone(), tree.value().map_err(broken)?));
    written.into_iter().flatten().map(object).collect()
}

/// How many devices there have to be for an array in `value` that is committed to one of them.
fn devices(value: &Value) -> u32 {
    let own = match value {
        Value::Array(array) => match &array.library {
            Library::Jax { placement, .. } => placement.device + 1,
            Library::Key { .. } | Library::Numpy { .. } => 1,
        },
        _ => 1,
    };
    value.children().into_iter().map(devices).fold(own, u32::max)
}

fn has_dtype(value: &Value, dtypes: &[Dtype]) -> bool {
    matches!(value, Value::Array(array) if dtypes.contains(&array.dtype))
        || value.children().into_iter().any(|child| has_dtype(child, dtypes))
}
