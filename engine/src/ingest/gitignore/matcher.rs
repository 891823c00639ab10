//! All patterns of one ignore file, matched together.
//!
//! Names and endings are looked up in tables. Patterns with other wildcards are states of one automaton.

use rustc_hash::FxHashMap;

use crate::glob::automaton::{Automaton, AutomatonBuilder, Step};
use crate::ingest::gitignore::pattern::Pattern;

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
    names: AutomatonBuilder,
    paths: AutomatonBuilder,
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
    names: Automaton,
    /// Other patterns for paths.
    paths: Automaton,
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
                    automaton.start();
                    steps.iter().for_each(|step| automaton.push(*step));
                    automaton.end(number, only_folders);
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
        for (automaton, text) in [(&self.names, name), (&self.paths, path)] {
            number = automaton.last_match(text, is_folder, number, state);
        }
        let is_negated = self.is_negated.get((number as usize).checked_sub(1)?)?;
        Some(if *is_negated {
            Verdict::Included
        } else {
            Verdict::Ignored
        })
    }
}
