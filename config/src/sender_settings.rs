use plumbing::Span;

use crate::{draft::Draft, key::Key, typed};

/// Reads the section `[sender]` and judges its settings against one another and against the channel whose pushes may take
/// longest. What was at fault by itself is not judged again.
pub(crate) fn read_sender(draft: &mut Draft, slowest: Option<(Key, Span)>) -> Option<sender::Settings> {
    let section = Key::of(&["sender"]);
    let settings: sender::Settings = typed::read(draft, &section, &[])?;
    let (lease, backoff) = (section.child("lease"), section.child("backoff"));
    let longer = |draft: &mut Draft, key: &Key, is: bool, other: &Key, span: Span, than: &str| {
        if !is && !draft.about(key) && !draft.about(other) {
            draft.fault(key, format!("{than} {other} ({span}) is wanted"));
        }
    };
    let wait = section.child("quota_wait");
    longer(draft, &wait, settings.quota_wait < settings.lease, &lease, settings.lease, "shorter than");
    let fits = settings.quota_wait < settings.lease;
    if let Some((slowest, time)) = slowest.filter(|_| fits) {
        // a chunk may wait for quota and then take as long as the slowest push, all under one lease
        let chunk = Span(time.0.saturating_add(settings.quota_wait.0));
        longer(draft, &lease, settings.lease > chunk, &slowest, chunk, "longer, with quota_wait, than");
    }
    let longest = section.child("longest_backoff");
    let rises = settings.longest_backoff >= settings.backoff;
    longer(draft, &longest, rises, &backoff, settings.backoff, "at least");
    Some(settings)
}
