use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use flate2::read::GzDecoder;

/// Minutes of a day.
pub const MINUTES: usize = 24 * 60;

/// What one person walked in each minute of one day.
pub type RealDay = Box<[u16; MINUTES]>;

/// Steps by minute: CSV of a pseudonym, an hour as `4/13/2016 12:00:00 AM`, and the steps of its sixty minutes.
const FILE: &str = "steps/fitabase/minuteStepsWide_merged.csv.gz";

/// The whole days of real people in the public data sets, in the order of the people and their days.
pub fn real_days(data: &Path) -> Vec<RealDay> {
    let file = BufReader::new(GzDecoder::new(File::open(data.join(FILE)).unwrap()));
    let mut days = BTreeMap::<(u64, String), (u32, RealDay)>::new();
    for line in file.lines().skip(1) {
        let line = line.unwrap();
        let mut fields = line.trim().split(',');
        let (who, time) = (fields.next().unwrap().parse().unwrap(), fields.next().unwrap());
        let (date, hour) = time.split_once(' ').unwrap();
        let new = || (0, Box::new([0; MINUTES]));
        let (hours, day) = days.entry((who, date.to_owned())).or_insert_with(new);
        *hours |= 1 << hour_of(hour);
        let minutes = &mut day[hour_of(hour) * 60..][..60];
        minutes.iter_mut().zip(fields).for_each(|(minute, steps)| *minute = steps.parse().unwrap());
    }
    days.into_values().filter(|(hours, _)| *hours == (1 << 24) - 1).map(|(_, day)| day).collect()
}

/// The hour of `4:00:00 PM`.
fn hour_of(text: &str) -> usize {
    let (clock, half) = text.split_once(' ').unwrap();
    let hour: usize = clock.split(':').next().unwrap().parse().unwrap();
    hour % 12 + if half == "PM" { 12 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared_data;

    #[test]
    fn the_public_days_are_read_as_they_are() {
        let Some(data) = shared_data("the_public_days_are_read_as_they_are") else { return };
        let days = real_days(&data);
        // counted from the file by other means
        assert_eq!(days.len(), 888);
        assert_eq!(hour_of("12:00:00 AM"), 0);
        assert_eq!(hour_of("12:00:00 PM"), 12);
        assert!(days.iter().any(|day| day.iter().map(|&steps| u32::from(steps)).sum::<u32>() > 20_000));
    }
}
