//! A campaign: many pairs through the three witnesses, on several processes of the target at once.
//!
//! The outcome depends on the seed alone, not on how the work was divided.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use indexmap::IndexMap;

use super::compare::{Alone, Judgement, Testimony, judge};
use super::finding::{Finding, depth, differences, size, statements};
use super::hazard::{Hazards, Wrong, wrong_with};
use super::summary::{Failure, FirstDifference, RuleCount, Summary};
use crate::case::{Behaviour, Case, LayerSet};
use crate::generate::{Discard, Generator, Pair, Plan, Source, reduce, shrink};
use crate::model::{Prediction, behaviour, predict};
use crate::spec::{Outcome, Profile, Rule, Spec};
use crate::target::{Observation, Target, TargetError};

/// How many pairs a worker takes at once.
pub(super) const BATCH: u64 = 64;
/// How often a draw that gave no case is repeated.
const DRAWS: u64 = 8;
/// How many disagreements are made small; the rest is counted.
const SHRUNK: usize = 10;
/// How many cases are tried to make one disagreement small.
const SHRINK_BUDGET: usize = 600;
/// How many cases with a part left out are tried afterwards.
const REDUCE_BUDGET: usize = 600;
/// How many pairs of a single rule are tried before a composed disagreement is taken as composed.
const ALONE_TRIES: u64 = 48;

/// One part of a campaign that is divided among machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub number: u64,
    /// Of how many.
    pub of: u64,
}

/// Opens one more process of the target.
pub type Opener<'o> = dyn Fn() -> Result<Box<dyn Target + 'o>, TargetError> + Sync + 'o;

/// What is to be done.
#[derive(Debug)]
pub struct Campaign<'s> {
    /// The spec.
    pub spec: &'s Spec,
    /// Makes the pairs.
    pub generator: Generator<'s>,
    /// Config flags that the target has and the spec doesn't know: each is a failure.
    pub unknown_flags: Vec<String>,
    /// What the rules state of stale hits.
    pub hazards: Hazards,
    /// The model's profile.
    pub profile: &'s Profile,
    /// Version of the implementation.
    pub version: String,
    /// The layers that the target can observe.
    pub visible: LayerSet,
    /// The seed.
    pub seed: u64,
    /// How many pairs.
    pub pairs: u64,
    /// Which part of them.
    pub shard: Shard,
    /// How many processes.
    pub jobs: usize,
    /// Whether it is to end before all of its pairs have run, with what they have shown by then.
    pub stop: Arc<AtomicBool>,
}

/// A disagreement, before it is made small.
struct Raw<'s> {
    index: u64,
    plan: Plan<'s>,
    case: Case,
    expected: Vec<Behaviour>,
    alone: Alone,
    testimony: Testimony,
}

/// What one draw gave.
pub(super) struct Drawn<'s> {
    index: u64,
    pub plan: Plan<'s>,
    pub pair: Pair,
}

#[derive(Default)]
struct Shared<'s> {
    summary: Summary,
    raw: Vec<Raw<'s>>,
}

impl<'s> Campaign<'s> {
    /// Runs it. `first` is a process that is open already; `open` opens the others. `progress` hears after each batch how
    /// many pairs are done.
    pub fn run<'o>(
        &self,
        first: Box<dyn Target + 'o>,
        open: &Opener<'o>,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Summary, TargetError> {
        let shared = Mutex::new(Shared { summary: self.empty_summary(), raw: Vec::new() });
        let next = AtomicU64::new(0);
        let failed = AtomicBool::new(false);
        let kept: Mutex<Option<Box<dyn Target + 'o>>> = Mutex::new(None);
        let worker = |target: Result<Box<dyn Target + 'o>, TargetError>| -> Result<(), TargetError> {
            let outcome = target.and_then(|mut target| {
                while !failed.load(Ordering::Relaxed) && !self.is_stopped() {
                    let start = next.fetch_add(BATCH, Ordering::Relaxed);
                    if start >= self.pairs.div_ceil(self.shard.of) {
                        break;
                    }
                    let before = target.restarts();
                    let done = self.batch(start, target.as_mut(), &shared)?;
                    // What stops a campaign can have ended the process, too.
                    if let Some(done) = done {
                        lock(&shared).summary.restarts += target.restarts() - before;
                        progress(done);
                    }
                }
                *lock(&kept) = Some(target);
                Ok(())
            });
            match outcome {
                Err(_) if self.is_stopped() => Ok(()),
                outcome => outcome.inspect_err(|_| failed.store(true, Ordering::Relaxed)),
            }
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..self.jobs).map(|_| scope.spawn(|| worker(open()))).collect();
            let mine = worker(Ok(first));
            let theirs = others.into_iter().map(|handle| handle.join().expect("a worker doesn't panic"));
            theirs.fold(mine, Result::and)
        })?;
        let Shared { mut summary, raw } = shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(mut target) = lock(&kept).take() {
            self.findings(raw, target.as_mut(), &mut summary)?;
        }
        summary.tidy_failures();
        Ok(summary)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn empty_summary(&self) -> Summary {
        let batches = (0..self.pairs.div_ceil(self.shard.of)).step_by(BATCH as usize);
        let mut summary = Summary { not_run: batches.map(|start| self.size(start)).sum(), ..Summary::default() };
        summary.failures.extend(self.unknown_flags.iter().map(|flag| Failure {
            rules: "spec/flags.yaml".to_owned(),
            reason: format!("the target has the config flag {flag}, and the spec doesn't say which keys it is part of"),
        }));
        for rule in self.generator.rules() {
            let family = summary.families.entry(rule.family().to_owned()).or_default();
            family.rules += 1;
            family.hazards += usize::from(self.generator.outcome(rule).is_some_and(|outcome| outcome.is_stale()));
            summary.rules.insert(rule.id.clone(), RuleCount::default());
        }
        summary
    }

    /// The pairs of this shard's batch that begins with its `start`-th: of each `of` in a row one, and each time the next of
    /// them, so that a shard has all rules.
    fn indices(&self, start: u64) -> impl Iterator<Item = u64> {
        let (Shard { number, of }, pairs) = (self.shard, self.pairs);
        (start..start + BATCH).map(move |row| row * of + (row + number - 1) % of).filter(move |index| *index < pairs)
    }

    /// How many pairs those are.
    fn size(&self, start: u64) -> u64 {
        self.indices(start).count() as u64
    }

    /// Runs one batch; how many pairs of the campaign are done by it, those of the other shards beside it included. None if the
    /// campaign was stopped meanwhile: what the target did then says nothing.
    fn batch(
        &self,
        start: u64,
        target: &mut (dyn Target + '_),
        shared: &Mutex<Shared<'s>>,
    ) -> Result<Option<u64>, TargetError> {
        let mut drawn = Vec::new();
        let mut discarded = 0;
        let mut failures = Vec::new();
        for index in self.indices(start) {
            match self.draw(index, &mut discarded) {
                Ok(one) => drawn.push(one),
                Err((plan, Discard::Broken(reason))) => failures.push((plan, reason)),
                Err(_) => {}
            }
        }
        let cases: Vec<_> = drawn.iter().map(|one| one.pair.case.clone()).collect();
        let observed = target.observe(&cases)?;
        if self.is_stopped() {
            return Ok(None);
        }
        let judged: Vec<_> = drawn
            .iter()
            .zip(&observed)
            .map(|(one, seen)| self.judge(&one.pair.case, &one.pair.expected.calls, seen))
            .collect();
        let mut shared = lock(shared);
        shared.summary.not_run -= self.size(start);
        shared.summary.discarded += discarded;
        failures.into_iter().for_each(|(plan, reason)| shared.fail(&plan, reason));
        for (one, judgement) in drawn.into_iter().zip(judged) {
            shared.count(one, judgement);
        }
        let of = self.shard.of;
        Ok(Some(((start + BATCH) * of).min(self.pairs) - start * of))
    }

    fn draw(&self, index: u64, discarded: &mut u64) -> Result<Drawn<'s>, (Plan<'s>, Discard)> {
        let mut last = None;
        for attempt in 0..DRAWS {
            let mut source = Source::random(mix(self.seed, index, attempt));
            let plan = self.generator.plan(usize::try_from(index).unwrap_or(usize::MAX), &mut source);
            match self.pair(&plan, &mut source) {
                Ok(pair) => return Ok(Drawn { index, plan, pair }),
                // A defect of the rule is told, not drawn away.
                Err(defect @ Discard::Broken(_)) => return Err((plan, defect)),
                Err(discard) => {
                    *discarded += 1;
                    last = Some((plan, discard));
                }
            }
        }
        Err(last.expect("at least one draw was made"))
    }

    /// The pair of that number, if there is one.
    pub(super) fn case_at(&self, index: u64) -> Option<Drawn<'s>> {
        self.draw(index, &mut 0).ok()
    }

    /// What the pair shows of a target that differs in it, made small; `None` if it doesn't differ.
    pub(super) fn shown_by(
        &self,
        drawn: Drawn<'s>,
        target: &mut (dyn Target + '_),
    ) -> Result<Option<Finding>, TargetError> {
        let Drawn { index, plan, pair: Pair { case, expected, .. } } = drawn;
        let seen = target.observe(std::slice::from_ref(&case))?.remove(0);
        let expected = expected.calls;
        match self.judge(&case, &expected, &seen) {
            Judgement::Differs(alone, testimony) => {
                self.finding(&Raw { index, plan, case, expected, alone, testimony }, 1, target).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The case that `plan` and the choices make. Where the rule leaves the verdicts to the model, it still says that no hit
    /// is stale but those that another rule states.
    fn pair(&self, plan: &Plan<'s>, source: &mut Source) -> Result<Pair, Discard> {
        let mut pair = self.generator.pair(plan, source)?;
        if self.is_predicted_program(plan) {
            // Stale hits included: what a program has done before can be any hazard.
            pair.expected.calls = behaviour(&pair.case, self.profile).map_err(|_| Discard::Unknown)?;
            return Ok(pair);
        }
        if pair.expected.calls.is_empty() {
            let predictions = predict(&pair.case, self.profile).unwrap_or_default();
            let sound = |call: &Prediction| {
                let state = |wrong| self.hazards.state(&self.generator, self.profile, &pair, wrong);
                Behaviour { stale: call.stale.as_ref().is_some_and(state), verdict: call.verdict.clone() }
            };
            let calls = predictions.iter().map(sound).collect();
            pair.expected.calls = calls;
        }
        Ok(pair)
    }

    /// Whether the plan is of a whole program, drawn or written, whose verdicts are the model's.
    fn is_predicted_program(&self, plan: &Plan<'_>) -> bool {
        let rule = plan.rules[0];
        rule.pair.is_none() && self.generator.outcome(rule).is_some_and(Outcome::is_predicted)
    }

    /// Makes the first disagreement of each rule and kind small; stale hits are of one kind if the same is wrong with them.
    fn findings(
        &self,
        mut raw: Vec<Raw<'s>>,
        target: &mut (dyn Target + '_),
        summary: &mut Summary,
    ) -> Result<(), TargetError> {
        // What is small already is made smaller first.
        raw.sort_by_cached_key(|raw| (raw.plan.rules.len(), size(&raw.case), raw.index));
        let mut groups: IndexMap<_, (Raw<'s>, usize)> = IndexMap::new();
        for one in raw {
            let key = (one.plan.rules[0].id.clone(), one.alone, self.wrong(one.alone, &one.case));
            groups.entry(key).or_insert_with(|| (one, 0)).1 += 1;
        }
        for (i, (_, (one, count))) in groups.into_iter().enumerate() {
            if i >= SHRUNK {
                summary.more_findings += count;
                continue;
            }
            let finding = self.finding(&one, count, target)?;
            summary.add_finding(finding);
        }
        Ok(())
    }

    fn judge(&self, case: &Case, expected: &[Behaviour], seen: &Observation) -> Judgement {
        judge(case, expected, self.profile, self.visible, seen)
    }

    fn wrong(&self, alone: Alone, case: &Case) -> Option<Wrong> {
        (alone == Alone::Rule).then(|| wrong_with(case, self.profile)).flatten()
    }

    fn finding(&self, raw: &Raw<'s>, count: usize, target: &mut (dyn Target + '_)) -> Result<Finding, TargetError> {
        let wrong = self.wrong(raw.alone, &raw.case);
        let mut hunt = Hunt { campaign: self, target, alone: raw.alone, wrong, failure: None };
        let (plan, choices) = hunt.start(raw);
        let small = shrink(choices, SHRINK_BUDGET, |choices| hunt.disagrees(&plan, choices.to_vec()));
        if let Some(error) = hunt.failure.take() {
            return Err(error);
        }
        let Pair { case, expected, .. } =
            self.pair(&plan, &mut Source::playback(small)).expect("it gave a case before");
        let (case, expected) = hunt.reduced(&plan, case, expected.calls);
        if let Some(error) = hunt.failure.take() {
            return Err(error);
        }
        let seen = target.observe(std::slice::from_ref(&case))?.remove(0);
        let (plan, case, expected, testimony, reproduced) = match self.judge(&case, &expected, &seen) {
            Judgement::Differs(_, testimony) => (plan, case, expected, testimony, true),
            _ => (raw.plan.clone(), raw.case.clone(), raw.expected.clone(), raw.testimony.clone(), false),
        };
        let detail = match &seen {
            Observation::Calls(calls) => {
                calls.iter().rev().find_map(|call| call.error.as_ref()).map(|e| e.message.clone())
            }
            silent => silent.silence(),
        };
        let rules: Vec<String> = plan.rules.iter().map(|rule: &&Rule| rule.id.clone()).collect();
        Ok(Finding {
            says: statements(self.spec, &rules),
            rules,
            alone: raw.alone,
            expected,
            differences: differences(&case, self.profile, testimony.last_difference()),
            testimony,
            depth: depth(&case),
            case,
            reproduced,
            detail: detail.filter(|text| !text.is_empty()),
            pair: raw.index,
            count,
            implementation: self.profile.profile.clone(),
            version: self.version.clone(),
        })
    }
}

impl<'s> Shared<'s> {
    fn rule(&mut self, plan: &Plan<'_>) -> &mut RuleCount {
        self.summary.rules.entry(plan.rules[0].id.clone()).or_default()
    }

    fn fail(&mut self, plan: &Plan<'_>, reason: String) {
        let last = reason.lines().last().unwrap_or_default().to_owned();
        self.rule(plan).leave_out(last);
        self.summary.failures.push(Failure { rules: plan.name(), reason });
    }

    fn count(&mut self, one: Drawn<'s>, judgement: Judgement) {
        let Drawn { index, plan, pair } = one;
        let alone = plan.rules.len() == 1;
        let (rule_model, model_target) = match judgement {
            Judgement::Holds(seen) => {
                self.rule(&plan).hold(alone.then_some(&seen));
                (1, 1)
            }
            Judgement::Differs(who, testimony) => {
                let agree =
                    (u64::from(testimony.rule == testimony.model), u64::from(testimony.model == testimony.target));
                let rules = plan.rules.iter().map(|rule| rule.id.clone()).collect();
                let first = FirstDifference { pair: index, rules, alone: who, testimony: testimony.clone() };
                self.rule(&plan).differ(alone.then_some(&testimony.target), first);
                let (case, expected) = (pair.case, pair.expected.calls);
                self.raw.push(Raw { index, plan: plan.clone(), case, expected, alone: who, testimony });
                agree
            }
            Judgement::Unsupported(what) => {
                self.rule(&plan).leave_out(format!("the target does not support {what}"));
                *self.summary.unsupported.entry(what).or_default() += 1;
                return;
            }
            Judgement::Unbuildable => {
                self.rule(&plan).leave_out("Python can't build the values".to_owned());
                self.summary.unbuildable += 1;
                return;
            }
            Judgement::Failed(reason) | Judgement::Unpredictable(reason) => return self.fail(&plan, reason),
        };
        let summary = &mut self.summary;
        summary.composed += u64::from(!alone);
        let family = summary.families.entry(plan.rules[0].family().to_owned()).or_default();
        family.pairs += 1;
        family.rule_model += rule_model;
        family.model_target += model_target;
    }
}

/// The search for the smallest case that shows a disagreement of the same kind.
struct Hunt<'h, 's, 't> {
    campaign: &'h Campaign<'s>,
    target: &'h mut (dyn Target + 't),
    alone: Alone,
    /// What is wrong with the hit that no rule states as stale, if it is that.
    wrong: Option<Wrong>,
    failure: Option<TargetError>,
}

impl<'s> Hunt<'_, 's, '_> {
    /// The plan and choices to start from: those of a single rule if one of the plan's shows it alone.
    fn start(&mut self, raw: &Raw<'s>) -> (Plan<'s>, Vec<u32>) {
        let campaign = self.campaign;
        if raw.plan.rules.len() > 1 {
            for rule in &raw.plan.rules {
                let plan = Plan { rules: vec![*rule] };
                for attempt in 0..ALONE_TRIES {
                    let mut source = Source::random(mix(campaign.seed, raw.index, DRAWS + attempt));
                    if campaign.pair(&plan, &mut source).is_err() {
                        continue;
                    }
                    let choices = source.into_choices();
                    if self.disagrees(&plan, choices.clone()) {
                        return (plan, choices);
                    }
                }
            }
        }
        // Only the choices of the pair count, not those of the plan before it: draw both again and keep the former.
        for attempt in 0..DRAWS {
            let mut source = Source::random(mix(campaign.seed, raw.index, attempt));
            let plan = campaign.generator.plan(usize::try_from(raw.index).unwrap_or(usize::MAX), &mut source);
            let before = source.choices().len();
            if campaign.pair(&plan, &mut source).is_ok() {
                return (plan, source.into_choices().split_off(before));
            }
        }
        (raw.plan.clone(), Vec::new())
    }

    fn disagrees(&mut self, plan: &Plan<'s>, choices: Vec<u32>) -> bool {
        let campaign = self.campaign;
        let pair = campaign.pair(plan, &mut Source::playback(choices));
        pair.is_ok_and(|pair| self.shows(&pair.case, &pair.expected.calls))
    }

    /// Whether the case shows the disagreement.
    fn shows(&mut self, case: &Case, expected: &[Behaviour]) -> bool {
        if self.failure.is_some() || self.campaign.is_stopped() {
            return false;
        }
        let seen = match self.target.observe(std::slice::from_ref(case)) {
            Ok(mut seen) => seen.remove(0),
            Err(error) => {
                self.failure = Some(error);
                return false;
            }
        };
        let judgement = self.campaign.judge(case, expected, &seen);
        matches!(judgement, Judgement::Differs(alone, _) if alone == self.alone)
            && self.campaign.wrong(self.alone, case) == self.wrong
    }

    /// The case without all that it can do without, and what is expected of it. What the rules speak of stays, in its position, but
    /// of a program whose verdicts are the model's any part can go; another witness still says the same. Where the rules stand alone
    /// nobody does, and the case stays as it is.
    fn reduced(&mut self, plan: &Plan<'s>, case: Case, expected: Vec<Behaviour>) -> (Case, Vec<Behaviour>) {
        if !matches!(self.alone, Alone::Target | Alone::Model) {
            return (case, expected);
        }
        let (is_predicted, profile) = (self.campaign.is_predicted_program(plan), self.campaign.profile);
        let mut rest = REDUCE_BUDGET;
        let case = reduce(case, |reduction| {
            if rest == 0 || !(reduction.neutral || is_predicted) {
                return false;
            }
            rest -= 1;
            if !is_predicted {
                return self.shows(&reduction.case, &expected);
            }
            behaviour(&reduction.case, profile).is_ok_and(|expected| self.shows(&reduction.case, &expected))
        });
        let expected = if is_predicted { behaviour(&case, profile).unwrap_or(expected) } else { expected };
        (case, expected)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A seed for each draw (the finalizer of SplitMix64).
fn mix(seed: u64, index: u64, attempt: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(attempt << 56);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
