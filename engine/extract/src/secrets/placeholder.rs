//! What stands for a secret in examples, and is none.

/// Words of values that a person is to replace, or that stand for none.
const WORDS: &[&str] = &[
    "example",
    "sample",
    "dummy",
    "fake",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "replace",
    "redacted",
    "insert",
    "your",
    "xxxx",
    "....",
    "todo",
];

/// Equal characters, or ascending ones such as `abcdef`, that no random token of some 40 characters has:
/// fewer than 1 of 25,000 of hexadecimal digits.
const RUN: usize = 6;

/// Shannon entropy in bits a byte, as gitleaks measures what its rules match.
pub(super) fn entropy(token: &[u8]) -> f32 {
    let mut counts = [0_u32; 256];
    for byte in token {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = token.len() as f32;
    let bits = |count: &u32| {
        let share = *count as f32 / total;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}

/// Whether a token or value is made up: it says so, or has a run of equal or ascending characters. Linear.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    has_run(&value.to_ascii_lowercase()) || says_so(value)
}

/// Whether a text has one of the words of made-up values. Linear.
pub(super) fn says_so(value: &[u8]) -> bool {
    has_any(&value.to_ascii_lowercase(), WORDS)
}

fn has_any(lower: &[u8], words: &[&str]) -> bool {
    let is_at = |rest: &[u8]| words.iter().any(|word| rest.starts_with(word.as_bytes()));
    (0..lower.len()).any(|at| lower.get(at..).is_some_and(is_at))
}

fn has_run(value: &[u8]) -> bool {
    let (mut equal, mut ascending) = (1, 1);
    value.windows(2).any(|pair| {
        let step = |by: u8| matches!(pair, [a, b] if a.checked_add(by) == Some(*b));
        equal = if step(0) { equal + 1 } else { 1 };
        ascending = if step(1) { ascending + 1 } else { 1 };
        equal >= RUN || ascending >= RUN
    })
}

/// Whether the value of a setting is a secret by itself: not empty, no variable or template that is filled in
/// elsewhere, not encrypted, and not made up.
pub(super) fn is_literal_secret(value: &str) -> bool {
    const ELSEWHERE: &[&str] = &[
        "$",
        "{",
        "<",
        "%",
        "@",
        "!",
        "&",
        "*",
        "[",
        "|",
        ">",
        "#",
        "ENC[",
        "AgA",
        "vault:",
        "op://",
        "env:",
        "file:",
        "ref+",
        "arn:",
        "projects/",
        "/",
    ];
    const NAMES: &[&str] = &["secret", "password", "passwd", "token", "test"];
    let is_word = [
        "null",
        "~",
        "true",
        "false",
        "none",
        "nil",
        "yes",
        "no",
        "undefined",
    ]
    .iter()
    .any(|word| value.eq_ignore_ascii_case(word));
    // `my-secret-password` is the name of one.
    let is_name = !value.bytes().any(|byte| byte.is_ascii_digit())
        && has_any(value.to_ascii_lowercase().as_bytes(), NAMES);
    // Shorter values are flags and test passwords.
    value.len() >= 6
        && !is_name
        && !is_word
        && !ELSEWHERE.iter().any(|start| value.starts_with(start))
        && !value.contains("{{")
        && !value.contains("${")
        && !is_placeholder(value.as_bytes())
}
