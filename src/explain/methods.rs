//! The objects whose methods are called: the method of a library's class is one of the program's own class.

use std::collections::HashMap;

use super::inside::reference;
use super::recording::Recording;
use crate::case::{Call, Form, MethodForm, Name, Value};
use crate::model::stem;

/// What a recording says of them.
pub(super) struct Methods<'r>(HashMap<&'r Name, &'r Value>);

impl<'r> Methods<'r> {
    pub fn of(recording: &'r Recording) -> Self {
        Self(recording.news().flat_map(|news| &news.objects).collect())
    }

    /// The method that a call is one of.
    pub fn called(&self, call: &Call) -> Option<&'r MethodForm> {
        match self.form(call.function.as_ref()?)? {
            Form::Method(method) => Some(method),
            _ => None,
        }
    }

    /// The name of its object.
    pub fn object(&self, method: &'r MethodForm) -> Option<&'r str> {
        reference(&method.of).map(Name::as_str)
    }

    /// The class of its object.
    pub fn class(&self, method: &MethodForm) -> Option<&'r str> {
        match self.form(&method.of)? {
            Form::New(new) => Some(stem(new.class.as_str())),
            // `<Loss rate=0.5>`
            Form::Object { called, .. } => {
                let called = called.as_ref()?.strip_prefix('<')?;
                called.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().filter(|class| !class.is_empty())
            }
            _ => None,
        }
    }

    /// What it is called, by the class of its object: where that has it from another one, `Actor.init` is what a reader knows.
    pub fn name(&self, method: &MethodForm) -> Option<String> {
        let name = method.name.as_deref()?;
        let (defined, own) = name.rsplit_once('.')?;
        let is_inherited = |class: &&str| defined.rsplit('.').next() != Some(*class);
        Some(self.class(method).filter(is_inherited).map_or_else(|| name.to_owned(), |class| format!("{class}.{own}")))
    }

    fn form(&self, value: &Value) -> Option<&'r Form> {
        match self.0.get(reference(value)?)? {
            Value::Form(form) => Some(form),
            _ => None,
        }
    }
}
