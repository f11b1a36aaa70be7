use std::{fmt, str::FromStr, sync::Arc};

use chrono::{Datelike, NaiveTime};
use cron::{Schedule, TimeUnitSpec};
use serde::{Deserialize, Serialize, de};

use crate::Day;

mod error;
mod field;

pub use error::CronError;
use field::{DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, Values, values};

/// When a campaign fires: a crontab line of five fields, minute, hour, day-of-month, month and day-of-week, in local
/// time. `0 22 * * *` is every evening at ten.
///
/// Minute and hour are single numbers, because a campaign fires at most once a day. The other three take `*`, numbers,
/// lists, ranges and steps; months and weekdays also go by their first three letters, and Sunday is 0 or 7. The day
/// fields are combined as Vixie cron does (crontab(5)): if neither begins with `*`, a date that matches either counts,
/// else it must match both. A line that no date can match is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronLine {
    text: Arc<str>,
    time: NaiveTime,
    /// Whether one of the two day fields is enough.
    either: bool,
    schedule: Arc<Schedule>,
}

impl CronLine {
    /// The wall-clock time at which the line fires on a date; `None` if it does not select that date.
    pub fn wall(&self, day: Day) -> Option<NaiveTime> {
        let date = day.date();
        let of_month = self.schedule.days_of_month().includes(date.day());
        let of_week = self.schedule.days_of_week().includes(date.weekday().number_from_sunday());
        let selected = if self.either { of_month || of_week } else { of_month && of_week };
        (selected && self.schedule.months().includes(date.month())).then_some(self.time)
    }

    /// The wall-clock time of each date that the line selects.
    pub fn time(&self) -> NaiveTime {
        self.time
    }
}

impl FromStr for CronLine {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Self, CronError> {
        if text.len() > LONGEST {
            return Err(CronError::Long { length: text.len(), longest: LONGEST });
        }
        let fields: Vec<_> = text.split([' ', '\t']).filter(|field| !field.is_empty()).collect();
        let [minute, hour, of_month, month, of_week] = fields[..] else {
            return Err(match fields[..] {
                [short, ..] if short.starts_with('@') => CronError::Short(short.chars().take(40).collect()),
                _ => CronError::Fields { line: text.into(), found: fields.len() },
            });
        };
        let (minute, hour) = (MINUTE.single(minute)?, HOUR.single(hour)?);
        let either = !of_month.starts_with('*') && !of_week.starts_with('*');
        let of_month = values(&DAY_OF_MONTH, of_month)?;
        let month = values(&MONTH, month)?;
        let of_week = values(&DAY_OF_WEEK, of_week)?;
        if !either && !some_date(&of_month, &month) {
            return Err(CronError::Never(text.into()));
        }
        let unread = || CronError::Unread(text.into());
        let time = NaiveTime::from_hms_opt(hour, minute, 0).ok_or_else(unread)?;
        let schedule = schedule(time, &of_month, &month, &of_week).ok_or_else(unread)?;
        Ok(Self { text: text.into(), time, either, schedule: Arc::new(schedule) })
    }
}

impl fmt::Display for CronLine {
    /// The line as it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Serialize for CronLine {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for CronLine {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// The longest line that is read, in bytes; every day and month by name fits.
const LONGEST: usize = 255;

/// Whether some year has a date of these: 30 February is none, 29 February is one.
fn some_date(of_month: &Values, month: &Values) -> bool {
    let longest = |month| match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    month.iter().any(|month| of_month.iter().any(|day| day <= longest(month)))
}

/// The same days as `cron` counts them: seconds in front, Sunday is 1, plain lists of numbers only.
fn schedule(time: NaiveTime, of_month: &Values, month: &Values, of_week: &Values) -> Option<Schedule> {
    let of_week = of_week.list(1);
    let clock = time.format("%-S %-M %-H");
    format!("{clock} {} {} {of_week}", of_month.list(0), month.list(0)).parse().ok()
}

#[cfg(test)]
mod tests;
