//! What a wrapper makes of the function under test, where the tables have that and not the function itself.

use std::ops::Deref;
use std::rc::{Rc, Weak};

use super::object::{Kind, Obj};
use crate::case::{Form, InShardings, JitOptions, Name, Shardings, Value};
use crate::spec::{KeyedBy, Profile};

/// What a function is wrapped with, which all calls of a wrapper share.
#[derive(Debug, Clone, Default)]
pub struct Options(Rc<JitOptions>);

impl Options {
    /// What is asked for, as a profile has it.
    pub fn of(asked: &JitOptions, profile: &Profile) -> Self {
        let mut options = asked.resolved().into_owned();
        let is_null =
            |asked: &InShardings| matches!(asked, InShardings::Each(each) if each.iter().all(Option::is_none));
        let is_null_tree =
            |asked: &Shardings| matches!(asked, Shardings::Tree(tree) if tree.leaves.iter().all(Option::is_none));
        if profile.null_shardings_are_none {
            options.in_shardings = options.in_shardings.filter(|asked| !is_null(asked));
            // Of `nnx.jit` they stand in a tree with others.
            options.out_shardings =
                options.out_shardings.filter(|asked| profile.always_gives_shardings || !is_null_tree(asked));
        }
        Self(Rc::new(options))
    }

    /// The same where these positional arguments, which are static, aren't passed.
    pub fn without_statics(&self, positions: &[usize]) -> Self {
        let before = |number: i32| positions.iter().filter(|position| (**position as i64) < i64::from(number)).count();
        let rest = |number: &i32| number - i32::try_from(before(*number)).unwrap_or(0);
        let donate_argnums = self.donate_argnums.iter().map(rest).collect();
        let (static_argnums, static_argnames) = (Vec::new(), Vec::new());
        Self(Rc::new(JitOptions { static_argnums, static_argnames, donate_argnums, ..JitOptions::clone(self) }))
    }

    /// Whether they are those of one wrapper, or of wrappers that share them.
    pub fn are(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for Options {
    type Target = JitOptions;

    fn deref(&self) -> &JitOptions {
        &self.0
    }
}

impl PartialEq for Options {
    fn eq(&self, other: &Self) -> bool {
        self.are(other) || self.0 == other.0
    }
}

/// What was called through a wrapper with a name.
#[derive(Debug)]
pub struct Named {
    /// What the tables have for it.
    owner: Weak<Kind>,
    function: Weak<Kind>,
    options: Options,
}

/// The wrappers of a case: user code makes one for each function that it keeps and each set of options, or several
/// that a case tells apart by name.
#[derive(Debug, Default)]
pub struct Wrappers {
    made: Vec<(Obj, Vec<Wrapper>)>,
    /// What the tables have for those with a name.
    named: Vec<(Name, Named)>,
}

#[derive(Debug)]
struct Wrapper {
    options: Options,
    name: Option<Name>,
    object: Obj,
}

impl Wrappers {
    /// What the tables have for `function`. One that is written in place, as the `form` says, is wrapped for that call only.
    pub fn of(
        &mut self,
        by: KeyedBy,
        form: Option<&Value>,
        name: Option<&Name>,
        function: &Obj,
        options: &Options,
    ) -> Obj {
        let owner = self.owner(by, form, name, function, options);
        if let Some(name) = name.filter(|name| !self.named.iter().any(|(known, _)| known == *name)) {
            let (function, options) = (Rc::downgrade(function), options.clone());
            self.named.push((name.clone(), Named { owner: Rc::downgrade(&owner), function, options }));
        }
        owner
    }

    /// The wrapper itself, which other functions can be made of.
    pub fn itself(&mut self, form: Option<&Value>, name: Option<&Name>, function: &Obj, options: &Options) -> Obj {
        self.owner(KeyedBy::Wrapper, form, name, function, options)
    }

    /// What the tables have for the wrapper of that name, its function and its options, if something was called through it and
    /// it is still there.
    pub fn named(&self, name: &Name) -> Option<(Obj, Obj, Options)> {
        let (_, Named { owner, function, options }) = self.named.iter().find(|(known, _)| known == name)?;
        Some((owner.upgrade()?, function.upgrade()?, options.clone()))
    }

    fn owner(
        &mut self,
        by: KeyedBy,
        form: Option<&Value>,
        name: Option<&Name>,
        function: &Obj,
        options: &Options,
    ) -> Obj {
        let wrapped = || Rc::new(Kind::Wrapper(Rc::clone(function), options.clone()));
        let kept = |form: &Value| matches!(form, Value::Form(form) if matches!(**form, Form::Ref(_)));
        if by == KeyedBy::Function {
            return Rc::clone(function);
        }
        if !form.is_none_or(kept) {
            return wrapped();
        }
        let i = self.made.iter().position(|(known, _)| Rc::ptr_eq(known, function)).unwrap_or_else(|| {
            self.made.push((Rc::clone(function), Vec::new()));
            self.made.len() - 1
        });
        let wrappers = &mut self.made[i].1;
        if let Some(known) = wrappers.iter().find(|known| known.options == *options && known.name.as_ref() == name) {
            return Rc::clone(&known.object);
        }
        let object = wrapped();
        wrappers.push(Wrapper { options: options.clone(), name: name.cloned(), object: Rc::clone(&object) });
        object
    }

    /// Lets go of the wrappers of functions that nothing else holds.
    pub fn forget_dropped(&mut self) {
        self.made.retain(|(function, wrappers)| Rc::strong_count(function) > 1 + wrappers.len());
    }
}
