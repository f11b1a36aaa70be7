use std::collections::HashMap;

use ::redis::{Pipeline, Value};

/// The parameters that are asked for, by `CONFIG GET`.
const PARAMETERS: [&str; 5] =
    ["maxmemory", "maxmemory-policy", "appendonly", "appendfsync", "no-appendfsync-on-rewrite"];

/// What a server tells of itself.
#[derive(Debug, Default)]
pub(super) struct Facts {
    info: HashMap<String, String>,
    parameters: HashMap<&'static str, String>,
}

/// The questions to one server.
pub(super) fn questions() -> Pipeline {
    let mut questions = Pipeline::new();
    questions.cmd("INFO");
    for parameter in PARAMETERS {
        questions.cmd("CONFIG").arg("GET").arg(parameter);
    }
    questions
}

impl Facts {
    /// Reads the answers. A server that does not let its parameters be asked for (`CONFIG` is often taken away by those
    /// who rent servers out) tells what `INFO` tells.
    pub(super) fn read(answers: Vec<Value>) -> Result<Self, String> {
        let mut answers = answers.into_iter();
        let info = match answers.next() {
            Some(Value::BulkString(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            Some(Value::VerbatimString { text, .. }) => text,
            Some(Value::ServerError(error)) => {
                return Err(format!("INFO: {} {}", error.code(), error.details().unwrap_or_default()));
            }
            _ => return Err("INFO gave no text".to_owned()),
        };
        let parameters = PARAMETERS.into_iter().zip(answers).filter_map(|(name, answer)| {
            let found: Vec<String> = ::redis::from_redis_value(answer).ok()?;
            Some((name, found.into_iter().nth(1)?))
        });
        Ok(Self::new(&info, parameters.collect()))
    }

    pub(super) fn new(info: &str, parameters: HashMap<&'static str, String>) -> Self {
        let lines =
            info.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(':'));
        let info = lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        Self { info, parameters }
    }

    /// A line of `INFO`.
    pub(super) fn info(&self, name: &str) -> Option<&str> {
        self.info.get(name).map(String::as_str)
    }

    /// A parameter, as `CONFIG GET` told it or else as `INFO` does; `None` where neither does.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let told = self.parameters.get(name).map(String::as_str);
        told.or_else(|| match name {
            "maxmemory" => self.info("maxmemory"),
            "maxmemory-policy" => self.info("maxmemory_policy"),
            "appendonly" => self.info("aof_enabled").map(|on| if on == "1" { "yes" } else { "no" }),
            _ => None,
        })
    }
}
