//! [`Simulation`]: the lists of automaton states that a scan goes through.

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;

use crate::search::regex::machine::positions::PositionKind;

/// What a scan is in between two bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StateList {
    /// States before what they lead to without a byte; the first is preferred.
    pub(super) ids: Vec<StateID>,
    /// Whether no further match may begin: one was met, or the start is fixed.
    pub(super) is_closed: bool,
}

impl StateList {
    /// Whether nothing can follow.
    pub(super) fn is_dead(&self) -> bool {
        self.ids.is_empty() && self.is_closed
    }

    /// Whether a forward scan is where it began: nothing that may become a match has begun.
    pub(super) fn is_start(&self) -> bool {
        self.ids.is_empty() && !self.is_closed
    }
}

/// Follows an automaton.
#[derive(Debug)]
pub(super) struct Simulation {
    nfa: NFA,
    /// States that take a byte.
    takers: Vec<StateID>,
    /// The round in which a state was met last.
    met: Vec<u32>,
    round: u32,
    stack: Vec<StateID>,
}

impl Simulation {
    pub(super) fn new(nfa: NFA) -> Simulation {
        let states = nfa.states().len();
        Simulation {
            nfa,
            takers: Vec::new(),
            met: vec![0; states],
            round: 0,
            stack: Vec::new(),
        }
    }

    pub(super) fn nfa(&self) -> &NFA {
        &self.nfa
    }

    /// What a scan begins with.
    pub(super) fn start(&self) -> StateList {
        if self.nfa.is_reverse() {
            StateList {
                ids: vec![self.nfa.start_anchored()],
                is_closed: true,
            }
        } else {
            StateList::default()
        }
    }

    /// Goes from one list to the next with a byte, or to an empty one without, and returns whether there is a match
    /// before that byte, and the steps that it took.
    pub(super) fn step(
        &mut self,
        list: &StateList,
        position: PositionKind,
        byte: Option<u8>,
        next: &mut StateList,
    ) -> (bool, u64) {
        next.ids.clear();
        self.takers.clear();
        let mut steps = list.ids.len() as u64 + 1;
        let mut is_match = false;
        self.begin_round();
        for id in &list.ids {
            is_match |= self.follow(*id, position, &mut steps);
            if is_match && !self.nfa.is_reverse() {
                // What comes later is less preferred.
                break;
            }
        }
        // A new match may begin here. It comes last, because earlier ones are preferred
        // (leftmost-first).
        if !list.is_closed && !is_match && position.is_boundary {
            is_match = self.follow(self.nfa.start_anchored(), position, &mut steps);
        }
        next.is_closed = list.is_closed || is_match;
        if let Some(byte) = byte {
            self.begin_round();
            for taker in &self.takers {
                let to = match self.nfa.state(*taker) {
                    State::ByteRange { trans } if trans.matches_byte(byte) => Some(trans.next),
                    State::Sparse(transitions) => transitions.matches_byte(byte),
                    State::Dense(transitions) => transitions.matches_byte(byte),
                    _ => None,
                };
                if let Some(to) = to
                    && let Some(met) = self.met.get_mut(to.as_usize())
                    && *met != self.round
                {
                    *met = self.round;
                    next.ids.push(to);
                }
            }
            steps += self.takers.len() as u64;
        }
        if self.nfa.is_reverse() {
            // All matches count alike, so lists of the same states are one.
            next.ids.sort_unstable();
        }
        (is_match, steps)
    }

    /// Adds the states that a state leads to without a byte. Returns whether a match is among them; forward, it
    /// ends there.
    fn follow(&mut self, from: StateID, position: PositionKind, steps: &mut u64) -> bool {
        self.stack.clear();
        self.stack.push(from);
        let mut is_match = false;
        while let Some(id) = self.stack.pop() {
            *steps += 1;
            let Some(met) = self.met.get_mut(id.as_usize()) else {
                continue;
            };
            if *met == self.round {
                continue;
            }
            *met = self.round;
            match self.nfa.state(id) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => {
                    self.takers.push(id);
                }
                State::Look { look, next } => {
                    if position.holds.contains(*look) {
                        self.stack.push(*next);
                    }
                }
                State::Union { alternates } => {
                    // Reversed, so that the stack gives back the preferred alternative first.
                    self.stack.extend(alternates.iter().rev());
                }
                State::BinaryUnion { alt1, alt2 } => self.stack.extend([*alt2, *alt1]),
                State::Capture { next, .. } => self.stack.push(*next),
                State::Fail => {}
                State::Match { .. } => {
                    is_match = true;
                    if !self.nfa.is_reverse() {
                        return true;
                    }
                }
            }
        }
        is_match
    }

    /// No state counts as met.
    fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            // After 2^32 rounds old marks would look new.
            self.met.fill(0);
            self.round = 1;
        }
    }
}
