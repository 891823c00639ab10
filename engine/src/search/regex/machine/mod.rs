//! [`Machine`]: finds the matches of a pattern in time bounded by bytes times states, and can stop at any byte.
//!
//! | module | in -> out |
//! |---|---|
//! | `cost` | a pattern -> the most steps that a byte takes |
//! | `watch` | steps that were done -> whether to go on |
//! | `positions` | a position of a text -> which assertions hold there |
//! | `simulation` | a list of automaton states and a byte -> the next list |
//! | `states` | a list of automaton states -> its number, and what is known of its transitions |
//! | `scan` | a text -> the end, or the start, of one match |
//! | `memo` | what earlier scans found out behind a match -> the outcome of this one |
//!
//! `regex-automata` is faster, but nothing can stop a search of it, and a search for each match may read up to the
//! end of the text. It is used where a search is short by its numbers; `finder` decides that. The machine runs the
//! same automata (Thompson NFA, leftmost-first), turned into deterministic states as these are met (a lazy DFA).
//! Where states do not repeat it goes on without keeping them.

mod cost;
mod memo;
mod positions;
mod scan;
mod simulation;
mod states;
mod watch;

use kb_types::error::Result;
use regex_automata::MatchKind;
use regex_automata::nfa::thompson::{BuildError, NFA, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_syntax::hir::Hir;

pub(super) use cost::steps_per_byte;
use scan::Scanner;
pub(super) use watch::Watch;

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The bytes of the first match.
    Match(usize, usize),
    /// There is no match.
    Nothing,
    /// The time was up before that was known.
    OutOfTime,
}

/// The automata of a pattern, with the states that were met so far.
#[derive(Debug)]
pub(super) struct Machine {
    /// Finds the end of the first match.
    forward: Scanner,
    /// Finds the start of a match from its end.
    backward: Scanner,
}

impl Machine {
    /// For a pattern.
    ///
    /// # Errors
    /// When an automaton takes more than `limit_bytes`.
    pub(super) fn new(
        hir: &Hir,
        limit_bytes: usize,
    ) -> std::result::Result<Machine, Box<BuildError>> {
        let nfa = |is_reverse| {
            let config = NFA::config()
                // Only bounds of whole matches are needed; captures would make the automaton
                // larger.
                .which_captures(WhichCaptures::None)
                .nfa_size_limit(Some(limit_bytes))
                .reverse(is_reverse);
            let nfa = NFA::compiler().configure(config).build_from_hir(hir);
            nfa.map_err(Box::new)
        };
        let prefilter = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir);
        Ok(Machine {
            // A slow prefilter costs more than the automaton.
            forward: Scanner::new(nfa(false)?, prefilter.filter(Prefilter::is_fast)),
            backward: Scanner::new(nfa(true)?, None),
        })
    }

    /// Forgets what belongs to a text. Must be called before a search in another text.
    pub(super) fn begin_text(&mut self, text: &str) {
        self.forward.begin_text(text);
        self.backward.begin_text(text);
    }

    /// The first match that begins at or after `from` and ends at or before `to`; assertions see all of `text`.
    /// All searches in one text together take time linear in it, as long as they have the same `to`.
    ///
    /// # Errors
    /// What `watch` says.
    pub(super) fn find(
        &mut self,
        text: &str,
        from: usize,
        to: usize,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let end = match self.forward.last_end(text, from, to, watch)? {
            scan::Scanned::At(end) => end,
            scan::Scanned::Nothing => return Ok(Found::Nothing),
            scan::Scanned::OutOfTime => return Ok(Found::OutOfTime),
        };
        Ok(match self.backward.first_start(text, from, end, watch)? {
            scan::Scanned::At(start) => Found::Match(start, end),
            // What ends has a start.
            scan::Scanned::Nothing => Found::Match(end, end),
            scan::Scanned::OutOfTime => Found::OutOfTime,
        })
    }
}

#[cfg(test)]
mod tests;
