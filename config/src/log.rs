use serde::{Deserialize, Serialize};

use crate::near::nearest;

/// How the log is written, section `[log]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Log {
    /// For people or for machines.
    pub format: LogFormat,
    /// What is logged: a level, or several with parts of the program, `info,reqwest=warn`, as tracing's `Targets` reads
    /// them.
    pub level: String,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// `Targets` takes any word for a part of the program and then logs all of it; here a word without `=` is a level.
pub(crate) fn check_level(text: &str) -> Result<(), String> {
    for item in text.split(',').map(str::trim) {
        let (part, level) = item.rsplit_once('=').unwrap_or(("-", item));
        let known = LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level));
        if !known || part.is_empty() || part.contains(char::is_whitespace) {
            let near = nearest(level, LEVELS).map(|near| format!("; is {near} meant?")).unwrap_or_default();
            return Err(format!(
                "{} is wanted, or several such as \"info,reqwest=warn\"{near}",
                LEVELS.join(", ")
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels() {
        for good in ["info", "WARN", "info,reqwest=warn", "warn, sender::channel=trace", "off"] {
            assert_eq!(check_level(good), Ok(()), "{good}");
        }
        for bad in ["", "inof", "info,", "info,reqwest", "=warn", "a b=warn", "sender=loud", "5"] {
            assert!(check_level(bad).is_err(), "{bad}");
        }
        assert!(check_level("inof").unwrap_err().ends_with("is info meant?"));
    }
}
