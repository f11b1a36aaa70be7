use std::fmt;

use domain::ChannelName;
use plumbing::Span;
use toml::Value;

/// What a setting may be.
pub(crate) enum Want {
    /// A table of settings.
    Table,
    /// A whole number in a range, both ends included.
    Whole { min: u32, max: u32 },
    /// A number in a range, both ends included.
    Number { min: f64, max: f64 },
    /// A length of time in a range, both ends included.
    Time { min: Span, max: Span },
    /// 1 to `most` lengths of time in a range, each longer than the one before.
    RisingTimes { min: Span, max: Span, most: usize },
    /// `true` or `false`.
    Truth,
    /// A text of 1 to `most` characters.
    Text { most: usize },
    /// 1 to `most` texts of 1 to 2,048 characters, none twice.
    Texts { most: usize },
    /// One of some words.
    OneOf(&'static [&'static str]),
    /// 1 to `most` names of channels, none twice.
    Names { most: usize },
    /// A text that is read further; what is wrong with it is told as a phrase.
    Parsed(fn(&str) -> Result<(), String>),
}

/// The longest text of a list, in characters.
const LONGEST_OF_LIST: usize = 2_048;

/// What is wrong: the index where it is an item of a list, and what is wanted.
type Problem = (Option<usize>, String);

impl Want {
    /// Everything that is wrong with a value.
    pub(crate) fn problems(&self, value: &Value) -> Vec<Problem> {
        let fine = match (self, value) {
            (Self::Whole { min, max }, Value::Integer(n)) => (i64::from(*min)..=i64::from(*max)).contains(n),
            (Self::Number { min, max }, Value::Float(n)) => (*min..=*max).contains(n),
            // a number of this size is exact as a float
            (Self::Number { min, max }, Value::Integer(n)) => {
                i32::try_from(*n).is_ok_and(|n| (*min..=*max).contains(&f64::from(n)))
            }
            (Self::Time { min, max }, Value::String(text)) => time(text, *min, *max).is_some(),
            (Self::Truth, Value::Boolean(_)) => true,
            (Self::Text { most }, Value::String(text)) => (1..=*most).contains(&text.chars().count()),
            (Self::OneOf(words), Value::String(text)) => words.contains(&text.as_str()),
            (Self::Parsed(check), Value::String(text)) => {
                return check(text).err().map(|wanted| (None, wanted)).into_iter().collect();
            }
            (
                Self::RisingTimes { most, .. } | Self::Names { most } | Self::Texts { most },
                Value::Array(items),
            ) if (1..=*most).contains(&items.len()) => {
                return self.problems_of_items(items);
            }
            _ => false,
        };
        if fine { Vec::new() } else { vec![(None, format!("{self} is wanted"))] }
    }

    fn problems_of_items(&self, items: &[Value]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut longest = None;
        for (index, item) in items.iter().enumerate() {
            let problem = match (self, item) {
                (Self::RisingTimes { min, max, .. }, Value::String(text)) => match time(text, *min, *max) {
                    None => Some(format!("{} is wanted", Self::Time { min: *min, max: *max })),
                    now if now <= longest => Some("longer than the step before is wanted".to_owned()),
                    now => {
                        longest = now;
                        None
                    }
                },
                (Self::RisingTimes { min, max, .. }, _) => {
                    Some(format!("{} is wanted", Self::Time { min: *min, max: *max }))
                }
                (Self::Names { .. }, Value::String(text)) => match text.parse::<ChannelName>() {
                    Err(bad) => Some(bad.wanted.to_owned()),
                    Ok(_) if items[..index].contains(item) => Some("this channel is named before".to_owned()),
                    Ok(_) => None,
                },
                (Self::Texts { .. }, Value::String(text)) => {
                    let repeated = items[..index].contains(item);
                    let fits = (1..=LONGEST_OF_LIST).contains(&text.chars().count());
                    (repeated || !fits).then(|| match repeated {
                        true => "this is named before".to_owned(),
                        false => Self::Text { most: LONGEST_OF_LIST }.to_string() + " is wanted",
                    })
                }
                (Self::Texts { .. }, _) => {
                    Some(Self::Text { most: LONGEST_OF_LIST }.to_string() + " is wanted")
                }
                _ => Some("the name of a channel is wanted".to_owned()),
            };
            problems.extend(problem.map(|wanted| (Some(index), wanted)));
        }
        problems
    }
}

fn time(text: &str, min: Span, max: Span) -> Option<Span> {
    text.parse().ok().filter(|span| (min..=max).contains(span))
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table => f.write_str("a section"),
            Self::Whole { min, max: u32::MAX } => write!(f, "a whole number, {min} or more,"),
            Self::Whole { min, max } => write!(f, "a whole number, {min} to {},", grouped(max)),
            Self::Number { min, max } => write!(f, "a number, {min} to {max},"),
            Self::Time { min, max } => write!(f, "a length of time, \"{min}\" to \"{max}\","),
            Self::RisingTimes { min, max, most } => {
                write!(f, "a list of 1 to {most} rising lengths of time, \"{min}\" to \"{max}\",")
            }
            Self::Truth => f.write_str("true or false"),
            Self::Text { most } => write!(f, "a text in quotes, 1 to {} characters,", grouped(most)),
            Self::OneOf(words) => write!(f, "\"{}\"", words.join("\" or \"")),
            Self::Texts { most } => write!(f, "a list of 1 to {most} texts in quotes"),
            Self::Names { most } => write!(f, "a list of 1 to {most} names of channels"),
            Self::Parsed(_) => f.write_str("a text in quotes"),
        }
    }
}

/// A number with a comma before each group of three digits.
fn grouped(number: &impl ToString) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        format!("x = {text}").parse::<toml::Table>().unwrap()["x"].clone()
    }

    fn indices(want: &Want, text: &str) -> Vec<Option<usize>> {
        want.problems(&value(text)).into_iter().map(|(index, _)| index).collect()
    }

    #[test]
    fn both_ends_of_a_range_belong_to_it() {
        let whole = Want::Whole { min: 1, max: 15 };
        let number = Want::Number { min: 0.0, max: 1.0 };
        let time = Want::Time { min: Span::seconds(1), max: Span::seconds(60) };
        for (want, good, bad) in [
            (&whole, vec!["1", "15"], vec!["0", "16", "-1", "1.0", "'1'", "9223372036854775807"]),
            (&number, vec!["0", "1", "0.5", "1.0"], vec!["-0.1", "1.01", "nan", "inf", "2", "true"]),
            (&time, vec!["'1s'", "'1m'", "'1000ms'"], vec!["'999ms'", "'61s'", "5", "'-5s'", "'soon'"]),
            (&Want::Text { most: 2 }, vec!["'ab'", "'步步'"], vec!["''", "'abc'", "1"]),
            (&Want::OneOf(&["a", "b"]), vec!["'a'"], vec!["'c'", "'A'", "[]"]),
        ] {
            assert!(good.iter().all(|g| indices(want, g).is_empty()), "{want}");
            assert!(bad.iter().all(|b| indices(want, b) == [None]), "{want}");
        }
    }

    #[test]
    fn each_item_of_a_list_is_judged() {
        let ladder = Want::RisingTimes { min: Span::millis(1), max: Span::seconds(100), most: 4 };
        assert_eq!(indices(&ladder, "['1s', '2s', '10s']"), []);
        assert_eq!(indices(&ladder, "['5s', 1, '5s', '6s']"), [Some(1), Some(2)]);
        for whole in ["[]", "['1s', '2s', '3s', '4s', '5s']", "'1s'"] {
            assert_eq!(indices(&ladder, whole), [None], "{whole}");
        }
        let texts = Want::Texts { most: 3 };
        assert_eq!(indices(&texts, "['a', 'b']"), []);
        assert_eq!(indices(&texts, "['a', '', 'a']"), [Some(1), Some(2)]);
        assert_eq!(indices(&texts, "[1]"), [Some(0)]);
        assert_eq!(indices(&texts, "'a'"), [None]);
        let names = Want::Names { most: 3 };
        assert_eq!(indices(&names, "['a', 'b', 'a']"), [Some(2)]);
        assert_eq!(indices(&names, "['A', 2]"), [Some(0), Some(1)]);
    }

    #[test]
    fn phrases() {
        assert_eq!(Want::Whole { min: 1, max: 10_000 }.to_string(), "a whole number, 1 to 10,000,");
        assert_eq!([grouped(&1), grouped(&999), grouped(&1_234_567)], ["1", "999", "1,234,567"]);
    }
}
