//! [`SymbolsRequest`]: which symbols are wanted.

use kb_types::SymbolKind;
use kb_types::error::{Error, Result};

use crate::paging::PageOptions;
use crate::search::filter::symbol_name::SymbolName;
use crate::search::filters::Filters;
use crate::search::request::K_LIMIT;

/// How wanted symbols are related to those of a name. Names are all that is compared: another function of the same
/// name counts as well, and what is called by another name does not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolRelation {
    /// What the definitions of that name use: symbols in their language, or one that it is compiled with, whose name
    /// stands in them.
    UsedBy(String),
    /// What uses that name: callers of a function, functions that name a type.
    Uses(String),
}

/// Asks for symbols of programs, by path and line.
///
/// ```
/// use kb_engine::{Filters, SymbolKind, SymbolsRequest};
///
/// let request = SymbolsRequest::new()
///     .kinds([SymbolKind::Class, SymbolKind::Struct])
///     .name("*Handler")
///     .filters(Filters::new().languages(["python", "rust"]));
/// assert!(request.validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SymbolsRequest {
    /// Any of these kinds; empty: all.
    pub kinds: Vec<SymbolKind>,
    /// A name or a pattern with `*` (any characters) and `?` (one), without regard to case. It matches a whole name or
    /// what stands behind the last `::`, `.`, `#` or `/` of one: `bar` finds `Foo::bar`. `Foo::bar`, `Foo.bar` and
    /// `module.Foo.bar` find what `Foo` holds; arguments behind a name, as in `bar()`, are ignored. At most 200 bytes.
    pub name: Option<String>,
    /// Which documents: languages, paths, types, tags, folders.
    pub filters: Filters,
    /// Only symbols that use those of a name, or are used by them.
    pub relation: Option<SymbolRelation>,
    /// Most symbols to return at once, `1..=`[`K_LIMIT`].
    pub k: usize,
    /// Token budget and cursor.
    pub page: PageOptions,
}

impl Default for SymbolsRequest {
    fn default() -> SymbolsRequest {
        SymbolsRequest::new()
    }
}

impl SymbolsRequest {
    /// The first 100 symbols of all programs.
    pub fn new() -> SymbolsRequest {
        SymbolsRequest {
            kinds: Vec::new(),
            name: None,
            filters: Filters::default(),
            relation: None,
            k: 100,
            page: PageOptions::default(),
        }
    }

    /// Adds kinds.
    #[must_use]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = SymbolKind>) -> SymbolsRequest {
        self.kinds.extend(kinds);
        self
    }

    /// Sets name or pattern.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> SymbolsRequest {
        self.name = Some(name.into());
        self
    }

    /// Replaces the filters.
    #[must_use]
    pub fn filters(mut self, filters: Filters) -> SymbolsRequest {
        self.filters = filters;
        self
    }

    /// Sets the relation.
    #[must_use]
    pub fn relation(mut self, relation: SymbolRelation) -> SymbolsRequest {
        self.relation = Some(relation);
        self
    }

    /// Sets the number of symbols.
    #[must_use]
    pub fn k(mut self, k: usize) -> SymbolsRequest {
        self.k = k;
        self
    }

    /// Sets token budget and cursor.
    #[must_use]
    pub fn page(mut self, page: PageOptions) -> SymbolsRequest {
        self.page = page;
        self
    }

    /// Refuses numbers and names that no request may have.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub fn validate(&self) -> Result<()> {
        if self.k == 0 || self.k > K_LIMIT {
            return Err(Error::InvalidArgument {
                argument: "k",
                reason: format!("{} given; allowed are 1 to {K_LIMIT}", self.k),
            });
        }
        self.wanted_name()?;
        self.related_name()?;
        self.page.validate()
    }

    pub(super) fn wanted_name(&self) -> Result<Option<SymbolName>> {
        let name = self.name.as_deref();
        name.map(|name| SymbolName::new("name", name)).transpose()
    }

    /// The name of the relation, which is no pattern.
    pub(super) fn related_name(&self) -> Result<Option<SymbolName>> {
        let (argument, name) = match &self.relation {
            None => return Ok(None),
            Some(SymbolRelation::UsedBy(name)) => ("used_by", name),
            Some(SymbolRelation::Uses(name)) => ("uses", name),
        };
        let wanted = SymbolName::new(argument, name)?;
        if !wanted.is_name() {
            let reason = format!("{name:?} is a pattern; one name is wanted");
            return Err(Error::InvalidArgument { argument, reason });
        }
        Ok(Some(wanted))
    }

    /// The arguments that a cursor is bound to.
    ///
    /// A new field does not compile before it is listed here, on one side or the other.
    pub(super) fn fingerprint(&self) -> [String; 1] {
        let SymbolsRequest {
            kinds,
            name,
            filters,
            relation,
            k: _,
            page: _,
        } = self;
        [format!("{kinds:?} {name:?} {filters:?} {relation:?}")]
    }
}
