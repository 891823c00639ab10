//! How much a text says about a question, as a reader sees it who knows no more than its words.

use std::collections::BTreeSet;

/// Words of a question that say nothing about the thing that is asked for.
const FUNCTION_WORDS: &str = " a an the and or of to in on at by for from with without into is are was be been \
    do does did how what where which who when why can could i me my you it its that this these those there \
    before after same than then if not no so as up out get gets got make made have has show code function \
    class struct enum method test tests check checks defined implemented decides ";

/// What is looked for: the words of a question, the names in it and what it quotes.
pub(crate) struct Wanted {
    /// Stems of its content words.
    stems: BTreeSet<String>,
    /// Words that can only be names of a program: `CrawlerProcess`, `load_dotenv`.
    names: Vec<String>,
    /// Texts in quotation marks, in lower case.
    quoted: Vec<String>,
}

/// Weight of a quotation or of a definition of a name, in content words.
const STRONG: f64 = 3.0;

impl Wanted {
    pub(crate) fn new(question: &str) -> Wanted {
        let quoted = question.split('"').skip(1).step_by(2);
        let quoted = quoted.map(str::to_lowercase).collect();
        let words = question.split(|c: char| !c.is_alphanumeric() && c != '_');
        let names = words
            .filter(|word| is_name(word))
            .map(str::to_owned)
            .collect();
        let content: Vec<&str> = question
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !FUNCTION_WORDS.contains(&format!(" {} ", word.to_lowercase())))
            .collect();
        let stems = stems(&content.join(" "));
        Wanted {
            stems,
            names,
            quoted,
        }
    }

    /// Whether the question has a name of a program in it.
    pub(crate) fn has_name(&self) -> bool {
        !self.names.is_empty() || !self.quoted.is_empty()
    }

    /// The weight of all that is looked for.
    fn most(&self) -> f64 {
        self.stems.len() as f64 + STRONG * (self.names.len() + self.quoted.len()) as f64
    }

    /// Share of what is looked for that a text has, 0..1.
    pub(crate) fn share(&self, text: &str) -> f64 {
        let found = stems(text);
        let mut weight = self.stems.intersection(&found).count() as f64;
        let lower = text.to_lowercase();
        let quoted = self.quoted.iter();
        weight += STRONG * quoted.filter(|quoted| lower.contains(*quoted)).count() as f64;
        let names = self.names.iter();
        weight += STRONG * names.filter(|name| defines(text, name)).count() as f64;
        weight / self.most().max(1.0)
    }

    /// The window of at most `most` lines that has most of what is looked for, and its share. Of equally
    /// good windows the one whose lines mention it most often, then the first.
    pub(crate) fn best_window(&self, lines: &[&str], most: usize) -> (usize, usize, f64) {
        let mentions: Vec<usize> = lines
            .iter()
            .map(|line| self.stems.intersection(&stems(line)).count())
            .collect();
        let mut best = (0, lines.len().min(most), -1.0, 0);
        for start in 0..=lines.len().saturating_sub(most) {
            let end = lines.len().min(start + most);
            let share = self.share(&lines[start..end].join("\n"));
            let mentioned = mentions[start..end].iter().sum();
            if share > best.2 || (share == best.2 && mentioned > best.3) {
                best = (start, end, share, mentioned);
            }
        }
        (best.0, best.1, best.2.max(0.0))
    }
}

/// Whether a word can only be the name of something in a program.
fn is_name(word: &str) -> bool {
    let inner_upper = word
        .char_indices()
        .any(|(at, c)| at > 0 && c.is_uppercase());
    let has_lower = word.chars().any(char::is_lowercase);
    word.contains('_') || (inner_upper && has_lower)
}

/// Whether a line of the text defines a name: the name follows a keyword of definitions.
fn defines(text: &str, name: &str) -> bool {
    const KEYWORDS: [&str; 9] = [
        "class",
        "struct",
        "enum",
        "trait",
        "interface",
        "def",
        "fn",
        "func",
        "function",
    ];
    text.lines().any(|line| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words
            .windows(2)
            .any(|pair| KEYWORDS.contains(&pair[0]) && pair[1] == name)
    })
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

/// A word without its common English endings.
fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    for ending in [
        "ations", "ation", "ings", "ing", "ed", "es", "er", "ly", "s", "e",
    ] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.chars().count() >= 4
        {
            return stem.to_owned();
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
    fn endings_and_parts_of_names_are_seen_through() {
        let wanted = Wanted::new("which code resolves recipe dependencies");
        assert!(wanted.share("fn resolve_recipe(dependency)") > 0.6);
        assert!(wanted.share("resolvedRecipes") > 0.6);
        assert_eq!(wanted.share("nothing of this"), 0.0);
    }

    #[test]
    fn the_best_window_is_where_the_words_are() {
        let wanted = Wanted::new("lost requests");
        let lines = ["a", "b", "requests", "are lost", "c", "d"];
        let (start, end, share) = wanted.best_window(&lines, 2);
        assert_eq!((start, end, share), (2, 4, 1.0));
    }
}
