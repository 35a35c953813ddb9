//! Long texts that have much in common.

/// So many characters of a text are shown whatever they say.
pub(crate) const SHORT: usize = 60;
/// An end that is shorter than this is shown.
const END: usize = 4;
/// What is left of a text has at least so many, if it had.
const LEFT: usize = 8;

/// Long texts without the parts that both begin and end with; parts are what is between commas.
pub(crate) fn without_common_ends(before: &str, after: &str) -> (String, String) {
    if before.len().max(after.len()) <= SHORT {
        return (before.to_owned(), after.to_owned());
    }
    let same = |(a, b): &(char, char)| a == b;
    let common =
        |zipped: &mut dyn Iterator<Item = (char, char)>| zipped.take_while(same).map(|(a, _)| a).collect::<String>();
    let head = common(&mut before.chars().zip(after.chars()));
    let begins = head.rmatch_indices([',', '(']).map(|(comma, _)| comma + 1);
    let shorter = before.len().min(after.len());
    let head = begins.into_iter().find(|begin| shorter - begin >= LEFT).unwrap_or_default();
    let head = if head < END { 0 } else { head };
    let (before_rest, after_rest) = (&before[head..], &after[head..]);
    let tail: String = common(&mut before_rest.chars().rev().zip(after_rest.chars().rev())).chars().rev().collect();
    let tail = tail.find([',', ')']).map_or(0, |end| tail.len() - end - usize::from(tail[end..].starts_with(')')));
    let tail = if tail < END { 0 } else { tail };
    let between = |text: &str| {
        let dots = |some: usize| if some > 0 { "…" } else { "" };
        format!("{}{}{}", dots(head), text[..text.len() - tail].trim_start(), dots(tail))
    };
    (between(before_rest), between(after_rest))
}

#[cfg(test)]
mod tests {
    use super::without_common_ends;

    #[rstest::rstest]
    #[case::short("f(a=1)", "f(a=2)", "f(a=1)", "f(a=2)")]
    #[case::in_the_middle(
        "Config('name=a rather long name, layers=(1, 2), rate=0.1, warmup=100')",
        "Config('name=a rather long name, layers=(1, 2), rate=0.2, warmup=100')",
        "…rate=0.1…",
        "…rate=0.2…"
    )]
    #[case::where_little_is_left(
        "St(x=f32[2], opts=Opts(gain=1.0, with_a_name='long', layers=[1, 2]))",
        "St(x=f32[2], opts=Opts(gain=1.0, with_a_name='long', layers=[1, 2] (2)))",
        "…layers=[1, 2]))",
        "…layers=[1, 2] (2)))"
    )]
    #[case::longer(
        "Config('name=a rather long name, layers=(1, 2), rate=0.1, warmup=100')",
        "Config('name=a rather long name, layers=(1, 2), rate=0.1, warmup=100 (2)')",
        "…warmup=100')",
        "…warmup=100 (2)')"
    )]
    #[case::placements(
        "P(data) over data: 4, model: 2 on [0, 1, 2, 3, 4, 5, 6, 7]",
        "P((data, model)) over data: 4, model: 2 on [0, 1, 2, 3, 4, 5, 6, 7]",
        "P(data)…",
        "P((data, model))…"
    )]
    #[case::nothing(
        "P() over data: 4, model: 2 on [0, 1, 2, 3, 4, 5, 6, 7], and more",
        "P(None, model) over data: 4, model: 2 on [0, 1, 2, 3, 4, 5, 6, 7], and more",
        "P()…",
        "P(None, model)…"
    )]
    fn long_texts_without_common_ends(#[case] a: &str, #[case] b: &str, #[case] before: &str, #[case] after: &str) {
        assert_eq!(without_common_ends(a, b), (before.to_owned(), after.to_owned()));
    }
}
