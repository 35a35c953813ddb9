//! Private Python environments with pinned versions, set up on first use.
//!
//! They live under `$JITKEY_HOME`, or `jitkey` in the user's cache folder. An environment is made beside its place and
//! moved there when it is complete, under a lock, so that a killed set-up leaves nothing half done.

use std::collections::HashMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::spec::{Requirement, Version};

static PACKAGE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/python");

static PINS: LazyLock<Vec<Pin>> =
    LazyLock::new(|| serde_yaml::from_str(include_str!("environments.yaml")).expect("the pins are tested"));

/// The implementations that the Python package has an adapter for.
const ADAPTERS: [&str; 9] = [
    "jax.jit",
    "equinox.filter_jit",
    "flax.nnx.jit",
    "lax.while_loop",
    "lax.scan",
    "lax.fori_loop",
    "lax.cond",
    "lax.switch",
    "lax.map",
];

/// What every environment has besides, by Python.
const BASE: [&str; 5] = [
    "ml_dtypes==0.5.4",
    "numpy==2.2.6; python_version < '3.11'",
    "numpy==2.4.6; python_version >= '3.11'",
    "scipy==1.15.3; python_version < '3.11'",
    "scipy==1.17.1; python_version >= '3.11'",
];

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    jax: String,
    python: Requirement,
    packages: Vec<String>,
}

/// Where the set-up tells what it does.
pub trait Progress {
    /// A line that everybody wants to see.
    fn say(&mut self, line: &str);

    /// A line of a tool's output, for who watches.
    fn detail(&mut self, _line: &str) {}
}

impl<F: FnMut(&str)> Progress for F {
    fn say(&mut self, line: &str) {
        self(line);
    }
}

/// Why there is no Python to run a target in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The version is none of those that are pinned.
    #[error(
        "{implementation} {version} is not among the versions that can be set up here ({known}); \
         install it yourself and name its interpreter with --python"
    )]
    Unknown {
        /// The implementation.
        implementation: String,
        /// The version asked for.
        version: String,
        /// Those that are known.
        known: String,
    },
    /// No Python that the version runs on.
    #[error(
        "jax {jax} needs Python {needs}, and this machine has {found}; install such a Python so that `python3` or \
         `python3.N` finds it, or name one that has jax with --python{also}"
    )]
    NoPython {
        /// The version of jax.
        jax: String,
        /// The Pythons that it runs on.
        needs: String,
        /// What was found.
        found: String,
        /// An older version that would run.
        also: String,
    },
    /// A command of the set-up failed.
    #[error("setting up jax {jax} failed at `{command}`:\n{output}\n{help}")]
    Setup {
        /// The version of jax.
        jax: String,
        /// The command.
        command: String,
        /// The end of its output.
        output: String,
        /// What to try.
        help: &'static str,
    },
    /// Files could not be written.
    #[error("{path}: {reason}")]
    Files {
        /// The file or folder.
        path: String,
        /// What the system says.
        reason: String,
    },
}

/// The implementations that can be set up.
#[must_use]
pub fn implementations() -> &'static [&'static str] {
    &ADAPTERS
}

/// The versions that can be set up, the newest first.
#[must_use]
pub fn versions() -> Vec<&'static str> {
    PINS.iter().map(|pin| pin.jax.as_str()).collect()
}

/// The newest version of `implementation` that is known.
#[must_use]
pub fn newest(implementation: &str) -> Option<String> {
    ADAPTERS.contains(&implementation).then(|| PINS[0].jax.clone())
}

/// A command line with its environment variables.
pub type CommandLine = (Vec<String>, Vec<(String, String)>);

/// The command that runs `implementation` at `version`; its environment is set up if it has to be.
pub fn command(
    implementation: &str,
    version: Option<&str>,
    python: Option<&PathBuf>,
    progress: &mut dyn Progress,
) -> Result<CommandLine, EnvironmentError> {
    let (mut words, env) = module("jitkey.serve", implementation, version, python, progress)?;
    words.push(implementation.to_owned());
    Ok((words, env))
}

/// The command that runs a module of the Python package where `implementation` is at `version`.
pub fn module(
    module: &str,
    implementation: &str,
    version: Option<&str>,
    python: Option<&PathBuf>,
    progress: &mut dyn Progress,
) -> Result<CommandLine, EnvironmentError> {
    let home = home();
    let package = unpack(&home)?;
    let interpreter = match python {
        Some(python) => python.clone(),
        None => {
            let (pin, base) = choose(implementation, version, progress)?;
            set_up(&home, pin, &base, progress)?
        }
    };
    let words = vec![interpreter.to_string_lossy().into_owned(), "-m".to_owned(), module.to_owned()];
    let env = vec![("PYTHONPATH".to_owned(), package.to_string_lossy().into_owned())];
    Ok((words, env))
}

/// The folder that the Python package is in, for a `PYTHONPATH`.
pub fn package() -> Result<PathBuf, EnvironmentError> {
    unpack(&home())
}

fn home() -> PathBuf {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("JITKEY_HOME").unwrap_or_else(|| {
        let cache = folder("XDG_CACHE_HOME").or_else(|| std::env::home_dir().map(|home| home.join(".cache")));
        cache.unwrap_or_else(std::env::temp_dir).join("jitkey")
    })
}

fn files(path: &Path) -> impl Fn(std::io::Error) -> EnvironmentError {
    let path = path.display().to_string();
    move |error| EnvironmentError::Files { path: path.clone(), reason: error.to_string() }
}

/// Writes the Python package, under a name that is its content's.
fn unpack(home: &Path) -> Result<PathBuf, EnvironmentError> {
    // Threads of one process would write to one folder.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut sources = Vec::new();
    sources_of(&PACKAGE, &mut sources);
    let mut hasher = DefaultHasher::new();
    sources.hash(&mut hasher);
    let place = home.join(format!("package-{:016x}", hasher.finish()));
    if place.is_dir() {
        return Ok(place);
    }
    let half = home.join(format!("package-{}.half", std::process::id()));
    for (name, content) in sources {
        let path = half.join(name);
        let folder = path.parent().expect("a file stands in a folder");
        fs::create_dir_all(folder).map_err(files(folder))?;
        fs::write(&path, content).map_err(files(&path))?;
    }
    // Another process may have been faster; its content is the same.
    if fs::rename(&half, &place).is_err() {
        fs::remove_dir_all(&half).map_err(files(&half))?;
    }
    Ok(place)
}

fn sources_of<'d>(dir: &'d Dir<'_>, sources: &mut Vec<(&'d Path, &'d [u8])>) {
    sources.extend(
        dir.files()
            .filter(|file| file.path().extension().is_some_and(|end| end == "py"))
            .map(|file| (file.path(), file.contents())),
    );
    dir.dirs().for_each(|dir| sources_of(dir, sources));
}

/// A Python of this machine.
#[derive(Clone)]
struct Python {
    path: PathBuf,
    version: Version,
}

/// The Pythons of this machine, each asked what it is when it is reached.
fn pythons() -> impl Iterator<Item = Python> {
    let mut names: Vec<PathBuf> =
        ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python"]
            .map(PathBuf::from)
            .into();
    // pyenv puts only the chosen version on the PATH.
    let pyenv =
        std::env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".pyenv")));
    let versions = pyenv.and_then(|root| fs::read_dir(root.join("versions")).ok());
    let mut installed: Vec<_> =
        versions.into_iter().flatten().flatten().map(|entry| entry.path().join("bin/python3")).collect();
    installed.sort();
    names.extend(installed);
    names.into_iter().filter_map(known)
}

/// What is at that path, asked once.
fn known(path: PathBuf) -> Option<Python> {
    static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Option<Python>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(path).or_insert_with_key(|path| probe(path)).clone()
}

fn probe(path: &Path) -> Option<Python> {
    let script = "import sys; print('.'.join(map(str, sys.version_info[:3])), sys.executable)";
    let output = Command::new(path).args(["-c", script]).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (version, executable) = text.trim().split_once(' ')?;
    let version: Version = version.parse().ok()?;
    Some(Python { path: PathBuf::from(executable), version })
}

/// The pin for the version, and a Python that it runs on.
fn choose(
    implementation: &str,
    version: Option<&str>,
    progress: &mut dyn Progress,
) -> Result<(&'static Pin, Python), EnvironmentError> {
    // As in `0.12.0.1+python3.13`.
    let asked: Option<Version> = version.and_then(|version| version.parse().ok());
    let series = asked.as_ref().and_then(Version::python);
    let release =
        version.map(|version| version.split_once('+').filter(|_| series.is_some()).map_or(version, |(it, _)| it));
    let pins: Vec<&'static Pin> = PINS.iter().filter(|pin| release.is_none_or(|release| pin.jax == release)).collect();
    let Some(first) = pins.first() else {
        return Err(EnvironmentError::Unknown {
            implementation: implementation.to_owned(),
            version: version.unwrap_or_default().to_owned(),
            known: versions().join(", "),
        });
    };
    let suits = |pin: &Pin, python: &Python| {
        pin.python.matches(&python.version) && series.is_none_or(|series| python.version.is_of(series))
    };
    for pin in &pins {
        if let Some(python) = pythons().find(|python| suits(pin, python)) {
            if pin.jax != first.jax {
                progress.say(&format!(
                    "jax {} needs Python {}, which this machine lacks: taking jax {} instead",
                    first.jax, first.python, pin.jax
                ));
            }
            return Ok((pin, python));
        }
    }
    let also = PINS.iter().find(|pin| pythons().any(|python| suits(pin, &python)));
    let found: Vec<_> = pythons().map(|python| format!("{} ({})", python.version, python.path.display())).collect();
    Err(EnvironmentError::NoPython {
        jax: first.jax.clone(),
        needs: series
            .map_or_else(|| first.python.to_string(), |series| format!("{} and, as asked, {series}", first.python)),
        found: if found.is_empty() { "no python3 at all".to_owned() } else { found.join(", ") },
        also: also.map(|pin| format!(", or ask for {implementation}@{}", pin.jax)).unwrap_or_default(),
    })
}

fn set_up(home: &Path, pin: &Pin, base: &Python, progress: &mut dyn Progress) -> Result<PathBuf, EnvironmentError> {
    let mut packages = pin.packages.clone();
    packages.extend(BASE.iter().map(|package| (*package).to_owned()));
    let mut hasher = DefaultHasher::new();
    (&packages, base.version.to_string()).hash(&mut hasher);
    let name = format!("jax-{}-{:08x}", pin.jax, hasher.finish() & 0xffff_ffff);
    let place = home.join(&name);
    let inside = |folder: &Path| {
        if cfg!(windows) { folder.join("Scripts").join("python.exe") } else { folder.join("bin").join("python") }
    };
    let complete = place.join("complete");
    if complete.is_file() {
        return Ok(inside(&place));
    }
    fs::create_dir_all(home).map_err(files(home))?;
    let lock_path = home.join(format!("{name}.lock"));
    let lock = File::create(&lock_path).map_err(files(&lock_path))?;
    lock.lock().map_err(files(&lock_path))?;
    if complete.is_file() {
        return Ok(inside(&place));
    }
    // A venv knows its own path, so it is made in place; what a killed set-up left is thrown away.
    if place.exists() {
        fs::remove_dir_all(&place).map_err(files(&place))?;
    }
    progress.say(&format!("setting up jax {} with Python {} in {} (once)", pin.jax, base.version, place.display()));
    let with_uv = Command::new("uv").arg("--version").output().is_ok_and(|output| output.status.success());
    let venv: Vec<String> = if with_uv {
        ["uv", "venv", "--quiet", "--python"].map(str::to_owned).into_iter().chain([text(&base.path)]).collect()
    } else {
        vec![text(&base.path), "-m".to_owned(), "venv".to_owned()]
    };
    let help_venv =
        "Debian and Ubuntu keep venv in a package of its own: `apt install python3-venv`; or `pip install uv`.";
    run(pin, venv.into_iter().chain([text(&place)]).collect(), help_venv, progress)?;
    let python = inside(&place);
    let installer: Vec<String> = if with_uv {
        // As pip does; else each start compiles it again where Python is told to write none.
        ["uv", "pip", "install", "--compile-bytecode", "--python"]
            .map(str::to_owned)
            .into_iter()
            .chain([text(&python)])
            .collect()
    } else {
        [&text(&python), "-m", "pip", "install", "--disable-pip-version-check"].map(str::to_owned).into()
    };
    let help_pip = "If the network or the package index can't be reached from here, install jax yourself and name its \
                    interpreter with --python.";
    run(pin, installer.into_iter().chain(packages).collect(), help_pip, progress)?;
    fs::write(&complete, "").map_err(files(&complete))?;
    Ok(python)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Runs a command of the set-up and passes its lines on.
fn run(pin: &Pin, words: Vec<String>, help: &'static str, progress: &mut dyn Progress) -> Result<(), EnvironmentError> {
    let failed =
        |output: String| EnvironmentError::Setup { jax: pin.jax.clone(), command: words.join(" "), output, help };
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let stderr = child.stderr.take().expect("stderr is piped");
    let errors = std::thread::spawn(move || BufReader::new(stderr).lines().map_while(Result::ok).collect::<Vec<_>>());
    let mut output = Vec::new();
    for line in BufReader::new(child.stdout.take().expect("stdout is piped")).lines().map_while(Result::ok) {
        progress.detail(line.trim());
        output.push(line);
    }
    output.extend(errors.join().unwrap_or_default());
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    let tail = output.len().saturating_sub(12);
    Err(failed(output[tail..].join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pins_go_from_new_to_old() {
        let versions: Vec<Version> = PINS.iter().map(|pin| pin.jax.parse().unwrap()).collect();
        assert!(versions.is_sorted_by(|a, b| a > b));
    }
}
