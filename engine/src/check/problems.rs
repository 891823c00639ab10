//! What was found to be wrong.

use kb_types::error::{Error, Result};

/// Most problems that are listed.
// One damaged page can spoil thousands of rows. A hundred show what kind of damage it is, and the
// check ends soon.
pub(super) const MAX_PROBLEMS: usize = 100;

/// What was found to be wrong, in the order in which it was found.
#[derive(Debug, Default)]
pub(super) struct Problems {
    list: Vec<String>,
}

impl Problems {
    /// Notes a problem, unless it is noted already, as what two checks read is, or there are enough of them.
    pub(super) fn add(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.is_full() && !self.list.contains(&what) {
            self.list.push(what);
        }
    }

    /// Whether no more are listed, so that looking for more is of no use.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MAX_PROBLEMS
    }

    /// What was read of `place`; `None` when that is damaged, which is noted.
    ///
    /// # Errors
    /// Those that tell nothing about the file: that it changed meanwhile, that the disk refused.
    pub(super) fn unless_damaged<T>(
        &mut self,
        place: impl FnOnce() -> String,
        read: Result<T>,
    ) -> Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(Error::Damaged { what }) => {
                self.add(format!("{}: {what}", place()));
                Ok(None)
            }
            Err(Error::FormatUnsupported { needs, .. }) => {
                self.add(format!("{}: it needs {needs}", place()));
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// All of them.
    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_noted_with_its_place_and_the_rest_is_passed_on() {
        let mut problems = Problems::default();
        let place = || "segment 1".to_owned();
        assert_eq!(problems.unless_damaged(place, Ok(7)).unwrap(), Some(7));
        let damaged: Result<u8> = Err(Error::damaged("a row"));
        assert_eq!(problems.unless_damaged(place, damaged).unwrap(), None);
        problems.add("segment 1: a row");
        let changed: Result<u8> = Err(Error::SnapshotExpired);
        assert!(problems.unless_damaged(place, changed).is_err());
        assert_eq!(problems.into_list(), ["segment 1: a row"]);
    }

    #[test]
    fn no_more_than_a_hundred_are_listed() {
        let mut problems = Problems::default();
        (0..200).for_each(|number| problems.add(number.to_string()));
        assert!(problems.is_full());
        assert_eq!(problems.into_list().len(), 100);
    }
}
