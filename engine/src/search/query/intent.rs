//! What the asker of a query wants: a place in the code, a task done, an explanation, a change. Word patterns, in
//! English; a query in another language, or one of keywords, has no intent and is ranked without one.

use kb_types::Role;

use crate::search::query::message::is_message;
use crate::search::query::running_text::is_function_word;

/// Plain words from which on a query is a sentence.
const SENTENCE_WORDS: usize = 5;

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ask {
    /// A place in the code: "where is ...", "which function ...", "find the code that ...".
    Place,
    /// How to do something: "how do I ...", "configure ...".
    Task,
    /// How something works: "how does ...".
    Behaviour,
    /// A reason: "why does ...".
    Reason,
    /// A change: "what changed in ...", "since which version ...", "when was ... added".
    Change,
    /// The place that makes an error message.
    Message,
    /// Another question, or none.
    #[default]
    Other,
}

impl Ask {
    /// The name in explanations.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ask::Place => "place",
            Ask::Task => "task",
            Ask::Behaviour => "behaviour",
            Ask::Reason => "reason",
            Ask::Change => "change",
            Ask::Message => "message",
            Ask::Other => "other",
        }
    }
}

/// What a query asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Intent {
    pub(crate) ask: Ask,
    /// Whether it is a sentence, whose words are no names.
    pub(crate) is_sentence: bool,
    /// Whether it is a question or a request, not a statement such as the first line of a comment.
    pub(crate) is_question: bool,
    /// The words of a sentence that are written as identifiers or quoted, without brackets and quotes.
    pub(crate) identifiers: Vec<String>,
    /// Those of them that are written with what holds them, as `Runtime::spawn`, or with arguments.
    pub(crate) called: Vec<String>,
    /// Whether a part of several words is quoted.
    pub(crate) has_quote: bool,
    tests: bool,
    changelog: bool,
    examples: bool,
    declarations: bool,
}

/// Words that begin a question.
const QUESTION_WORDS: [&str; 22] = [
    "how", "where", "what", "which", "why", "when", "who", "does", "do", "did", "is", "are", "was",
    "were", "can", "could", "should", "will", "would", "may", "must", "find",
];

/// What "which ..." or "what ..." names when it asks for a place.
const PLACES: [&str; 17] = [
    "function",
    "functions",
    "class",
    "classes",
    "code",
    "method",
    "methods",
    "file",
    "files",
    "part",
    "module",
    "struct",
    "type",
    "macro",
    "header",
    "crate",
    "package",
];

/// Verbs that begin a task without a question word.
const TASKS: [&str; 22] = [
    "configure",
    "set",
    "use",
    "run",
    "write",
    "put",
    "get",
    "add",
    "upload",
    "serve",
    "read",
    "plug",
    "watch",
    "install",
    "enable",
    "disable",
    "create",
    "make",
    "send",
    "change",
    "build",
    "start",
];

/// Verbs of a change.
const CHANGED: [&str; 14] = [
    "added",
    "removed",
    "deprecated",
    "introduced",
    "dropped",
    "renamed",
    "changed",
    "fixed",
    "released",
    "add",
    "remove",
    "deprecate",
    "introduce",
    "drop",
];

/// Words that mean tests.
const TESTS: [&str; 8] = [
    "test",
    "tests",
    "testcase",
    "testcases",
    "unittest",
    "unittests",
    "pytest",
    "spec",
];

/// Kinds of tests, which stand before the word.
const TEST_KINDS: [&str; 5] = [
    "unit",
    "integration",
    "regression",
    "existing",
    "end-to-end",
];

impl Intent {
    /// The intent of a query.
    pub(crate) fn of(query: &str) -> Intent {
        let lower = query.to_lowercase();
        let is_outside = |c: char| !c.is_alphanumeric() && c != '#' && c != '+' && c != '_';
        let words: Vec<&str> = lower
            .split_whitespace()
            .map(|word| word.trim_matches(is_outside))
            .filter(|word| !word.is_empty())
            .collect();
        let is_asked = query.trim_end().ends_with(['?', '\u{ff1f}', '\u{61f}']);
        let has_function_word = words.iter().any(|word| is_function_word(word));
        let first = words.first().copied().unwrap_or("");
        let is_message = !is_asked && !QUESTION_WORDS.contains(&first) && is_message(query);
        let is_sentence =
            is_asked || is_message || has_function_word || words.len() >= SENTENCE_WORDS;
        if !is_sentence {
            return Intent {
                tests: has_one(&words, &TESTS)
                    || has_one(&words, &["fixture", "fixtures", "mock", "mocks"]),
                changelog: has_one(&words, &CHANGE_NOUNS)
                    || has_one(&words, &["changes", "version"]),
                examples: has_one(&words, &EXAMPLES),
                declarations: has_one(&words, &DECLARATIONS),
                ..Intent::default()
            };
        }
        if is_message {
            return Intent {
                ask: Ask::Message,
                is_sentence,
                ..Intent::default()
            };
        }
        let ask = match ask(&words) {
            Ask::Other if clause_asks_for_place(&lower) => Ask::Place,
            ask => ask,
        };
        let (identifiers, called) = identifiers(query);
        Intent {
            ask,
            is_sentence,
            is_question: is_asked || QUESTION_WORDS.contains(&first) || ask != Ask::Other,
            identifiers,
            called,
            has_quote: has_quote(query),
            tests: asks_for_tests(&words),
            changelog: ask == Ask::Change || has_one(&words, &CHANGE_NOUNS),
            examples: ask == Ask::Task || has_one(&words, &EXAMPLES),
            declarations: has_one(&words, &DECLARATIONS),
        }
    }

    /// Whether its words may stand in a text as they are: it is a statement or an error message, or has one in quotes.
    pub(crate) fn quotes(&self) -> bool {
        self.is_sentence && (!self.is_question || self.has_quote)
    }

    /// Whether it asks for chunks of a role.
    pub(crate) fn wants(&self, role: Role) -> bool {
        match role {
            Role::Test | Role::TestFunction => self.tests,
            Role::Changelog => self.changelog,
            Role::Example => self.examples,
            Role::Declaration => self.declarations,
            Role::Generated => false,
        }
    }
}

/// Words that name a list of changes.
const CHANGE_NOUNS: [&str; 4] = ["changelog", "changelogs", "news", "releases"];

/// Words that ask for examples.
const EXAMPLES: [&str; 12] = [
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "tutorial",
    "benchmark",
    "benchmarks",
    "bench",
    "benches",
    "usage",
];

/// Words that ask for declarations.
const DECLARATIONS: [&str; 4] = ["typings", "declaration", "declarations", "stubs"];

fn has_one(words: &[&str], of: &[&str]) -> bool {
    words.iter().any(|word| of.contains(word))
}

/// What the words of a sentence ask for.
fn ask(words: &[&str]) -> Ask {
    let word = |at: usize| words.get(at).copied().unwrap_or("");
    if asks_for_change(words) {
        return Ask::Change;
    }
    match (word(0), word(1)) {
        ("where", _) | ("find", _) => Ask::Place,
        ("which" | "what" | "the", of) if PLACES.contains(&of) => Ask::Place,
        ("code", "that" | "which" | "for") => Ask::Place,
        ("show", "me") if has_one(words, &PLACES) => Ask::Place,
        ("how", "to") => Ask::Task,
        ("how", "do" | "can" | "should" | "would" | "could" | "might")
            if ["i", "we", "you", "one"].contains(&word(2)) =>
        {
            Ask::Task
        }
        ("can" | "could" | "may" | "should", "i" | "we" | "you" | "one") => Ask::Task,
        ("is", "there") => Ask::Task,
        ("how", _) => Ask::Behaviour,
        ("why", _) => Ask::Reason,
        (first, _) if TASKS.contains(&first) => Ask::Task,
        _ => Ask::Other,
    }
}

/// Whether a question asks for a place behind its first clause: "When a redirect fails, which code ...".
fn clause_asks_for_place(lower: &str) -> bool {
    let clauses = lower.split([',', ':', ';']).skip(1);
    clauses
        .filter_map(|clause| {
            let mut words = clause.split_whitespace();
            Some((words.next()?, words.next()?))
        })
        .any(|clause| match clause {
            ("where", verb) => ["is", "are", "does", "do"].contains(&verb),
            ("which" | "what", of) => PLACES.contains(&of),
            _ => false,
        })
}

/// Whether the words ask for what changed, or when.
fn asks_for_change(words: &[&str]) -> bool {
    let pairs = || words.iter().zip(words.iter().skip(1));
    let first = words.first().copied().unwrap_or("");
    let asks_when = (first == "when" || pairs().any(|pair| pair == (&"which", &"version")))
        && has_one(words, &CHANGED);
    let asks_what = first == "what"
        && words
            .get(1..3)
            .is_some_and(|next| has_one(next, &["changed", "new", "changes"]));
    // "what did 0.11 change": one version is meant, not what an option changes.
    let asks_of_version = first == "what"
        && has_one(words, &["change", "changes", "changed"])
        && words.iter().any(|word| is_version(word));
    asks_when
        || asks_what
        || asks_of_version
        || pairs().any(|pair| {
            matches!(
                pair,
                (&"breaking", &"changes" | &"change")
                    | (&"release", &"notes")
                    | (&"since", &"version" | &"which")
            )
        })
}

/// `0.11`, `v2.0.1`: numbers with points between them.
fn is_version(word: &str) -> bool {
    let numbers = word.strip_prefix('v').unwrap_or(word);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numbers.contains('.') && numbers.split('.').all(is_number)
}

/// Whether the words ask for tests, and do not only mention them.
fn asks_for_tests(words: &[&str]) -> bool {
    let first = words.first().copied().unwrap_or("");
    if has_one(words, &["tested"]) && ["where", "how", "is", "are", "which"].contains(&first) {
        return true;
    }
    words.iter().enumerate().any(|(at, word)| {
        let before = at
            .checked_sub(1)
            .and_then(|before| words.get(before))
            .copied();
        let after = words.get(at + 1).copied().unwrap_or("");
        if !TESTS.contains(word) {
            return false;
        }
        let before = match before {
            Some(kind) if TEST_KINDS.contains(&kind) => at
                .checked_sub(2)
                .and_then(|before| words.get(before))
                .copied(),
            before => before,
        };
        // "tests of the parser", "which tests ..."; not "how do I write tests", "in unit tests".
        [
            "of", "for", "that", "which", "covering", "about", "coverage",
        ]
        .contains(&after)
            && !matches!(before, Some("in" | "write" | "writing" | "run" | "running"))
            || matches!(before, Some("which" | "what" | "find" | "any" | "the"))
                && at <= 3
                && after != "client"
    })
}

/// Fewest words of a text that is quoted.
const QUOTED_WORDS: usize = 3;

/// Whether a text has a part of several words in quotes.
fn has_quote(query: &str) -> bool {
    let is_long = |quoted: &str| quoted.split_whitespace().count() >= QUOTED_WORDS;
    let between = |quote: char| query.split(quote).skip(1).step_by(2).any(is_long);
    between('"') || between('`') || query.split('\u{201c}').skip(1).any(is_long)
}

/// The words of a text that are written as identifiers, or quoted; and those of them that are called or held.
fn identifiers(query: &str) -> (Vec<String>, Vec<String>) {
    let is_quote = |c: char| matches!(c, '`' | '"' | '\'' | '\u{201c}' | '\u{201d}');
    let (mut found, mut called) = (Vec::new(), Vec::new());
    for word in query.split_whitespace() {
        let bare = word.trim_end_matches(['?', ',', ';', '!']);
        let is_quoted = bare.len() > 2 && bare.starts_with(is_quote) && bare.ends_with(is_quote);
        let bare = bare.trim_matches(is_quote).trim_end_matches(['.', ':']);
        let name = bare.split_once('(').map_or(bare, |(name, _)| name);
        if is_quoted || (is_call(bare) || is_identifier(name)) {
            let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
            if !name.is_empty() {
                found.push(name.to_owned());
                if is_call(bare) || is_held(name) {
                    called.push(name.to_owned());
                }
            }
        }
    }
    (found, called)
}

/// Whether a name has what holds it before it: `a::b`, `a.b`, `a#b`.
fn is_held(name: &str) -> bool {
    name.contains("::")
        || name
            .split(['.', '#'])
            .filter(|part| !part.is_empty())
            .count()
            > 1
}

/// `name()`, `name(...)`.
fn is_call(word: &str) -> bool {
    word.split_once('(')
        .is_some_and(|(name, rest)| !name.is_empty() && rest.ends_with(')'))
}

/// Whether a word has the form of an identifier: `snake_case`, `camelCase`, `a::b`, `a.b`.
fn is_identifier(word: &str) -> bool {
    let mut before = None;
    let mut has_hump = false;
    for c in word.chars() {
        has_hump |= before.is_some_and(char::is_lowercase) && c.is_uppercase();
        before = Some(c);
    }
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let is_dotted = inner.split('.').count() > 1
        && inner.split('.').all(|part| {
            part.len() > 1 && part.starts_with(|c: char| c.is_alphabetic() || c == '_')
        });
    has_hump || inner.contains('_') || inner.contains("::") || is_dotted || inner.contains('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_ask_for_a_place_a_task_or_a_reason() {
        for (query, ask) in [
            ("where is the retry limit checked", Ask::Place),
            ("Which function joins two paths?", Ask::Place),
            ("find the code that parses a header", Ask::Place),
            ("how do I watch a folder", Ask::Task),
            ("How to rotate the log", Ask::Task),
            ("configure a proxy for all requests", Ask::Task),
            ("how does a reader notice a new commit", Ask::Behaviour),
            ("why is the pool closed twice", Ask::Reason),
            ("what changed in 2.0", Ask::Change),
            ("when was the flag removed", Ask::Change),
            ("what did format 0.11 change", Ask::Change),
            ("what does v2.0 change for callers?", Ask::Change),
            ("what does --follow change", Ask::Other),
            ("since which version is there a watch mode", Ask::Change),
            ("what does the pool do with idle sockets", Ask::Other),
            ("wo wird die Zeile gelesen", Ask::Other),
            ("error: cannot open notes.kb", Ask::Message),
            ("why is there \"error: cannot open\"", Ask::Reason),
            ("retry limit", Ask::Other),
            (
                "When a lock is stale, which function breaks it?",
                Ask::Place,
            ),
            ("the disk is full: where is the journal cut", Ask::Place),
            ("if a page is damaged, what then", Ask::Other),
            ("sort by name, where names are short", Ask::Other),
        ] {
            assert_eq!(Intent::of(query).ask, ask, "{query}");
        }
    }

    #[test]
    fn only_a_question_for_tests_wants_them() {
        for (query, wants) in [
            ("where is the pool tested", true),
            ("tests of CrawlerProcess", true),
            ("which tests cover the parser", true),
            ("Add tests for the new parser", true),
            ("find the unit tests for the parser", true),
            ("pool tests", true),
            ("fake responses in unit tests", false),
            ("how do I send fake requests in tests", false),
            ("how does the test client keep cookies", false),
            ("where is the retry limit", false),
        ] {
            assert_eq!(Intent::of(query).wants(Role::Test), wants, "{query}");
        }
        assert!(Intent::of("what changed in the parser").wants(Role::Changelog));
        assert!(!Intent::of("how is the version of a file read").wants(Role::Changelog));
        assert!(Intent::of("how do I watch a folder").wants(Role::Example));
        assert!(!Intent::of("where are folders watched").wants(Role::Example));
    }

    #[test]
    fn statements_and_quotes_may_stand_in_a_text() {
        for (query, quotes) in [
            ("error: cannot open notes.kb", true),
            ("the literal is not allowed in a regex", true),
            ("why do I get \"cannot open the file\"", true),
            ("why is `pool` closed", false),
            ("where is the pool closed", false),
            ("retry limit", false),
        ] {
            assert_eq!(Intent::of(query).quotes(), quotes, "{query}");
        }
    }

    #[test]
    fn identifiers_of_a_sentence_are_told_from_words() {
        for (query, found) in [
            ("how does a reader notice a new commit", vec![]),
            ("what does parse_config() return?", vec!["parse_config"]),
            (
                "where does Runtime::spawn put the task",
                vec!["Runtime::spawn"],
            ),
            ("why is onPrompt called twice", vec!["onPrompt"]),
            ("how is `pool` closed, and when?", vec!["pool"]),
            (
                "is robots.txt parsed before e.g. the sitemap.",
                vec!["robots.txt"],
            ),
        ] {
            assert_eq!(Intent::of(query).identifiers, found, "{query}");
        }
        for (query, called) in [
            ("what does parse_config() return?", vec!["parse_config"]),
            ("how does Queue#push wait", vec!["Queue#push"]),
            ("is `Pool.get` slow", vec!["Pool.get"]),
            ("why is onPrompt called twice", vec![]),
            ("how do I write C# code", vec![]),
        ] {
            assert_eq!(Intent::of(query).called, called, "{query}");
        }
    }
}
