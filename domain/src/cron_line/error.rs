/// A text that is not a cron line a campaign can have. The text of a field is cut to 40 characters, a line is given
/// whole.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum CronError {
    /// Too much text.
    #[error("cron line: {length} bytes are too many, at most {longest} are read")]
    Long {
        /// Its length in bytes.
        length: usize,
        /// The longest that is read.
        longest: usize,
    },
    /// One of crontab's short forms.
    #[error("cron line {0:?}: short forms are not read; five fields are wanted, such as \"0 22 * * *\"")]
    Short(String),
    /// Not five fields.
    #[error(
        "cron line {line:?}: five fields are wanted (minute, hour, day-of-month, month, day-of-week), not {found}"
    )]
    Fields {
        /// The line.
        line: String,
        /// How many fields it has.
        found: usize,
    },
    /// A field that cannot be read or is not allowed.
    #[error("cron line: {field} {text:?}: {wanted}")]
    Field {
        /// `minute`, `hour`, `day-of-month`, `month` or `day-of-week`.
        field: &'static str,
        /// The text of the field.
        text: String,
        /// What is wrong with it, or would have been right.
        wanted: String,
    },
    /// A line such as `0 22 30 2 *`.
    #[error("cron line {0:?}: it can never fire, no such day-of-month is in its month")]
    Never(String),
    /// A line whose fields are right each by itself and that the calendar underneath does not take. None is known.
    #[error("cron line {0:?}: its days cannot be worked out")]
    Unread(String),
}
