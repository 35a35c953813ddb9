//! The signatures of functions, as `inspect.signature` shows them.

use std::sync::LazyLock;

use super::object::{Kind, Obj};
use crate::case::{ArgName, Name, Param};

/// The parameters of a function, sorted by kind.
#[derive(Default)]
pub struct Signature<'c> {
    pub positional: Vec<&'c Name>,
    pub rest: Option<Option<&'c Name>>,
    pub keyword_only: Vec<&'c Name>,
    pub keywords: Option<&'c Name>,
    pub defaults: Vec<&'c Name>,
}

/// What the parameters of a function are called that takes whatever comes.
static OPEN: LazyLock<[Name; 2]> =
    LazyLock::new(|| ["args", "kwargs"].map(|text| Name::new(text).expect("a literal name")));

impl<'c> Signature<'c> {
    pub fn of(function: &'c Obj) -> Self {
        let [args, kwargs] = &*OPEN;
        let open = || Self { rest: Some(Some(args)), keywords: Some(kwargs), ..Self::default() };
        let mut function = function;
        // `functools.wraps`: a wrapper shows the signature of what it wraps.
        while let Kind::Jitted(inner)
        | Kind::Wrapper(inner, _)
        | Kind::Checkpointed(inner)
        | Kind::Mapped(inner)
        | Kind::ModuleWrapper(_, inner)
        | Kind::Opaque(inner) = &**function
        {
            function = inner;
        }
        let params = match &**function {
            Kind::Function(function) => &function.params,
            Kind::Method { params, .. } => params,
            _ => &None,
        };
        let Some(params) = params else { return open() };
        let mut signature = Self::default();
        for param in params {
            match param {
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
                self.positional.iter().skip(args).chain(&self.keyword_only).any(|known| *known == name)
                    || (self.keywords.is_some() && !self.positional.iter().take(args).any(|taken| *taken == name))
            })
            && self
                .positional
                .iter()
                .skip(args)
                .chain(&self.keyword_only)
                .all(|name| named(name) || self.defaults.contains(name))
    }
}
