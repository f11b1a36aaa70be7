use toml::Value;

use crate::key::Key;

/// What stands in the place of a secret.
pub(crate) const SECRET: &str = "(secret)";

/// The most characters of a value that a fault repeats.
const LONGEST: usize = 60;

/// A value as it may be shown, on one line: a secret as `(secret)`, also where it stands under a name that is not a
/// secret's.
pub(crate) fn printable(key: &Key, value: &Value) -> String {
    if key.is_secret() {
        return SECRET.to_owned();
    }
    match value {
        Value::String(text) if holds_secret(key, text) => SECRET.to_owned(),
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| printable(key, item)).collect();
            format!("[{}]", items.join(", "))
        }
        // only lists can hold one; what is in it is nobody's setting
        Value::Table(_) => "{...}".to_owned(),
        other => other.to_string(),
    }
}

/// The same, cut to a length that fits a message.
pub(crate) fn printable_short(key: &Key, value: &Value) -> String {
    let text = printable(key, value);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// A signing secret put under the wrong key, or an address with a password in it.
fn holds_secret(key: &Key, text: &str) -> bool {
    // URL parsers take an address without its slashes too
    let is_url = key.parts().last().is_some_and(|name| name == "url");
    let rest =
        text.split_once("://").or_else(|| text.split_once(':').filter(|_| is_url)).map(|(_, rest)| rest);
    let authority =
        rest.and_then(|rest| rest.trim_start_matches(['/', '\\']).split(['/', '\\', '?', '#']).next());
    authority.is_some_and(|authority| authority.contains('@')) || text.contains("whsec_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let (secret, url) = (Key::of(&["channels", "hook", "secret"]), Key::of(&["channels", "hook", "url"]));
        for (key, value) in [
            (&secret, Value::from("abc")),
            (&secret, Value::from(5)),
            (&url, Value::from("whsec_abc")),
            (&url, Value::from("https://me:abc@example.com/")),
            (&url, Value::from("https:me:abc@example.com/")),
        ] {
            assert_eq!(printable(key, &value), SECRET, "{value}");
        }
        assert_eq!(printable(&url, &Value::from(vec!["a", "whsec_b"])), "[\"a\", (secret)]");
        assert_eq!(printable(&url, &Value::from("https://example.com/@me")), "\"https://example.com/@me\"");
    }

    #[test]
    fn one_line_of_bounded_length() {
        let long = Value::from("ä\n".repeat(1_000));
        let shown = printable_short(&Key::default(), &long);
        assert!(shown.chars().count() == LONGEST + 3 && !shown.contains('\n'));
    }
}
