//! Functions: what a case runs, and how often its body ran.

use super::{ScriptError, Writer, indented};
use crate::case::{ArgName, Class, DefForm, Form, Param, Value};

impl Writer<'_> {
    /// A `def` of that name, as `src/python/jitkey/functions.py` makes it. Source defines `f`, whatever its name.
    pub(super) fn def(&mut self, name: &str, def: &DefForm) -> Result<String, ScriptError> {
        if def.effect.is_some() {
            return Err(ScriptError::new("a function whose body has an effect"));
        }
        if let Some(source) = &def.source {
            return Ok(counting(source).unwrap_or_else(|| source.clone()).trim_end().to_owned());
        }
        let (mut written, mut names) = (Vec::new(), Vec::new());
        let any = ["*args", "**kwargs"].map(|name| ArgName::try_from(name.to_owned()).expect("both are parameters"));
        let params = def.params.clone().unwrap_or_else(|| any.map(Param::Plain).to_vec());
        for param in &params {
            match param {
                Param::Plain(name) => {
                    written.push(String::from(name.clone()));
                    names.extend(match name {
                        ArgName::One(name) | ArgName::Keyword(name) => Some(name),
                        ArgName::Positional(name) => name.as_ref(),
                        ArgName::Slash => None,
                    });
                }
                Param::Default { name, default } => {
                    written.push(format!("{name}={}", self.value(default)?));
                    names.push(name);
                }
            }
        }
        if let Some(name) = names.iter().find(|name| ["body", "traces"].contains(&name.as_str())) {
            return Err(ScriptError::new(format!("the parameter `{name}`, a name that the script uses itself")));
        }
        let used = names.into_iter().filter(|name| def.uses.as_ref().is_none_or(|uses| uses.contains(name)));
        let used: Vec<_> = used.map(ToString::to_string).collect();
        let body = format!("body({})", used.join(", "));
        let body = match &def.returns {
            None => format!("return {body}"),
            Some(returned) => format!("{body}\n    return {}", self.value(returned)?),
        };
        Ok(format!("def {name}({}):\n    {body}", written.join(", ")))
    }

    /// The name of a function that executes the `def` anew each time it is called.
    pub(super) fn factory(&mut self, def: &DefForm) -> Result<String, ScriptError> {
        let text = self.def("f", def)?;
        let next = match self.factories.len() {
            0 => "new_f".to_owned(),
            n => format!("new_f{}", n + 1),
        };
        Ok(self.factories.entry(text).or_insert(next).clone())
    }

    /// The factories that were asked for.
    pub(super) fn factory_texts(&self) -> impl Iterator<Item = String> {
        self.factories.iter().map(|(text, name)| format!("def {name}():\n{}\n\n    return f", indented(text)))
    }

    /// Whether the body of the function counts its runs itself, through whatever wraps it.
    pub(super) fn is_counted(&self, function: &Value) -> bool {
        let Value::Form(form) = self.resolved(function) else { return false };
        match &**form {
            Form::Lambda(_) | Form::Closure(_) | Form::Method(_) => true,
            Form::Def(def) => def.source.as_ref().is_none_or(|source| counting(source).is_some()),
            Form::Partial(partial) | Form::TreePartial(partial) => self.is_counted(&partial.func),
            Form::Wrap(wrap) => self.is_counted(&wrap.func),
            Form::New(new) => {
                let mut class = self.case.classes.get(&new.class);
                while let Some(Class::Subclass { of, .. }) = class {
                    class = self.case.classes.get(of);
                }
                matches!(class, Some(Class::Module { .. } | Class::Plain { callable: true, .. }))
            }
            _ => false,
        }
    }
}

/// The source with a count as the first statement of `f`, if it has a `def f` at its top level.
fn counting(source: &str) -> Option<String> {
    let start = if source.starts_with("def f(") { 0 } else { source.find("\ndef f(")? + 1 };
    let mut depth = 0;
    let colon = source[start..].char_indices().find_map(|(i, c)| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ':' if depth == 0 => return Some(start + i + 1),
            _ => {}
        }
        None
    })?;
    let (head, body) = source.split_at(colon);
    let (indent, body) = match body.trim_start_matches(' ').strip_prefix('\n') {
        Some(lines) => (lines.len() - lines.trim_start_matches(' ').len(), lines.to_owned()),
        None => (4, format!("    {}", body.trim_start())),
    };
    let count = |line: &str| format!("{}{line}\n", " ".repeat(indent));
    Some(format!("{head}\n{}{}{body}", count("global traces"), count("traces += 1")))
}

#[cfg(test)]
mod tests {
    use super::counting;

    #[test]
    fn the_count_is_the_first_statement() {
        let count = |source| counting(source).unwrap();
        assert_eq!(count("def f(x):\n  return x\n"), "def f(x):\n  global traces\n  traces += 1\n  return x\n");
        assert_eq!(count("def f(x): return x"), "def f(x):\n    global traces\n    traces += 1\n    return x");
        assert_eq!(
            count("a = 1\ndef f(x={1: 2},\n      y=3):\n    return x"),
            "a = 1\ndef f(x={1: 2},\n      y=3):\n    global traces\n    traces += 1\n    return x"
        );
        assert_eq!(counting("f = jnp.sin"), None);
    }
}
