//! [`States`]: lists of automaton states by number, and their transitions as far as these are known.

use std::rc::Rc;

use regex_automata::util::primitives::StateID;
use rustc_hash::FxHashMap;

use crate::search::regex::machine::simulation::StateList;

/// Approximate memory limit of the states and transitions of one direction, in bytes.
// A lazy automaton of a large class can have millions of states. Above the limit the cache is
// cleared and built again.
const LIMIT_BYTES: usize = 4 << 20;

/// The dead state: no match can follow.
pub(super) const DEAD: u32 = 0;

/// The state that a scan begins in.
pub(super) const START: u32 = 1;

/// Marks a transition that is not computed yet.
const UNKNOWN: u32 = u32::MAX;

/// Where one state and kind of position has no transitions.
const NO_ROW: u32 = u32::MAX;

/// A transition: the next state, and whether there is a match before the byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transition(u32);

impl Transition {
    pub(super) fn new(next: u32, is_match: bool) -> Transition {
        // Numbers of states stay far below 2^31: the memory limit allows some 40,000.
        Transition(next << 1 | u32::from(is_match))
    }

    pub(super) fn next(self) -> u32 {
        self.0 >> 1
    }

    pub(super) fn is_match(self) -> bool {
        self.0 & 1 == 1
    }
}

/// States and transitions.
#[derive(Debug)]
pub(super) struct States {
    /// By number.
    lists: Vec<Rc<(Vec<StateID>, bool)>>,
    numbers: FxHashMap<Rc<(Vec<StateID>, bool)>, u32>,
    /// The start of the transitions by state and kind of position.
    rows: Vec<u32>,
    transitions: Vec<u32>,
    /// Transitions of a row: one for each class of bytes and one for the end.
    classes: usize,
    /// Rows of a state.
    kinds: usize,
    /// Memory of the lists.
    list_bytes: usize,
    start: StateList,
}

impl States {
    pub(super) fn new(start: StateList, classes: usize, kinds: usize) -> States {
        let mut states = States {
            lists: Vec::new(),
            numbers: FxHashMap::default(),
            rows: Vec::new(),
            transitions: Vec::new(),
            classes,
            kinds,
            list_bytes: 0,
            start,
        };
        states.clear();
        states
    }

    /// Forgets all but [`DEAD`] and [`START`].
    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.numbers.clear();
        self.rows.clear();
        self.transitions.clear();
        self.list_bytes = 0;
        self.add(Vec::new(), true);
        let start = self.start.clone();
        self.add(start.ids, start.is_closed);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }

    /// Whether no more should be added.
    pub(super) fn is_full(&self) -> bool {
        let words = self.rows.len() + self.transitions.len();
        self.list_bytes + words * size_of::<u32>() >= LIMIT_BYTES
    }

    /// The number of a list, a new one where it has none yet.
    pub(super) fn number_of(&mut self, list: &StateList) -> u32 {
        if list.is_dead() {
            return DEAD;
        }
        let key = (list.ids.clone(), list.is_closed);
        match self.numbers.get(&key) {
            Some(number) => *number,
            None => self.add(key.0, key.1),
        }
    }

    fn add(&mut self, ids: Vec<StateID>, is_closed: bool) -> u32 {
        let number = self.lists.len() as u32;
        // 96 bytes estimate the two entries, the reference count and the allocation of a list.
        self.list_bytes += ids.len() * size_of::<StateID>() + 96;
        let list = Rc::new((ids, is_closed));
        self.lists.push(Rc::clone(&list));
        self.numbers.insert(list, number);
        // Rows are made when their first transition is known: most states meet few kinds of
        // positions.
        self.rows.resize(self.lists.len() * self.kinds, NO_ROW);
        number
    }

    /// Copies the list of a state.
    pub(super) fn list(&self, number: u32, list: &mut StateList) {
        list.ids.clear();
        list.is_closed = true;
        if let Some(known) = self.lists.get(number as usize) {
            list.ids.extend_from_slice(&known.0);
            list.is_closed = known.1;
        }
    }

    /// A transition, if it is known.
    #[inline]
    pub(super) fn transition(&self, state: u32, kind: usize, class: usize) -> Option<Transition> {
        let row = self.rows.get(state as usize * self.kinds + kind)?;
        let known = self.transitions.get(*row as usize + class)?;
        (*known != UNKNOWN).then_some(Transition(*known))
    }

    /// Keeps a transition.
    pub(super) fn keep(&mut self, state: u32, kind: usize, class: usize, to: Transition) {
        let Some(row) = self.rows.get_mut(state as usize * self.kinds + kind) else {
            return;
        };
        if *row == NO_ROW {
            *row = self.transitions.len() as u32;
            let len = self.transitions.len() + self.classes;
            self.transitions.resize(len, UNKNOWN);
        }
        if let Some(slot) = self.transitions.get_mut(*row as usize + class) {
            *slot = to.0;
        }
    }
}
