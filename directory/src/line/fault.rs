use serde_json::error::Category;

use crate::Refusal;

/// What to tell of a line that is no [`ChangeLine`](super::ChangeLine): `path` is where the reader stood. Names and
/// addresses are never repeated, though the reader's own text would.
pub(super) fn refusal(path: &str, error: &serde_json::Error) -> Refusal {
    let text = error.to_string();
    // the position counts from the line's own start and helps nobody
    let reason = text.split(" at line ").next().unwrap_or_default();
    if error.classify() != Category::Data {
        return Refusal::new("line", format!("is not one JSON object: {reason}"));
    }
    if let Some(name) = quoted(reason, "unknown field ") {
        let known = reason.split_once(", ").map_or("", |(_, known)| known);
        return Refusal::new(name, format!("is not a known field: {known}"));
    }
    if let Some(name) = quoted(reason, "duplicate field ") {
        return Refusal::new(name, "is given twice");
    }
    match path {
        "." | "" => Refusal::new("line", "is not a JSON object"),
        "name" => Refusal::new(path, "a text is wanted"),
        _ if path.starts_with("devices") => Refusal::new(
            path,
            "devices are an array of objects with the texts channel, address and registered_at",
        ),
        _ => Refusal::new(path, reason.chars().take(200).collect::<String>()),
    }
}

/// The name between the backticks after `start`, cut to 40 characters; `""` for one without any.
fn quoted(reason: &str, start: &str) -> Option<String> {
    let (name, _) = reason.strip_prefix(start)?.strip_prefix('`')?.split_once('`')?;
    Some(if name.is_empty() { "\"\"".to_owned() } else { name.chars().take(40).collect() })
}
