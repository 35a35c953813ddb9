//! What a wrapper makes of the function under test, where the tables have that and not the function itself.

use std::rc::{Rc, Weak};

use super::object::{Kind, Obj};
use crate::case::{Form, JitOptions, Name, Value};
use crate::spec::KeyedBy;

/// The wrappers of a case: user code makes one for each function that it keeps and each set of options, or several
/// that a case tells apart by name.
#[derive(Debug, Default)]
pub struct Wrappers {
    made: Vec<(Obj, Vec<Wrapper>)>,
    /// What the tables have for those with a name.
    named: Vec<(Name, Weak<Kind>)>,
}

#[derive(Debug)]
struct Wrapper {
    options: JitOptions,
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
        options: &JitOptions,
    ) -> Obj {
        let owner = self.owner(by, form, name, function, options);
        if let Some(name) = name.filter(|name| !self.named.iter().any(|(known, _)| known == *name)) {
            self.named.push((name.clone(), Rc::downgrade(&owner)));
        }
        owner
    }

    /// What the tables have for the wrapper of that name, if something was called through it and it is still there.
    pub fn named(&self, name: &Name) -> Option<Obj> {
        self.named.iter().find(|(known, _)| known == name).and_then(|(_, owner)| owner.upgrade())
    }

    fn owner(
        &mut self,
        by: KeyedBy,
        form: Option<&Value>,
        name: Option<&Name>,
        function: &Obj,
        options: &JitOptions,
    ) -> Obj {
        let wrapped = || Rc::new(Kind::Opaque(Rc::clone(function)));
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
