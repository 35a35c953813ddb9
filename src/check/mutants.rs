//! The proof of strength: each mutant of the reference model has to be found by pairs that the rules make.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::campaign::{BATCH, lock};
use super::{Campaign, Finding, Hazards, Shard};
use crate::case::{Case, LayerSet};
use crate::generate::{Generator, reduce};
use crate::model::behaviour;
use crate::spec::{ArgumentStyle, CaseFile, Mutant, Profile, Spec, Version};
use crate::target::Mutated;

/// How a mutant was found.
#[derive(Debug)]
pub struct Kill {
    /// How many pairs were needed.
    pub pairs: u64,
    /// The disagreement, made as small as it gets while the rule still says what is expected.
    pub finding: Finding,
    /// The smallest case in which the mutant differs from the model: nothing of it can be left out.
    pub smallest: Case,
}

/// What came of a mutant.
#[derive(Debug)]
pub struct Fate<'s> {
    /// The mutant.
    pub mutant: &'s Mutant,
    /// How it was found, if it was.
    pub kill: Option<Kill>,
    /// The written case that shows what no pair did.
    pub case: Option<&'s str>,
    /// Why the spec says that nothing can find it.
    pub unseen: Option<&'s str>,
}

impl Fate<'_> {
    /// Whether a pair or a written case found it.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.kill.is_some() || self.case.is_some()
    }

    /// Whether it was found, or the spec says why it can't be.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.is_found() || self.unseen.is_some()
    }
}

/// What came of all of them.
#[derive(Debug)]
pub struct Fates<'s> {
    /// The mutants, in the order of the spec.
    pub fates: Vec<Fate<'s>>,
    /// The control: how many pairs of the unmutated models were compared with the rules.
    pub control: u64,
    /// And the rules of pairs in which they differed, which are none.
    pub control_differs: Vec<String>,
}

/// Which pairs.
#[derive(Debug, Clone, Copy)]
pub struct Hunt<'v> {
    /// At which version of the implementation; that of its newest profile if not given.
    pub version: Option<&'v Version>,
    /// The seed.
    pub seed: u64,
    /// How many pairs a mutant is given to survive.
    pub most: u64,
    /// How many pairs the unmutated model of each implementation is compared on, at least. As many are shown to a mutant that nothing
    /// can find, as the spec says.
    pub control: u64,
    /// How many threads.
    pub jobs: usize,
}

/// Hunts the mutants. All that are made of one implementation meet the same pairs, in the same order, whatever the number of
/// threads.
///
/// # Errors
/// If a mutant is made of something that has no profile at that version, or its edits don't fit.
pub fn hunt<'s>(spec: &'s Spec, mutants: &[&'s Mutant], how: Hunt<'s>) -> Result<Fates<'s>, String> {
    let mut fates: Vec<(usize, Fate<'s>)> = Vec::new();
    let (mut control, mut control_differs) = (0, Vec::new());
    let mut implementations: Vec<&str> = mutants.iter().map(|mutant| mutant.of.as_str()).collect();
    implementations.sort_unstable();
    implementations.dedup();
    for implementation in implementations {
        let (campaign, version) = campaign(spec, implementation, how)?;
        let ahead = match campaign.profile.arguments {
            ArgumentStyle::ControlFlow(_) => None,
            ArgumentStyle::AsWritten | ArgumentStyle::Partition => {
                let (ahead, _) = self::campaign(spec, implementation, how)?;
                Some(Campaign { generator: ahead.generator.tracing_only(), ..ahead })
            }
        };
        let (campaign, ahead) = (&campaign, ahead.as_ref());
        let mut field = Field { campaign, ahead, prey: Vec::new(), how, control: Mutex::default() };
        for (place, mutant) in mutants.iter().enumerate().filter(|(_, mutant)| mutant.of == implementation) {
            let target = Mutated::new(mutant, campaign.profile, &version)
                .map_err(|why| format!("the mutant {} can't be made: {why}", mutant.id))?;
            let unseen = spec.unseen.iter().find(|unseen| unseen.covers(&mutant.id)).map(|unseen| &*unseen.because);
            let most = if unseen.is_some() { how.most.min(how.control) } else { how.most };
            field.prey.push(Prey { place, mutant, target, unseen, most, found: AtomicU64::new(u64::MAX) });
        }
        fates.extend(field.run()?);
        let compared = field.control.into_inner().unwrap_or_default();
        control += compared.0;
        control_differs.extend(compared.1);
    }
    fates.sort_by_key(|(place, _)| *place);
    control_differs.sort();
    Ok(Fates { fates: fates.into_iter().map(|(_, fate)| fate).collect(), control, control_differs })
}

/// A campaign on the profile of `implementation` that is asked for, and the version that it stands for.
fn campaign<'s>(spec: &'s Spec, implementation: &str, how: Hunt<'s>) -> Result<(Campaign<'s>, String), String> {
    let profile = spec.profile_or_newest(implementation, how.version).ok_or_else(|| {
        let at = how.version.map(|version| format!(" at {version}")).unwrap_or_default();
        format!("there is no profile of {implementation}{at}")
    })?;
    let version = how.version.cloned().unwrap_or_else(|| profile.versions.lowest());
    let generator = Generator::new(spec, &profile.profile, &version, |_| true).expect("there is a profile");
    if generator.rules().len() == 0 {
        return Err(format!("no rule speaks of {implementation}"));
    }
    let campaign = Campaign {
        spec,
        generator,
        unknown_flags: Vec::new(),
        hazards: Hazards::default(),
        profile,
        version: version.to_string(),
        visible: LayerSet::ALL,
        seed: how.seed,
        pairs: how.most,
        shard: Shard { number: 1, of: 1 },
        jobs: how.jobs,
        stop: Arc::default(),
    };
    Ok((campaign, version.to_string()))
}

/// Whether the mutant does something else than the model of `profile` says.
#[must_use]
pub fn differs(mutant: &Mutated<'_>, profile: &Profile, case: &Case) -> bool {
    behaviour(case, profile).is_ok_and(|model| mutant.calls(case).is_ok_and(|calls| calls != model))
}

/// One of so many pairs is traced ahead of time.
const AHEAD: u64 = 8;

/// A mutant that is hunted.
struct Prey<'s> {
    /// Its place in the spec.
    place: usize,
    mutant: &'s Mutant,
    target: Mutated<'s>,
    /// Why the spec says that nothing can find it.
    unseen: Option<&'s str>,
    /// How many pairs it meets if none finds it.
    most: u64,
    /// The first pair that showed it so far.
    found: AtomicU64,
}

/// The mutants of one implementation.
struct Field<'f, 's> {
    campaign: &'f Campaign<'s>,
    /// The same with functions that are traced and never run, where there is such a thing.
    ahead: Option<&'f Campaign<'s>>,
    prey: Vec<Prey<'s>>,
    how: Hunt<'s>,
    control: Mutex<(u64, Vec<String>)>,
}

impl<'f, 's> Field<'f, 's> {
    fn run(&self) -> Result<Vec<(usize, Fate<'s>)>, String> {
        let next = AtomicU64::new(0);
        self.in_threads(|| {
            loop {
                let start = next.fetch_add(BATCH, Ordering::Relaxed);
                let is_settled = |prey: &Prey<'_>| start >= prey.most || prey.found.load(Ordering::Relaxed) < start;
                let is_over = start >= self.how.control && self.prey.iter().all(is_settled);
                if is_over {
                    return Ok(());
                }
                (start..start + BATCH).for_each(|index| self.meet(index));
            }
        })?;
        let fates = Mutex::new(Vec::new());
        let next = AtomicUsize::new(0);
        self.in_threads(|| {
            while let Some(prey) = self.prey.get(next.fetch_add(1, Ordering::Relaxed)) {
                let fate = self.fate(prey)?;
                lock(&fates).push((prey.place, fate));
            }
            Ok(())
        })?;
        Ok(fates.into_inner().unwrap_or_default())
    }

    fn in_threads(&self, work: impl Fn() -> Result<(), String> + Sync) -> Result<(), String> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.how.jobs.max(1)).map(|_| scope.spawn(&work)).collect();
            threads.into_iter().map(|thread| thread.join().expect("a hunter doesn't panic")).fold(Ok(()), Result::and)
        })
    }

    /// The campaign that has the pair of that number, and its number there: of eight in a row the last is traced ahead of
    /// time, where there is such a thing.
    fn place_of(&self, index: u64) -> (&'f Campaign<'s>, u64) {
        match self.ahead {
            Some(ahead) if index % AHEAD == AHEAD - 1 => (ahead, index / AHEAD),
            Some(_) => (self.campaign, index - index / AHEAD),
            None => (self.campaign, index),
        }
    }

    /// Shows one pair to the unmutated model and to each mutant that no earlier pair has found.
    fn meet(&self, index: u64) {
        let (campaign, number) = self.place_of(index);
        let Some(drawn) = campaign.case_at(number) else { return };
        let expected = &drawn.pair.expected.calls;
        if index < self.how.control {
            let model = behaviour(&drawn.pair.case, self.campaign.profile);
            let mut control = lock(&self.control);
            control.0 += 1;
            if model.is_ok_and(|model| model != *expected) {
                control.1.push(drawn.plan.name());
            }
        }
        for prey in self.prey.iter().filter(|prey| prey.found.load(Ordering::Relaxed) > index && index < prey.most) {
            let calls = prey.target.calls(&drawn.pair.case);
            if calls.is_ok_and(|calls| calls != *expected) {
                prey.found.fetch_min(index, Ordering::Relaxed);
            }
        }
    }

    fn fate(&self, prey: &Prey<'s>) -> Result<Fate<'s>, String> {
        let index = prey.found.load(Ordering::Relaxed);
        let (campaign, number) = self.place_of(index);
        let was_found = index < u64::MAX;
        let kill = match was_found.then(|| campaign.case_at(number)).flatten() {
            Some(drawn) => {
                let finding = campaign.shown_by(drawn, &mut prey.target.clone()).map_err(|error| error.to_string())?;
                finding.map(|finding| {
                    let smallest = reduce(finding.case.clone(), |reduction| {
                        differs(&prey.target, self.campaign.profile, &reduction.case)
                    });
                    Kill { pairs: index + 1, finding, smallest }
                })
            }
            None => None,
        };
        let case = if kill.is_none() { self.case(prey) } else { None };
        Ok(Fate { mutant: prey.mutant, kill, case, unseen: prey.unseen })
    }

    /// The written case that the mutant doesn't do as the spec says.
    fn case(&self, prey: &Prey<'s>) -> Option<&'s str> {
        let version: Version = self.campaign.version.parse().ok()?;
        let differs = |file: &&CaseFile| {
            let Some(expected) = file.expect.as_ref().and_then(|expect| expect.at(&version)) else { return false };
            let model = behaviour(&file.case, self.campaign.profile);
            model.is_ok_and(|model| expected.completed(&model) == model)
                && differs(&prey.target, self.campaign.profile, &file.case)
        };
        let files = self.campaign.spec.cases.values();
        files.filter(|file| file.api == prey.mutant.of).find(differs).map(|file| file.id.as_str())
    }
}
