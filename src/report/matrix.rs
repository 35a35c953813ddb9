//! Rules over implementations and versions: what each rule says of each target, and what came of it there.

use serde::Serialize;

use super::json::Report;
use super::law::Example;
use super::quoted;
use super::text::grouped;
use crate::check::{Finding, RuleCount};
use crate::spec::{Outcome, Rule, Spec, Version};

/// A target of the matrix.
#[derive(Debug, Serialize)]
pub struct Column {
    /// The name by which it is asked for, with its version.
    pub name: String,
    /// The name without the version: columns of one group are versions of one thing.
    pub group: String,
    /// The implementation, by the name of its profile.
    pub implementation: String,
    /// The version.
    pub version: String,
    /// What came of the campaign, or why there was none.
    pub run: Result<Report, String>,
}

impl Column {
    /// The column of a target that was run.
    #[must_use]
    pub fn of(report: Report) -> Self {
        let version = report.target.version.clone();
        let group = report.name.strip_suffix(&version).and_then(|name| name.strip_suffix('@')).unwrap_or(&report.name);
        Self {
            group: group.to_owned(),
            name: report.name.clone(),
            implementation: report.target.implementation.clone(),
            version,
            run: Ok(report),
        }
    }

    /// The version that was run, or would be.
    fn runs(&self) -> Option<Version> {
        self.report().map_or_else(|| self.version.parse().ok(), |report| report.target.runs())
    }

    fn report(&self) -> Option<&Report> {
        self.run.as_ref().ok()
    }

    /// The command that runs the same pairs again, or would run them if the target could be run.
    #[must_use]
    pub fn command(&self) -> String {
        let part = self.report().and_then(|report| report.campaigns.first());
        let arguments = part.map(|part| format!(" {}", part.arguments())).unwrap_or_default();
        format!("jitkey check {}{arguments}", quoted(&self.name))
    }
}

/// What came of a rule at a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The rule says nothing of this target.
    NotStated,
    /// The target was not run.
    NotRun,
    /// No pair of the rule was compared.
    NoPair,
    /// Rule, model and target agree on every pair.
    Holds,
    /// They don't.
    Differs,
}

impl State {
    /// The sign of the state; never shown without the legend.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::NotStated => "·",
            Self::NotRun => "○",
            Self::NoPair => "–",
            Self::Holds => "✓",
            Self::Differs => "✗",
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NotStated => "the rule says nothing of it",
            Self::NotRun => "not run",
            Self::NoPair => "no pair was compared",
            Self::Holds => "holds",
            Self::Differs => "does not hold",
        }
    }

    /// All of them, as a legend lists them.
    pub const ALL: [Self; 5] = [Self::Holds, Self::Differs, Self::NotRun, Self::NoPair, Self::NotStated];
}

/// A rule at a target.
#[derive(Debug, Serialize)]
pub struct Cell<'m> {
    /// What the rule says.
    pub expected: Option<&'m Outcome>,
    /// Whether that is not what it says of the version before.
    pub changed: bool,
    /// What came of it.
    pub state: State,
    /// The counts of the campaign.
    pub count: Option<&'m RuleCount>,
    /// The findings that name the rule, as indices into those of the column's report.
    pub findings: Vec<usize>,
    /// The command that checks this cell again.
    pub command: Option<String>,
}

/// A rule at every target.
#[derive(Debug, Serialize)]
pub struct Row<'m> {
    /// The id of the rule.
    pub id: &'m str,
    /// What it says.
    pub says: &'m str,
    /// The rule.
    #[serde(skip)]
    pub rule: &'m Rule,
    /// By column.
    pub cells: Vec<Cell<'m>>,
}

/// A verdict that is not what it was at the version before.
#[derive(Debug, Serialize)]
pub struct Change<'m> {
    /// The rule.
    pub rule: &'m str,
    /// The column of the version before, and what the rule says of it.
    pub before: (usize, Option<&'m Outcome>),
    /// The column of the version, and what the rule says of it.
    pub after: (usize, Option<&'m Outcome>),
}

/// The table.
#[derive(Debug, Serialize)]
pub struct Matrix<'m> {
    /// The version of jitkey.
    pub jitkey: &'static str,
    /// The fingerprint of the spec.
    pub spec: &'m str,
    /// The targets: group by group, the oldest version first.
    pub columns: &'m [Column],
    /// The rules that were checked on one of them, or would have been if it had run, in the order of the spec.
    pub rows: Vec<Row<'m>>,
    /// What changed from one version to the next, version by version.
    pub changes: Vec<Change<'m>>,
}

/// Puts columns in order: the groups as they come, in each the oldest version first.
pub fn sort(columns: &mut [Column]) {
    let mut groups: Vec<String> = Vec::new();
    for column in columns.iter() {
        if !groups.contains(&column.group) {
            groups.push(column.group.clone());
        }
    }
    let place = |column: &Column| groups.iter().position(|group| *group == column.group);
    let version = |column: &Column| column.version.parse::<Version>().ok();
    columns.sort_by_key(|column| (place(column), version(column)));
}

impl<'m> Matrix<'m> {
    /// The matrix of the rules that `wanted` lets through, over columns in order.
    #[must_use]
    pub fn new(spec: &'m Spec, columns: &'m [Column], wanted: impl Fn(&Rule) -> bool) -> Self {
        let rows: Vec<Row<'m>> = spec
            .rules
            .values()
            .filter(|rule| wanted(rule))
            .map(|rule| row(rule, columns))
            .filter(|row| row.cells.iter().any(|cell| cell.state == State::NotRun || cell.count.is_some()))
            .collect();
        let pairs = (1..columns.len()).filter(|i| columns[i - 1].group == columns[*i].group);
        let changes = pairs.flat_map(|i| {
            rows.iter().filter(move |row| row.cells[i].changed).map(move |row| Change {
                rule: row.id,
                before: (i - 1, row.cells[i - 1].expected),
                after: (i, row.cells[i].expected),
            })
        });
        let changes = changes.collect();
        Self { jitkey: env!("CARGO_PKG_VERSION"), spec: &spec.fingerprint, columns, rows, changes }
    }

    /// The names of the families that have rows, in order.
    #[must_use]
    pub fn families(&self) -> Vec<&'m str> {
        let mut names: Vec<_> = self.rows.iter().map(|row| row.rule.family()).collect();
        names.dedup();
        names
    }

    /// The groups of columns, each with the indices of its columns.
    #[must_use]
    pub fn groups(&self) -> Vec<(&'m str, Vec<usize>)> {
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        for (i, column) in self.columns.iter().enumerate() {
            match groups.last_mut() {
                Some((name, columns)) if *name == column.group => columns.push(i),
                _ => groups.push((&column.group, vec![i])),
            }
        }
        groups
    }

    /// The findings of all columns, each with its column.
    pub fn findings(&self) -> impl Iterator<Item = (&'m Column, &'m Finding)> {
        let columns: &'m [Column] = self.columns;
        let of = |column: &'m Column| column.report().into_iter().flat_map(|report| &report.summary.findings);
        columns.iter().flat_map(move |column| of(column).map(move |finding| (column, finding)))
    }

    /// The simplest case of a rule for the last column that it speaks of, and which target that is.
    #[must_use]
    pub fn example(&self, spec: &Spec, row: &Row<'_>) -> Option<(String, Example)> {
        let stated = |i: &usize| row.cells[*i].expected.is_some();
        let column = &self.columns[(0..self.columns.len()).rev().find(stated)?];
        let example = Example::of(spec, row.rule, &column.implementation, &column.runs()?)?;
        Some((format!("{} {}", column.group, column.version), example))
    }

    /// How many cells are in that state.
    #[must_use]
    pub fn count(&self, state: State) -> usize {
        self.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.state == state).count()
    }

    /// One sentence: how many rules, on how many targets, and how many cells hold.
    #[must_use]
    pub fn lead(&self) -> String {
        let counted =
            |n: usize, one: &str, many: &str| format!("{} {}", grouped(n as u64), if n == 1 { one } else { many });
        let mut text = format!(
            "{} on {}: {}",
            counted(self.rows.len(), "rule", "rules"),
            counted(self.columns.len(), "target", "targets"),
            counted(self.count(State::Holds), "verdict holds", "verdicts hold"),
        );
        for (state, words) in [
            (State::Differs, "not as stated"),
            (State::NotRun, "of targets that were not run"),
            (State::NoPair, "without a pair"),
        ] {
            if self.count(state) > 0 {
                text.push_str(&format!(", {} {words}", self.count(state)));
            }
        }
        let changes = counted(self.changes.len(), "verdict changes", "verdicts change");
        format!("{text}. {changes} from one version to the next.")
    }

    /// As JSON, indented.
    ///
    /// # Panics
    /// Never: everything in it has a JSON form.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a matrix has a JSON form")
    }
}

fn row<'m>(rule: &'m Rule, columns: &'m [Column]) -> Row<'m> {
    let said = |column: &Column| rule.expect.get(&column.implementation)?.at(&column.runs()?);
    let cell = |(i, column): (usize, &'m Column)| {
        let expected = said(column);
        let before = i.checked_sub(1).map(|i| &columns[i]).filter(|before| before.group == column.group);
        let count = column.report().and_then(|report| report.summary.rules.get(&rule.id));
        let findings = column.report().map_or(&[][..], |report| &report.summary.findings);
        let findings: Vec<_> =
            (0..findings.len()).filter(|number| findings[*number].rules.contains(&rule.id)).collect();
        let state = match (expected, &column.run, count) {
            (None, ..) => State::NotStated,
            (_, Err(_), _) => State::NotRun,
            _ if !findings.is_empty() => State::Differs,
            (.., Some(count)) if count.agreed < count.pairs => State::Differs,
            (.., Some(count)) if count.pairs > 0 => State::Holds,
            _ => State::NoPair,
        };
        let command = expected.map(|_| {
            let seed = column.report().and_then(|report| report.campaigns.first());
            let seed = seed.map(|part| format!(" --seed {}", part.seed)).unwrap_or_default();
            let pairs = count.map(|count| format!(" --pairs {}", count.pairs.max(1))).unwrap_or_default();
            format!("jitkey check {} --rules {}{pairs}{seed}", quoted(&column.name), quoted(&rule.id))
        });
        Cell {
            expected,
            changed: before.is_some_and(|before| said(before) != expected),
            state,
            count,
            findings,
            command,
        }
    };
    Row { id: &rule.id, says: &rule.says, rule, cells: columns.iter().enumerate().map(cell).collect() }
}

impl Cell<'_> {
    /// What the target did in the pairs that were planted alone, the most frequent first: for a pair its second call.
    #[must_use]
    pub fn observed(&self, rule: &Rule) -> Vec<(&str, u64)> {
        let mut observed: Vec<(&str, u64)> = Vec::new();
        for (words, count) in self.count.iter().flat_map(|count| &count.observed) {
            let last = words.split_once(", ").filter(|_| rule.pair.is_some()).map_or(words.as_str(), |(_, last)| last);
            match observed.iter_mut().find(|(known, _)| *known == last) {
                Some((_, known)) => *known += count,
                None => observed.push((last, *count)),
            }
        }
        observed.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        observed
    }

    /// What stands behind the state, in a sentence: `trace in 31 pairs alone, 9 composed`.
    #[must_use]
    pub fn evidence(&self, rule: &Rule) -> String {
        let Some(count) = self.count else { return self.state.words().to_owned() };
        let alone = self.observed(rule);
        let composed = count.pairs - alone.iter().map(|(_, count)| count).sum::<u64>();
        let mut parts: Vec<_> = alone.iter().map(|(words, count)| format!("{words} in {count} alone")).collect();
        if composed > 0 {
            parts.push(format!("{composed} composed with others"));
        }
        let left = count.left_out.iter().map(|(reason, count)| format!("{count} left out: {reason}"));
        parts.extend(left);
        if count.agreed < count.pairs {
            parts.push(format!("{} of {} pairs differ", count.pairs - count.agreed, count.pairs));
        }
        if parts.is_empty() { self.state.words().to_owned() } else { parts.join("; ") }
    }
}
