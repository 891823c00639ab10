//! Patterns of bytes, matched together.
//!
//! A pattern is a list of steps, and each step is a state of one automaton, which is simulated with a bit for each
//! state (Shift-And: Baeza-Yates and Gonnet, "A new approach to text searching", 1992; stars as in Navarro and
//! Raffinot, "Fast and flexible string matching by combining bit-parallelism and suffix automata", 2000). So a match
//! takes no memory and time in proportion to patterns x text, whatever the patterns are: a set of regular expressions
//! takes both out of all proportion for patterns that somebody made to do so.

use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;

use crate::glob::bytes::Bytes;

/// A step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// This byte.
    Byte(u8),
    /// One byte of these.
    Class(Bytes),
    /// Any bytes but `/`, or none.
    Star,
    /// Nothing, or bytes that end with `/`: left when it is entered and after each `/`.
    Folders,
    /// Any bytes.
    Rest,
    /// The bytes of a character of UTF-8 behind its first one, or none.
    Continuation,
}

/// Bytes of a character of UTF-8 behind its first one.
pub(crate) const CONTINUATION: RangeInclusive<u8> = 0x80..=0xbf;

impl Step {
    /// Whether the next state can be reached without a byte.
    fn is_loop(&self) -> bool {
        !matches!(self, Step::Byte(_) | Step::Class(_))
    }
}

/// A state.
#[derive(Debug)]
enum State {
    Step(Step),
    /// Leads to these, all of them later, without a byte.
    Jump(Vec<usize>),
    End,
}

/// Where a pattern has matched.
#[derive(Debug, Clone, Copy)]
struct End {
    /// Its last state.
    state: usize,
    /// Its number.
    number: u32,
    only_folders: bool,
}

/// Patterns one behind the other, each with a state for each step and one for its end.
#[derive(Debug, Default)]
pub(crate) struct AutomatonBuilder {
    states: Vec<State>,
    /// First state of each pattern.
    starts: Vec<usize>,
    ends: Vec<End>,
}

impl AutomatonBuilder {
    /// Begins a pattern.
    pub(crate) fn start(&mut self) {
        self.starts.push(self.states.len());
    }

    /// Adds a step.
    pub(crate) fn push(&mut self, step: Step) {
        self.states.push(State::Step(step));
    }

    /// Adds alternatives; `add` adds the steps of one.
    pub(crate) fn alternatives<T>(
        &mut self,
        alternatives: &[T],
        mut add: impl FnMut(&mut AutomatonBuilder, &T),
    ) {
        let fork = self.push_jump();
        let (mut starts, mut exits) = (Vec::new(), Vec::new());
        for alternative in alternatives {
            starts.push(self.states.len());
            add(self, alternative);
            exits.push(self.push_jump());
        }
        let behind = self.states.len();
        self.set_jump(fork, starts);
        for exit in exits {
            self.set_jump(exit, vec![behind]);
        }
    }

    fn push_jump(&mut self) -> usize {
        self.states.push(State::Jump(Vec::new()));
        self.states.len() - 1
    }

    fn set_jump(&mut self, state: usize, to: Vec<usize>) {
        if let Some(state) = self.states.get_mut(state) {
            *state = State::Jump(to);
        }
    }

    /// Ends the pattern. Of several, the one with the largest number is found.
    pub(crate) fn end(&mut self, number: u32, only_folders: bool) {
        self.ends.push(End {
            state: self.states.len(),
            number,
            only_folders,
        });
        self.states.push(State::End);
    }

    /// The automaton of all patterns.
    pub(crate) fn finish(self) -> Automaton {
        let words = match self.states.len().div_ceil(64) {
            3 => 4,
            words => words,
        };
        let mut automaton = Automaton {
            words,
            class_of: [0; 256],
            go: Vec::new(),
            stay: Vec::new(),
            loops: vec![0; words],
            jumps: vec![0; words],
            row_of: Vec::new(),
            reached: Vec::new(),
            start: vec![0; words],
            ends: self.ends,
        };
        if words == 0 {
            return automaton;
        }
        for (at, state) in self.states.iter().enumerate() {
            match state {
                State::Step(step) if step.is_loop() => set(&mut automaton.loops, at),
                State::Jump(_) => set(&mut automaton.jumps, at),
                State::Step(_) | State::End => {}
            }
        }
        automaton.close_jumps(&self.states);
        for start in &self.starts {
            set(&mut automaton.start, *start);
        }
        automaton.close_start();
        automaton.add_bytes(&self.states);
        automaton
    }
}

/// An automaton, ready to run.
#[derive(Debug)]
pub(crate) struct Automaton {
    /// Words of a set of states.
    words: usize,
    /// The class of each byte.
    class_of: [u8; 256],
    /// For each class, the states from which its bytes lead to the next one.
    go: Vec<u64>,
    /// For each class, the states that its bytes keep.
    stay: Vec<u64>,
    /// States that may be left without a byte.
    loops: Vec<u64>,
    /// States that lead to others without a byte.
    jumps: Vec<u64>,
    /// For each state its row in `reached`; empty if no state jumps.
    row_of: Vec<u32>,
    /// Rows of all states that those that jump lead to.
    reached: Vec<u64>,
    /// Where patterns begin.
    start: Vec<u64>,
    /// Where they end, ascending.
    ends: Vec<End>,
}

impl Default for Automaton {
    fn default() -> Automaton {
        AutomatonBuilder::default().finish()
    }
}

impl Automaton {
    /// The largest number of a pattern that matches `text`, if it is larger than `number`. `state` is room for the
    /// work.
    pub(crate) fn last_match(
        &self,
        text: &[u8],
        is_folder: bool,
        number: u32,
        state: &mut Vec<u64>,
    ) -> u32 {
        if self.ends.last().is_none_or(|end| end.number <= number) {
            return number;
        }
        state.clear();
        // Few states are in registers: most globs have less than 64.
        match self.words {
            1 => state.extend(self.run::<1>(text)),
            2 => state.extend(self.run::<2>(text)),
            4 => state.extend(self.run::<4>(text)),
            _ => {
                state.extend_from_slice(&self.start);
                if !text.iter().all(|byte| self.step(state, *byte)) {
                    return number;
                }
            }
        }
        let has = |at: usize| {
            state
                .get(at / 64)
                .is_some_and(|word| word >> (at % 64) & 1 == 1)
        };
        let mut ends = self.ends.iter().rev();
        ends.find(|end| has(end.state) && (is_folder || !end.only_folders))
            .map_or(number, |end| end.number.max(number))
    }

    /// The states after a text, of an automaton of `N` words.
    fn run<const N: usize>(&self, text: &[u8]) -> [u64; N] {
        let array = |words: &[u64]| words.first_chunk().copied().unwrap_or([0; N]);
        let (loops, jumps) = (array(&self.loops), array(&self.jumps));
        let (go, stay) = (self.go.as_chunks::<N>().0, self.stay.as_chunks::<N>().0);
        let mut state: [u64; N] = array(&self.start);
        // A star before alternatives enters them at every byte.
        let (mut last_entered, mut last_reached) = ([0; N], [0; N]);
        for byte in text {
            let class = self.class_of.get(usize::from(*byte)).copied().unwrap_or(0);
            let class = usize::from(class);
            let (Some(go), Some(stay)) = (go.get(class), stay.get(class)) else {
                return [0; N];
            };
            let (mut entering, mut any, mut jumping) = (0, 0, 0);
            for (word, ((go, stay), (loops, jumps))) in state
                .iter_mut()
                .zip(go.iter().zip(stay).zip(loops.iter().zip(&jumps)))
            {
                let go = *word & go;
                let mut entered = go << 1 | entering;
                entering = go >> 63;
                if entered & loops != 0 {
                    let carry;
                    (entered, carry) = through(entered, *loops);
                    entering |= carry;
                }
                *word = *word & stay | entered;
                any |= *word;
                jumping |= *word & jumps;
            }
            if jumping != 0 {
                let mut entered = state;
                entered
                    .iter_mut()
                    .zip(&jumps)
                    .for_each(|(word, jumps)| *word &= jumps);
                if entered != last_entered {
                    (last_entered, last_reached) = (entered, entered);
                    self.jump(&mut last_reached);
                }
                state
                    .iter_mut()
                    .zip(&last_reached)
                    .for_each(|(word, more)| *word |= more);
            }
            if any == 0 {
                return [0; N];
            }
        }
        state
    }

    /// Takes one byte. False when no state is left.
    fn step(&self, state: &mut [u64], byte: u8) -> bool {
        let class = self.class_of.get(usize::from(byte)).copied().unwrap_or(0);
        let class = usize::from(class) * self.words;
        let class = class..class + self.words;
        let (Some(go), Some(stay)) = (self.go.get(class.clone()), self.stay.get(class)) else {
            return false;
        };
        // The highest bit of a word goes on in the next.
        let (mut entering, mut any) = (0, 0);
        for (word, ((go, stay), loops)) in
            state.iter_mut().zip(go.iter().zip(stay).zip(&self.loops))
        {
            let now = *word;
            if now | entering == 0 {
                continue;
            }
            let go = now & go;
            let (all, carry) = through(go << 1 | entering, *loops);
            entering = go >> 63 | carry;
            *word = now & stay | all;
            any |= *word;
        }
        if !self.row_of.is_empty() {
            self.jump(state);
        }
        any | entering != 0
    }

    /// Adds what can be reached by jumps.
    fn jump(&self, state: &mut [u64]) {
        // Alternatives of one group end with jumps to one place.
        let mut last = usize::MAX;
        for (at, jumps) in self.jumps.iter().enumerate() {
            let mut entered = state.get(at).copied().unwrap_or(0) & jumps;
            while entered != 0 {
                let from = at * 64 + entered.trailing_zeros() as usize;
                entered &= entered - 1;
                let row = self.row_of.get(from).map_or(0, |row| *row as usize);
                if row == last {
                    continue;
                }
                last = row;
                let reached = self.reached.chunks_exact(self.words).nth(row);
                for (word, reached) in state.iter_mut().zip(reached.unwrap_or_default()) {
                    *word |= reached;
                }
            }
        }
    }

    /// Finds what each jump leads to.
    fn close_jumps(&mut self, states: &[State]) {
        if self.jumps.iter().all(|word| *word == 0) {
            return;
        }
        let words = self.words;
        self.row_of.resize(states.len(), 0);
        let mut known: FxHashMap<&[usize], u32> = FxHashMap::default();
        // The last one first: all jumps go forward.
        for (at, state) in states.iter().enumerate().rev() {
            let State::Jump(targets) = state else {
                continue;
            };
            let next = (self.reached.len() / words) as u32;
            let row = *known.entry(targets).or_insert(next);
            if let Some(row_of) = self.row_of.get_mut(at) {
                *row_of = row;
            }
            if row != next {
                continue;
            }
            let mut own = vec![0; words];
            for target in targets {
                let mut target = *target;
                loop {
                    set(&mut own, target);
                    match states.get(target) {
                        Some(State::Step(step)) if step.is_loop() => target += 1,
                        Some(State::Jump(_)) => {
                            let row = self.row_of.get(target).map_or(0, |row| *row as usize);
                            let further = self.reached.chunks_exact(words).nth(row);
                            let further = further.unwrap_or_default();
                            own.iter_mut()
                                .zip(further)
                                .for_each(|(own, more)| *own |= more);
                            break;
                        }
                        _ => break,
                    }
                }
            }
            self.reached.extend(own);
        }
    }

    /// Adds to the start what can be reached from it without a byte.
    fn close_start(&mut self) {
        let mut entering = 0;
        for (word, loops) in self.start.iter_mut().zip(&self.loops) {
            (*word, entering) = through(*word | entering, *loops);
        }
        if !self.row_of.is_empty() {
            let mut start = std::mem::take(&mut self.start);
            self.jump(&mut start);
            self.start = start;
        }
    }

    /// Finds the classes of bytes: most are taken by the same states, and each such class is kept once.
    fn add_bytes(&mut self, states: &[State]) {
        let words = self.words;
        let mut takes = vec![0; 256 * words];
        // States that stay at any byte, at any but `/`, and at those within a character.
        let [mut folders, mut rests, mut stars, mut within] = [const { Vec::new() }; 4];
        for kept in [&mut folders, &mut rests, &mut stars, &mut within] {
            kept.resize(words, 0u64);
        }
        for (at, state) in states.iter().enumerate() {
            let mut take = |byte: u8| {
                let first = usize::from(byte) * words;
                set(takes.get_mut(first..).unwrap_or_default(), at);
            };
            match state {
                State::Step(Step::Byte(byte)) => take(*byte),
                State::Step(Step::Class(bytes)) => {
                    let bytes = (0..=u8::MAX).filter(|byte| bytes.has(*byte));
                    bytes.for_each(take);
                }
                State::Step(Step::Star) => set(&mut stars, at),
                State::Step(Step::Folders) => set(&mut folders, at),
                State::Step(Step::Rest) => set(&mut rests, at),
                State::Step(Step::Continuation) => set(&mut within, at),
                State::Jump(_) | State::End => {}
            }
        }
        let mut known: FxHashMap<(Vec<u64>, Vec<u64>), u8> = FxHashMap::default();
        let takes = takes.chunks_exact(words);
        for ((byte, class_of), takes) in (0..=u8::MAX).zip(&mut self.class_of).zip(takes) {
            let loops = folders.iter().zip(&rests).zip(stars.iter().zip(&within));
            let (mut go, mut stay) = (Vec::with_capacity(words), Vec::with_capacity(words));
            for (takes, ((folders, rests), (stars, within))) in takes.iter().zip(loops) {
                let stars = if byte == b'/' { 0 } else { *stars };
                let within = if CONTINUATION.contains(&byte) {
                    *within
                } else {
                    0
                };
                let left = if byte == b'/' { *folders } else { 0 };
                go.push(takes | rests | stars | within | left);
                stay.push(folders | rests | stars | within);
            }
            // At most as many as there are bytes.
            let next = known.len() as u8;
            *class_of = *known.entry((go, stay)).or_insert_with_key(|(go, stay)| {
                self.go.extend_from_slice(go);
                self.stay.extend_from_slice(stay);
                next
            });
        }
    }
}

fn set(words: &mut [u64], state: usize) {
    if let Some(word) = words.get_mut(state / 64) {
        *word |= 1 << (state % 64);
    }
}

/// States that were entered with those behind the ones that may be left at once; and the one of the
/// next word, as its lowest bit.
fn through(entered: u64, loops: u64) -> (u64, u64) {
    let mut all = entered;
    loop {
        let more = (all & loops) << 1 & !all;
        if more == 0 {
            return (all, (all & loops) >> 63);
        }
        all |= more;
    }
}
