//! Reads the files of a spec and checks them against each other.
//!
//! A file is read typed, part by part; where a part fails, the error is kept, the offending entry is taken out, and the
//! reading goes on, so that one run reports every error.

use std::path::Path;

use include_dir::{Dir, include_dir};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_path_to_error::{Deserializer as PathDeserializer, Segment, Track};
use serde_yaml::Value as Tree;

use super::before::by_version;
use super::check::{check_shape, check_variables};
use super::fingerprint::Fingerprint;
use super::follow::overlaid;
use super::spans::{Spans, Step, lines};
use super::{
    Cause, Causes, Contexts, Diagnostic, Diagnostics, Expectation, Family, Flags, Habit, Mutant, Mutants, Profile,
    Rule, RuleFile, SourceRef, Unseen, Version, follow, group,
};
use crate::case::{Behaviour, Case};

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/spec");

/// A text of the spec with its name, such as `rules/weak_type.yaml`.
#[derive(Debug, Clone)]
pub struct SpecFile {
    /// The name, relative to the spec's root, with `/`.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The specification.
#[derive(Debug)]
pub struct Spec {
    /// The families, in the order of their files' names.
    pub families: Vec<Family>,
    /// The rules, by id.
    pub rules: IndexMap<String, Rule>,
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// What may stand around a planted pair.
    pub contexts: Contexts,
    /// The written cases, by id.
    pub cases: IndexMap<String, CaseFile>,
    /// The defects that the suite has to find.
    pub mutants: Vec<Mutant>,
    /// Entries of profiles that no pair shows.
    pub unseen: Vec<Unseen>,
    /// What differences mean, the particular before the general.
    pub causes: Vec<Cause>,
    /// What several calls of one function show together.
    pub habits: Vec<Habit>,
    /// What tells it from any other spec: a hash of all that decides pairs and verdicts, and of no prose.
    pub fingerprint: String,
}

/// A case with a name, and what is expected of it: a file under `spec/cases/`, or a frozen finding.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// The stable id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// What the case shows, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
    /// The implementation that is called.
    pub api: String,
    /// The version that the expectation was made for, where it is not for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The program.
    pub case: Case,
    /// What happens, by call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
    /// Of a finding: what the target did instead, by call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Vec<Behaviour>>,
    /// The id of the case whose program this one repairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<String>,
    /// What somebody does whose program recompiles because of this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRef>,
}

impl CaseFile {
    /// A case of which nothing else is known.
    #[must_use]
    pub fn bare(api: &str, case: Case) -> Self {
        Self {
            id: String::new(),
            says: String::new(),
            api: api.to_owned(),
            version: None,
            case,
            expect: None,
            observed: None,
            repairs: None,
            fix: None,
            sources: Vec::new(),
        }
    }
}

impl Spec {
    /// The spec that came with this program.
    ///
    /// # Panics
    /// If it is broken, which the tests exclude.
    #[must_use]
    pub fn embedded() -> Self {
        match Self::from_files(Self::embedded_files()) {
            Ok(spec) => spec,
            Err(diagnostics) => panic!("the embedded spec is broken:\n{diagnostics}"),
        }
    }

    /// The files of the spec that came with this program.
    #[must_use]
    pub fn embedded_files() -> Vec<SpecFile> {
        let mut files = Vec::new();
        collect_embedded(&EMBEDDED, &mut files);
        files
    }

    /// The spec in a folder.
    pub fn from_folder(folder: &Path) -> Result<Self, SpecError> {
        let mut files = Vec::new();
        collect_folder(folder, "", &mut files)
            .map_err(|error| SpecError::Unreadable(folder.display().to_string(), error.to_string()))?;
        Ok(Self::from_files(files)?)
    }

    /// The spec that these files make.
    pub fn from_files(mut files: Vec<SpecFile>) -> Result<Self, Diagnostics> {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let mut loader = Loader::default();
        let (mut contexts, mut flags, mut mutants, mut causes) = (None, None, None, None);
        let mut fingerprint = Fingerprint::default();
        let mut profiles = Vec::new();
        for file in &files {
            let reader = Reader::new(file);
            // No report depends on these two.
            if file.name == "mutants.yaml" {
                mutants = loader.read::<Mutants>(&reader, &[], &reader.tree);
                continue;
            }
            if file.name == "causes.yaml" {
                causes = loader.read::<Causes>(&reader, &[], &reader.tree).map(|causes| (reader, causes));
                continue;
            }
            fingerprint.add(&file.name, &reader.tree);
            match file.name.split_once('/') {
                Some(("rules", _)) => loader.rules(reader),
                Some(("profiles", _)) => profiles.push(reader),
                Some(("cases", _)) => loader.cases(reader),
                _ if file.name == "contexts.yaml" => {
                    contexts = Some(loader.read::<Contexts>(&reader, &[], &reader.tree))
                }
                _ if file.name == "flags.yaml" => flags = loader.read::<Flags>(&reader, &[], &reader.tree),
                _ => loader.report(
                    &reader,
                    &[],
                    None,
                    "a spec has `rules/`, `profiles/`, `cases/`, `contexts.yaml`, `flags.yaml`, `causes.yaml` and `mutants.yaml`, and this file is none of them"
                        .into(),
                    None,
                ),
            }
        }
        loader.profiles(&profiles);
        let contexts = contexts.unwrap_or_else(|| {
            let missing = SpecFile { name: "contexts.yaml".into(), text: String::new() };
            loader.report(&Reader::new(&missing), &[], None, "the file is missing".into(), None);
            None
        });
        if let Some(contexts) = &contexts {
            loader.check(contexts);
        }
        loader.flags(&flags.unwrap_or_default());
        if let Some((reader, causes)) = &causes {
            loader.causes(reader, causes);
        }
        let Mutants { mutants, unseen, .. } = mutants.unwrap_or_default();
        let Causes { causes, patterns: habits, .. } = causes.map(|(_, causes)| causes).unwrap_or_default();
        match (contexts, loader.errors.is_empty()) {
            (Some(contexts), true) => Ok(Self {
                families: loader.families,
                rules: loader.rules.into_iter().map(|(id, (rule, _))| (id, rule)).collect(),
                profiles: loader.profiles.into_iter().map(|(profile, _)| profile).collect(),
                contexts,
                cases: loader.cases.into_iter().map(|(id, (case, _))| (id, case)).collect(),
                mutants,
                unseen,
                causes,
                habits,
                fingerprint: fingerprint.to_string(),
            }),
            _ => {
                loader.errors.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
                // What follows a profile is read once for each of those it follows.
                loader.errors.dedup();
                Err(Diagnostics(loader.errors))
            }
        }
    }

    /// The profile of `implementation` at `version`.
    #[must_use]
    pub fn profile(&self, implementation: &str, version: &Version) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.profile == implementation && profile.versions.matches(version))
    }

    /// The profile of the newest versions of `implementation`.
    #[must_use]
    pub fn newest_profile(&self, implementation: &str) -> Option<&Profile> {
        let of_it = self.profiles.iter().filter(|profile| profile.profile == implementation);
        of_it.max_by(|a, b| a.versions.lowest().cmp(&b.versions.lowest()))
    }

    /// The names of the implementations that have a profile.
    #[must_use]
    pub fn implementations(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.profiles.iter().map(|profile| profile.profile.as_str()).collect();
        names.dedup();
        names
    }
}

/// Why there is no spec.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The folder or a file in it can't be read.
    #[error("{0}: {1}")]
    Unreadable(String, String),
    /// The files have errors.
    #[error(transparent)]
    Broken(#[from] Diagnostics),
}

fn collect_embedded(dir: &Dir<'_>, files: &mut Vec<SpecFile>) {
    for file in dir.files() {
        let name =
            file.path().components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        if let Some(text) = file.contents_utf8()
            && name.ends_with(".yaml")
        {
            files.push(SpecFile { name, text: text.to_owned() });
        }
    }
    dir.dirs().for_each(|dir| collect_embedded(dir, files));
}

fn collect_folder(folder: &Path, prefix: &str, files: &mut Vec<SpecFile>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect_folder(&entry.path(), &format!("{name}/"), files)?;
        } else if name.ends_with(".yaml") {
            files.push(SpecFile { text: std::fs::read_to_string(entry.path())?, name });
        }
    }
    Ok(())
}

/// A file, read as far as a tree.
struct Reader<'f> {
    file: &'f SpecFile,
    tree: Tree,
    spans: Spans,
    syntax: Option<serde_yaml::Error>,
}

impl<'f> Reader<'f> {
    fn new(file: &'f SpecFile) -> Self {
        let (tree, syntax) = match serde_yaml::from_str(&file.text) {
            Ok(tree) => (tree, None),
            Err(error) => (Tree::Null, Some(error)),
        };
        Self { file, tree, spans: Spans::of(&file.text), syntax }
    }
}

/// Where a thing was defined.
#[derive(Clone)]
struct Origin {
    file: SpecFile,
    path: Vec<Step>,
}

#[derive(Default)]
struct Loader {
    errors: Vec<Diagnostic>,
    families: Vec<Family>,
    rules: IndexMap<String, (Rule, Origin)>,
    duplicates: Vec<(Rule, Origin)>,
    profiles: Vec<(Profile, Origin)>,
    /// The implementations that profiles name, those among them that can't be read.
    implementations: Vec<String>,
    cases: IndexMap<String, (CaseFile, Origin)>,
}

pub(super) fn key(name: &str) -> Step {
    Step::Key(name.to_owned())
}

impl Loader {
    fn report(
        &mut self,
        reader: &Reader<'_>,
        path: &[Step],
        subject: Option<&str>,
        reason: String,
        help: Option<String>,
    ) {
        let (line, column) = match reader.syntax.as_ref().and_then(serde_yaml::Error::location) {
            Some(location) => (location.line(), location.column()),
            None => reader.spans.find(path),
        };
        self.errors.push(Diagnostic {
            file: format!("spec/{}", reader.file.name),
            line,
            column,
            subject: subject.map(str::to_owned),
            reason,
            suggestion: help,
            excerpt: lines(&reader.file.text).nth(line - 1).unwrap_or_default().to_owned(),
        });
    }

    fn report_at(&mut self, origin: &Origin, inside: &[Step], subject: &str, reason: String, help: Option<String>) {
        let reader = Reader::new(&origin.file);
        let path: Vec<_> = origin.path.iter().chain(inside).cloned().collect();
        self.report(&reader, &path, Some(subject), reason, help);
    }

    /// The rules that causes and patterns name have to be there, and the causes that patterns name.
    fn causes(&mut self, reader: &Reader<'_>, Causes { causes, patterns, .. }: &Causes) {
        for (i, cause) in causes.iter().enumerate() {
            self.rule_of_a_cause(reader, ("causes", i), &cause.id, &cause.rule);
        }
        for (i, habit) in patterns.iter().enumerate() {
            habit.rule.iter().for_each(|rule| self.rule_of_a_cause(reader, ("patterns", i), &habit.id, rule));
            for (j, name) in habit.causes.iter().enumerate() {
                if !causes.iter().any(|cause| cause.id == *name) {
                    let path = [key("patterns"), Step::Index(i), key("causes"), Step::Index(j)];
                    self.report(reader, &path, Some(&habit.id), format!("there is no cause `{name}`"), None);
                }
            }
        }
    }

    fn rule_of_a_cause(&mut self, reader: &Reader<'_>, (list, i): (&str, usize), id: &str, rule: &str) {
        if !self.rules.contains_key(rule) {
            let path = [key(list), Step::Index(i), key("rule")];
            self.report(reader, &path, Some(id), format!("there is no rule `{rule}`"), None);
        }
    }

    /// Reads `tree`, which stands at `path`. On an error the entry that is wrong is taken out and the reading starts
    /// again, until nothing more can be found.
    fn read<T: DeserializeOwned>(&mut self, reader: &Reader<'_>, path: &[Step], tree: &Tree) -> Option<T> {
        if let Some(syntax) = &reader.syntax {
            let reason = format!("this is not YAML: {syntax}");
            self.report(
                reader,
                path,
                None,
                reason,
                Some("check the indentation, and quote texts that hold `: `, `#`, `{` or `[`".into()),
            );
            return None;
        }
        let subject = tree.get("id").and_then(Tree::as_str).map(str::to_owned);
        let mut tree = tree.clone();
        let mut clean = true;
        loop {
            let mut track = Track::new();
            let outcome =
                serde_yaml::with::singleton_map_recursive::deserialize(PathDeserializer::new(&tree, &mut track));
            let error: serde_yaml::Error = match outcome {
                Ok(value) if clean => return Some(value),
                Ok(_) => return None,
                Err(error) => error,
            };
            clean = false;
            let reason = error.to_string();
            let mut inside: Vec<Step> = track.path().iter().filter_map(step).collect();
            let unknown = unknown_name(&reason);
            if let Some((name, _)) = &unknown
                && inside.last() != Some(&Step::Key(name.clone()))
            {
                inside.push(Step::Key(name.clone()));
            }
            let full: Vec<_> = path.iter().chain(&inside).cloned().collect();
            let near = unknown.as_ref().and_then(|(name, known)| nearest(name, known));
            let (reason, help) = with_suggestion(reason);
            self.report(reader, &full, subject.as_deref(), reason, help);
            // What was meant is read as such, so that its absence is no second error.
            if !near.is_some_and(|near| rename(&mut tree, &inside, near)) && !take_out(&mut tree, &inside) {
                return None;
            }
        }
    }

    fn rules(&mut self, reader: Reader<'_>) {
        // The rules are read one by one, so that an error in one says nothing of the others.
        let mut head = reader.tree.clone();
        let rules = match head.get_mut("rules") {
            Some(Tree::Sequence(rules)) => std::mem::take(rules),
            _ => Vec::new(),
        };
        let Some(file) = self.read::<RuleFile>(&reader, &[], &head) else { return };
        for (i, tree) in rules.iter().enumerate() {
            let path = vec![key("rules"), Step::Index(i)];
            let Some(rule) = self.read::<Rule>(&reader, &path, tree) else { continue };
            if rule.family() != file.family || !rule.id.contains('/') {
                let mut at = path.clone();
                at.push(key("id"));
                self.report(
                    &reader,
                    &at,
                    Some(&rule.id),
                    format!("the id of a rule of this file begins with its family, `{}/`", file.family),
                    Some(format!("write `{}/{}`", file.family, rule.id.rsplit('/').next().unwrap_or_default())),
                );
            }
            let origin = Origin { file: reader.file.clone(), path };
            if let Some((_, first)) = self.rules.get(&rule.id) {
                let (line, _) = Spans::of(&first.file.text).find(&first.path);
                let reason =
                    format!("there is a rule `{}` already, in spec/{} at line {line}", rule.id, first.file.name);
                self.report_at(
                    &origin,
                    &[key("id")],
                    &rule.id,
                    reason,
                    Some("ids are unique and never reused: choose another".into()),
                );
                self.duplicates.push((rule, origin));
            } else {
                self.rules.insert(rule.id.clone(), (rule, origin));
            }
        }
        self.families.push(Family { name: file.family, about: file.about });
    }

    fn profiles(&mut self, readers: &[Reader<'_>]) {
        let known: Vec<&Tree> = readers.iter().map(|reader| &reader.tree).collect();
        for reader in readers {
            let name = reader.tree.get("profile").and_then(Tree::as_str).map(str::to_owned);
            self.implementations.extend(name.filter(|name| !self.implementations.contains(name)));
            for tree in overlaid(&reader.tree, &known) {
                let Some(profile) = self.read::<Profile>(reader, &[], &tree) else { continue };
                let origin = Origin { file: reader.file.clone(), path: Vec::new() };
                match by_version(profile, tree) {
                    Ok(profiles) => self.profiles.extend(profiles.into_iter().map(|one| (one, origin.clone()))),
                    Err(reason) => self.report_at(&origin, &[key("before")], "", reason, None),
                }
            }
        }
    }

    /// Gives each profile the flags as they are at its versions; one whose versions have different flags becomes several.
    fn flags(&mut self, flags: &Flags) {
        let defaults = flags.defaults.iter().map(|default| &default.versions);
        for versions in flags.groups.iter().map(|group| &group.versions).chain(defaults) {
            for i in (0..self.profiles.len()).rev() {
                let Some(halves) = self.profiles[i].0.versions.divided_by(versions) else { continue };
                let (profile, origin) = self.profiles[i].clone();
                let half = |versions| (Profile { versions, ..profile.clone() }, origin.clone());
                self.profiles.splice(i..=i, halves.map(half));
            }
        }
        for (profile, _) in &mut self.profiles {
            let version = profile.versions.lowest();
            profile.flags = flags.at(&version);
            profile.flag_defaults = flags.defaults_at(&version);
        }
    }

    fn cases(&mut self, reader: Reader<'_>) {
        let items = match &reader.tree {
            Tree::Sequence(items) if reader.syntax.is_none() => items.clone(),
            _ => {
                self.read::<Vec<CaseFile>>(&reader, &[], &reader.tree);
                return;
            }
        };
        for (i, tree) in items.iter().enumerate() {
            let path = vec![Step::Index(i)];
            let Some(case) = self.read::<CaseFile>(&reader, &path, tree) else { continue };
            let origin = Origin { file: reader.file.clone(), path };
            if case.id.is_empty() || case.says.is_empty() || case.expect.is_none() {
                let reason = "a case of the spec has an `id`, says what it shows, and what is expected".to_owned();
                self.report_at(&origin, &[], &case.id, reason, Some("give `id`, `says` and `expect`".into()));
            }
            if let Err(error) = case.case.validate() {
                self.report_at(&origin, &[key("case")], &case.id, error.to_string(), None);
            }
            if let Some((_, first)) = self.cases.get(&case.id) {
                let reason = format!("there is a case `{}` already, in spec/{}", case.id, first.file.name);
                self.report_at(&origin, &[key("id")], &case.id, reason, None);
            } else {
                self.cases.insert(case.id.clone(), (case, origin));
            }
        }
    }

    /// What can be seen only when everything is there.
    fn check(&mut self, contexts: &Contexts) {
        let known: Vec<&Profile> = self.profiles.iter().map(|(profile, _)| profile).collect();
        for (rule, _) in self.rules.values_mut() {
            group::expand(rule, &known);
            follow::expand(rule, &known);
        }
        let implementations = self.implementations.clone();
        let positions: Vec<String> = contexts.positions.keys().cloned().collect();
        for (profile, origin) in self.profiles.clone() {
            for position in &profile.positions {
                if !positions.contains(position) {
                    self.report_at(
                        &origin,
                        &[key("positions")],
                        &profile.profile,
                        format!("there is no position `{position}`"),
                        suggestion(position, &positions),
                    );
                }
            }
        }
        let profiles: Vec<Profile> = self.profiles.iter().map(|(profile, _)| profile.clone()).collect();
        for (rule, origin) in self.rules.values().chain(&self.duplicates).cloned().collect::<Vec<_>>() {
            let mut report = |inside: &[Step], reason: String, help: Option<String>| {
                self.report_at(&origin, inside, &rule.id, reason, help);
            };
            for implementation in rule.expect.keys() {
                if !implementations.contains(implementation) {
                    report(
                        &[key("expect"), key(implementation)],
                        format!("there is no implementation `{implementation}`: no profile names it"),
                        suggestion(implementation, &implementations),
                    );
                }
            }
            if rule.expect.is_empty() {
                report(&[key("expect")], "the rule says nothing about any implementation".into(), None);
            }
            for position in rule.places.names() {
                if !positions.contains(position) {
                    report(
                        &[key("in")],
                        format!("there is no position `{position}`"),
                        suggestion(position, &positions),
                    );
                }
            }
            if rule.pair.is_some() {
                let is_read = |name: &&String| profiles.iter().any(|profile| profile.profile == **name);
                for implementation in rule.expect.keys().filter(is_read) {
                    let offered: Vec<&String> = profiles
                        .iter()
                        .filter(|profile| profile.profile == *implementation)
                        .flat_map(|profile| &profile.positions)
                        .collect();
                    if !rule.places.of(implementation).iter().any(|place| offered.contains(&place)) {
                        report(
                            &[key("in")],
                            format!(
                                "none of these positions exists for {implementation}, so the rule says nothing about it"
                            ),
                            Some(format!(
                                "positions of {implementation}: {}",
                                offered
                                    .iter()
                                    .map(|name| name.as_str())
                                    .collect::<std::collections::BTreeSet<_>>()
                                    .into_iter()
                                    .collect::<Vec<_>>()
                                    .join(", ")
                            )),
                        );
                    }
                }
            }
            check_shape(&rule, &mut report);
            let ambient = |place: &String| contexts.positions.get(place).is_some_and(|spec| spec.ambient);
            check_variables(&rule, rule.places.names().any(ambient), &mut report);
            for (name, variable) in &rule.forall {
                if let Err(reason) = variable.check() {
                    report(&[key("forall"), key(name.as_str())], reason, None);
                }
            }
        }
        let cases: Vec<_> = self.cases.values().cloned().collect();
        for (case, origin) in cases {
            if !implementations.contains(&case.api) {
                let help = suggestion(&case.api, &implementations);
                self.report_at(
                    &origin,
                    &[key("api")],
                    &case.id,
                    format!("there is no implementation `{}`", case.api),
                    help,
                );
            }
            if let Some(broken) = &case.repairs
                && !self.cases.contains_key(broken)
            {
                let known: Vec<_> = self.cases.keys().cloned().collect();
                self.report_at(
                    &origin,
                    &[key("repairs")],
                    &case.id,
                    format!("there is no case `{broken}`"),
                    suggestion(broken, &known),
                );
            }
        }
    }
}

/// The unknown name and the known ones, if that is what the error says.
fn unknown_name(reason: &str) -> Option<(String, Vec<String>)> {
    if !reason.contains("unknown field") && !reason.contains("unknown variant") {
        return None;
    }
    let mut names = reason.split('`').skip(1).step_by(2).map(str::to_owned);
    let unknown = names.next()?;
    Some((unknown, names.collect()))
}

/// The known name that `name` is most like, if it is much like it.
fn nearest<'k>(name: &str, known: &'k [String]) -> Option<&'k str> {
    let likeness = |other: &String| strsim::jaro_winkler(name, other);
    let near = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(near) > 0.75).then_some(near)
}

pub(super) fn suggestion(name: &str, known: &[String]) -> Option<String> {
    match nearest(name, known) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if known.is_empty() => None,
        None => {
            Some(format!("known here: {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")))
        }
    }
}

/// The error, and what to do; the names that are known stand in one of the two.
pub(super) fn with_suggestion(mut reason: String) -> (String, Option<String>) {
    let help = unknown_name(&reason).and_then(|(name, known)| suggestion(&name, &known));
    if let (Some(_), Some(end)) = (&help, reason.find(", expected ")) {
        reason.truncate(end);
    }
    (reason, help)
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Key(key.clone())),
        Segment::Enum { variant } => Some(Step::Key(variant.clone())),
        Segment::Unknown => None,
    }
}

/// Gives the entry at `path` another key; false if there is one of that name already, or none to rename.
fn rename(tree: &mut Tree, path: &[Step], name: &str) -> bool {
    let Some((Step::Key(old), way)) = path.split_last() else { return false };
    match node_at(tree, way) {
        Some(Tree::Mapping(map)) if !map.contains_key(name) => match map.remove(old.as_str()) {
            Some(value) => map.insert(Tree::String(name.to_owned()), value).is_none(),
            None => false,
        },
        _ => false,
    }
}

fn node_at<'t>(tree: &'t mut Tree, way: &[Step]) -> Option<&'t mut Tree> {
    way.iter().try_fold(tree, |node, step| match (step, node) {
        (Step::Key(key), Tree::Mapping(map)) => map.get_mut(key.as_str()),
        (Step::Index(i), Tree::Sequence(items)) => items.get_mut(*i),
        _ => None,
    })
}

/// Takes the node at `path` out of `tree`; false if there is none.
fn take_out(tree: &mut Tree, path: &[Step]) -> bool {
    let Some((last, way)) = path.split_last() else { return false };
    let Some(node) = node_at(tree, way) else { return false };
    match (last, node) {
        (Step::Key(key), Tree::Mapping(map)) => map.remove(key.as_str()).is_some(),
        (Step::Index(i), Tree::Sequence(items)) if *i < items.len() => {
            items.remove(*i);
            true
        }
        _ => false,
    }
}

/// The ids by which somebody asks for rules: a glob matches whole ids, and a family's name all of its rules.
#[must_use]
pub fn glob(pattern: &str) -> Option<globset::GlobMatcher> {
    let pattern = if pattern.contains(['/', '*']) { pattern.to_owned() } else { format!("{pattern}/*") };
    globset::Glob::new(&pattern).ok().map(|glob| glob.compile_matcher())
}
