//! Parameters that several tools have. The doc comments are published as their descriptions.

use std::ops::Deref;

use kb_engine::SymbolKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::JoinedList;
use super::coerce::invalid;
use crate::limits::{DOCUMENT_LIMIT, NAME_LIMIT, SECTION_LIMIT, TOKEN_LIMIT};
use crate::response::ToolError;
use crate::response::envelope::TOKENS_LIMIT;

/// See list_indexes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(in crate::tools) struct IndexName(#[schemars(length(max = NAME_LIMIT))] String);

/// Path, file name, handle or kb:// URI; path:A-B selects lines.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(in crate::tools) struct DocumentName(#[schemars(length(max = DOCUMENT_LIMIT))] String);

/// From the last call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(in crate::tools) struct ContinuationToken(#[schemars(length(max = TOKEN_LIMIT))] String);

/// Number, title or path of titles.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(in crate::tools) struct SectionName(#[schemars(length(max = SECTION_LIMIT))] String);

/// A section as a list of titles is a path from the top.
pub(in crate::tools) const SECTION_PATH: &[JoinedList] = &[JoinedList {
    name: "section",
    begin: "> ",
    between: " > ",
}];

impl Deref for SectionName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for IndexName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for DocumentName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for ContinuationToken {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// 4 bytes each.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct MaxTokens(#[schemars(range(min = 1, max = TOKENS_LIMIT))] u32);

impl MaxTokens {
    pub(in crate::tools) fn get(self) -> u32 {
        self.0
    }
}

impl Default for MaxTokens {
    fn default() -> MaxTokens {
        MaxTokens(2000)
    }
}

/// 240 per result; 8000 with full.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("default" = PassageTokens::A_RESULT * 10))]
pub(in crate::tools) struct PassageTokens(#[schemars(range(min = 1, max = TOKENS_LIMIT))] u32);

impl PassageTokens {
    /// Its best lines.
    const A_RESULT: u32 = 240;

    /// The budget of a call for this many results; the default if the call has none.
    pub(in crate::tools) fn of(given: Option<PassageTokens>, full: Full, results: usize) -> u32 {
        if full.get() {
            return SymbolTokens::of(given.map(|given| SymbolTokens(given.0)), results);
        }
        let results = u32::try_from(results).unwrap_or(u32::MAX);
        let default = PassageTokens::A_RESULT.saturating_mul(results);
        given.map_or(default.clamp(1200, TOKENS_LIMIT), |given| given.0)
    }
}

/// Grows with limit.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("default" = SymbolTokens::DEFAULT))]
pub(in crate::tools) struct SymbolTokens(#[schemars(range(min = 1, max = TOKENS_LIMIT))] u32);

impl SymbolTokens {
    const DEFAULT: u32 = 8000;

    /// The budget of a call for this many results; the default if the call has none.
    pub(in crate::tools) fn of(given: Option<SymbolTokens>, results: usize) -> u32 {
        let results = u32::try_from(results).unwrap_or(u32::MAX);
        let default = (SymbolTokens::DEFAULT / 10).saturating_mul(results);
        let default = default.clamp(SymbolTokens::DEFAULT, TOKENS_LIMIT);
        given.map_or(default, |given| given.0)
    }
}

/// Whole passages, not only lines.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct Full(bool);

impl Full {
    pub(in crate::tools) fn get(self) -> bool {
        self.0
    }
}

/// Do not correct slips.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct Exact(bool);

impl Exact {
    pub(in crate::tools) fn get(self) -> bool {
        self.0
    }
}

/// Maximum results.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct Limit(#[schemars(range(min = 1, max = 50))] u32);

impl Limit {
    pub(in crate::tools) fn get(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl Default for Limit {
    fn default() -> Limit {
        Limit(5)
    }
}

/// Maximum results.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct Limit10(#[schemars(range(min = 1, max = 50))] u32);

impl Limit10 {
    pub(in crate::tools) fn get(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl Default for Limit10 {
    fn default() -> Limit10 {
        Limit10(10)
    }
}

/// The words of a list with commas between, in lower case.
pub(in crate::tools) fn words(list: Option<&str>) -> Vec<String> {
    let words = list.unwrap_or_default().split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The globs of a list with commas: one inside brackets or braces, or behind a `\`, is part of a glob.
pub(in crate::tools) fn globs(list: Option<&str>) -> Vec<String> {
    let (mut depth, mut is_escaped) = (0_u32, false);
    let is_between = |c: char| {
        let is_plain = !std::mem::take(&mut is_escaped);
        match c {
            '\\' if is_plain => is_escaped = true,
            '{' | '[' if is_plain => depth += 1,
            '}' | ']' if is_plain => depth = depth.saturating_sub(1),
            ',' => return is_plain && depth == 0,
            _ => {}
        }
        false
    };
    let globs = list.unwrap_or_default().split(is_between).map(str::trim);
    let globs = globs.filter(|glob| !glob.is_empty());
    globs.map(str::to_owned).collect()
}

/// The kinds of symbols that words name.
pub(in crate::tools) fn symbol_kinds(
    argument: &str,
    words: &[String],
) -> Result<Vec<SymbolKind>, ToolError> {
    let kinds = words.iter().map(|word| {
        SymbolKind::from_name(word).ok_or_else(|| {
            let known = SymbolKind::ALL.map(SymbolKind::name).join(", ");
            invalid(argument, format!("{word:?} is not one of {known}"))
        })
    });
    kinds.collect()
}
