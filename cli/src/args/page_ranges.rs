//! Pages of a document as people write them.

use std::str::FromStr;

/// First and last page, from 1, of each range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageRanges(pub(crate) Vec<(u32, u32)>);

impl FromStr for PageRanges {
    type Err = String;

    /// Reads `1-3,5`.
    fn from_str(text: &str) -> Result<PageRanges, String> {
        let complaint = || format!("{text:?} is no list of pages; give 3, 1-3 or 1-3,5");
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| complaint());
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if 0 < first && first <= last {
                Ok((first, last))
            } else {
                Err(complaint())
            }
        };
        text.split(',')
            .map(range)
            .collect::<Result<_, _>>()
            .map(PageRanges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_numbers_and_ranges_with_commas_between() {
        let ranges = |text: &str| text.parse::<PageRanges>().map(|ranges| ranges.0);
        assert_eq!(ranges("7"), Ok(vec![(7, 7)]));
        assert_eq!(ranges("1-3, 5"), Ok(vec![(1, 3), (5, 5)]));
        for wrong in ["", "0", "3-1", "1-", "-2", "1,,2", "a", "1-2-3"] {
            assert!(ranges(wrong).is_err(), "{wrong:?}");
        }
    }
}
