//! The rows that globs let pass, kept for the next search with the same globs.

use std::sync::{Arc, Mutex, PoisonError};

use kb_types::error::Result;
use roaring::RoaringBitmap;

/// Most lists of globs that are kept.
// A session asks in few folders, many times in each.
const LISTS: usize = 16;

/// Most bytes of all that is kept, about. What takes more alone is not kept.
// A glob that keeps every second of a million rows takes 128 KB.
const LIMIT_BYTES: usize = 2 << 20;

/// The rows of one commit that globs let pass, by the globs as they were given.
#[derive(Debug, Default)]
pub struct PathRows {
    /// The one that was asked for last is the last.
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    globs: Vec<String>,
    rows: Arc<Vec<RoaringBitmap>>,
    bytes: usize,
}

impl PathRows {
    /// The rows that some globs let pass, one bitmap a segment: those that are kept, or what `find` finds.
    ///
    /// # Errors
    /// Those of `find`.
    pub fn get_or_find(
        &self,
        globs: &[String],
        find: impl FnOnce() -> Result<Vec<RoaringBitmap>>,
    ) -> Result<Arc<Vec<RoaringBitmap>>> {
        if let Some(rows) = self.get(globs) {
            return Ok(rows);
        }
        // Without the lock: others may search with other globs meanwhile.
        let rows = Arc::new(find()?);
        self.keep(globs, &rows);
        Ok(rows)
    }

    fn get(&self, globs: &[String]) -> Option<Arc<Vec<RoaringBitmap>>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|it| it.globs == globs)?;
        let found = kept.remove(at);
        let rows = Arc::clone(&found.rows);
        kept.push(found);
        Some(rows)
    }

    fn keep(&self, globs: &[String], rows: &Arc<Vec<RoaringBitmap>>) {
        let of_globs: usize = globs
            .iter()
            .map(|glob| glob.len() + size_of::<String>())
            .sum();
        let of_rows: usize = rows.iter().map(RoaringBitmap::serialized_size).sum();
        let bytes = of_globs + of_rows;
        if bytes > LIMIT_BYTES {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have found the same.
        kept.retain(|it| it.globs != globs);
        kept.push(Kept {
            globs: globs.to_vec(),
            rows: Arc::clone(rows),
            bytes,
        });
        let held = |kept: &[Kept]| kept.iter().map(|it| it.bytes).sum::<usize>();
        while kept.len() > LISTS || held(&kept) > LIMIT_BYTES {
            kept.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use kb_types::error::Error;

    use super::*;

    /// How many lists, each one glob of some bytes, are found anew.
    fn found_anew(
        rows: &PathRows,
        names: impl IntoIterator<Item = u32>,
        glob_bytes: usize,
    ) -> usize {
        let mut count = 0;
        for name in names {
            let globs = [format!("{name}{}", "*".repeat(glob_bytes))];
            let found = rows.get_or_find(&globs, || {
                count += 1;
                Ok(vec![RoaringBitmap::from_iter([name])])
            });
            assert!(found.unwrap()[0].contains(name));
        }
        count
    }

    #[test]
    fn rows_are_kept_until_others_take_their_place() {
        let rows = PathRows::default();
        assert_eq!(found_anew(&rows, [1, 1, 2, 1], 9), 2);
        let others = LISTS - 1;
        assert_eq!(found_anew(&rows, (3..).take(others), 9), others);
        // 1 was asked for after 2.
        assert_eq!(found_anew(&rows, [1, 2], 9), 1);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let rows = PathRows::default();
        let too_large = LIMIT_BYTES;
        assert_eq!(found_anew(&rows, [1, 1], too_large), 2);
        let third = LIMIT_BYTES / 3;
        assert_eq!(found_anew(&rows, [1, 2, 3, 3, 2, 1], third), 4);
        let held: usize = rows.kept.lock().unwrap().iter().map(|it| it.bytes).sum();
        assert!((third..=LIMIT_BYTES).contains(&held));
    }

    #[test]
    fn an_error_is_not_kept() {
        let rows = PathRows::default();
        let failed = rows.get_or_find(&["1".to_owned()], || Err(Error::Cancelled));
        assert!(failed.is_err());
        assert_eq!(found_anew(&rows, [1], 1), 1);
    }
}
