//! What is shown of each hit: how much of its passage, and how much of the document around that.

use kb_types::error::{Error, Result};

/// Most lines of context on each side of a hit.
// More than a screen of context is a document, which `kb get` returns.
pub const CONTEXT_LIMIT_LINES: u32 = 1000;

/// Most characters of context on each side of a hit.
pub const CONTEXT_LIMIT_CHARS: usize = 10_000;

/// How much of its passage a hit shows, with the context around that. It does not change which hits there are, so
/// it may differ from page to page.
///
/// A whole passage has lines around it; only a part of one can have characters around it.
///
/// ```
/// use kb_engine::{Show, TextContext};
///
/// let lines = Show::lines(40).context_lines(2, 2);
/// let within_words = Show::Lines(40, TextContext::Chars(200));
/// assert_ne!(lines, within_words);
/// assert_eq!(Show::default(), Show::whole());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Show {
    /// The whole passage. The default, without context.
    Whole(ContextLines),
    /// The best lines of the passage: at most this many whole lines, where a line longer than
    /// [`LINE_BYTES`](crate::LINE_BYTES) counts as several, and of the longest lines whole sentences or words. The
    /// lines with the most and rarest terms of the query are chosen, in the best chunk where they are equal. With
    /// [`max_tokens`](crate::PageOptions::max_tokens) the hits share the budget: each shows fewer lines rather than
    /// leaving no room for the next. 0 is refused.
    Lines(u32, TextContext),
    /// At most this many characters around the snippet of the passage. 0 is refused.
    Chars(usize, TextContext),
}

/// Lines of the document before and after the text of a hit, each `0..=`[`CONTEXT_LIMIT_LINES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextLines {
    /// Lines before it.
    pub before: u32,
    /// Lines after it.
    pub after: u32,
}

/// Text of the document before and after the part of a passage that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextContext {
    /// Whole lines.
    Lines(ContextLines),
    /// Characters on each side, rounded down to whole words, `0..=`[`CONTEXT_LIMIT_CHARS`].
    Chars(usize),
}

impl ContextLines {
    /// No context.
    pub const NONE: ContextLines = ContextLines {
        before: 0,
        after: 0,
    };
}

impl TextContext {
    /// No context.
    pub const NONE: TextContext = TextContext::Lines(ContextLines::NONE);
}

impl Default for Show {
    fn default() -> Show {
        Show::whole()
    }
}

impl Show {
    /// The whole passage, without context.
    #[must_use]
    pub const fn whole() -> Show {
        Show::Whole(ContextLines::NONE)
    }

    /// At most `limit` lines, the best ones, without context.
    #[must_use]
    pub const fn lines(limit: u32) -> Show {
        Show::Lines(limit, TextContext::NONE)
    }

    /// At most `limit` characters around the snippet, without context.
    #[must_use]
    pub const fn chars(limit: usize) -> Show {
        Show::Chars(limit, TextContext::NONE)
    }

    /// At most `limit` lines where there is a limit, else the whole passage; without context.
    #[must_use]
    pub const fn up_to_lines(limit: Option<u32>) -> Show {
        match limit {
            Some(limit) => Show::lines(limit),
            None => Show::whole(),
        }
    }

    /// The same text with this many lines of the document before and after it, in place of other context.
    #[must_use]
    pub const fn context_lines(self, before: u32, after: u32) -> Show {
        let lines = ContextLines { before, after };
        match self {
            Show::Whole(_) => Show::Whole(lines),
            Show::Lines(limit, _) => Show::Lines(limit, TextContext::Lines(lines)),
            Show::Chars(limit, _) => Show::Chars(limit, TextContext::Lines(lines)),
        }
    }

    /// The context.
    #[must_use]
    pub const fn context(self) -> TextContext {
        match self {
            Show::Whole(lines) => TextContext::Lines(lines),
            Show::Lines(_, context) | Show::Chars(_, context) => context,
        }
    }

    /// The lines of context; none where the context is characters.
    #[must_use]
    pub const fn lines_around(self) -> ContextLines {
        match self.context() {
            TextContext::Lines(lines) => lines,
            TextContext::Chars(_) => ContextLines::NONE,
        }
    }

    /// Whether a passage may be shown in part.
    pub(crate) fn is_part(self) -> bool {
        !matches!(self, Show::Whole(_))
    }

    /// # Errors
    /// [`Error::InvalidArgument`] for a number out of range.
    pub(crate) fn validate(self) -> Result<()> {
        let invalid = |argument, reason| Err(Error::InvalidArgument { argument, reason });
        let least = "0 given; at least 1".to_owned();
        let ContextLines { before, after } = self.lines_around();
        if before.max(after) > CONTEXT_LIMIT_LINES {
            let given = before.max(after);
            let reason = format!("{given} lines given; allowed are 0 to {CONTEXT_LIMIT_LINES}");
            return invalid("context", reason);
        }
        match self {
            Show::Lines(0, _) => return invalid("max_lines", least),
            Show::Chars(0, _) => return invalid("max_text_chars", least),
            _ => {}
        }
        match self.context() {
            TextContext::Chars(given) if given > CONTEXT_LIMIT_CHARS => {
                let reason = format!("{given} given; allowed are 0 to {CONTEXT_LIMIT_CHARS}");
                invalid("context_chars", reason)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_context_replaces_that_which_was_there() {
        let lines = ContextLines {
            before: 1,
            after: 2,
        };
        for (show, expected) in [
            (Show::whole(), Show::Whole(lines)),
            (
                Show::Lines(3, TextContext::Chars(9)),
                Show::Lines(3, TextContext::Lines(lines)),
            ),
            (Show::chars(5), Show::Chars(5, TextContext::Lines(lines))),
        ] {
            assert_eq!(show.lines_around(), ContextLines::NONE);
            let with_lines = show.context_lines(1, 2);
            assert_eq!(with_lines, expected);
            assert_eq!(with_lines.lines_around(), lines);
        }
    }

    #[test]
    fn a_number_out_of_range_is_refused_by_its_name() {
        for (show, name) in [
            (Show::whole().context_lines(0, 1001), "context"),
            (Show::lines(3).context_lines(1001, 0), "context"),
            (Show::lines(0), "max_lines"),
            (Show::chars(0), "max_text_chars"),
            (Show::Lines(3, TextContext::Chars(10_001)), "context_chars"),
            (Show::Chars(3, TextContext::Chars(10_001)), "context_chars"),
        ] {
            let refused = show.validate();
            assert!(
                matches!(refused, Err(Error::InvalidArgument { argument, .. }) if argument == name),
                "{show:?}: {refused:?}"
            );
        }
        let most = Show::Chars(1, TextContext::Chars(CONTEXT_LIMIT_CHARS));
        for show in [Show::default().context_lines(1000, 0), Show::lines(1), most] {
            assert!(show.validate().is_ok(), "{show:?}");
        }
    }
}
