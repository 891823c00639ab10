//! As much of Rust's grammar as finding paths needs: comments, literals, test modules, tokens.

/// The source with comments, strings and character literals blanked; line breaks stay.
pub fn without_comments_and_text(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment_length(rest)
        } else if first == '"' {
            string_length(rest)
        } else if let Some(length) = raw_string_length(rest, code.chars().next_back()) {
            length
        } else if first == '\'' {
            character_length(rest)
        } else {
            0
        };
        if skipped > 0 {
            code.push(' ');
            code.extend(rest[..skipped].chars().filter(|&skipped| skipped == '\n'));
            rest = &rest[skipped..];
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    code
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0;
    let mut position = 0;
    while position < rest.len() {
        if rest[position..].starts_with("/*") {
            depth += 1;
            position += 2;
        } else if rest[position..].starts_with("*/") {
            depth -= 1;
            position += 2;
            if depth == 0 {
                return position;
            }
        } else {
            position += rest[position..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (position, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return position + 1,
            _ => {}
        }
    }
    rest.len()
}

/// `r"..."`, `r#"..."#`, also after `b` or `c`; `before` is the character to the left.
fn raw_string_length(rest: &str, before: Option<char>) -> Option<usize> {
    if before.is_some_and(|before| is_word(before) && !matches!(before, 'b' | 'c')) {
        return None;
    }
    let hashes = rest.strip_prefix('r')?;
    let quote = hashes.find(|character| character != '#')?;
    let body = hashes[quote..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(quote));
    Some(1 + quote + 1 + body.find(&end).map_or(body.len(), |at| at + end.len()))
}

/// The length of a character literal; 0 for a lifetime.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            characters.next();
            characters
                .find(|(_, character)| *character == '\'')
                .map_or(0, |(at, _)| at + 1)
        }
        Some(_) => match characters.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

/// The code without the bodies of `#[cfg(test)] mod name { ... }`.
pub fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        let (before, after) = rest.split_at(at);
        kept.push_str(before);
        let body = after.find('{').filter(|open| {
            let head: Vec<&str> = tokens(&after["#[cfg(test)]".len()..*open]);
            head.contains(&"mod")
        });
        let end = body.map_or("#[cfg(test)]".len(), |open| {
            open + block_length(&after[open..])
        });
        rest = &after[end..];
    }
    kept.push_str(rest);
    kept
}

/// Bytes from an opening brace to behind the one that closes it.
pub fn block_length(from_brace: &str) -> usize {
    let mut depth = 0usize;
    for (position, character) in from_brace.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return position + 1;
        }
    }
    from_brace.len()
}

/// Whether a character may stand in an identifier.
pub fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Words and the punctuation that paths are made of: `::`, `{`, `}`, `,`, `*`. Anything else is `;`.
pub fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_word(first) => rest.find(|next| !is_word(next)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            // Of the quotes only those of lifetimes are left.
            '\'' => {
                1 + rest[1..]
                    .find(|next| !is_word(next))
                    .unwrap_or(rest.len() - 1)
            }
            _ => first.len_utf8(),
        };
        let word = &rest[..length];
        let kept = is_word(first) || ["::", "{", "}", ",", "*"].contains(&word);
        tokens.push(if kept { word } else { ";" });
        rest = rest[length..].trim_start();
    }
    tokens
}
