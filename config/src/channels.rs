use std::collections::BTreeMap;

use domain::ChannelName;
use plumbing::Span;
use sender::channel::{ChannelSettings, Kind, Quota, StubSettings, WebhookSettings};
use toml::Value;

use crate::{Origin, draft::Draft, key::Key, tree::Node, typed, webhook_secret::resolve_secret};

/// The kinds of channels there are.
const KINDS: [&str; 2] = ["stub", "webhook"];

/// No channel may be called so: its queue would be that of the dead letters.
const DEAD: &str = "dead";

/// The most channels.
const MOST: usize = 100;

pub(crate) fn check_kind(text: &str) -> Result<(), String> {
    let known = KINDS.contains(&text);
    known.then_some(()).ok_or_else(|| format!("\"{}\" is wanted", KINDS.join("\" or \"")))
}

/// Reads the section `[channels]`.
pub(crate) fn read_channels(draft: &mut Draft) -> BTreeMap<ChannelName, ChannelSettings> {
    let section = Key::of(&["channels"]);
    let names = draft.names(&section);
    if names.len() > MOST {
        draft.fault(&section, format!("at most {MOST} channels are wanted"));
    }
    let mut channels = BTreeMap::new();
    for name in names.iter().take(MOST) {
        let key = section.child(name);
        let settings = read_channel(draft, &key);
        match name.parse::<ChannelName>() {
            Err(bad) => draft.fault(&key, bad.wanted),
            Ok(name) if name.as_str() == DEAD => {
                draft.fault(&key, "another name is wanted: the queue of the dead letters is called so");
            }
            Ok(name) => channels.extend(settings.map(|settings| (name, settings))),
        }
    }
    channels
}

/// The longest time a push may take, and the setting that says so.
pub(crate) fn slowest(channels: &BTreeMap<ChannelName, ChannelSettings>) -> Option<(Key, Span)> {
    let time = |(name, settings): (&ChannelName, &ChannelSettings)| {
        let (setting, span) = match &settings.kind {
            Kind::Stub(stub) => ("latency", stub.latency),
            Kind::Webhook(webhook) => ("timeout", webhook.timeout),
        };
        (Key::of(&["channels", name.as_str(), setting]), span)
    };
    channels.iter().map(time).max_by_key(|&(_, span)| span)
}

fn read_channel(draft: &mut Draft, key: &Key) -> Option<ChannelSettings> {
    let quota = key.child("quota");
    let quota = match draft.tree.get(quota.parts()) {
        Some(_) => typed::read::<Quota>(draft, &quota, &[]),
        None => Some(Quota::default()),
    };
    // a kind that was at fault was repaired, but what belongs to it is then anybody's guess
    let kind = key.child("kind");
    let known = (!draft.about(&kind)).then(|| draft.tree.get(kind.parts()).map(Node::to_value)).flatten();
    let kind = match known.as_ref().and_then(Value::as_str) {
        Some("stub") => typed::read::<StubSettings>(draft, key, APART).map(Kind::Stub),
        Some("webhook") => read_webhook(draft, key).map(Kind::Webhook),
        _ => {
            draft.missing(&kind, &format!("\"{}\" is wanted", KINDS.join("\" or \"")));
            None
        }
    };
    let settings = ChannelSettings { kind: kind?, quota: quota? };
    judge(draft, key, &settings);
    Some(settings)
}

/// Notes what the sender finds wrong and is not known yet. Secrets were judged when they were read.
fn judge(draft: &mut Draft, key: &Key, settings: &ChannelSettings) {
    for fault in settings.faults() {
        let place = fault.setting.split('.').fold(key.clone(), |key, name| key.child(name));
        if !fault.setting.starts_with("secret") && !draft.about(&place) {
            draft.fault(&place, fault.problem);
        }
    }
}

/// What is read apart from the settings of a kind.
const APART: &[&str] = &["kind", "quota"];

fn read_webhook(draft: &mut Draft, key: &Key) -> Option<WebhookSettings> {
    let url = key.child("url");
    if draft.tree.get(url.parts()).is_none() {
        draft.missing(&url, "an https:// or http:// address is wanted");
        // stands in, so that the other settings can be read and judged
        draft.tree.put(&url, Some(Node::leaf(Origin::Default, Value::from("https://missing.invalid/"))));
    }
    let mut settings = typed::read::<WebhookSettings>(draft, key, APART)?;
    resolve_secret(draft, key, &mut settings);
    if !settings.allow_private && settings.url.to_ascii_lowercase().starts_with("http:") {
        draft.warnings.push(format!("{url}: pushes travel unencrypted; https:// is better"));
    }
    Some(settings)
}
