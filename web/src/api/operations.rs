//! The operations of the API. The router and the description are both made of this table, so that neither has one that
//! the other lacks.

use super::names::{self, Names};

/// One operation.
#[derive(Debug)]
pub(crate) struct Operation {
    /// In lower case.
    pub(crate) method: &'static str,
    /// With `{file}` and `{document}` for what stands in their place.
    pub(crate) path: &'static str,
    pub(crate) id: &'static str,
    /// What it does, in a sentence.
    pub(crate) about: &'static str,
    /// What may stand behind `?`, or in the body.
    pub(crate) names: &'static [Names],
    pub(crate) takes: Takes,
    /// The status of its answer, and the object in it.
    pub(crate) gives: (u16, &'static str),
}

/// Where an operation has its names from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// From behind `?`.
    Address,
    /// From an object of JSON.
    Body,
    /// From an object of JSON, of these fields.
    Fields(&'static str),
    /// The names from behind `?`; the body is the file.
    File,
    /// From a form with the files `file`, their `folder` and `tags`.
    Form,
}

impl Operation {
    /// The path as the router takes it: the names of documents have slashes.
    pub(super) fn route(&self) -> String {
        self.path.replace("{document}", "{*document}")
    }

    /// The names in its path.
    pub(crate) fn places(&self) -> impl Iterator<Item = &'static str> {
        let parts = self.path.split('/');
        parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

const fn reads(
    path: &'static str,
    id: &'static str,
    about: &'static str,
    names: &'static [Names],
    gives: &'static str,
) -> Operation {
    Operation {
        method: "get",
        path,
        id,
        about,
        names,
        takes: Takes::Address,
        gives: (200, gives),
    }
}

const fn posts(
    path: &'static str,
    id: &'static str,
    about: &'static str,
    takes: &'static str,
    gives: (u16, &'static str),
) -> Operation {
    Operation {
        method: "post",
        path,
        id,
        about,
        names: &[],
        takes: Takes::Fields(takes),
        gives,
    }
}

const SEARCHED: &[Names] = &[names::SEARCH, names::FILTERS, names::PAGE];

/// All operations.
pub(crate) const OPERATIONS: &[Operation] = &[
    reads(
        "/api/v1/search",
        "search",
        "Searches by words and meaning.",
        SEARCHED,
        "Hits",
    ),
    Operation {
        method: "post",
        id: "searchByBody",
        about: "Searches, with the names in an object; lists where a name may repeat.",
        takes: Takes::Body,
        ..reads("/api/v1/search", "", "", SEARCHED, "Hits")
    },
    reads(
        "/api/v1/regex",
        "regex",
        "Finds what matches a regular expression, in the order of paths and lines.",
        &[names::REGEX, names::FILTERS, names::PAGE],
        "Matches",
    ),
    reads(
        "/api/v1/symbols",
        "symbols",
        "Finds definitions in programs.",
        &[names::SYMBOLS, names::FILTERS, names::PAGE],
        "Symbols",
    ),
    reads(
        "/api/v1/find",
        "find",
        "Finds documents by a part of their path, or by words of their title; best names first.",
        &[names::FIND],
        "Names",
    ),
    reads(
        "/api/v1/status",
        "status",
        "Lists the open files.",
        &[],
        "Status",
    ),
    reads(
        "/api/v1/about/{file}",
        "about",
        "Says what a file holds.",
        &[],
        "About",
    ),
    reads(
        "/api/v1/documents/{file}",
        "documents",
        "Lists folders and documents.",
        &[names::FOLDER, names::PAGE],
        "Entries",
    ),
    reads(
        "/api/v1/document/{file}/{document}",
        "document",
        "Says what the file records about a document.",
        &[],
        "Document",
    ),
    reads(
        "/api/v1/text/{file}/{document}",
        "text",
        "Gives the text of a document.",
        &[names::LINES, names::PAGE],
        "Text",
    ),
    reads(
        "/api/v1/outline/{file}/{document}",
        "outline",
        "Lists headings or symbols of a document.",
        &[names::PAGE],
        "Outline",
    ),
    reads(
        "/api/v1/pages/{file}/{document}",
        "pages",
        "Gives the pages of a document.",
        &[names::NUMBERS, names::PAGE],
        "Pages",
    ),
    reads(
        "/api/v1/sheet/{file}/{document}",
        "sheet",
        "Gives the rows of a sheet.",
        &[names::SHEET, names::PAGE],
        "Rows",
    ),
    reads(
        "/api/v1/slides/{file}/{document}",
        "slides",
        "Gives the slides of a presentation with their notes.",
        &[names::NUMBERS, names::PAGE],
        "Slides",
    ),
    reads(
        "/api/v1/openapi.json",
        "openapi",
        "Gives this description.",
        &[],
        "",
    ),
    Operation {
        method: "put",
        takes: Takes::File,
        gives: (201, "Uploaded"),
        ..reads(
            "/api/v1/document/{file}/{document}",
            "putDocument",
            "Stores a document: the body is its file.",
            &[names::UPLOAD],
            "",
        )
    },
    Operation {
        method: "delete",
        ..reads(
            "/api/v1/document/{file}/{document}",
            "removeDocument",
            "Removes a document.",
            &[],
            "Removed",
        )
    },
    Operation {
        takes: Takes::Form,
        ..posts(
            "/api/v1/upload/{file}",
            "upload",
            "Stores the files of a form.",
            "",
            (201, "Stored"),
        )
    },
    Operation {
        method: "put",
        ..posts(
            "/api/v1/tags/{file}/{document}",
            "tag",
            "Changes the tags of a document.",
            "add:[text]? remove:[text]?",
            (200, "Tags"),
        )
    },
    reads(
        "/api/v1/tokens",
        "tokens",
        "Lists the access tokens, for a token that may write.",
        &[],
        "AccessTokens",
    ),
    posts(
        "/api/v1/tokens",
        "createToken",
        "Creates an access token. Its text is given this once.",
        "name:text may_write:flag?",
        (201, "NewToken"),
    ),
    Operation {
        method: "delete",
        ..reads(
            "/api/v1/tokens/{name}",
            "revokeToken",
            "Revokes an access token.",
            &[],
            "Revoked",
        )
    },
    posts(
        "/api/search/docs",
        "searchDocs",
        "Searches the documents of a project.",
        "query:text projectId:text topK:number? minScore:number?",
        (200, "Passages"),
    ),
    posts(
        "/api/projects/{project}/documents",
        "uploadDocument",
        "Stores a document of a project.",
        "fileName:text content:text mimeType:text? projectId:text?",
        (201, "Uploaded"),
    ),
    posts(
        "/mcp/search",
        "searchHandles",
        "Finds documents by title, handle and tags.",
        "query:text limit:number? sort:text?",
        (200, "[Handles]"),
    ),
    posts(
        "/mcp/get_document",
        "getDocument",
        "Gives the text of the document of a handle.",
        "doc_handle:text",
        (200, "Body"),
    ),
];
