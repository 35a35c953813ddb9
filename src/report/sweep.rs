//! A sweep as a table, for a terminal and as Markdown: one line for the inputs of a subject that behave alike.

use std::fmt::Write;

use super::markdown;
use super::text::{Style, grouped};
use crate::check::{Row, Settles, Sweep};
use crate::model::Difference;

const HEADINGS: [&str; 5] = ["what has the state", "inputs", "compiles", "fixed point", "what changed"];

/// The table for a terminal.
#[must_use]
pub fn text(sweep: &Sweep, style: Style) -> String {
    let lines = lines(sweep);
    let cells: Vec<[String; 5]> = lines.iter().map(Group::cells).collect();
    let width = |i: usize| {
        let widths = cells.iter().map(|cells| cells[i].chars().count()).chain([HEADINGS[i].len()]);
        widths.max().unwrap_or(0)
    };
    let widths = [0, 1, 2, 3].map(width);
    let mut text = format!("{}{}{}\n", style.bold, versions(sweep), style.end);
    let line = |cells: [&str; 5]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}    "));
        format!("  {}{}", padded.collect::<String>(), cells[4]).trim_end().to_owned()
    };
    let _ = writeln!(text, "{}{}{}", style.dim, line(HEADINGS), style.end);
    let mut above = "";
    for (group, cells) in lines.iter().zip(&cells) {
        let subject = if cells[0] == above { "" } else { &cells[0] };
        above = &cells[0];
        let colour = match (&group.first().settles, &group.first().disagreement) {
            (_, Some(_)) | (Settles::Never, None) => style.bad,
            (Settles::AtOnce, None) => style.good,
            _ => "",
        };
        let end = if colour.is_empty() { "" } else { style.end };
        let _ = writeln!(text, "{colour}{}{end}", line([subject, &cells[1], &cells[2], &cells[3], &cells[4]]));
    }
    for sum in sums(sweep) {
        let _ = writeln!(text, "  {sum}");
    }
    text
}

/// The same as Markdown.
#[must_use]
pub fn page(sweep: &Sweep) -> String {
    let mut page = format!("# jitkey sweep\n\n{}\n\n", versions(sweep));
    for sum in sums(sweep) {
        let _ = writeln!(page, "- {sum}");
    }
    page.push('\n');
    markdown::row(&mut page, HEADINGS.map(str::to_owned));
    markdown::row(&mut page, HEADINGS.map(|_| "---".to_owned()));
    for group in lines(sweep) {
        markdown::row(&mut page, group.cells().map(|cell| markdown::inline(&cell)));
    }
    page
}

/// Inputs of one subject that behave alike.
struct Group<'s> {
    rows: Vec<&'s Row>,
    /// Whether no other input of the subject behaves otherwise.
    all: bool,
}

impl Group<'_> {
    fn first(&self) -> &Row {
        self.rows[0]
    }

    fn cells(&self) -> [String; 5] {
        let row = self.first();
        let inputs = match self.rows.len() {
            n if n > 1 && self.all => format!("all {n}"),
            n if n > 3 && row.settles == Settles::AtOnce => format!("the other {n}"),
            _ => self.rows.iter().map(|row| row.input.replace(", ", " + ")).collect::<Vec<_>>().join(", "),
        };
        let compiles: Vec<_> = row.compiles().map(|compiled| if compiled { "1" } else { "0" }).collect();
        let settles = match &row.settles {
            Settles::AtOnce => "at once".to_owned(),
            Settles::AfterDispatch => "after a slow look-up".to_owned(),
            Settles::After(1) => "after 1 more compile".to_owned(),
            Settles::After(more) => format!("after {more} more compiles"),
            Settles::Never => "never".to_owned(),
            Settles::Raises(_) => "raises".to_owned(),
            Settles::NotRun(_) => "can't be made".to_owned(),
        };
        let what = match (&row.disagreement, &row.settles) {
            (Some(why), _) => format!("DISAGREES: {why}"),
            (None, Settles::Raises(why) | Settles::NotRun(why)) => why.chars().take(90).collect(),
            (None, _) => changes(&row.changed),
        };
        [row.subject.clone(), inputs, compiles.join(","), settles, what]
    }
}

/// The first leaf that changed, by component, and how many more did.
fn changes(changed: &[Difference]) -> String {
    // What only the fast path looks at comes last.
    let first = changed.iter().min_by_key(|difference| difference.component == "sharding");
    let Some(Difference { path, component, before, after }) = first else { return String::new() };
    let more = match changed.len() {
        1 => String::new(),
        n => format!(", and {} more", n - 1),
    };
    format!("{component} at {path}: {before} → {after}{more}")
}

/// The groups, subject by subject, those that settle at once last.
fn lines(sweep: &Sweep) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    for rows in sweep.rows.chunk_by(|a, b| a.subject == b.subject) {
        let mut alike: Vec<Group<'_>> = Vec::new();
        for row in rows {
            let same = |group: &&mut Group<'_>| {
                let first = group.first();
                let now = (&row.observed, &row.settles, &row.changed, &row.disagreement);
                now == (&first.observed, &first.settles, &first.changed, &first.disagreement)
            };
            match alike.iter_mut().find(same) {
                Some(group) => group.rows.push(row),
                None => alike.push(Group { rows: vec![row], all: false }),
            }
        }
        if let [only] = &mut alike[..] {
            only.all = true;
        }
        alike.sort_by_key(|group| group.first().settles == Settles::AtOnce);
        groups.extend(alike);
    }
    groups
}

fn versions(sweep: &Sweep) -> String {
    let known = sweep.about.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
    known.collect::<Vec<_>>().join(", ")
}

/// How many settle when, and whether the model predicted them.
fn sums(sweep: &Sweep) -> Vec<String> {
    let rows = &sweep.rows;
    let subjects = rows.chunk_by(|a, b| a.subject == b.subject).count();
    let count = |wanted: fn(&Settles) -> bool| rows.iter().filter(|row| wanted(&row.settles)).count();
    let parts = [
        ("at once", count(|settles| *settles == Settles::AtOnce)),
        ("after a slow look-up without a compile", count(|settles| *settles == Settles::AfterDispatch)),
        ("after 1 more compile", count(|settles| *settles == Settles::After(1))),
        ("after 2 more or later", count(|settles| matches!(settles, Settles::After(more) if *more > 1))),
        ("never", count(|settles| *settles == Settles::Never)),
        ("raise", count(|settles| matches!(settles, Settles::Raises(_)))),
        ("can't be made", count(|settles| matches!(settles, Settles::NotRun(_)))),
    ];
    let parts: Vec<_> =
        parts.iter().filter(|(_, n)| *n > 0).map(|(word, n)| format!("{} {word}", grouped(*n as u64))).collect();
    let calls: usize = rows.iter().map(|row| row.observed.len()).sum();
    let differ = rows.iter().filter(|row| row.disagreement.is_some()).count();
    let agreed = match differ {
        0 => format!("predicted and observed agree on all {} calls", grouped(calls as u64)),
        n => format!("predicted and observed DISAGREE on {n} of them"),
    };
    vec![
        format!("{subjects} with a state, {} with their inputs: {}", grouped(rows.len() as u64), parts.join(", ")),
        agreed,
    ]
}
