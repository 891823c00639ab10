//! One call of a tool, before and after its arguments are read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kb_engine::{Cursor, ListScope, PageOptions, Progress};

use super::cursor::{self, FirstCall, Position};
use crate::indexes::Indexes;
use crate::response::{Object, ToolError};

/// One call of a tool, as it comes from the transport.
pub(crate) struct Call<'c> {
    /// The open files.
    pub(crate) indexes: &'c Arc<Indexes>,
    /// Name of the tool, one of those published.
    pub(crate) name: &'c str,
    /// The arguments as the client sent them.
    pub(crate) arguments: Object,
    /// Whether this client may write; the server must allow it too.
    pub(crate) may_write: bool,
    /// Set when the client no longer waits for the result.
    pub(crate) cancel: &'c Arc<AtomicBool>,
    /// Receives the work done and the total (0: not known yet); called often, so it must be cheap.
    pub(crate) progress: &'c (dyn Fn(u64, u64) + Sync),
}

/// What a tool runs in: the call without its arguments, which are parameters now.
#[derive(Clone)]
pub(in crate::tools) struct Context<'c> {
    pub(in crate::tools) indexes: &'c Arc<Indexes>,
    pub(in crate::tools) may_write: bool,
    pub(in crate::tools) cancel: &'c Arc<AtomicBool>,
    pub(in crate::tools) progress: &'c (dyn Fn(u64, u64) + Sync),
    /// About arguments that were ignored; every result has them.
    pub(in crate::tools) warnings: Vec<String>,
    /// The names of arguments as the caller spelled them.
    pub(super) spelled: BTreeSet<String>,
    /// What its continuation tokens remember of the first call.
    pub(super) first: FirstCall,
    /// Where it goes on, with a token of an earlier call.
    pub(super) cursor: Option<Cursor>,
}

impl<'c> Context<'c> {
    /// What long searches call: it ends them when the call is cancelled.
    pub(in crate::tools) fn hook(&self) -> impl FnMut(&Progress) -> ControlFlow<()> + '_ {
        |_| {
            if self.cancel.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }

    /// The same call with further warnings for its result.
    pub(in crate::tools) fn with_warnings(
        &self,
        further: impl IntoIterator<Item = String>,
    ) -> Context<'c> {
        let mut cx = self.clone();
        cx.warnings.extend(further);
        cx
    }

    /// Whether the caller used one of these names, which may be aliases.
    pub(in crate::tools) fn is_spelled(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.spelled.contains(*name))
    }

    /// Where the page after `token` begins in a list of `count` items that a tool makes itself.
    pub(in crate::tools) fn list_start(
        &self,
        scope: &ListScope,
        count: usize,
        token: Option<&str>,
    ) -> Result<usize, ToolError> {
        let start = usize::try_from(scope.start(&self.page(1, token))?).unwrap_or(usize::MAX);
        if start > 0 && start >= count {
            return Err(cursor::malformed());
        }
        Ok(start)
    }

    /// The token of a page of such a list that ends before `end` of `count` items; `None` for the last page.
    pub(in crate::tools) fn list_next(
        &self,
        scope: &ListScope,
        count: usize,
        end: usize,
    ) -> Option<Cursor> {
        (end < count).then(|| {
            let cursor = scope.cursor(end as u64);
            Cursor::from(self.first.token(&cursor, ("offset", end as u64)))
        })
    }

    /// The page of a list after `token`, which was read with the arguments, that the engine is asked for, `budget`
    /// tokens of it.
    pub(in crate::tools) fn page(&self, budget: u32, token: Option<&str>) -> PageOptions {
        let mut page = PageOptions::default().max_tokens(budget);
        page.cursor = self.cursor.clone().filter(|_| token.is_some());
        page
    }

    /// The token of a list that goes on at `next`.
    pub(in crate::tools) fn token(&self, next: Option<&Cursor>) -> Option<String> {
        let offset = next?.offset().unwrap_or_default();
        self.token_at(next, ("offset", offset))
    }

    /// The token of a document that goes on at `next`, which is that position of it.
    pub(in crate::tools) fn token_at(
        &self,
        next: Option<&Cursor>,
        position: Position,
    ) -> Option<String> {
        next.map(|next| self.first.token(next, position))
    }
}

#[cfg(test)]
impl<'c> Context<'c> {
    /// For a tool that is run without reading arguments, by a client that may write.
    pub(in crate::tools) fn for_test(
        indexes: &'c Arc<Indexes>,
        cancel: &'c Arc<AtomicBool>,
    ) -> Context<'c> {
        Context {
            indexes,
            may_write: true,
            cancel,
            progress: &|_, _| {},
            warnings: Vec::new(),
            spelled: BTreeSet::new(),
            first: FirstCall::default(),
            cursor: None,
        }
    }
}

/// `None` for an empty text, which is left out of results.
pub(in crate::tools) fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
