//! What a Redis server's keys take of its memory.

use std::collections::BTreeMap;

use anyhow::Context;

/// The memory of all keys of a server that fit `pattern`, by the first word after the hash tag: `{tag}:word` or
/// `{tag}:word:rest`.
pub(crate) async fn bytes_by_kind(url: &str, pattern: &str) -> anyhow::Result<BTreeMap<String, u64>> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let (mut cursor, mut kinds) = (0u64, BTreeMap::new());
    loop {
        let mut scan = redis::cmd("SCAN");
        let (next, keys): (u64, Vec<String>) = scan
            .arg(cursor)
            .arg("MATCH")
            .arg(pattern)
            .arg("COUNT")
            .arg(1_000)
            .query_async(&mut connection)
            .await?;
        for key in keys {
            let mut usage = redis::cmd("MEMORY");
            let bytes: Option<u64> =
                usage.arg("USAGE").arg(&key).arg("SAMPLES").arg(0).query_async(&mut connection).await?;
            *kinds.entry(kind(&key).to_owned()).or_default() += bytes.context("a key went")?;
        }
        cursor = next;
        if cursor == 0 {
            return Ok(kinds);
        }
    }
}

fn kind(key: &str) -> &str {
    let rest = key.split_once("}:").map_or(key, |(_, rest)| rest);
    rest.split(':').next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_the_word_after_the_tag() {
        assert_eq!(kind("stepcast:main:{n.nightly.20260607.3}:claims:1780862400"), "claims");
        assert_eq!(kind("stepcast:main:{nights}:index"), "index");
        assert_eq!(kind("other"), "other");
    }
}
