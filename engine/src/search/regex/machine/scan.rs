//! [`Scanner`]: one direction of a machine.

use kb_types::error::Result;
use regex_automata::Span;
use regex_automata::nfa::thompson::NFA;
use regex_automata::util::prefilter::Prefilter;

use crate::search::regex::machine::memo::Memo;
use crate::search::regex::machine::positions::Positions;
use crate::search::regex::machine::simulation::{Simulation, StateList};
use crate::search::regex::machine::states::{DEAD, START, States, Transition};
use crate::search::regex::machine::watch::Watch;

/// Least bytes that a cached state must serve for on average.
// Making a state costs about as much as scanning some bytes without it. `regex-automata` gives up
// its cache by a similar rule.
const BYTES_PER_STATE: u64 = 8;

/// Bytes that are scanned without caching states after the cache did not pay.
// Long enough that the attempt with a new cache costs little, short enough that a text which
// becomes regular is scanned fast soon.
const LOOSE_BYTES: u64 = 16 << 10;

/// Steps between two reports of a scan to its watch.
// The watch itself looks at the clock after 2^16 steps; a report costs a function call.
const STEPS: u64 = 1 << 12;

/// What a scan came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scanned {
    At(usize),
    Nothing,
    OutOfTime,
}

/// An automaton that reads in one direction.
#[derive(Debug)]
pub(super) struct Scanner {
    simulation: Simulation,
    positions: Positions,
    states: States,
    prefilter: Option<Prefilter>,
    memo: Memo,
    /// The list of a scan that keeps no states, and room for the next.
    list: StateList,
    next: StateList,
    /// Bytes that are still scanned so.
    loose_bytes: u64,
    /// Bytes since the states were forgotten.
    kept_bytes: u64,
}

/// Where a scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a state.
    State(u32),
    /// In the list of the scanner.
    List,
}

impl Scanner {
    pub(super) fn new(nfa: NFA, prefilter: Option<Prefilter>) -> Scanner {
        let positions = Positions::new(
            nfa.look_matcher().clone(),
            nfa.look_set_any(),
            nfa.is_reverse(),
            nfa.has_empty(),
        );
        let classes = nfa.byte_classes().alphabet_len();
        let simulation = Simulation::new(nfa);
        let states = States::new(simulation.start(), classes, positions.capacity());
        Scanner {
            simulation,
            positions,
            states,
            prefilter,
            memo: Memo::default(),
            list: StateList::default(),
            next: StateList::default(),
            loose_bytes: 0,
            kept_bytes: 0,
        }
    }

    pub(super) fn begin_text(&mut self, text: &str) {
        self.memo.begin_text(text.len());
    }

    /// Where the first match ends, of those that begin at or after `from`, up to `to`.
    ///
    /// # Errors
    /// What `watch` says.
    pub(super) fn last_end(
        &mut self,
        text: &str,
        from: usize,
        to: usize,
        watch: &mut Watch<'_>,
    ) -> Result<Scanned> {
        let bytes = text.as_bytes();
        self.memo.begin_scan(to);
        let (mut at, mut place, mut last, mut steps) = (from, Place::State(START), None, 0);
        loop {
            if let Place::State(state) = place {
                if state == START
                    && let Some(prefilter) = &self.prefilter
                {
                    let Some(found) = prefilter.find(bytes, Span::from(at..to)) else {
                        break;
                    };
                    // A prefilter reads some 16 bytes in the time of a step.
                    steps += (found.start - at) as u64 / 16;
                    at = found.start;
                }
                if last.is_some()
                    // Only behind a match: before one the scan is the first to read this text.
                    && self.memo.is_kept(at)
                    && let Some(outcome) = self.memo.outcome(at, state)
                {
                    last = outcome.or(last);
                    break;
                }
            }
            let byte = bytes.get(at).filter(|_| at < to).copied();
            let is_match = self.advance(text, at, byte, &mut place, &mut steps);
            if is_match {
                last = Some(at);
            }
            if byte.is_none() || place == Place::State(DEAD) {
                break;
            }
            at += 1;
            if steps >= STEPS && watch.is_over_after(std::mem::take(&mut steps))? {
                return Ok(Scanned::OutOfTime);
            }
        }
        self.memo.end_scan(last);
        // What was found counts, even if the time is up.
        watch.is_over_after(steps)?;
        Ok(last.map_or(Scanned::Nothing, Scanned::At))
    }

    /// Where the match that ends at `end` begins, at or after `from`.
    ///
    /// # Errors
    /// What `watch` says.
    pub(super) fn first_start(
        &mut self,
        text: &str,
        from: usize,
        end: usize,
        watch: &mut Watch<'_>,
    ) -> Result<Scanned> {
        let bytes = text.as_bytes();
        let (mut at, mut place, mut first, mut steps) = (end, Place::State(START), None, 0);
        loop {
            let before = at.checked_sub(1).filter(|before| *before >= from);
            let byte = before.and_then(|before| bytes.get(before)).copied();
            let is_match = self.advance(text, at, byte, &mut place, &mut steps);
            if is_match {
                first = Some(at);
            }
            if byte.is_none() || place == Place::State(DEAD) {
                break;
            }
            at -= 1;
            if steps >= STEPS && watch.is_over_after(std::mem::take(&mut steps))? {
                return Ok(Scanned::OutOfTime);
            }
        }
        watch.is_over_after(steps)?;
        Ok(first.map_or(Scanned::Nothing, Scanned::At))
    }

    /// Goes on by a byte, or ends; returns whether there is a match before it.
    #[inline]
    fn advance(
        &mut self,
        text: &str,
        at: usize,
        byte: Option<u8>,
        place: &mut Place,
        steps: &mut u64,
    ) -> bool {
        *steps += 1;
        let kind = if self.positions.is_uniform() {
            Some(0)
        } else {
            self.positions.number_at(text, at)
        };
        if let Place::State(state) = *place
            && let Some(kind) = kind
        {
            self.kept_bytes += 1;
            let classes = self.simulation.nfa().byte_classes();
            let class = match byte {
                Some(byte) => usize::from(classes.get(byte)),
                None => classes.alphabet_len() - 1,
            };
            if let Some(known) = self.states.transition(state, kind, class) {
                *place = Place::State(known.next());
                return known.is_match();
            }
            self.states.list(state, &mut self.list);
            let position = self.positions.kind(kind);
            let (is_match, more) = self
                .simulation
                .step(&self.list, position, byte, &mut self.next);
            *steps += more;
            *place = self.place_of_next(Some((state, kind, class, is_match)));
            return is_match;
        }
        if let Place::State(state) = *place {
            self.states.list(state, &mut self.list);
        }
        let position = self.positions.kind_at(text, at);
        let (is_match, more) = self
            .simulation
            .step(&self.list, position, byte, &mut self.next);
        *steps += more;
        self.loose_bytes = self.loose_bytes.saturating_sub(1);
        *place = self.place_of_next(None);
        is_match
    }

    /// Where the scan is in the list `next`; keeps the transition that led to it.
    fn place_of_next(&mut self, from: Option<(u32, usize, usize, bool)>) -> Place {
        if self.next.is_dead() {
            if let Some((state, kind, class, is_match)) = from {
                let to = Transition::new(DEAD, is_match);
                self.states.keep(state, kind, class, to);
            }
            return Place::State(DEAD);
        }
        if self.loose_bytes > 0 && !self.next.is_start() {
            std::mem::swap(&mut self.list, &mut self.next);
            return Place::List;
        }
        if self.states.is_full() {
            let is_worth = self.kept_bytes >= BYTES_PER_STATE * self.states.len() as u64;
            self.states.clear();
            // Outcomes name states by number, and numbers are given anew.
            self.memo.forget();
            self.kept_bytes = 0;
            if !is_worth {
                self.loose_bytes = LOOSE_BYTES;
                std::mem::swap(&mut self.list, &mut self.next);
                return Place::List;
            }
            // The transition is not kept: the state that it starts from was forgotten.
            return Place::State(self.states.number_of(&self.next));
        }
        let number = self.states.number_of(&self.next);
        if let Some((state, kind, class, is_match)) = from {
            let to = Transition::new(number, is_match);
            self.states.keep(state, kind, class, to);
        }
        Place::State(number)
    }
}
