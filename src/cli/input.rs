//! What verbs read: cases from files of YAML, JSON or JSON lines, folders of them, and stdin; and reports.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::CliError;
use crate::report::json::Report;
use crate::spec::{CaseFile, SpecFile};

/// The cases of `path`: of a file, of all files of a folder, or of stdin for `-`. A file holds one case with its name, a
/// list of them, one a line (`.jsonl`), or a bare case, which is about `api` and can't be read without it. One of many that
/// can't be read is an error in its place, which says which it is.
pub(super) fn cases(path: &Path, api: Option<&str>) -> Result<Vec<Result<CaseFile, CliError>>, CliError> {
    let mut found = found(path, api)?;
    // Where there is but one, there is nothing else to do.
    match found.pop() {
        Some(Err(error)) if found.is_empty() => Err(error),
        last => Ok(found.into_iter().chain(last).collect()),
    }
}

fn found(path: &Path, api: Option<&str>) -> Result<Vec<Result<CaseFile, CliError>>, CliError> {
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
        let cases: Vec<_> = files.iter().map(|file| found(file, api)).collect::<Result<_, _>>()?;
        return Ok(cases.into_iter().flatten().collect());
    }
    let mut content = String::new();
    if path.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut content).map_err(unreadable)?;
    } else {
        content = fs::read_to_string(path).map_err(unreadable)?;
    }
    let name = path.display().to_string();
    let file = |text: &str| SpecFile { name: name.clone(), text: text.to_owned() };
    let mut found: Vec<Result<CaseFile, CliError>> = Vec::new();
    let texts: Vec<(usize, &str)> = if path.extension().is_some_and(|end| end == "jsonl") {
        content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect()
    } else {
        vec![(0, &content)]
    };
    for (before, text) in texts {
        match CaseFile::all_of(&file(text), before, api) {
            Ok(cases) => found.extend(cases.into_iter().map(|case| Ok(case?))),
            Err(error) => found.push(Err(error.into())),
        }
    }
    for (i, case) in found.iter_mut().enumerate().filter_map(|(i, found)| Some((i, found.as_mut().ok()?))) {
        if case.id.is_empty() {
            case.id = format!("{name}#{}", i + 1);
        }
    }
    Ok(found)
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
