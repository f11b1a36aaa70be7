//! What is seen while the night goes on: a bar and two live lines in a terminal, else a few plain lines.

mod rate;

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use self::rate::Rate;
use super::words::{counted, number};

/// The bar of the demo, on standard error.
pub(super) struct Progress {
    bar: ProgressBar,
    plain: bool,
    rate: Rate,
    shown: Option<Instant>,
}

/// How far the night is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    /// Users with an outcome.
    pub(super) done: u64,
    /// Users in the queue and its ladder.
    pub(super) queued: u64,
    /// Users delivered.
    pub(super) delivered: u64,
    /// Tries that failed and are made again.
    pub(super) retried: u64,
    /// Users suppressed.
    pub(super) suppressed: u64,
}

/// Where the log goes: above the bar, which it does not tear.
#[derive(Clone)]
pub(super) struct AboveBar(ProgressBar);

/// How often the lines are renewed.
const EVERY: Duration = Duration::from_millis(80);
/// The longest line: a terminal of 80 columns does not wrap it.
const WIDTH: usize = 78;

impl Progress {
    /// Nothing to be seen yet.
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        if let Ok(style) =
            ProgressStyle::with_template("{prefix}\n{wide_bar} {human_pos}/{human_len}\n{wide_msg}")
        {
            bar.set_style(style.progress_chars("##-"));
        }
        Self { bar, plain: !io::stderr().is_terminal(), rate: Rate::default(), shown: None }
    }

    /// Where a log may be written meanwhile.
    pub(super) fn above(&self) -> AboveBar {
        AboveBar(self.bar.clone())
    }

    /// A population of so many is about to be put in.
    pub(super) fn filling(&self, users: usize) {
        let users = u64::try_from(users).unwrap_or(u64::MAX);
        let text = format!("putting {} and their steps into the stores", counted(users, "user"));
        self.bar.set_length(users);
        self.bar.set_prefix(text.clone());
        self.plain_line(|| text);
        self.bar.tick();
    }

    /// So many are in.
    pub(super) fn filled(&self, users: u64) {
        self.bar.set_position(users);
    }

    /// It is so late in the day, and so many reports have come.
    pub(super) fn walking(&self, at: domain::Instant, reports: u64) {
        let text = format!("{} UTC: {} so far", at.format("%H:%M"), counted(reports, "report"));
        self.bar.set_prefix(text);
        self.bar.tick();
    }

    /// The night begins, with so many users due.
    pub(super) fn begin(&self, due: u64) {
        self.bar.set_length(due);
        self.bar.set_position(0);
    }

    /// Whether the lines are due to be renewed.
    pub(super) fn due(&self) -> bool {
        self.shown.is_none_or(|at| at.elapsed() >= EVERY)
    }

    /// Renews the lines. `place` says where it is what time.
    pub(super) fn show(&mut self, place: &str, moment: Moment) {
        let now = Instant::now();
        self.shown = Some(now);
        let rate = self.rate.at(now, moment.done);
        self.bar.set_prefix(cut(place));
        self.bar.set_position(moment.done);
        self.bar.set_message(line(moment, rate));
    }

    /// A line for those who see no bar.
    pub(super) fn plain_line(&self, text: impl FnOnce() -> String) {
        if self.plain {
            eprintln!("{}", text());
        }
    }

    /// Takes the lines away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Write for AboveBar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write_all(bytes)).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// The live line of figures.
fn line(moment: Moment, rate: u64) -> String {
    let Moment { queued, delivered, retried, suppressed, .. } = moment;
    let [queued, rate, delivered, retried, suppressed] =
        [queued, rate, delivered, retried, suppressed].map(number);
    format!("queue {queued} | {rate}/s | delivered {delivered}, retried {retried}, suppressed {suppressed}")
}

fn cut(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    text.chars().take(WIDTH - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_line_of_a_full_night_fits_80_columns() {
        let moment = Moment {
            done: 1_000_000,
            queued: 16_666,
            delivered: 950_000,
            retried: 50_000,
            suppressed: 30_000,
        };
        let line = line(moment, 12_345);
        assert_eq!(line, "queue 16,666 | 12,345/s | delivered 950,000, retried 50,000, suppressed 30,000");
        assert!(line.len() <= WIDTH, "{}", line.len());
    }

    #[test]
    fn names_of_places_are_cut() {
        assert_eq!(cut("22:00:31 in Asia/Tokyo"), "22:00:31 in Asia/Tokyo");
        let long = cut(&"Ü".repeat(200));
        assert!(long.chars().count() == WIDTH && long.ends_with("..."));
    }
}
