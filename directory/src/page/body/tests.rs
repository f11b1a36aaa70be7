use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::page::place::KEY_BITS;

const KNOWN: Known = Known { zones: 40, kinds: 9 };

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let key = prop_oneof![0u64..300, 0u64..1 << KEY_BITS];
    let moved = prop::option::weighted(0.1, (0u32..40, any::<u32>()));
    let rest = (0u32..40, 0u32..9, any::<u32>(), moved);
    let line = |(key, (zone, kind, due_from, moved))| Line { key, zone, kind, due_from, moved };
    prop::collection::btree_map(key, rest, 0..200)
        .prop_map(move |all: BTreeMap<_, _>| all.into_iter().map(line).collect())
}

proptest! {
    #[test]
    fn rows_are_read_as_they_were_written(lines in lines()) {
        let mut bytes = Vec::new();
        put(&mut bytes, &lines);
        let mut from = &bytes[..];
        let body = Body::take(&mut from, KNOWN).unwrap();
        prop_assert!(from.is_empty());
        prop_assert_eq!(body.size_hint().0, lines.len());
        prop_assert_eq!(body.collect::<Vec<_>>(), lines);
    }

    #[test]
    fn rubbish_is_refused_or_within_bounds(lines in lines(), changes: Vec<(prop::sample::Index, u8)>, cut: prop::sample::Index) {
        let mut bytes = Vec::new();
        put(&mut bytes, &lines);
        for (place, byte) in changes {
            *place.get_mut(&mut bytes) = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Ok(body) = Body::take(&mut &bytes[..], KNOWN) {
            for line in body {
                prop_assert!(line.zone < 40 && line.kind < 9 && line.moved.is_none_or(|(zone, _)| zone < 40));
            }
        }
    }
}
