//! Tables: what a cache holds, and who keeps it alive.

use std::cmp::Reverse;
use std::rc::{Rc, Weak};

use smallvec::SmallVec;

use super::apart::told_apart;
use super::difference::Difference;
use super::key::Key;
use super::nearest::{Candidate, Nearest, Search};
use super::object::{Kind, Obj, Raised};
use super::python;
use crate::spec::{FunctionBy, FunctionKey, Held, Table, TableName};

/// A program that some call made, numbered in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program(pub u64);

/// Stands in the fast path's table for what is never served from it.
pub const NEVER_FAST: Program = Program(0);

/// How many keys of a function, and how many functions that are gone, an explanation looks at: those of the last calls.
const LOOKED_AT: usize = 256;

/// The entries of one table of the cache.
#[derive(Debug, Default)]
pub struct Entries {
    shelves: SmallVec<[Shelf; 1]>,
    /// Counts the uses of entries.
    uses: u64,
    /// Where misses are explained: the shelves of functions that are gone.
    gone: Option<Vec<Shelf>>,
}

/// The entries that are filed under one function.
#[derive(Debug)]
struct Shelf {
    owner: Owner,
    /// The hash that the function had when it was filed, where that counts.
    hash: Option<u64>,
    /// What the function is called, where misses are explained.
    called: Option<String>,
    /// The object whose method it is, there as well.
    of: Option<Weak<Kind>>,
    entries: SmallVec<[Entry; 1]>,
}

impl Shelf {
    /// Whether its function is a method of that object.
    fn is_of(&self, object: &Obj) -> bool {
        self.of.as_ref().and_then(Weak::upgrade).is_some_and(|of| python::is(&of, object))
    }

    /// How its function is another than `function`, which looks the same: as `called`.
    fn apart_from(&self, function: &Obj, called: &str) -> Difference {
        let (before, after) = match owner_of(function).filter(|of| self.is_of(of)) {
            Some(of) => {
                let of = python::repr(of);
                let text = called.replacen(&format!(" of {of}"), &format!(" of the same {of}"), 1);
                told_apart(&text, &text)
            }
            None => told_apart(called, called),
        };
        Difference::new("", "function", before, after)
    }
}

/// The object of which a function is a method.
fn owner_of(function: &Obj) -> Option<&Obj> {
    match &**function {
        Kind::Method { of, .. } => Some(of),
        _ => None,
    }
}

#[derive(Debug)]
struct Entry {
    key: Key,
    /// The number of the call that filed it.
    call: usize,
    program: Program,
    /// When it was used last.
    used: u64,
    /// What a later call made and could not file, as that of this one had failed, and its number; where misses are explained.
    made_later: Option<(usize, Program)>,
}

impl Entry {
    /// The call that has left something under the key, and what.
    fn left(&self) -> (usize, Program) {
        self.made_later.unwrap_or((self.call, self.program))
    }
}

#[derive(Debug)]
enum Owner {
    /// The table is shared by all functions.
    Nobody,
    Weak(Weak<Kind>),
    Strong(Obj),
}

impl Owner {
    fn function(&self) -> Option<Obj> {
        match self {
            Self::Nobody => None,
            Self::Weak(function) => function.upgrade(),
            Self::Strong(function) => Some(function.clone()),
        }
    }
}

impl Entries {
    /// From now on what belongs to functions that are gone is kept for explanations.
    pub fn remember(&mut self) {
        self.gone = Some(Vec::new());
    }

    /// The shelf of `function`, made if there is none. What belongs to functions that are gone is thrown away.
    fn shelf(&mut self, function: &Obj, by: Option<FunctionKey>) -> Result<&mut Shelf, Raised> {
        let is_there = |shelf: &Shelf| matches!(shelf.owner, Owner::Nobody) || shelf.owner.function().is_some();
        match &mut self.gone {
            None => self.shelves.retain(|shelf| is_there(shelf)),
            Some(gone) => {
                let (there, lost) = std::mem::take(&mut self.shelves).into_iter().partition::<SmallVec<_>, _>(is_there);
                self.shelves = there;
                gone.extend(lost);
                gone.drain(..gone.len().saturating_sub(LOOKED_AT));
            }
        }
        // A function that can't be hashed is no key, whatever is in the table.
        let by_hash = by.is_some_and(|key| key.by == FunctionBy::Equal);
        let hash = by_hash.then(|| python::hash(function)).transpose()?;
        let i = match self.position(function, by)? {
            Some(i) => i,
            None => {
                let owner = match by.map(|key| key.held) {
                    None => Owner::Nobody,
                    Some(Held::Weakly) => Owner::Weak(Rc::downgrade(function)),
                    Some(Held::Strongly) => Owner::Strong(function.clone()),
                };
                let called = self.gone.is_some().then(|| python::repr(function));
                let of = self.gone.as_ref().and(owner_of(function)).map(Rc::downgrade);
                self.shelves.push(Shelf { owner, hash, called, of, entries: SmallVec::new() });
                self.shelves.len() - 1
            }
        };
        Ok(&mut self.shelves[i])
    }

    /// Where the shelf of `function` is.
    fn position(&self, function: &Obj, by: Option<FunctionKey>) -> Result<Option<usize>, Raised> {
        // An object can hash otherwise than when it was filed; a function can't.
        let is_plain = matches!(**function, Kind::Function(_));
        let mut now = None;
        for (i, shelf) in self.shelves.iter().enumerate() {
            let mine = match (shelf.owner.function(), by.map(|key| key.by)) {
                (None, None) => true,
                (Some(owner), Some(by)) if is_plain || by == FunctionBy::Identity => python::is(&owner, function),
                (Some(owner), Some(FunctionBy::Equal)) => {
                    let is_same = python::is(&owner, function);
                    match now.get_or_insert_with(|| python::hash(function)) {
                        Ok(now) => shelf.hash == Some(*now) && (is_same || python::equal(&owner, function)?),
                        Err(_) if is_same => true,
                        Err(raised) => return Err(raised.clone()),
                    }
                }
                _ => false,
            };
            if mine {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    /// The program of `key` in `table`, if there is one. Comparing may raise.
    pub fn find(&mut self, table: &Table, function: &Obj, key: &Key) -> Result<Option<Program>, Raised> {
        self.uses += 1;
        let now = self.uses;
        // The fast path asks the new key whether it equals the stored one, the tables of Python objects the stored one.
        let new_asked = table.table == TableName::Dispatch;
        for entry in &mut self.shelf(function, table.function)?.entries {
            let (asked, other) = if new_asked { (key, &entry.key) } else { (&entry.key, key) };
            if asked.same(other, table)? {
                entry.used = now;
                return Ok(Some(entry.program));
            }
        }
        Ok(None)
    }

    /// Files `program` under `key`; what was not used for longest gives way where the table is full.
    pub fn file(
        &mut self,
        function: &Obj,
        table: &Table,
        key: Key,
        program: Program,
        call: usize,
    ) -> Result<(), Raised> {
        self.uses += 1;
        let entry = Entry { key, call, program, used: self.uses, made_later: None };
        self.shelf(function, table.function)?.entries.push(entry);
        if table.size.is_some_and(|size| self.entries().count() > size) {
            let oldest = self.entries().map(|entry| entry.used).min();
            self.shelves.iter_mut().for_each(|shelf| shelf.entries.retain(|entry| Some(entry.used) != oldest));
        }
        Ok(())
    }

    /// Notes what a call made under the key of one that had failed, which keeps it from being filed.
    pub fn note(
        &mut self,
        function: &Obj,
        table: &Table,
        key: &Key,
        program: Program,
        call: usize,
    ) -> Result<(), Raised> {
        if self.gone.is_some() {
            for entry in &mut self.shelf(function, table.function)?.entries {
                if entry.program == NEVER_FAST && entry.key.same(key, table)? {
                    entry.made_later = Some((call, program));
                }
            }
        }
        Ok(())
    }

    /// The call that filed a program.
    pub fn filed_by(&self, program: Program) -> Option<usize> {
        self.entries().map(Entry::left).find(|(_, left)| *left == program).map(|(call, _)| call)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.shelves.iter().flat_map(|shelf| &shelf.entries)
    }

    /// The entry whose key has the fewest differences from `key`, the last of several, of those whose program `is_of` what is asked
    /// for. The keys of other functions are looked at if there are none of this one, and if they look the same. `standing`
    /// says of an earlier call whether it left a jaxpr alone, where this one asks for more, and how much else the two have in common,
    /// which both count more.
    pub fn nearest(
        &self,
        function: &Obj,
        table: &Table,
        key: &Key,
        call: usize,
        standing: impl Fn(usize) -> (bool, usize),
        is_of: impl Fn(Program) -> bool,
    ) -> Result<Option<Nearest>, Raised> {
        let mine = self.position(function, table.function)?.map(|i| &self.shelves[i]);
        let mine = mine.filter(|shelf| !shelf.entries.is_empty());
        let now = python::repr(function);
        let looks_same = |shelf: &&Shelf| mine.is_none() && shelf.called.as_ref() == Some(&now);
        let others = self.shelves.iter().chain(self.gone.iter().flatten()).filter(looks_same);
        let mut shelves: Vec<&Shelf> = mine.into_iter().chain(others).collect();
        shelves.sort_by_key(|shelf| Reverse(shelf.entries.last().map(|entry| entry.call)));
        let mut search = Search::new(function, key, table);
        for shelf in shelves {
            let other = mine.is_none().then(|| shelf.apart_from(function, &now));
            // What another function of the same loop has left in this very call is nothing earlier.
            let is_one = |entry: &&Entry| entry.left().0 != call && is_of(entry.left().1);
            for entry in shelf.entries.iter().rev().filter(is_one).take(LOOKED_AT) {
                let (call, program) = entry.left();
                let (is_traced_alone, alike) = standing(call);
                let one = Candidate { key: &entry.key, call, program, is_traced_alone, alike, other: other.as_ref() };
                if search.look_at(&one).is_break() {
                    return Ok(search.found());
                }
            }
        }
        Ok(search.found())
    }

    /// Throws away what belongs to `function` and is filed under such a key.
    pub fn clear_those(&mut self, function: &Obj, is_one: impl Fn(&Key) -> bool) {
        let shelves = self.shelves.iter_mut();
        for shelf in shelves.filter(|shelf| shelf.owner.function().is_some_and(|owner| python::is(&owner, function))) {
            shelf.entries.retain(|entry| !is_one(&entry.key));
        }
    }

    /// Throws everything away that belongs to `function`, or everything at all.
    pub fn clear(&mut self, function: Option<&Obj>) {
        match function {
            None => {
                self.shelves.clear();
                self.gone.iter_mut().for_each(Vec::clear);
            }
            Some(function) => {
                self.shelves.retain(|shelf| !shelf.owner.function().is_some_and(|owner| python::is(&owner, function)))
            }
        }
    }
}
