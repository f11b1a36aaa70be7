use anyhow::{Context, bail};
use chrono::{TimeDelta, Utc};
use config::Config;

use crate::{cli::Token, endings::Ending, say::say};

/// The longest that a token made here holds: ten years.
const LONGEST: TimeDelta = TimeDelta::days(3_660);

/// `stepcast token make`
pub(super) fn run(config: &Config, asked: &Token) -> anyhow::Result<Ending> {
    let Token::Make { user, span, key } = asked;
    let holds = TimeDelta::from_std(span.0).ok().filter(|holds| *holds <= LONGEST);
    let holds = holds.with_context(|| format!("--for: at most {} days are wanted", LONGEST.num_days()))?;
    let made = config.access.token_keys().make(key.as_deref(), user, Utc::now() + holds);
    match (made, key) {
        (Some(token), _) => say!("{token}"),
        (None, Some(key)) => bail!("--key: access.user_token_keys has no {key:?}"),
        (None, None) => bail!("access.user_token_keys: there is no secret to make a token with"),
    }
    Ok(Ending::Done)
}
