//! What verbs read: cases from files of YAML, JSON or JSON lines, folders of them, and stdin; and reports.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::CliError;
use crate::case::{Case, text};
use crate::report::json::Report;
use crate::spec::CaseFile;

/// The cases of `path`: of a file, of all files of a folder, or of stdin for `-`. A file holds one case with its name, a
/// list of them, one a line (`.jsonl`), or a bare case, which is about `api` and can't be read without it. One of many that
/// can't be read is an error in its place, which says which it is.
pub(super) fn cases(path: &Path, api: Option<&str>) -> Result<Vec<Result<CaseFile, CliError>>, CliError> {
    let unreadable = |error: std::io::Error| CliError::Usage(format!("{}: {error}", path.display()));
    if path.is_dir() {
        let mut files: Vec<PathBuf> = fs::read_dir(path)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
            .map_err(unreadable)?;
        files.sort();
        files.retain(|file| {
            file.is_dir()
                || file
                    .extension()
                    .is_some_and(|end| ["yaml", "yml", "json", "jsonl"].iter().any(|known| end == *known))
        });
        let cases: Vec<_> = files.iter().map(|file| cases(file, api)).collect::<Result<_, _>>()?;
        return Ok(cases.into_iter().flatten().collect());
    }
    let mut content = String::new();
    if path.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut content).map_err(unreadable)?;
    } else {
        content = fs::read_to_string(path).map_err(unreadable)?;
    }
    let name = path.display().to_string();
    let mut found = if path.extension().is_some_and(|end| end == "jsonl") {
        let mut found = Vec::new();
        for (i, line) in content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match document(line, api, &format!("{name}:{}", i + 1)) {
                Ok(cases) => found.extend(cases),
                Err(error) => found.push(Err(error)),
            }
        }
        found
    } else {
        document(&content, api, &name)?
    };
    for (i, found) in found.iter_mut().enumerate() {
        let Ok(case) = found else { continue };
        if case.id.is_empty() {
            case.id = format!("{name}#{}", i + 1);
        }
        if let Err(error) = case.case.validate() {
            *found = Err(CliError::Usage(format!("{name}: {}: {error}", case.id)));
        }
    }
    // Where there is but one, there is nothing else to do.
    match found.pop() {
        Some(Err(error)) if found.is_empty() => Err(error),
        last => Ok(found.into_iter().chain(last).collect()),
    }
}

/// The report in `path`, with its name.
pub(super) fn report(path: &Path) -> Result<(String, Report), CliError> {
    let name = path.display().to_string();
    let wrong = |error: &dyn std::fmt::Display| CliError::Usage(format!("{name}: {error}"));
    let content = fs::read_to_string(path).map_err(|error| wrong(&error))?;
    let report = Report::from_text(&content)
        .map_err(|error| wrong(&format!("this is no report of `jitkey check --report json=FILE`: {error}")))?;
    Ok((name, report))
}

fn document(content: &str, api: Option<&str>, name: &str) -> Result<Vec<Result<CaseFile, CliError>>, CliError> {
    let wrong = |error: &dyn std::fmt::Display| CliError::Usage(format!("{name}: {error}"));
    let tree: serde_yaml::Value = text::from_yaml(content).map_err(|error| wrong(&error))?;
    let trees = match tree {
        serde_yaml::Value::Sequence(trees) => trees,
        tree => vec![tree],
    };
    let many = trees.len() > 1;
    Ok(trees.iter().enumerate().map(|(i, tree)| case(tree, api, name, many.then_some(i + 1))).collect())
}

/// One case of a document, which is called by its name or by its place among others.
fn case(tree: &serde_yaml::Value, api: Option<&str>, name: &str, place: Option<usize>) -> Result<CaseFile, CliError> {
    let id = tree.get("id").and_then(serde_yaml::Value::as_str);
    let which = id.map(str::to_owned).or_else(|| place.map(|place| format!("case {place}")));
    let which = which.map(|which| format!("{which}: ")).unwrap_or_default();
    let wrong = |error: &dyn std::fmt::Display| CliError::Usage(format!("{name}: {which}{error}"));
    if tree.get("steps").is_some() {
        let case: Case = text::from_tree(tree).map_err(|error| wrong(&error))?;
        let Some(api) = api else {
            return Err(wrong(&"this is a bare case: say which implementation it calls, with --api or --target"));
        };
        return Ok(CaseFile::bare(api, case));
    }
    text::from_tree(tree).map_err(|error| wrong(&error))
}
