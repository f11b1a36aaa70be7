use night_ledger::StoreError;

/// The first error of several things that are all done, whatever becomes of the others.
#[derive(Debug, Default)]
pub(crate) struct FirstError(Option<StoreError>);

impl FirstError {
    /// Notes the end of one of them, and answers what it gave if it went well.
    pub(crate) fn note<T>(&mut self, end: Result<T, StoreError>) -> Option<T> {
        match end {
            Ok(given) => Some(given),
            Err(error) => {
                if self.0.is_some() {
                    tracing::debug!(%error, "another error of the same tick");
                }
                self.0.get_or_insert(error);
                None
            }
        }
    }

    /// Whether all went well so far.
    pub(crate) fn none(&self) -> bool {
        self.0.is_none()
    }

    /// The end of all.
    pub(crate) fn end(self) -> Result<(), StoreError> {
        self.0.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_several_is_told() {
        let mut first = FirstError::default();
        assert_eq!(first.note(Ok(7)), Some(7));
        assert!(first.none());
        for what in ["one", "two"] {
            assert_eq!(first.note::<()>(Err(StoreError::corrupt(what, "on purpose"))), None);
        }
        assert!(!first.none());
        assert!(matches!(first.end(), Err(StoreError::Corrupt { what: "one", .. })));
        assert!(FirstError::default().end().is_ok());
    }
}
