use std::collections::BTreeMap;

use serde::Serialize;
use toml::Value;

use crate::{Config, Origin, campaigns::WINDOW, draft::Draft, key::Key, ops::key_path, printable::printable};

/// Every value in effect as it may be shown, with where it came from.
pub(crate) type Shown = BTreeMap<Key, (String, Origin)>;

/// The values of the draft, and those that nobody set and that hold all the same.
pub(crate) fn shown(draft: &Draft, config: &Config) -> Shown {
    let mut shown = Shown::new();
    for (key, value, origin) in draft.tree.leaves() {
        shown.insert(key.clone(), (printable(&key, value), origin.clone()));
    }
    let key_file = key_path(&config.data, config.ops.key_file.as_deref());
    fill(&mut shown, &["ops", "key_file"], &key_file);
    fill(&mut shown, &["scheduler"], &config.scheduler);
    fill(&mut shown, &["sender"], &config.sender);
    for (name, channel) in &config.channels {
        fill(&mut shown, &["channels", name.as_str()], channel);
    }
    for campaign in &config.campaigns {
        let name = campaign.campaign.name.as_str();
        fill(&mut shown, &["campaigns", name, "window"], &WINDOW);
        fill(&mut shown, &["campaigns", name, "no_steps"], &campaign.campaign.no_steps);
        fill(&mut shown, &["campaigns", name, "fallback"], &campaign.fallback);
    }
    shown
}

/// Adds what is in `settings`, under the key, and not shown yet.
fn fill(shown: &mut Shown, under: &[&str], settings: &impl Serialize) {
    // what no TOML can be made of is no setting
    let Ok(value) = Value::try_from(settings) else { return };
    let mut open = vec![(Key::of(under), value)];
    while let Some((key, value)) = open.pop() {
        match value {
            Value::Table(table) => open.extend(table.into_iter().map(|(name, v)| (key.child(&name), v))),
            value => {
                let text = printable(&key, &value);
                shown.entry(key).or_insert((text, Origin::Default));
            }
        }
    }
}
