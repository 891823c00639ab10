//! Parses ranges of pages and slides such as `1-3,5`.

use std::str::FromStr;

/// The first and last number of each range; numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageRanges(pub(crate) Vec<(u32, u32)>);

impl FromStr for PageRanges {
    type Err = String;

    /// Parses `1-3,5`; `3-` reaches to the end.
    fn from_str(text: &str) -> Result<PageRanges, String> {
        let complaint =
            || format!("{text:?} is not a list of numbers; examples: 3, 1-3, 1-3,5, 3-");
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| complaint());
        let range = |part: &str| {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) if last.trim().is_empty() => (number(first)?, u32::MAX),
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                Err(format!(
                    "{part:?} ends before it begins; did you mean {last}-{first}?"
                ))
            } else if first == 0 {
                Err(complaint())
            } else {
                Ok((first, last))
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
        assert_eq!(ranges("1,3-"), Ok(vec![(1, 1), (3, u32::MAX)]));
        for wrong in ["", "0", "3-1", "0-", "-", "-2", "1,,2", "a", "1-2-3"] {
            assert!(ranges(wrong).is_err(), "{wrong:?}");
        }
    }
}
