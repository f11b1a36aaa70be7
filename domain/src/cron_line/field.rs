use super::CronError;

/// What a field of a cron line may hold.
pub(super) struct Field {
    name: &'static str,
    min: u32,
    max: u32,
    /// The last value that `*` stands for; less than `max` where `max` is a second name of `min`.
    star: u32,
    /// Names of the values from `min` on.
    names: &'static [&'static str],
}

pub(super) const MINUTE: Field = Field { name: "minute", min: 0, max: 59, star: 59, names: &[] };
pub(super) const HOUR: Field = Field { name: "hour", min: 0, max: 23, star: 23, names: &[] };
pub(super) const DAY_OF_MONTH: Field = Field { name: "day-of-month", min: 1, max: 31, star: 31, names: &[] };
pub(super) const MONTH: Field = Field { name: "month", min: 1, max: 12, star: 12, names: &MONTHS };
pub(super) const DAY_OF_WEEK: Field =
    Field { name: "day-of-week", min: 0, max: 7, star: 6, names: &WEEKDAYS };

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The values of a field: bit v is set if v is one of them. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values(u64);

impl Values {
    /// The values, rising.
    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        (0..u64::BITS).filter(move |&value| self.0 >> value & 1 == 1)
    }

    /// `1,2,5`, each with `shift` added.
    pub(super) fn list(self, shift: u32) -> String {
        self.iter().map(|value| (value + shift).to_string()).collect::<Vec<_>>().join(",")
    }
}

/// Reads a field: items of the form `*`, `n`, `a-b`, `*/step` or `a-b/step`, with commas between them.
pub(super) fn values(field: &Field, text: &str) -> Result<Values, CronError> {
    let mut bits = 0;
    for item in text.split(',') {
        let (from, to, step) = field.item(item).map_err(|wanted| field.refuse(text, wanted))?;
        for value in (from..=to).step_by(step) {
            // 7 is another name of Sunday.
            let value = if value > field.star { field.min } else { value };
            bits |= 1 << value;
        }
    }
    Ok(Values(bits))
}

impl Field {
    /// Reads a field that must be one number.
    pub(super) fn single(&self, text: &str) -> Result<u32, CronError> {
        if text.contains(['*', ',', '-', '/']) {
            return Err(self.refuse(
                text,
                format!(
                    "a single number from {} to {} is wanted, because a campaign fires at most once a day",
                    self.min, self.max
                ),
            ));
        }
        self.value(text).map_err(|wanted| self.refuse(text, wanted))
    }

    /// First value, last value and step of one item.
    fn item(&self, item: &str) -> Result<(u32, u32, usize), String> {
        let (range, step) = match item.split_once('/') {
            None => (item, 1),
            Some((range, step)) if range == "*" || range.contains('-') => (range, self.step(step)?),
            Some(_) => return Err("a step needs a range or * before it, such as 1-5/2 or */2".into()),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (self.min, self.star),
            None => (self.value(range)?, self.value(range)?),
            Some((from, to)) => (self.value(from)?, self.value(to)?),
        };
        if from > to {
            let hint = if self.star < self.max { ", and a week that ends on Sunday ends with 7" } else { "" };
            return Err(format!(
                "the range {range} runs backwards; its first value must not be above its last{hint}"
            ));
        }
        Ok((from, to, step))
    }

    fn step(&self, text: &str) -> Result<usize, String> {
        let step = number(text).filter(|step| (1..=self.max).contains(step));
        let step = step.and_then(|step| usize::try_from(step).ok());
        step.ok_or_else(|| format!("a step from 1 to {} is wanted", self.max))
    }

    fn value(&self, text: &str) -> Result<u32, String> {
        let named = self.names.iter().zip(self.min..).find(|(name, _)| name.eq_ignore_ascii_case(text));
        let value = named.map(|(_, value)| value).or_else(|| number(text));
        value.filter(|value| (self.min..=self.max).contains(value)).ok_or_else(|| self.wanted())
    }

    fn wanted(&self) -> String {
        let names = match self.names {
            [first, .., last] => format!(" or {first} to {last}"),
            _ => String::new(),
        };
        let lists = if self.name == MINUTE.name || self.name == HOUR.name {
            ""
        } else {
            ", or * or lists, ranges and steps of these"
        };
        format!("a number from {} to {}{names} is wanted{lists}", self.min, self.max)
    }

    fn refuse(&self, text: &str, wanted: String) -> CronError {
        CronError::Field { field: self.name, text: text.chars().take(40).collect(), wanted }
    }
}

/// One or two decimal digits.
fn number(text: &str) -> Option<u32> {
    let plain = matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}
