//! The signatures of functions, as `inspect.signature` shows them.

use std::sync::LazyLock;

use super::called::{body, parameters, signature_raises};
use super::object::{Kind, Obj};
use crate::case::{ArgName, Name, Param};
use crate::spec::Python;

/// The parameters of a function, sorted by kind.
#[derive(Default)]
pub struct Signature<'c> {
    pub positional: Vec<&'c Name>,
    /// How many of them, the first ones, can't be passed by name.
    pub positional_only: usize,
    pub rest: Option<Option<&'c Name>>,
    pub keyword_only: Vec<&'c Name>,
    pub keywords: Option<&'c Name>,
    pub defaults: Vec<&'c Name>,
}

/// What the parameters of a function are called that takes whatever comes.
static OPEN: LazyLock<[Name; 2]> =
    LazyLock::new(|| ["args", "kwargs"].map(|text| Name::new(text).expect("a literal name")));

impl<'c> Signature<'c> {
    /// Whether `inspect.signature` finds one.
    pub fn is_known(function: &Obj, python: &Python) -> bool {
        match &**function {
            Kind::Global(name) => !python.unsigned.contains(name.strip_prefix("builtins.").unwrap_or(name)),
            Kind::Partial { func, .. } | Kind::TreePartial { func, .. } => Self::is_known(func, python),
            _ => signature_raises(function, python).is_none(),
        }
    }

    pub fn of(function: &'c Obj) -> Self {
        let [args, kwargs] = &*OPEN;
        let open = || Self { rest: Some(Some(args)), keywords: Some(kwargs), ..Self::default() };
        // `functools.wraps`: a wrapper shows the signature of what it wraps.
        let function = body(function);
        if let Kind::Partial { func, args, kwargs } | Kind::TreePartial { func, args, kwargs } = &**function {
            return Self::of(func).bound(args.len(), kwargs).unwrap_or_else(open);
        }
        if let Kind::Class(class) = &**function
            && let Some(positional) = parameters(class)
        {
            return Self { positional, ..Self::default() };
        }
        let params = match &**function {
            Kind::Function(function) => &function.params,
            Kind::Method { params, .. } | Kind::Object { params, .. } => params,
            _ => &None,
        };
        let Some(params) = params else { return open() };
        let mut signature = Self::default();
        for param in params {
            match param {
                Param::Plain(ArgName::Slash) => signature.positional_only = signature.positional.len(),
                Param::Plain(ArgName::Positional(rest)) => signature.rest = Some(rest.as_ref()),
                Param::Plain(ArgName::Keyword(name)) => signature.keywords = Some(name),
                Param::Plain(ArgName::One(name)) | Param::Default { name, .. } => {
                    if matches!(param, Param::Default { .. }) {
                        signature.defaults.push(name);
                    }
                    if signature.rest.is_some() {
                        signature.keyword_only.push(name);
                    } else {
                        signature.positional.push(name);
                    }
                }
            }
        }
        signature
    }

    /// What is left of it for a `functools.partial` that binds so many positions and these names; nothing if it can't.
    fn bound(mut self, args: usize, kwargs: &'c [(Name, Obj)]) -> Option<Self> {
        let is_known = |name: &Name| self.named_after(args).any(|known| known == name);
        if (args > self.positional.len() && !matches!(self.rest, Some(Some(_))))
            || !(self.keywords.is_some() || kwargs.iter().all(|(name, _)| is_known(name)))
        {
            return None;
        }
        self.positional.drain(..args.min(self.positional.len()));
        self.positional_only = self.positional_only.saturating_sub(args);
        // What comes after a name that is bound can't be passed by position any more.
        let is_bound = |known: &Name| kwargs.iter().any(|(name, _)| name == known);
        if let Some(first) = self.positional.iter().position(|known| is_bound(known)) {
            let mut by_name = self.positional.split_off(first);
            by_name.append(&mut self.keyword_only);
            self.keyword_only = by_name;
            self.rest = Some(None);
        }
        self.defaults.extend(self.keyword_only.iter().filter(|known| is_bound(known)));
        Some(self)
    }

    /// The parameters that can be passed by name beside so many by position.
    fn named_after(&self, args: usize) -> impl Iterator<Item = &'c Name> {
        self.positional.iter().skip(args.max(self.positional_only)).chain(&self.keyword_only).copied()
    }

    /// Whether a parameter has that name that can't be passed by it.
    pub fn is_positional_only(&self, name: &Name) -> bool {
        self.positional.iter().take(self.positional_only).any(|known| *known == name)
    }

    /// Whether a parameter of that name can be passed by it.
    pub fn has_named(&self, name: &Name) -> bool {
        self.named_after(0).any(|known| known == name)
    }

    /// How many parameters there are.
    pub fn parameters(&self) -> usize {
        let more = usize::from(matches!(self.rest, Some(Some(_)))) + usize::from(self.keywords.is_some());
        self.positional.len() + self.keyword_only.len() + more
    }

    /// The parameter that takes the `i`-th positional argument.
    pub fn at(&self, i: usize) -> Option<&'c Name> {
        self.positional.get(i).copied().or(self.rest.flatten())
    }

    /// The parameters with a default that a call doesn't give.
    pub fn omitted(&self, args: usize, kwargs: &[(Name, Obj)]) -> Vec<Name> {
        let given = |name: &Name| {
            self.positional.iter().take(args).any(|taken| *taken == name)
                || kwargs.iter().any(|(given, _)| given == name)
        };
        self.defaults.iter().filter(|name| !given(name)).map(|name| Name::clone(name)).collect()
    }

    /// Whether `inspect.Signature.bind` accepts the call.
    pub fn accepts(&self, args: usize, kwargs: &[(Name, Obj)]) -> bool {
        let named = |name: &Name| kwargs.iter().any(|(given, _)| given == name);
        let takes_rest = matches!(self.rest, Some(Some(_)));
        (args <= self.positional.len() || takes_rest)
            && kwargs.iter().all(|(name, _)| {
                let taken = self.positional.iter().take(args).skip(self.positional_only);
                self.named_after(args).any(|known| known == name)
                    || (self.keywords.is_some() && !taken.into_iter().any(|taken| *taken == name))
            })
            && self.positional.iter().take(self.positional_only).skip(args).all(|name| self.defaults.contains(name))
            && self.named_after(args).all(|name| named(name) || self.defaults.contains(&name))
    }
}
