use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
};

use chrono::{DateTime, FixedOffset, NaiveDate};

/// What somebody's source reports.
#[derive(Clone, Debug)]
pub struct Item {
    /// Who.
    pub uid: u64,
    /// When it was walked, as the clock on their wall shows it.
    pub at: DateTime<FixedOffset>,
    /// What counted it.
    pub source: &'static str,
    /// How far.
    pub walked: Walked,
    /// The report's id; of one user each once.
    pub id: u64,
}

/// How far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    /// Steps since the report before.
    Steps(u32),
    /// All of the day so far.
    Total(u32),
}

/// What an item was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is stored.
    Stored,
    /// It is held already.
    Repeat,
    /// It is not, for this reason.
    Refused(String),
}

/// What was answered as stored, counted without any of the program's code: sources of a day apart, the largest is the day's
/// number, a day is the date on the user's wall.
#[derive(Debug, Default)]
pub struct Recount {
    days: HashMap<(u64, NaiveDate), BTreeMap<&'static str, u32>>,
    counted: HashSet<(u64, u64)>,
    stored: HashSet<(u64, u64)>,
    /// Items answered so: stored, repeat, refused.
    pub answers: [u64; 3],
    /// Of the refused, how many for which reason.
    pub reasons: BTreeMap<String, u64>,
}

impl Item {
    /// Writes it as the object that the program takes.
    pub(super) fn write(&self, to: &mut String) {
        let (amount, steps) = match self.walked {
            Walked::Steps(steps) => ("steps", steps),
            Walked::Total(total) => ("total", total),
        };
        let (uid, at, source, id) = (self.uid, self.at.to_rfc3339(), self.source, self.id);
        write!(to, r#"{{"uid":{uid},"at":"{at}","source":"{source}","{amount}":{steps},"id":"{id}"}}"#)
            .unwrap();
    }
}

impl Recount {
    /// Counts an answer. Ends the test where one report is stored twice over.
    pub fn count(&mut self, item: &Item, answer: &Answer) {
        match answer {
            Answer::Stored => {
                self.answers[0] += 1;
                assert!(self.stored.insert((item.uid, item.id)), "it was stored twice: {item:?}");
            }
            Answer::Repeat => self.answers[1] += 1,
            Answer::Refused(reason) => {
                self.answers[2] += 1;
                *self.reasons.entry(reason.clone()).or_default() += 1;
                return;
            }
        }
        let first = self.counted.insert((item.uid, item.id));
        let day = self.days.entry((item.uid, item.at.date_naive())).or_default();
        let held = day.entry(item.source).or_default();
        match item.walked {
            Walked::Steps(steps) if first => *held += steps,
            Walked::Steps(_) => {}
            Walked::Total(total) => *held = total.max(*held),
        }
    }

    /// Every user-day with its number.
    pub fn numbers(&self) -> impl Iterator<Item = (u64, NaiveDate, u32)> {
        self.days
            .iter()
            .map(|((uid, day), sources)| (*uid, *day, sources.values().copied().max().unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(source: &'static str, walked: Walked, id: u64) -> Item {
        Item { uid: 7, at: "2026-06-07T23:59:00+09:00".parse().unwrap(), source, walked, id }
    }

    #[test]
    fn increments_add_up_once_totals_rise_and_the_largest_source_is_the_number() {
        let mut recount = Recount::default();
        for (item, answer) in [
            (item("phone", Walked::Steps(500), 1), Answer::Stored),
            (item("phone", Walked::Steps(500), 1), Answer::Repeat),
            (item("phone", Walked::Steps(20), 2), Answer::Repeat),
            (item("phone", Walked::Steps(9_000), 3), Answer::Refused("too_late".to_owned())),
            (item("watch", Walked::Total(400), 4), Answer::Stored),
            (item("watch", Walked::Total(300), 5), Answer::Repeat),
        ] {
            recount.count(&item, &answer);
        }
        let day = NaiveDate::from_ymd_opt(2026, 6, 7).unwrap();
        assert_eq!(recount.numbers().collect::<Vec<_>>(), [(7, day, 520)]);
        assert_eq!((recount.answers, recount.reasons["too_late"]), ([2, 3, 1], 1));
    }

    #[test]
    #[should_panic(expected = "stored twice")]
    fn a_report_stored_twice_is_seen() {
        let mut recount = Recount::default();
        (0..2).for_each(|_| recount.count(&item("phone", Walked::Steps(5), 1), &Answer::Stored));
    }
}
