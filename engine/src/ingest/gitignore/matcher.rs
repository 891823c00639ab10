//! All patterns of one ignore file, matched together.
//!
//! Names and endings are looked up in tables. Patterns with other wildcards are states of one
//! automaton that is simulated with a bit for each state (Shift-And: Baeza-Yates and Gonnet, "A new
//! approach to text searching", 1992; stars as in Navarro and Raffinot, "Fast and flexible string
//! matching by combining bit-parallelism and suffix automata", 2000). So a match takes no memory and
//! time in proportion to patterns x path, whatever the patterns are: a set of regular expressions
//! takes both out of all proportion for patterns that somebody made to do so.

use rustc_hash::FxHashMap;

use crate::ingest::gitignore::pattern::{Pattern, Step};

/// What a file says of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is left out.
    Ignored,
    /// It is not, whatever stands above or in files of less weight.
    Included,
}

/// Patterns are added in the order of their lines; the last that matches decides.
#[derive(Debug, Default)]
pub(super) struct MatcherBuilder {
    matcher: Matcher,
    names: Automaton,
    paths: Automaton,
}

/// Patterns of one ignore file.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// Whether each pattern is negated.
    is_negated: Vec<bool>,
    /// Patterns that are a name.
    by_name: FxHashMap<Box<[u8]>, Last>,
    /// Patterns that are `*.` and an ending without a dot, by the ending.
    by_ending: FxHashMap<Box<[u8]>, Last>,
    /// Patterns that are a path.
    by_path: FxHashMap<Box<[u8]>, Last>,
    /// Other patterns for names.
    names: Bits,
    /// Other patterns for paths.
    paths: Bits,
}

/// The last pattern of some that match alike, counted from 1; 0: none.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    /// Of those that match everything.
    of_all: u32,
    /// Of those that match folders only.
    of_folders: u32,
}

impl Last {
    fn set(&mut self, number: u32, only_folders: bool) {
        if only_folders {
            self.of_folders = number
        } else {
            self.of_all = number
        }
    }

    fn get(self, is_folder: bool) -> u32 {
        if is_folder {
            self.of_all.max(self.of_folders)
        } else {
            self.of_all
        }
    }
}

impl MatcherBuilder {
    /// States that a pattern would add to the automata.
    pub(super) fn states_of(pattern: &Pattern) -> usize {
        let automata = pattern
            .alternatives
            .iter()
            .map(|steps| match form_of(steps) {
                Form::Wildcards { steps, .. } => steps.len() + 1,
                _ => 0,
            });
        automata.sum()
    }

    pub(super) fn add(&mut self, pattern: &Pattern) {
        let matcher = &mut self.matcher;
        matcher.is_negated.push(pattern.is_negated);
        // Lines are counted in thousands.
        let number = matcher.is_negated.len() as u32;
        let only_folders = pattern.only_folders;
        for steps in &pattern.alternatives {
            let table = match form_of(steps) {
                Form::Nothing => continue,
                Form::Name(name) => matcher.by_name.entry(name),
                Form::Ending(ending) => matcher.by_ending.entry(ending),
                Form::Path(path) => matcher.by_path.entry(path),
                Form::Wildcards { steps, is_name } => {
                    let automaton = if is_name {
                        &mut self.names
                    } else {
                        &mut self.paths
                    };
                    automaton.add(steps, number, only_folders);
                    continue;
                }
            };
            table.or_default().set(number, only_folders);
        }
    }

    /// `None` when no pattern was added.
    pub(super) fn finish(self) -> Option<Matcher> {
        let matcher = Matcher {
            names: self.names.finish(),
            paths: self.paths.finish(),
            ..self.matcher
        };
        (!matcher.is_negated.is_empty()).then_some(matcher)
    }
}

/// How a pattern is matched.
enum Form<'s> {
    /// It matches nothing.
    Nothing,
    Name(Box<[u8]>),
    Ending(Box<[u8]>),
    Path(Box<[u8]>),
    Wildcards {
        steps: &'s [Step],
        is_name: bool,
    },
}

fn form_of(steps: &[Step]) -> Form<'_> {
    let literal = |steps: &[Step]| -> Option<Box<[u8]>> {
        let bytes = steps.iter().map(|step| match step {
            Step::Byte(byte) => Some(*byte),
            _ => None,
        });
        bytes.collect()
    };
    let crosses = |step: &Step| matches!(step, Step::Byte(b'/') | Step::Folders | Step::Rest);
    match steps {
        [] | [Step::Folders] => Form::Nothing,
        [Step::Folders, name @ ..] if !name.iter().any(crosses) => match (literal(name), name) {
            (Some(name), _) => Form::Name(name),
            (None, [Step::Star, Step::Byte(b'.'), ending @ ..])
                if !ending.contains(&Step::Byte(b'.')) =>
            {
                match literal(ending) {
                    Some(ending) => Form::Ending(ending),
                    None => Form::Wildcards {
                        steps: name,
                        is_name: true,
                    },
                }
            }
            _ => Form::Wildcards {
                steps: name,
                is_name: true,
            },
        },
        path => match literal(path) {
            Some(path) => Form::Path(path),
            None => Form::Wildcards {
                steps: path,
                is_name: false,
            },
        },
    }
}

impl Matcher {
    /// What the patterns say of `path`, relative to the folder of their file, with `/` between names
    /// and none at its ends. `state` is room for the work.
    pub(super) fn verdict(
        &self,
        path: &[u8],
        is_folder: bool,
        state: &mut Vec<u64>,
    ) -> Option<Verdict> {
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let name = path.get(slash.map_or(0, |at| at + 1)..).unwrap_or(path);
        let last = |table: &FxHashMap<Box<[u8]>, Last>, key: &[u8]| {
            table.get(key).map_or(0, |last| last.get(is_folder))
        };
        let mut number = last(&self.by_name, name).max(last(&self.by_path, path));
        if !self.by_ending.is_empty()
            && let Some(dot) = name.iter().rposition(|byte| *byte == b'.')
        {
            let ending = name.get(dot + 1..).unwrap_or_default();
            number = number.max(last(&self.by_ending, ending));
        }
        for (bits, text) in [(&self.names, name), (&self.paths, path)] {
            number = bits.last_match(text, is_folder, number, state);
        }
        let is_negated = self.is_negated.get((number as usize).checked_sub(1)?)?;
        Some(if *is_negated {
            Verdict::Included
        } else {
            Verdict::Ignored
        })
    }
}

/// Patterns one behind the other, each with a state for each step and one for its end.
#[derive(Debug, Default)]
struct Automaton {
    /// `None`: the end of a pattern.
    steps: Vec<Option<Step>>,
    /// First state of each pattern.
    starts: Vec<usize>,
    ends: Vec<End>,
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

impl Automaton {
    fn add(&mut self, steps: &[Step], number: u32, only_folders: bool) {
        self.starts.push(self.steps.len());
        self.steps.extend(steps.iter().copied().map(Some));
        self.ends.push(End {
            state: self.steps.len(),
            number,
            only_folders,
        });
        self.steps.push(None);
    }

    fn finish(self) -> Bits {
        let words = self.steps.len().div_ceil(64);
        let mut bits = Bits {
            words,
            class_of: [0; 256],
            classes: Vec::new(),
            stars: vec![0; words],
            folders: vec![0; words],
            rests: vec![0; words],
            start: vec![0; words],
            ends: self.ends,
        };
        if words == 0 {
            return bits;
        }
        // For each byte the states whose step takes it.
        let mut takes = vec![0; 256 * words];
        for (state, step) in self.steps.iter().enumerate() {
            let set = |words: &mut [u64], first: usize| {
                if let Some(word) = words.get_mut(first + state / 64) {
                    *word |= 1 << (state % 64);
                }
            };
            match step {
                None => {}
                Some(Step::Byte(byte)) => set(&mut takes, usize::from(*byte) * words),
                Some(Step::Class(bytes)) => {
                    for byte in (0..=u8::MAX).filter(|byte| bytes.has(*byte)) {
                        set(&mut takes, usize::from(byte) * words);
                    }
                }
                Some(Step::Star) => set(&mut bits.stars, 0),
                Some(Step::Folders) => set(&mut bits.folders, 0),
                Some(Step::Rest) => set(&mut bits.rests, 0),
            }
        }
        for start in &self.starts {
            if let Some(word) = bits.start.get_mut(start / 64) {
                *word |= 1 << (start % 64);
            }
        }
        bits.close_start();
        // Most bytes are taken by the same states: each such class is kept once.
        let mut known: FxHashMap<&[u64], u8> = FxHashMap::default();
        for (takes, class_of) in takes.chunks_exact(words).zip(&mut bits.class_of) {
            // At most as many as there are bytes.
            let next = known.len() as u8;
            *class_of = *known.entry(takes).or_insert_with(|| {
                bits.classes.extend_from_slice(takes);
                next
            });
        }
        bits
    }
}

/// An automaton, ready to run.
#[derive(Debug)]
struct Bits {
    /// Words of a set of states.
    words: usize,
    /// The class of each byte.
    class_of: [u8; 256],
    /// For each class the states whose step takes its bytes.
    classes: Vec<u64>,
    /// States that stay where they are at every byte but `/`, and may be left at any time.
    stars: Vec<u64>,
    /// States that stay where they are, and may be left when they are entered and after each `/`.
    folders: Vec<u64>,
    /// States that stay where they are, and may be left at any time.
    rests: Vec<u64>,
    /// Where patterns begin.
    start: Vec<u64>,
    /// Where they end, ascending.
    ends: Vec<End>,
}

impl Default for Bits {
    fn default() -> Bits {
        Automaton::default().finish()
    }
}

impl Bits {
    /// The largest number of a pattern that matches `text`, if it is larger than `number`.
    fn last_match(&self, text: &[u8], is_folder: bool, number: u32, state: &mut Vec<u64>) -> u32 {
        if self.ends.last().is_none_or(|end| end.number <= number) {
            return number;
        }
        state.clear();
        state.extend_from_slice(&self.start);
        for byte in text {
            if !self.step(state, *byte) {
                return number;
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

    /// Takes one byte. False when no state is left.
    fn step(&self, state: &mut [u64], byte: u8) -> bool {
        let is_slash = byte == b'/';
        let class = self.class_of.get(usize::from(byte)).copied().unwrap_or(0);
        let class = usize::from(class) * self.words;
        let Some(takes) = self.classes.get(class..class + self.words) else {
            return false;
        };
        let loops = self.stars.iter().zip(&self.folders).zip(&self.rests);
        // The highest bit of a word goes on in the next.
        let (mut entering, mut any) = (0, 0);
        for ((word, takes), ((stars, folders), rests)) in state.iter_mut().zip(takes).zip(loops) {
            let now = *word;
            if now | entering == 0 {
                continue;
            }
            let (in_folders, in_rests) = (now & folders, now & rests);
            let in_stars = if is_slash { 0 } else { now & stars };
            let stay = in_stars | in_folders | in_rests;
            let leave = in_stars | in_rests | if is_slash { in_folders } else { 0 };
            let go = now & takes | leave;
            let entered = go << 1 | entering;
            let (all, carry) = through(entered, stars | folders | rests);
            entering = go >> 63 | carry;
            *word = stay | all;
            any |= *word;
        }
        any | entering != 0
    }

    /// Adds to the start what can be reached from it without a byte.
    fn close_start(&mut self) {
        let loops = self.stars.iter().zip(&self.folders).zip(&self.rests);
        let mut entering = 0;
        for (word, ((stars, folders), rests)) in self.start.iter_mut().zip(loops) {
            (*word, entering) = through(*word | entering, stars | folders | rests);
        }
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
