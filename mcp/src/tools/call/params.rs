//! Parameters that several tools have. The doc comments are published as their descriptions.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{DOCUMENT_LIMIT, NAME_LIMIT, TOKEN_LIMIT};
use crate::response::envelope::TOKENS_LIMIT;

/// Knowledge base to use: a name or id from list_indexes. Omit when only one is open.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(in crate::tools) struct IndexName(#[schemars(length(max = NAME_LIMIT))] String);

/// Document: path as returned by search or list_documents, unique file name, doc_handle, or kb:// URI.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(in crate::tools) struct DocumentName(#[schemars(length(max = DOCUMENT_LIMIT))] String);

/// Token from continuation.token of the previous answer, to get the next part.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(in crate::tools) struct ContinuationToken(#[schemars(length(max = TOKEN_LIMIT))] String);

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

/// Stop after about this many tokens of content (1 token = 4 bytes).
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

/// Stop after about this many tokens of content.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct PassageTokens(#[schemars(range(min = 1, max = TOKENS_LIMIT))] u32);

impl PassageTokens {
    pub(in crate::tools) fn get(self) -> u32 {
        self.0
    }
}

impl Default for PassageTokens {
    fn default() -> PassageTokens {
        PassageTokens(8000)
    }
}

/// Most results to return.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub(in crate::tools) struct Limit(#[schemars(range(min = 1, max = 50))] u32);

impl Limit {
    pub(in crate::tools) fn get(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl Default for Limit {
    fn default() -> Limit {
        Limit(10)
    }
}
