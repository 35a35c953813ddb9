//! A target in a process of its own. A crash, a hang and a line that makes no sense are observations of the case that
//! caused them, and the process is started again.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::protocol::{About, Greeting, HelloReply, Observation, PROTOCOL, Reply, Request};
use super::{Target, TargetError};
use crate::case::{Case, Step, text};

/// How long a target may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// To start and answer the greeting.
    pub start: Duration,
    /// To answer any of the cases that it has, and as long again for each 500 calls that only fill its caches.
    pub case: Duration,
    /// How often in a row its process may end without an answer before it is given up; any number if not given.
    pub crashes: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { start: Duration::from_secs(120), case: Duration::from_secs(30), crashes: Some(3) }
    }
}

/// How many cases are on their way at once.
const WINDOW: usize = 32;

/// A target in a process of its own.
#[derive(Debug)]
pub struct Subprocess {
    command: Vec<String>,
    env: Vec<(String, String)>,
    limits: Limits,
    process: Process,
    about: About,
    crashes_in_a_row: usize,
    restarts: u64,
}

#[derive(Debug)]
struct Process {
    child: Child,
    requests: Sender<String>,
    lines: Receiver<String>,
    stderr: Arc<Mutex<VecDeque<String>>>,
}

/// Why no reply came.
enum Silence {
    Ended,
    TimedOut,
    /// What came instead.
    Nonsense(String),
}

impl Subprocess {
    /// Starts the program and greets it.
    pub fn start(command: Vec<String>, env: Vec<(String, String)>, limits: Limits) -> Result<Self, TargetError> {
        let (process, about) = Process::start(&command, &env, limits)?;
        Ok(Self { command, env, limits, process, about, crashes_in_a_row: 0, restarts: 0 })
    }

    fn restart(&mut self) -> Result<(), TargetError> {
        let (process, _) = Process::start(&self.command, &self.env, self.limits)?;
        self.process = process;
        self.restarts += 1;
        Ok(())
    }

    /// Runs cases that are on their way together. Those that were unanswered when the process fell silent come back.
    fn window(&mut self, cases: &[(usize, &Case)], observed: &mut [Option<Observation>]) -> Option<Silence> {
        cases.iter().for_each(|(id, case)| self.process.send(*id, case));
        let patience = self.patience(cases.iter().map(|(_, case)| *case));
        let mut open: Vec<usize> = cases.iter().map(|(id, _)| *id).collect();
        while !open.is_empty() {
            let line = match self.process.lines.recv_timeout(patience) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Some(Silence::TimedOut),
                Err(RecvTimeoutError::Disconnected) => return Some(Silence::Ended),
            };
            let reply = text::from_json::<Reply>(&line)
                .map_err(|error| format!("this is no reply: {error}: {}", cut(&line)))
                .and_then(|reply| {
                    let is_it = |known: &usize| *known as u64 == reply.id;
                    let unknown = || format!("a reply to case {}, which is not open: {}", reply.id, cut(&line));
                    Ok((open.iter().position(is_it).ok_or_else(unknown)?, reply.outcome.into()))
                });
            match reply {
                Ok((i, observation)) => observed[open.remove(i)] = Some(observation),
                // Nobody can know which case it answers: the oldest one, if replies come in order. What follows may be no better.
                Err(reason) => {
                    observed[open[0]] = Some(Observation::Failed(reason.clone()));
                    return Some(Silence::Nonsense(reason));
                }
            }
            self.crashes_in_a_row = 0;
        }
        None
    }

    /// How long the slowest of the cases may take.
    fn patience<'c>(&self, cases: impl Iterator<Item = &'c Case>) -> Duration {
        let filled = |step: &Step| if let Step::Fill(fill) = step { u32::from(fill.calls) } else { 0 };
        let most = cases.map(|case| case.steps.iter().map(filled).sum::<u32>()).max().unwrap_or(0);
        self.limits.case * (1 + most / 500)
    }

    fn ended(&mut self) -> String {
        format!("the process {}{}", self.status(), self.process.stderr_tail())
    }

    fn status(&mut self) -> String {
        match self.process.status() {
            Ok(Some(status)) => format!("ended ({status})"),
            Ok(None) => "has closed its output".to_owned(),
            Err(error) => format!("ended ({error})"),
        }
    }
}

fn cut(line: &str) -> String {
    line.chars().take(120).collect()
}

impl Target for Subprocess {
    fn about(&self) -> &About {
        &self.about
    }

    fn observe(&mut self, cases: &[Case]) -> Result<Vec<Observation>, TargetError> {
        let mut observed: Vec<Option<Observation>> = vec![None; cases.len()];
        let mut width = WINDOW;
        loop {
            let open: Vec<_> = cases.iter().enumerate().filter(|(i, _)| observed[*i].is_none()).take(width).collect();
            if open.is_empty() {
                break;
            }
            let Some(silence) = self.window(&open, &mut observed) else {
                width = WINDOW;
                continue;
            };
            let mut what = "fell silent".to_owned();
            if width > 1 {
                // Alone, a case that silences the process is the culprit: they go one by one from here.
                width = 1;
            } else {
                let (culprit, case) = open[0];
                self.crashes_in_a_row += 1;
                match silence {
                    Silence::TimedOut => {
                        observed[culprit] = Some(Observation::TimedOut(self.patience(std::iter::once(case))));
                    }
                    Silence::Ended => {
                        what = self.status();
                        observed[culprit] = Some(Observation::Crashed(self.ended()));
                    }
                    // It has cost the case already.
                    Silence::Nonsense(reason) => {
                        what = format!("answered so that nobody can tell what it says ({reason})");
                    }
                }
            }
            if self.limits.crashes.is_some_and(|most| self.crashes_in_a_row >= most) {
                return Err(TargetError::KeepsCrashing {
                    command: self.command.join(" "),
                    what,
                    times: self.crashes_in_a_row,
                    stderr: self.process.stderr_tail(),
                });
            }
            let restarted = self.restart();
            if observed.iter().any(Option::is_none) {
                restarted?;
            }
        }
        Ok(observed.into_iter().map(|observation| observation.expect("every case was observed")).collect())
    }

    fn restarts(&self) -> u64 {
        self.restarts
    }
}

impl Process {
    fn start(command: &[String], env: &[(String, String)], limits: Limits) -> Result<(Self, About), TargetError> {
        let shown = || command.join(" ");
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| TargetError::Start { command: shown(), reason: error.to_string() })?;
        let lines = lines_of(child.stdout.take().expect("stdout is piped"));
        let stderr = tail_of(child.stderr.take().expect("stderr is piped"));
        let requests = written_to(child.stdin.take().expect("stdin is piped"));
        let mut process = Self { child, requests, lines, stderr };
        process.ask(&Request::Hello { hello: Greeting { protocol: PROTOCOL } });
        let line = process.lines.recv_timeout(limits.start).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("nothing came within {} s", limits.start.as_secs()),
            RecvTimeoutError::Disconnected => "it ended".to_owned(),
        });
        let about = line.and_then(|line| {
            let reply: HelloReply = text::from_json(&line).map_err(|error| format!("{error}, in: {}", cut(&line)))?;
            if reply.hello.protocol == PROTOCOL {
                Ok(reply.hello)
            } else {
                Err(format!("it speaks protocol {}, and this is {PROTOCOL}", reply.hello.protocol))
            }
        });
        match about {
            Ok(about) => Ok((process, about)),
            Err(reason) => {
                process.end();
                Err(TargetError::Hello { command: shown(), reason, stderr: process.stderr_tail() })
            }
        }
    }

    /// A process that has ended isn't asked: that no reply comes says so.
    fn ask(&self, request: &Request) {
        let _ = self.requests.send(text::to_json(request) + "\n");
    }

    fn send(&self, id: usize, case: &Case) {
        self.ask(&Request::Case { id: id as u64, case: Box::new(case.clone()) });
    }

    /// How it ended, if it does within a second.
    fn status(&mut self) -> std::io::Result<Option<ExitStatus>> {
        for _ in 0..20 {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(None)
    }

    fn stderr_tail(&self) -> String {
        // The reader may be a moment behind the process.
        thread::sleep(Duration::from_millis(50));
        let lines = self.stderr.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        lines.iter().map(|line| format!("\n  stderr: {line}")).collect()
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Writes on a thread of its own, so that a process that reads nothing is waited for no longer than for a reply.
fn written_to(mut stream: impl Write + Send + 'static) -> Sender<String> {
    let (sender, requests) = channel::<String>();
    thread::spawn(move || {
        for request in requests {
            if stream.write_all(request.as_bytes()).and_then(|()| stream.flush()).is_err() {
                return;
            }
        }
    });
    sender
}

/// What is longer than so many bytes is read as several lines, so that no process fills the memory with one.
const LONGEST: u64 = 4 << 20;

/// How many lines are read before they are asked for.
const AHEAD: usize = 16;

/// The next line, without its end.
fn next_line(stream: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let read = stream.by_ref().take(LONGEST).read_until(b'\n', &mut line).ok()?;
    let text = line.strip_suffix(b"\n").unwrap_or(&line);
    (read > 0).then(|| String::from_utf8_lossy(text).into_owned())
}

/// Reads lines on a thread of its own, so that a reply can be waited for with a time limit.
fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = sync_channel(AHEAD);
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        while let Some(line) = next_line(&mut stream) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Keeps the last lines, so that a full pipe never stops the process.
fn tail_of(stream: impl Read + Send + 'static) -> Arc<Mutex<VecDeque<String>>> {
    const LINES: usize = 12;
    let tail = Arc::new(Mutex::new(VecDeque::new()));
    let shared = Arc::clone(&tail);
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        while let Some(line) = next_line(&mut stream) {
            let mut tail = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if tail.len() == LINES {
                tail.pop_front();
            }
            tail.push_back(line.chars().take(1000).collect());
        }
    });
    tail
}
