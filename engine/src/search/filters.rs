//! Which documents a request searches.

use kb_types::{Class, SymbolKind};

/// Restricts a search to some documents.
///
/// Values of one field are alternatives (OR); fields are joined by AND; an empty field does not
/// filter. Each builder method adds to what is there:
///
/// ```
/// use kb_engine::{Class, Filters};
///
/// // Markdown or plain text below `docs`, but no data files.
/// let filters = Filters::new()
///     .types(["markdown", "txt"])
///     .folders(["docs"])
///     .classes([Class::Doc]);
/// assert_eq!(filters.types, ["markdown", "txt"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filters {
    /// Globs over document paths: `src/**/*.rs`; one without `/` also matches file names. One that begins with `!`
    /// excludes: `!locales/**`. A document passes if any other glob matches, or none is given, and no excluding one
    /// does. `\!` begins a name with `!`. At most 16 384 globs of each sort, of 4096 bytes each.
    pub paths: Vec<String>,
    /// File types: `markdown`, `rust`, or an extension: `md`. A value that neither the file nor this
    /// program knows is [`crate::Error::InvalidArgument`].
    pub types: Vec<String>,
    /// Languages: `rust`, or a common alias: `rs`, `sh`, `terraform`; several in one value with commas between.
    /// Unknown ones are refused, as in `types`.
    pub languages: Vec<String>,
    /// Classes of documents.
    pub classes: Vec<Class>,
    /// Tags of documents, in any case, each with those inside it: `project` with `project/alpha`. One that no document
    /// has is refused, as in `types`.
    pub tags: Vec<String>,
    /// Conditions on what documents state of themselves, such as front matter, authors and dates: `status=draft`,
    /// `date>=2024-05`, `rating>3`; `=`, `<`, `<=`, `>` and `>=`. Values that one name may equal are alternatives, other
    /// conditions must all hold. Case is ignored, numbers are compared as such, and `date=2024-05` is any day of the
    /// month. A value of more than 64 characters has no condition. A name that no document has is refused.
    pub fields: Vec<String>,
    /// A condition on fields, in the language of the page "Searching": `year > 2015 and not draft`. One that cannot be
    /// read, and a field that no document has, are [`crate::Error::InvalidArgument`] with the position.
    pub where_: Option<String>,
    /// Documents, by any of their names: those pass that link to any of them, as Markdown does (`[a](b.md)`,
    /// `[[Note]]`).
    pub links_to: Vec<String>,
    /// Folders: all documents below them, at any depth. One without documents is
    /// [`crate::Error::FolderNotFound`]; an empty name, `.` and `/` stand for the whole file.
    pub folders: Vec<String>,
    /// Documents whose original was modified at that time or later, in milliseconds since 1970. A
    /// document without a known time does not pass. `None`: no such filter.
    pub modified_since_ms: Option<i64>,
    /// Kinds of symbols. The hits are symbols of these kinds, in chunks that define one, or begin within one.
    pub symbol_kinds: Vec<SymbolKind>,
    /// Names of symbols, or patterns with `*` (any characters) and `?` (one), in any case, as in
    /// [`SymbolsRequest::name`](crate::SymbolsRequest::name). The hits are symbols of such a name. With `symbol_kinds`
    /// it is one symbol that has both. At most 200 bytes each.
    pub symbol_names: Vec<String>,
}

impl Filters {
    /// Filters that let every document pass.
    pub fn new() -> Filters {
        Filters::default()
    }

    /// Adds globs over document paths.
    #[must_use]
    pub fn paths<T: Into<String>>(mut self, globs: impl IntoIterator<Item = T>) -> Filters {
        self.paths.extend(globs.into_iter().map(Into::into));
        self
    }

    /// Adds file types or extensions.
    #[must_use]
    pub fn types<T: Into<String>>(mut self, types: impl IntoIterator<Item = T>) -> Filters {
        self.types.extend(types.into_iter().map(Into::into));
        self
    }

    /// Adds languages.
    #[must_use]
    pub fn languages<T: Into<String>>(mut self, languages: impl IntoIterator<Item = T>) -> Filters {
        self.languages.extend(languages.into_iter().map(Into::into));
        self
    }

    /// Adds classes.
    #[must_use]
    pub fn classes(mut self, classes: impl IntoIterator<Item = Class>) -> Filters {
        self.classes.extend(classes);
        self
    }

    /// Adds tags.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Filters {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Adds conditions on fields.
    #[must_use]
    pub fn fields<T: Into<String>>(mut self, conditions: impl IntoIterator<Item = T>) -> Filters {
        self.fields.extend(conditions.into_iter().map(Into::into));
        self
    }

    /// Adds a condition on fields, in the language of the page "Searching". It must hold beside an earlier one.
    #[must_use]
    pub fn where_(mut self, expression: impl Into<String>) -> Filters {
        let expression = expression.into();
        self.where_ = Some(match self.where_.take() {
            Some(before) => format!("({before}) and ({expression})"),
            None => expression,
        });
        self
    }

    /// Adds documents that are linked to.
    #[must_use]
    pub fn links_to<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Filters {
        self.links_to.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds folders.
    #[must_use]
    pub fn folders<T: Into<String>>(mut self, folders: impl IntoIterator<Item = T>) -> Filters {
        self.folders.extend(folders.into_iter().map(Into::into));
        self
    }

    /// Sets the earliest modification time, in milliseconds since 1970.
    #[must_use]
    pub fn modified_since_ms(mut self, modified_since_ms: i64) -> Filters {
        self.modified_since_ms = Some(modified_since_ms);
        self
    }

    /// Adds kinds of symbols.
    #[must_use]
    pub fn symbol_kinds(mut self, kinds: impl IntoIterator<Item = SymbolKind>) -> Filters {
        self.symbol_kinds.extend(kinds);
        self
    }

    /// Adds names of symbols, or patterns of them.
    #[must_use]
    pub fn symbol_names<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Filters {
        self.symbol_names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Whether every document passes.
    pub fn is_empty(&self) -> bool {
        *self == Filters::default()
    }
}
