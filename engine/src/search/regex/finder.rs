//! [`Finder`]: finds matches, each with what can be stopped in time.

use kb_types::error::Result;
use memchr::memchr;

use crate::search::regex::machine::{Found, Machine, Watch};
use crate::search::regex::pattern::Pattern;

/// Most steps in a row of searches that cannot be interrupted.
// Some tenths of a second at worst: `regex-automata` has no way to stop a search
// (docs/decisions/14-regular-expressions.md). Longer searches run in the machine, which looks at
// the clock.
const STEPS_LIMIT: u64 = 16 << 20;

/// Finds matches in one text after the other.
#[derive(Debug)]
pub(super) struct Finder<'p> {
    pattern: &'p Pattern,
    watch: Watch<'p>,
    /// Made with the first search that needs it.
    machine: Option<Machine>,
    /// Whether the machine was told of the text.
    knows_text: bool,
    /// Steps that searches without the machine may still take.
    allowed_steps: u64,
}

impl<'p> Finder<'p> {
    pub(super) fn new(pattern: &'p Pattern, watch: Watch<'p>) -> Finder<'p> {
        Finder {
            pattern,
            watch,
            machine: None,
            knows_text: false,
            allowed_steps: STEPS_LIMIT,
        }
    }

    pub(super) fn pattern(&self) -> &'p Pattern {
        self.pattern
    }

    /// Must be called before a search in another text.
    pub(super) fn begin_text(&mut self) {
        self.knows_text = false;
        self.allowed_steps = STEPS_LIMIT;
    }

    /// Bytes of lines that are worth one search. Longer ones are searched by the machine.
    pub(super) fn piece_bytes(&self) -> usize {
        let bytes = STEPS_LIMIT / self.pattern.steps_per_byte().max(1);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Allows a new line as much as any.
    pub(super) fn begin_line(&mut self) {
        self.allowed_steps = STEPS_LIMIT;
    }

    /// Whether the time is up.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub(super) fn is_over(&mut self) -> Result<bool> {
        self.watch.is_over_after(0)
    }

    /// The first match that begins at or after `from` and ends at or before `to`, which may look at all of `text`.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled), [`Error::InvalidPattern`](crate::Error::InvalidPattern).
    pub(super) fn find(&mut self, text: &str, from: usize, to: usize) -> Result<Found> {
        let steps = |bytes: usize| self.pattern.steps_per_byte().saturating_mul(bytes as u64);
        if steps(to.saturating_sub(from)) <= self.allowed_steps {
            let found = self.pattern.find(text, from, to);
            // Within lines it read up to the end of the line of the match, at most.
            let read_to = match found {
                Some(found) if !self.pattern.is_multi_line() => {
                    line_end(text.as_bytes(), found).min(to)
                }
                _ => to,
            };
            let steps = steps(read_to.saturating_sub(from));
            self.allowed_steps = self.allowed_steps.saturating_sub(steps);
            self.watch.is_over_after(steps / 8)?;
            return Ok(found.map_or(Found::Nothing, |(start, end)| Found::Match(start, end)));
        }
        let machine = match &mut self.machine {
            Some(machine) => machine,
            none => none.insert(self.pattern.machine()?),
        };
        if !self.knows_text {
            machine.begin_text(text);
            self.knows_text = true;
        }
        machine.find(text, from, to, &mut self.watch)
    }
}

/// End of the line in which a match ends; a line end that the match ends with is that of its last line.
pub(super) fn line_end(bytes: &[u8], (start, end): (usize, usize)) -> usize {
    let from = if end > start && bytes.get(end - 1) == Some(&b'\n') {
        end - 1
    } else {
        end
    };
    let rest = bytes.get(from..).unwrap_or_default();
    memchr(b'\n', rest).map_or(bytes.len(), |at| from + at)
}
