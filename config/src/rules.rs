mod want;

use plumbing::Span;
use want::Want;

use crate::{campaigns, channels, draft::Draft, key::Key, log, ops, tree::Content};

/// What each setting may be; a `*` stands for any name. The ranges are those of the parts' settings and of the default
/// page, which a test compares.
const RULES: &[(&str, Want)] = &[
    ("data", Want::Text { most: 4_096 }),
    ("rehearsal", Want::Truth),
    ("log", Want::Table),
    ("log.format", Want::OneOf(&["text", "json"])),
    ("log.level", Want::Parsed(log::check_level)),
    ("ops", Want::Table),
    ("ops.listen", Want::Parsed(ops::check_listen)),
    ("ops.key_file", Want::Text { most: 4_096 }),
    ("stores", Want::Table),
    ("stores.kind", Want::OneOf(&["embedded", "redis"])),
    ("stores.urls", Want::Texts { most: 32 }),
    ("stores.cluster", Want::Truth),
    ("stores.username", Want::Text { most: 255 }),
    ("stores.password", Want::Text { most: 1_000 }),
    ("stores.password_file", Want::Text { most: 4_096 }),
    ("stores.ca_file", Want::Text { most: 4_096 }),
    ("stores.prefix", Want::Text { most: 64 }),
    ("stores.region", Want::Text { most: 64 }),
    ("stores.durability", Want::OneOf(&["wal", "relaxed", "replicated", "memory"])),
    ("stores.replicas", Want::Whole { min: 1, max: 16 }),
    ("stores.timeout", Want::Time { min: Span::millis(100), max: Span::seconds(60) }),
    ("stores.connections", Want::Whole { min: 1, max: 64 }),
    ("queue", Want::Table),
    ("queue.kind", Want::OneOf(&["embedded", "rabbitmq"])),
    ("queue.url", Want::Text { most: 2_048 }),
    ("queue.username", Want::Text { most: 255 }),
    ("queue.password", Want::Text { most: 1_000 }),
    ("queue.password_file", Want::Text { most: 4_096 }),
    ("queue.ca_file", Want::Text { most: 4_096 }),
    ("queue.prefix", Want::Text { most: 64 }),
    ("queue.heartbeat", Want::Time { min: Span::seconds(1), max: FIVE_MINUTES }),
    ("queue.confirm_timeout", Want::Time { min: Span::millis(100), max: FIVE_MINUTES }),
    ("scheduler", Want::Table),
    ("scheduler.shards", Want::Whole { min: 1, max: 4_096 }),
    ("scheduler.prepare_ahead", Want::Time { min: Span::seconds(0), max: Span::seconds(3_600) }),
    ("scheduler.lease", Want::Time { min: Span::seconds(1), max: Span::seconds(60) }),
    ("scheduler.publish_at_once", Want::Whole { min: 1, max: 10_000 }),
    ("sender", Want::Table),
    ("sender.batches_at_once", Want::Whole { min: 1, max: 1_000 }),
    ("sender.chunk", Want::Whole { min: 1, max: 1_000 }),
    ("sender.attempts", Want::Whole { min: 1, max: 15 }),
    ("sender.lease", Want::Time { min: Span::seconds(1), max: Span::seconds(3_600) }),
    ("sender.ladder", Want::RisingTimes { min: Span::millis(1), max: SIX_HOURS, most: 16 }),
    ("sender.backoff", Want::Time { min: Span::millis(1), max: SIX_HOURS }),
    ("sender.longest_backoff", Want::Time { min: Span::millis(1), max: SIX_HOURS }),
    ("sender.quota_wait", Want::Time { min: Span::seconds(0), max: FIVE_MINUTES }),
    ("ingest", Want::Table),
    ("ingest.listen", Want::Parsed(ops::check_address)),
    ("ingest.key_items_per_second", Want::Whole { min: 1, max: 10_000_000 }),
    ("ingest.user_items_per_minute", Want::Whole { min: 1, max: 1_000_000 }),
    ("ingest.bodies_mib", Want::Whole { min: 16, max: 16_384 }),
    ("access", Want::Table),
    ("access.user_token_keys", Want::Table),
    ("access.user_token_keys.*", Want::Table),
    ("access.user_token_keys.*.secret", Want::Text { most: 1_000 }),
    ("access.user_token_keys.*.secret_file", Want::Text { most: 4_096 }),
    ("channels", Want::Table),
    ("channels.*", Want::Table),
    ("channels.*.kind", Want::Parsed(channels::check_kind)),
    ("channels.*.latency", Want::Time { min: Span::seconds(0), max: FIVE_MINUTES }),
    ("channels.*.error_rate", Want::Number { min: 0.0, max: 1.0 }),
    ("channels.*.url", Want::Text { most: 2_048 }),
    ("channels.*.secret_file", Want::Text { most: 4_096 }),
    ("channels.*.secret", Want::Text { most: 1_000 }),
    ("channels.*.timeout", Want::Time { min: Span::millis(100), max: FIVE_MINUTES }),
    ("channels.*.allow_private", Want::Truth),
    ("channels.*.quota", Want::Table),
    ("channels.*.quota.per_second", Want::Whole { min: 1, max: u32::MAX }),
    ("channels.*.quota.per_minute", Want::Whole { min: 1, max: u32::MAX }),
    ("channels.*.quota.in_flight", Want::Whole { min: 1, max: 100_000 }),
    ("campaigns", Want::Table),
    ("campaigns.*", Want::Table),
    ("campaigns.*.cron", Want::Parsed(campaigns::check_cron)),
    ("campaigns.*.window", Want::Whole { min: 0, max: 3_600 }),
    ("campaigns.*.channels", Want::Names { most: 16 }),
    ("campaigns.*.no_steps", Want::OneOf(&["skip", "send"])),
    ("campaigns.*.fallback", Want::Parsed(campaigns::check_language)),
    ("campaigns.*.text", Want::Table),
    ("campaigns.*.text.*", Want::Table),
    ("campaigns.*.text.*.title", Want::Text { most: 500 }),
    ("campaigns.*.text.*.body", Want::Text { most: 4_000 }),
];

const FIVE_MINUTES: Span = Span::seconds(300);
const SIX_HOURS: Span = Span::seconds(6 * 3_600);

/// Notes every value that is not what its setting wants, and repairs it.
pub(crate) fn apply_rules(draft: &mut Draft) {
    let mut open = vec![Key::default()];
    while let Some(key) = open.pop() {
        let Some(node) = draft.tree.get(key.parts()) else { continue };
        let problems = match (rule(&key), &node.content) {
            (Some(Want::Table), Content::Leaf(_)) => vec![(None, "a section is wanted".to_owned())],
            (Some(Want::Table) | None, Content::Table(_)) => Vec::new(),
            (Some(want), Content::Table(_)) => vec![(None, format!("{want} is wanted, not a section"))],
            (Some(want), Content::Leaf(value)) => want.problems(value),
            (None, Content::Leaf(_)) => Vec::new(),
        };
        if problems.is_empty() {
            open.extend(node.entries().map(|(name, _)| key.child(name)));
            continue;
        }
        for (index, wanted) in problems {
            match index {
                Some(index) => draft.fault_in_list(&key, index, wanted),
                None => draft.fault(&key, wanted),
            }
        }
        draft.repair(&key);
    }
}

fn rule(key: &Key) -> Option<&'static Want> {
    let fits = |pattern: &str| {
        let mut parts = key.parts().iter();
        let same = pattern.split('.').all(|p| parts.next().is_some_and(|part| p == "*" || p == part));
        same && parts.next().is_none()
    };
    RULES.iter().find(|(pattern, _)| fits(pattern)).map(|(_, want)| want)
}

#[cfg(test)]
mod tests {
    use sender::channel::{Quota, StubSettings, WebhookSettings};

    use super::*;
    use crate::fields::fields_of;

    #[test]
    fn every_setting_of_the_parts_has_a_rule() {
        for (table, fields) in [
            ("stores", fields_of::<plumbing::RedisSettings>()),
            ("queue", fields_of::<plumbing::amqp::AmqpSettings>()),
            ("scheduler", fields_of::<scheduler::Settings>()),
            ("sender", fields_of::<sender::Settings>()),
            ("channels.x", fields_of::<StubSettings>()),
            ("channels.x", fields_of::<WebhookSettings>()),
            ("channels.x.quota", fields_of::<Quota>()),
            ("log", fields_of::<crate::Log>()),
            ("ops", fields_of::<crate::Ops>()),
        ] {
            assert!(!fields.is_empty(), "{table}");
            let table = Key::of(&table.split('.').collect::<Vec<_>>());
            assert!(fields.iter().all(|name| rule(&table.child(name)).is_some()), "{table}: {fields:?}");
        }
    }

    /// Each comment of the default page tells the range that holds.
    #[test]
    fn the_default_page_tells_the_ranges() {
        let (mut section, mut comment, mut told) = (Key::default(), String::new(), 0);
        for line in crate::DEFAULTS.lines() {
            let setting = line.strip_prefix('#').unwrap_or(line);
            if setting.starts_with(' ') || setting.is_empty() {
                comment += setting;
            } else if let Some(header) = setting.strip_prefix('[') {
                section = Key::of(&header.trim_end_matches(']').split('.').collect::<Vec<_>>());
                comment.clear();
            } else {
                let key = section.child(setting.split_once(" = ").unwrap().0);
                let range = match rule(&key) {
                    None => panic!("no rule for {key}"),
                    Some(want @ (Want::Whole { .. } | Want::Time { .. } | Want::Number { .. })) => {
                        want.to_string()
                    }
                    Some(Want::RisingTimes { min, max, .. }) => {
                        Want::Time { min: *min, max: *max }.to_string()
                    }
                    Some(_) => continue,
                };
                let range = range.split_once(", ").unwrap().1.trim_end_matches(',');
                assert!(comment.contains(range), "{key}, {range}: {comment}");
                told += 1;
                comment.clear();
            }
        }
        assert_eq!(told, 27);
    }
}
