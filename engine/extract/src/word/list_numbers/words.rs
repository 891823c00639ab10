//! Numbers of list items in words and signs: `3rd`, `Third`, `③`, `三`.

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] = [
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
const SCALES: [(u32, &str); 4] = [
    (1_000_000_000, "billion"),
    (1_000_000, "million"),
    (1000, "thousand"),
    (100, "hundred"),
];

fn of(words: &[&'static str], at: u32) -> &'static str {
    let at = usize::try_from(at).ok();
    at.and_then(|at| words.get(at)).copied().unwrap_or_default()
}

/// `1st`, `12th`.
pub(super) fn ordinal(number: u32) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// `One`, `Twenty-one`.
pub(super) fn cardinal_text(number: u32) -> String {
    capital(&cardinal(number))
}

/// `First`, `Twenty-first`.
pub(super) fn ordinal_text(number: u32) -> String {
    let words = cardinal(number);
    let at = words.rfind([' ', '-']).map_or(0, |at| at + 1);
    let (before, last) = words.split_at_checked(at).unwrap_or_default();
    let last = match last {
        "one" => "first".to_owned(),
        "two" => "second".to_owned(),
        "three" => "third".to_owned(),
        "five" => "fifth".to_owned(),
        "eight" => "eighth".to_owned(),
        "nine" => "ninth".to_owned(),
        "twelve" => "twelfth".to_owned(),
        tens if tens.ends_with('y') => format!("{}ieth", tens.trim_end_matches('y')),
        last => format!("{last}th"),
    };
    capital(&format!("{before}{last}"))
}

fn cardinal(number: u32) -> String {
    let mut left = number;
    let mut words = Vec::new();
    for (value, name) in SCALES {
        if left >= value {
            words.push(format!("{} {name}", cardinal(left / value)));
            left %= value;
        }
    }
    match left {
        0 if !words.is_empty() => {}
        20.. if left.is_multiple_of(10) => words.push(of(&TENS, left / 10).to_owned()),
        20.. => words.push(format!("{}-{}", of(&TENS, left / 10), of(&ONES, left % 10))),
        left => words.push(of(&ONES, left).to_owned()),
    }
    words.join(" ")
}

fn capital(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

/// Of a row of 20 signs, or the number itself.
pub(super) fn sign(first: char, number: u32) -> String {
    let sign = match number {
        1..=20 => char::from_u32(u32::from(first) + number - 1),
        _ => None,
    };
    sign.map_or_else(|| number.to_string(), String::from)
}

/// `*`, `†`, `‡`, `§`, then twice and so on.
pub(super) fn note_mark(number: u32) -> String {
    const MARKS: [&str; 4] = ["*", "†", "‡", "§"];
    let Some(at) = number.checked_sub(1) else {
        return String::new();
    };
    let times = usize::try_from(at / 4 + 1).unwrap_or(1).min(20);
    of(&MARKS, at % 4).repeat(times)
}

/// `二十三`, below 10,000; larger ones in digits.
pub(super) fn chinese(number: u32) -> String {
    const DIGITS: [&str; 10] = ["〇", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    const PLACES: [(u32, &str); 4] = [(1000, "千"), (100, "百"), (10, "十"), (1, "")];
    if number == 0 || number >= 10_000 {
        return number.to_string();
    }
    let mut written = String::new();
    let mut left = number;
    let mut is_gap = false;
    for (value, name) in PLACES {
        let digit = left / value;
        left %= value;
        if digit == 0 {
            is_gap = !written.is_empty();
            continue;
        }
        if std::mem::take(&mut is_gap) {
            written.push('零');
        }
        // Ten is no "one ten" at the start.
        if !(digit == 1 && value == 10 && written.is_empty()) {
            written.push_str(of(&DIGITS, digit));
        }
        written.push_str(name);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_words() {
        for (number, word, place) in [
            (0, "Zero", "Zeroth"),
            (1, "One", "First"),
            (12, "Twelve", "Twelfth"),
            (20, "Twenty", "Twentieth"),
            (42, "Forty-two", "Forty-second"),
            (105, "One hundred five", "One hundred fifth"),
            (2019, "Two thousand nineteen", "Two thousand nineteenth"),
            (u32::MAX, "", ""),
        ] {
            let (cardinal, ordinal) = (cardinal_text(number), ordinal_text(number));
            if word.is_empty() {
                assert!(cardinal.starts_with("Four billion two hundred ninety-four million"));
                continue;
            }
            assert_eq!((cardinal.as_str(), ordinal.as_str()), (word, place));
        }
    }

    #[test]
    fn numbers_are_signs() {
        let ordinals = [0, 1, 2, 3, 11, 22, 113].map(ordinal);
        assert_eq!(
            ordinals,
            ["0th", "1st", "2nd", "3rd", "11th", "22nd", "113th"]
        );
        assert_eq!([1, 20, 21].map(|n| sign('①', n)), ["①", "⑳", "21"]);
        assert_eq!([0, 2, 5, u32::MAX].map(note_mark)[..3], ["", "†", "**"]);
        let chinese = [3, 10, 23, 105, 1010, 9999, 10_000].map(chinese);
        assert_eq!(
            chinese[..5],
            ["三", "十", "二十三", "一百零五", "一千零一十"]
        );
        assert_eq!(chinese[5..], ["九千九百九十九", "10000"]);
    }
}
