use crate::{AuditRow, Day, Rule, Zone, audit::Turn};

/// Why a row does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditFault {
    /// The line selects the date, it is one of the zone, and nothing fires in its turn.
    #[error("never fires")]
    Never,
    /// More than one instant falls in the date's turn.
    #[error("fires {0} times")]
    Often(usize),
    /// It fires once, but not when the clock first reaches the time, or by another rule.
    #[error("fires at another instant or by another rule than {at:?} ({rule})", at = .0.at, rule = .0.rule.name())]
    Elsewhere(Turn),
    /// Something fires for a date that the line does not select or that never was in the zone.
    #[error("fires, though the line does not select the date or the zone never had it")]
    Uncalled,
}

/// What an audit came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditVerdict {
    /// Rows seen: zones times dates.
    pub rows: u64,
    /// Rows that fire.
    pub fires: u64,
    /// Of these, fires moved to the end of a gap.
    pub gaps: u64,
    /// Of these, fires at the first of two.
    pub folds: u64,
    /// Rows that do not hold.
    pub failures: u64,
    /// The first thousand of them.
    pub first: Vec<(Zone, Day, AuditFault)>,
}

impl AuditRow {
    /// What is wrong with the row; `None` if a date that is selected and exists fires exactly once, in its turn, and
    /// any other never.
    pub fn fault(&self) -> Option<AuditFault> {
        let Some(turn) = self.turn.filter(|_| self.selected) else {
            return (self.count > 0 || self.fires.is_some()).then_some(AuditFault::Uncalled);
        };
        match (self.count, self.fires) {
            (0, _) => Some(AuditFault::Never),
            (1, Some(fire)) if fire.at == turn.at && fire.rule == turn.rule => None,
            (1, _) => Some(AuditFault::Elsewhere(turn)),
            (many, _) => Some(AuditFault::Often(many)),
        }
    }
}

impl AuditVerdict {
    /// Takes in one row.
    pub fn add(&mut self, row: &AuditRow) {
        self.rows += 1;
        if let Some(fire) = row.fires {
            self.fires += 1;
            self.gaps += u64::from(fire.rule == Rule::Gap);
            self.folds += u64::from(fire.rule == Rule::Fold);
        }
        if let Some(fault) = row.fault() {
            self.failures += 1;
            if self.first.len() < LISTED {
                self.first.push((row.zone, row.day, fault));
            }
        }
    }

    /// Whether every row holds.
    pub fn holds(&self) -> bool {
        self.failures == 0
    }
}

impl<'a> FromIterator<&'a AuditRow> for AuditVerdict {
    fn from_iter<I: IntoIterator<Item = &'a AuditRow>>(rows: I) -> Self {
        let mut verdict = Self::default();
        rows.into_iter().for_each(|row| verdict.add(row));
        verdict
    }
}

const LISTED: usize = 1000;
