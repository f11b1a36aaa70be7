use std::collections::BTreeMap;

use domain::{CampaignName, ChannelName, CronLine, Language, NoSteps};
use serde::Deserialize;

use crate::{
    draft::Draft,
    key::Key,
    texts::{Text, read_texts},
    typed,
};

/// A campaign with its texts, section `[campaigns.NAME]`.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// Name, hour, window and channels.
    pub campaign: domain::Campaign,
    /// Its texts by language; one for `fallback` is among them.
    pub texts: BTreeMap<Language, Text>,
    /// The language of a user whose own has no text.
    pub fallback: Language,
}

/// The keys of a campaign but `text`.
#[derive(Deserialize)]
struct Keys {
    cron: Option<CronLine>,
    window: Option<u32>,
    channels: Option<Vec<ChannelName>>,
    no_steps: Option<NoSteps>,
    fallback: Option<Language>,
}

/// The window of a campaign that does not say one, in seconds.
pub(crate) const WINDOW: u32 = 60;

/// The most campaigns.
const MOST: usize = 100;

pub(crate) fn check_cron(text: &str) -> Result<(), String> {
    text.parse::<CronLine>().map(drop).map_err(|e| e.to_string())
}

pub(crate) fn check_language(text: &str) -> Result<(), String> {
    text.parse::<Language>().map(drop).map_err(|e| e.wanted.to_owned())
}

/// Reads the section `[campaigns]`, in the order of the names.
pub(crate) fn read_campaigns(draft: &mut Draft) -> Vec<Campaign> {
    let section = Key::of(&["campaigns"]);
    let names = draft.names(&section);
    if names.len() > MOST {
        draft.fault(&section, format!("at most {MOST} campaigns are wanted"));
    }
    let mut campaigns = Vec::new();
    for name in names.iter().take(MOST) {
        let key = section.child(name);
        let keys = typed::read::<Keys>(draft, &key, &["text"]);
        let texts = read_texts(draft, &key.child("text"));
        match name.parse::<CampaignName>() {
            Err(bad) => draft.fault(&key, bad.wanted),
            Ok(name) => campaigns.extend(keys.and_then(|keys| build(draft, &key, name, keys, texts))),
        }
    }
    campaigns
}

fn build(
    draft: &mut Draft,
    key: &Key,
    name: CampaignName,
    keys: Keys,
    texts: BTreeMap<Language, Text>,
) -> Option<Campaign> {
    let cron = key.child("cron");
    if keys.cron.is_none() {
        draft.missing(&cron, "a cron line is wanted, such as \"0 22 * * *\"");
    }
    let channels = key.child("channels");
    if keys.channels.is_none() {
        draft.missing(&channels, "a list of channels is wanted");
    }
    let there = draft.names(&Key::of(&["channels"]));
    // a list that was at fault was repaired: its items are no longer those that were given
    let given =
        keys.channels.iter().flatten().enumerate().filter(|_| !draft.about(&channels)).collect::<Vec<_>>();
    for (index, channel) in given {
        if !there.iter().any(|name| name == channel.as_str()) {
            draft.fault_in_list(&channels, index, format!("a channel is wanted: {}", there.join(", ")));
        }
    }
    let window = keys.window.unwrap_or(WINDOW);
    if window == 0 && !draft.about(&key.child("window")) {
        let place = key.child("window");
        draft
            .warnings
            .push(format!("{place} = 0: on the dot, all pushes of an instant are due in one second"));
    }
    let fallback = keys.fallback.unwrap_or_default();
    let text = key.child("text");
    let is_there = texts.keys().any(|language| language.as_str().eq_ignore_ascii_case(fallback.as_str()));
    if !is_there && !draft.about(&key.child("fallback")) {
        draft.missing(&text.child(fallback.as_str()), "a text for the language of `fallback` is wanted");
    }
    let no_steps = keys.no_steps.unwrap_or_default();
    let campaign = domain::Campaign { name, line: keys.cron?, window, channels: keys.channels?, no_steps };
    Some(Campaign { campaign, texts, fallback })
}
