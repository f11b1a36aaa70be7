use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{MOST_SOURCES, MOST_STEPS};

fn source(name: u8) -> Source {
    format!("source-{name}").parse().unwrap()
}

/// (slot, source, totals, steps, jumped) each.
type Write = (u8, u8, bool, u32, bool);

fn written(writes: &[Write]) -> (Page, BTreeMap<Uid, Entry>) {
    let (mut page, mut model) = (Page::default(), BTreeMap::<_, Entry>::new());
    for &(slot, name, totals, total, jumped) in writes {
        let (uid, source) = (Uid(960 + u64::from(slot)), source(name));
        let kind = if totals { Kind::Totals } else { Kind::Increments };
        page.set(uid, &source, kind, total, jumped);
        let sources = &mut model.entry(uid).or_default().sources;
        let one = SourceTotal { source, kind, total, jumped };
        match sources.iter_mut().find(|held| held.source == one.source) {
            Some(held) => *held = one,
            None => sources.push(one),
        }
    }
    (page, model)
}

proptest! {
    #[test]
    fn what_is_set_is_there_by_every_way(
        writes in vec((0u8..32, 0u8..8, any::<bool>(), 0..=MOST_STEPS, any::<bool>()), 0..120),
        gone in 0u8..32,
    ) {
        let (mut page, mut model) = written(&writes);
        let gone = Uid(960 + u64::from(gone));
        prop_assert_eq!(page.remove(gone), model.remove(&gone).is_some());
        let bytes = page.encode();
        let read = Page::decode(&bytes).unwrap();
        for uid in (960..992).map(Uid) {
            prop_assert_eq!(read.entry(uid), model.get(&uid).cloned());
            let held = model.get(&uid).map_or(0, Entry::number);
            prop_assert_eq!((read.number(uid), number(&bytes, uid)), (held, Ok(held)));
        }
        let all: Vec<_> = model.iter().map(|(uid, entry)| (*uid, entry.number())).collect();
        prop_assert!(read.numbers(30).eq(all));
        prop_assert_eq!(read.encode(), bytes);
    }

    #[test]
    fn rubbish_is_refused_and_ends_nothing(bytes: Vec<u8>, uid: u64) {
        let _ = (Page::decode(&bytes), number(&bytes, Uid(uid)));
    }

    #[test]
    fn a_page_with_a_wrong_byte_is_refused_or_is_another_whole_one(
        writes in vec((0u8..32, 0u8..3, any::<bool>(), 0..=MOST_STEPS, any::<bool>()), 1..60),
        at: prop::sample::Index,
        byte: u8,
    ) {
        let mut bytes = written(&writes).0.encode();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(page) = Page::decode(&bytes) {
            let same = |uid| number(&bytes, uid) == Ok(page.number(uid));
            prop_assert!((960..992).map(Uid).all(same));
            prop_assert_eq!(Page::decode(&page.encode()).map(|page| page.numbers(30).collect::<Vec<_>>()),
                Ok(page.numbers(30).collect()));
        }
    }
}

#[test]
fn the_bytes_are_those_of_the_page_above() {
    let mut page = Page::default();
    page.set(Uid(33), &"phone".parse().unwrap(), Kind::Totals, 5_000, false);
    page.set(Uid(33), &"watch".parse().unwrap(), Kind::Increments, 21_000, true);
    page.set(Uid(63), &"phone".parse().unwrap(), Kind::Totals, 7, false);
    let wanted = b"\x01\x02\x05phone\x05watch\x02\x02\x00\x01\x01\x02\x01\x00\x01\x02\0\0\x80\
        \x00\x88\x27\x88\xa4\x01\x01\x07";
    assert_eq!(page.encode(), wanted);
}

#[test]
fn every_user_may_have_sources_of_their_own() {
    let mut page = Page::default();
    let name = |slot: u64, n: usize, round: u8| format!("s{slot}-{n}-{round}").parse().unwrap();
    for round in 0..3 {
        for slot in 0..PAGE {
            page.remove(Uid(slot));
            for n in 0..MOST_SOURCES {
                page.set(Uid(slot), &name(slot, n, round), Kind::Totals, 100 + u32::from(round), false);
            }
        }
        let read = Page::decode(&page.encode()).unwrap();
        assert_eq!(page.encode(), read.encode());
        for slot in 0..PAGE {
            assert_eq!(read.sources(Uid(slot)), MOST_SOURCES);
            assert_eq!(read.mark(Uid(slot), &name(slot, 7, round)).unwrap().total, 100 + u32::from(round));
        }
    }
}

#[test]
fn two_sources_of_dense_users_take_six_bytes_each() {
    let mut page = Page::default();
    for uid in (0..PAGE).map(Uid) {
        page.set(uid, &"phone".parse().unwrap(), Kind::Totals, 8_000, false);
        page.set(uid, &"watch".parse().unwrap(), Kind::Totals, 17_000, false);
    }
    assert_eq!(page.encode().len(), 24 + 6 * 32);
}
