//! The matrix, the rulebook and recordings: what they say, and that the pages need nothing but themselves.

use std::collections::BTreeSet;

use jitkey::check::Shard;
use jitkey::explain::{Explained, ExplainedCall, Recording};
use jitkey::report::json::{Part, Report};
use jitkey::report::matrix::{Column, Matrix, State, sort};
use jitkey::report::{html, markdown};
use jitkey::spec::Rule;
use jitkey::target::{Reference, Target};
use rstest::rstest;

use super::common::{Liar, NEWEST, SEED, SPEC, campaign, run};

fn none_leaves(rule: &Rule) -> bool {
    rule.family() == "none-leaves"
}

/// The column of the model at `version`, or of one that takes every None for an empty tuple.
fn column(version: &str, lies: bool) -> Column {
    let campaign = campaign("jax.jit", version, 600, none_leaves);
    let reference = Reference::new(&SPEC, "jax.jit", version).unwrap();
    let about = reference.about().clone();
    let lie = |case: &jitkey::case::Case| {
        let text = jitkey::case::text::to_json(case).replace("null", r#"{"tuple":[]}"#);
        jitkey::case::text::from_json(&text).unwrap_or_else(|_| case.clone())
    };
    let summary = if lies { run(&campaign, Liar::new("jax.jit", lie)) } else { run(&campaign, reference) };
    let part = Part::new(SEED, 600, vec!["none-leaves".to_owned()], Shard { number: 1, of: 1 });
    let name = if lies { "cmd:./a <b> & 'c'".to_owned() } else { format!("reference:jax.jit@{version}") };
    Column::of(Report::new(name, about, &SPEC.fingerprint, part, summary))
}

/// The newest and an old version, one that could not be run, and one that has findings.
fn columns() -> Vec<Column> {
    let absent = Column {
        name: "reference:jax.jit@0.6.2".to_owned(),
        group: "reference:jax.jit".to_owned(),
        implementation: "jax.jit".to_owned(),
        version: "0.6.2".to_owned(),
        run: Err("there is no such Python".to_owned()),
    };
    let mut columns = vec![column(NEWEST, false), absent, column(NEWEST, true), column("0.4.30", false)];
    sort(&mut columns);
    columns
}

#[test]
fn columns_go_by_group_and_then_from_old_to_new() {
    let columns = columns();
    let names: Vec<_> = columns.iter().map(|column| (column.group.as_str(), column.version.as_str())).collect();
    let model = "reference:jax.jit";
    assert_eq!(names, [(model, "0.4.30"), (model, "0.6.2"), (model, NEWEST), ("cmd:./a <b> & 'c'", NEWEST)]);
}

#[test]
fn cells_tell_what_held_what_did_not_and_what_was_not_run() {
    let columns = columns();
    let matrix = Matrix::new(&SPEC, &columns, none_leaves);
    assert_eq!(matrix.families(), ["none-leaves"]);
    for row in &matrix.rows {
        for (cell, column) in row.cells.iter().zip(&columns) {
            let stated = row.rule.expect.get("jax.jit").and_then(|said| said.at(&column.version.parse().unwrap()));
            assert_eq!(cell.expected, stated, "{}", row.id);
            match (stated, column.run.is_ok()) {
                (None, _) => assert_eq!(cell.state, State::NotStated),
                (_, false) => assert_eq!(cell.state, State::NotRun),
                _ if column.name.starts_with("cmd") => assert_ne!(cell.state, State::NotRun),
                _ => assert_eq!(cell.state, State::Holds, "{} at {}", row.id, column.name),
            }
        }
    }
    assert!(matrix.count(State::Differs) > 0);
    let changed: usize = matrix.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.changed).count();
    assert_eq!(changed, matrix.changes.len());
    assert!(matrix.changes.iter().any(|change| change.rule == "none-leaves/ordered-dict-key"));
}

#[test]
fn the_matrix_as_markdown() {
    let mut columns = vec![column("0.4.30", false), column("0.6.2", false)];
    sort(&mut columns);
    let matrix = Matrix::new(&SPEC, &columns, none_leaves);
    crate::snapshot!("matrix-none-leaves", markdown::matrix(&SPEC, &matrix));
}

#[test]
fn the_rulebook_as_markdown() {
    let page = markdown::rulebook(&SPEC);
    for id in SPEC.rules.keys() {
        assert!(page.contains(&format!("### {id}\n")), "{id}");
    }
    let start = page.find("## none-leaves").unwrap();
    let end = start + page[start..].find("## pytree-structure").unwrap();
    crate::snapshot!("rulebook-document-none-leaves", &page[start..end]);
}

/// The values of an attribute, as they are written.
fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    page.split(&format!(" {name}=\"")).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[rstest]
#[case::matrix(html::matrix(&SPEC, &Matrix::new(&SPEC, &columns(), none_leaves)))]
#[case::rulebook(html::rulebook(&SPEC))]
#[case::recording(html::recording(&recorded(30, "step")))]
fn pages_stand_alone_and_every_link_arrives(#[case] page: String) {
    let ids = attributes(&page, "id");
    let known: BTreeSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), known.len(), "an id is there twice");
    for link in attributes(&page, "href") {
        match link.strip_prefix('#') {
            Some(target) => assert!(known.contains(&target), "nothing has the id {target}"),
            None => assert!(link.starts_with("https://github.com/"), "{link}"),
        }
    }
    for described in attributes(&page, "aria-labelledby") {
        assert!(known.contains(&described), "{described}");
    }
    for outside in [" src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(outside), "the page has {outside}");
    }
}

#[test]
fn names_are_escaped() {
    let page = html::matrix(&SPEC, &Matrix::new(&SPEC, &columns(), none_leaves));
    assert!(page.contains("cmd:./a &lt;b&gt; &amp;"));
    assert!(!page.contains("<b> &"));
}

#[test]
fn every_rule_has_an_example() {
    use jitkey::report::law::Example;
    let without: Vec<_> = SPEC.rules.values().filter(|rule| Example::any(&SPEC, rule).is_none()).collect();
    assert!(without.is_empty(), "{:?}", without.iter().map(|rule| &rule.id).collect::<Vec<_>>());
}

/// So many calls of a function of that name, every tenth with a new static number.
fn recorded(calls: usize, name: &str) -> Explained {
    let name = serde_json::Value::from(name);
    let mut content = format!("{{\"recording\": 1, \"about\": {{\"jax\": \"{NEWEST}\"}}}}\n");
    for i in 0..calls {
        let objects = if i == 0 { r#""objects": {"step_1": {"def": {}}}, "# } else { "" };
        let missed = if i % 10 == 0 { r#""dispatch", "trace", "lower", "compile""# } else { "" };
        content += &format!(
            r#"{{"api": "jax.jit", {objects} "name": {name}, "at": {name}, "from": {name},
                "call": {{"function": {{"ref": "step_1"}}, "args": [{{"str": {name}}}, {}],
                          "options": {{"static_argnums": [0, 1]}}}}, "missed": [{missed}]}}"#,
            i / 10
        )
        .replace('\n', " ");
        content.push('\n');
    }
    let explained = Recording::read(&content).and_then(|recording| Explained::of(recording, &SPEC)).unwrap();
    assert!(explained.calls.iter().all(ExplainedCall::is_predicted));
    explained
}

/// Whatever a program calls its functions, it is text on the page.
#[rstest]
#[case("</script><script>alert(1)</script>")]
#[case("<!--<script>")]
#[case("\"><img onerror=alert(1)>")]
#[case("a\u{2028}b\u{2029}c")]
fn names_of_a_recording_are_text(#[case] name: &str) {
    let page = html::recording(&recorded(30, name));
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<!--"));
    let data = page.split_once(r#"type="application/json">"#).unwrap().1.split_once("</script>").unwrap().0;
    assert!(!data.contains(['<', '\u{2028}', '\u{2029}']));
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert!(data["texts"].as_array().unwrap().iter().any(|text| text == name));
}

#[test]
fn ten_thousand_calls_make_a_small_page() {
    let page = html::recording(&recorded(10_000, "step"));
    assert!(page.len() < 500_000, "{}", page.len());
    assert_eq!(page.matches("data-call=\"").count(), 12);
}
