//! How much a text says about a question, to a reader who knows only its words.

use std::collections::{BTreeMap, BTreeSet};

/// Words of a question that say nothing about the thing that is asked for.
const FUNCTION_WORDS: &str = " a an the and or of to in on at by for from with without into is are was be been \
    do does did how what where which who when why can could i me my you it its that this these those there \
    before after same than then if not no so as up out get gets got make made have has show code function \
    class struct enum method test tests check checks defined implemented decides ";

/// What is looked for: the words of a question, the names in it and what it quotes.
pub(crate) struct Wanted {
    /// Stems of its content words with their weights.
    stems: BTreeMap<String, f64>,
    /// Words that are names of a program: `CrawlerProcess`, `load_dotenv`, `Subcommand` after "enum".
    names: Vec<String>,
    /// Texts in quotation marks, in lower case.
    quoted: Vec<String>,
    /// Whether the question asks for tests.
    pub(crate) asks_for_tests: bool,
    /// Whether it is about the program rather than about its documentation.
    pub(crate) asks_for_code: bool,
}

/// Weight of a quotation or of a definition of a name, in content words of mean weight.
const STRONG: f64 = 3.0;

/// Words that ask for the program.
const CODE_WORDS: [&str; 12] = [
    "code",
    "function",
    "class",
    "struct",
    "enum",
    "method",
    "test",
    "tests",
    "defined",
    "implemented",
    "raises",
    "prints",
];

/// Words that stand before the name of what they are.
const KINDS: [&str; 7] = [
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "function",
    "method",
];

impl Wanted {
    pub(crate) fn new(question: &str) -> Wanted {
        let quoted = question.split('"').skip(1).step_by(2);
        let quoted: Vec<String> = quoted.map(str::to_lowercase).collect();
        let words: Vec<&str> = words(question).collect();
        let is_kind = |word: &str| KINDS.contains(&word);
        let after_kind = words
            .windows(2)
            .filter(|two| is_kind(two[0]))
            .map(|two| two[1]);
        let after_kind = after_kind.filter(|word| word.starts_with(char::is_uppercase));
        let mut names: Vec<String> = words
            .iter()
            .copied()
            .filter(|word| is_name(word))
            .chain(after_kind)
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names.dedup();
        let lower = |word: &&str| word.to_lowercase();
        let is_content = |word: &&str| !FUNCTION_WORDS.contains(&format!(" {} ", lower(word)));
        let content: Vec<&str> = words.iter().copied().filter(is_content).collect();
        let has_code_word = words
            .iter()
            .any(|word| CODE_WORDS.contains(&lower(word).as_str()));
        let stems = stems(&content.join(" "));
        Wanted {
            stems: stems.into_iter().map(|stem| (stem, 1.0)).collect(),
            asks_for_code: has_code_word || !names.is_empty() || !quoted.is_empty(),
            asks_for_tests: question.to_lowercase().contains("test"),
            names,
            quoted,
        }
    }

    /// The first text in quotation marks.
    pub(crate) fn quotation(&self) -> Option<&str> {
        self.quoted.first().map(String::as_str)
    }

    /// Weighs each word by how few of the texts that were found have it.
    pub(crate) fn weigh(&mut self, texts: &[String]) {
        let texts: Vec<BTreeSet<String>> = texts.iter().map(|text| stems(text)).collect();
        let all = texts.len() as f64;
        for (stem, weight) in &mut self.stems {
            let with = texts.iter().filter(|text| text.contains(stem)).count() as f64;
            *weight = (1.0 + (all + 1.0) / (with + 0.5)).ln();
        }
    }

    /// Share of what is looked for that a text has, 0..1.
    pub(crate) fn share(&self, text: &str) -> f64 {
        let sum: f64 = self.stems.values().sum();
        let strong = STRONG * sum / self.stems.len().max(1) as f64;
        let most = sum + strong * (self.names.len() + self.quoted.len()) as f64;
        let lower = text.to_lowercase();
        let quoted = self.quoted.iter();
        let quoted = quoted.filter(|quoted| lower.contains(*quoted)).count();
        let names = self.names.iter();
        let defined = names.filter(|name| defines(text, name)).count();
        let weight = self.weight_of(&stems(text)) + strong * (quoted + defined) as f64;
        if most > 0.0 { weight / most } else { 0.0 }
    }

    fn weight_of(&self, found: &BTreeSet<String>) -> f64 {
        let mine = self.stems.iter();
        mine.filter(|(stem, _)| found.contains(*stem))
            .map(|(_, weight)| weight)
            .sum()
    }

    /// The window of at most `most` lines that has most of what is looked for, and its share. Of equally
    /// good windows the one whose lines mention it most often, then the first.
    pub(crate) fn best_window(&self, lines: &[&str], most: usize) -> (usize, usize, f64) {
        let mentions: Vec<f64> = lines
            .iter()
            .map(|line| self.weight_of(&stems(line)))
            .collect();
        let mut best = (0, lines.len().min(most), -1.0, 0.0);
        for start in 0..=lines.len().saturating_sub(most) {
            let end = lines.len().min(start + most);
            let share = self.share(&lines[start..end].join("\n"));
            let mentioned: f64 = mentions[start..end].iter().sum();
            // Sums in another order differ by rounding.
            let is_as_good = (share - best.2).abs() < 1e-9;
            if share > best.2 + 1e-9 || (is_as_good && mentioned > best.3 + 1e-9) {
                best = (start, end, share, mentioned);
            }
        }
        (best.0, best.1, best.2.max(0.0))
    }
}

/// The words of a text, identifiers whole.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// Whether a word can only be the name of something in a program.
fn is_name(word: &str) -> bool {
    let inner_upper = word
        .char_indices()
        .any(|(at, c)| at > 0 && c.is_uppercase());
    let has_lower = word.chars().any(char::is_lowercase);
    word.contains('_') || (inner_upper && has_lower)
}

/// Words that a name follows where it is defined.
const KEYWORDS: [&str; 10] = [
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "impl",
    "def",
    "fn",
    "func",
    "function",
];

/// The names that a line defines: the names after a keyword of definitions.
fn defined(line: &str) -> impl Iterator<Item = &str> {
    words(line)
        .zip(words(line).skip(1))
        .filter(|(keyword, _)| KEYWORDS.contains(keyword))
        .map(|(_, name)| name)
}

/// Whether a line of the text defines a name.
fn defines(text: &str, name: &str) -> bool {
    text.lines()
        .any(|line| defined(line).any(|known| known == name))
}

/// The first line that defines anything; what is before it is the head of a file: what it is for, what it
/// imports.
pub(crate) fn first_definition(lines: &[&str]) -> Option<usize> {
    lines.iter().position(|line| defined(line).next().is_some())
}

/// Stems of all words and of the parts of names, in lower case.
fn stems(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let mut start = 0;
        let mut was_lower = false;
        for (at, c) in word.char_indices() {
            if was_lower && c.is_uppercase() {
                found.insert(stem(&word[start..at]));
                start = at;
            }
            was_lower = c.is_lowercase() || c.is_numeric();
        }
        found.insert(stem(&word[start..]));
    }
    found.remove("");
    found
}

/// A longer word is told from others by its first characters: "overridden" has no common ending.
const STEM_CHARACTERS: usize = 6;

/// The beginning of a word, without its common English endings.
fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    without_ending(&word)
        .chars()
        .take(STEM_CHARACTERS)
        .collect()
}

fn without_ending(word: &str) -> &str {
    for ending in [
        "ations", "ation", "ings", "ing", "ed", "es", "er", "ly", "s", "e",
    ] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.chars().count() >= 4
        {
            return stem;
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_counts_more_than_a_mention() {
        let wanted = Wanted::new("Where is CrawlerProcess defined?");
        let defined = wanted.share("class CrawlerProcess(Base):");
        let used = wanted.share("process = CrawlerProcess()");
        assert!(defined > 0.9 && used < 0.5, "{defined} {used}");
    }

    #[test]
    fn a_word_after_its_kind_is_a_name() {
        let wanted = Wanted::new("Where is the enum Subcommand defined?");
        assert!(wanted.asks_for_code);
        assert!(wanted.share("enum Subcommand {") > 0.9);
        assert!(wanted.share("use Subcommand;") < 0.5);
        assert!(!Wanted::new("How do I stop a crawl?").asks_for_code);
    }

    #[test]
    fn rare_words_and_quotations_count_more() {
        let mut wanted = Wanted::new("retry the request");
        let texts = ["request a", "request b", "request to retry"];
        wanted.weigh(&texts.map(str::to_owned));
        assert!(wanted.share("retry") > 0.6, "{}", wanted.share("retry"));
        let wanted = Wanted::new("what prints \"too many redirects\"");
        let said = wanted.share("raise E('Too many redirects')");
        assert!(
            said > 0.7 && wanted.share("many redirects too") < 0.5,
            "{said}"
        );
    }

    #[test]
    fn the_head_of_a_file_ends_at_a_definition() {
        assert_eq!(
            first_definition(&["use a;", "// class", "fn b() {"]),
            Some(2)
        );
        assert_eq!(first_definition(&["a = 1"]), None);
    }

    #[test]
    fn endings_and_parts_of_names_are_seen_through() {
        let wanted = Wanted::new("which code resolves recipe dependencies");
        assert!(wanted.share("fn resolve_recipe(dependency)") > 0.6);
        assert!(wanted.share("resolvedRecipes") > 0.6);
        assert_eq!(wanted.share("nothing of this"), 0.0);
        assert_eq!(Wanted::new("override").share("overridden"), 1.0);
    }

    #[test]
    fn the_best_window_is_where_the_words_are() {
        let wanted = Wanted::new("lost requests");
        let lines = ["a", "b", "requests", "are lost", "c", "d"];
        let (start, end, share) = wanted.best_window(&lines, 2);
        assert_eq!((start, end, share), (2, 4, 1.0));
    }
}
