//! Turns errors of the engine into errors of tools: with the argument names of the tools, and without paths of the
//! server's machine.

use std::io::ErrorKind;

use kb_engine::Error;
use kb_json::{Front, advice};

use super::tool_error::ToolError;
use super::truncate::{cut, short};
use super::wording::count;

/// Maximum characters of a reason, which may repeat what a client sent.
const REASON_LIMIT: usize = 400;

impl From<Error> for ToolError {
    fn from(error: Error) -> ToolError {
        let code = code(&error);
        let hint = match (&error, code) {
            // A client cannot fix files that the server cannot read.
            (Error::Io { .. }, "INTERNAL") => None,
            _ => advice(&error, Front::Mcp),
        };
        let argument = match &error {
            Error::InvalidArgument { argument, .. } => Some(argument_name(argument)),
            _ => None,
        };
        let mut error = with_facts(ToolError::new(code, sentence(&error)), error);
        error.argument = argument;
        error.hint = hint;
        error
    }
}

/// Returns what happened, without a full stop.
fn sentence(error: &Error) -> String {
    match error {
        Error::PathNotFound { path } => {
            format!("path: {} does not exist", short(&path.to_string_lossy()))
        }
        Error::Io {
            action,
            path,
            source,
        } => {
            // The folder is a detail of the server's machine.
            let name = path.file_name().unwrap_or(path.as_os_str());
            format!("cannot {action} {}: {source}", name.to_string_lossy())
        }
        Error::Storage { reason, .. } => {
            format!(
                "the storage of the knowledge base failed: {reason}; the knowledge base is unchanged"
            )
        }
        Error::NotAKb { reason } => format!("the file is not a knowledge base: {reason}"),
        Error::FormatUnsupported { needs, reads } => {
            format!("the file needs {needs}, but this server reads {reads}")
        }
        Error::Damaged { what } => format!("the file is damaged: {what}"),
        // The process and its machine are details of the server.
        Error::IndexLocked { .. } => "another program is writing the knowledge base".to_owned(),
        Error::PathNotAllowed { path } => format!(
            "path: {:?} is outside the folders that may be indexed",
            short(&path.to_string_lossy())
        ),
        Error::FileReplaced { .. } => {
            "the file of the knowledge base was moved, removed or replaced while it was written; \
             nothing of this change was written"
                .to_owned()
        }
        Error::NotReplaceable { reason, .. } => format!("the file cannot be replaced: {reason}"),
        Error::OutputExists { .. } => {
            "another knowledge base is at the path of the new one".to_owned()
        }
        Error::SnapshotExpired => {
            "the knowledge base changed faster than it could be read".to_owned()
        }
        Error::WriterFailed => {
            "an earlier write failed; nothing of this change was kept".to_owned()
        }
        Error::InvalidArgument { reason, .. } => cut(reason, REASON_LIMIT).into_owned(),
        other => sentence_on_content(other),
    }
}

/// As [`sentence`], of what is asked of the content of a file.
fn sentence_on_content(error: &Error) -> String {
    match error {
        Error::DocumentNotFound { name, skipped, .. } => {
            let sentence = format!("no document {:?}", short(name));
            match skipped.first().and_then(|one| one.split_once(": ")) {
                None => sentence,
                Some((path, reason)) => {
                    format!(
                        "{sentence}; {path} is in the indexed folder but was not read: {reason}"
                    )
                }
            }
        }
        Error::AmbiguousDocument { name, .. } => {
            format!("{:?} matches several documents", short(name))
        }
        Error::SectionNotFound { section, path, .. } => {
            format!("no section {:?} in {path}", short(section))
        }
        Error::AmbiguousSection { section, path, .. } => {
            format!("{:?} matches several sections of {path}", short(section))
        }
        Error::FolderNotFound { name, .. } => format!("no folder {:?}", short(name)),
        Error::DocumentExists { path } => format!("a document {path:?} already exists"),
        Error::InvalidRange { .. } => error.to_string(),
        Error::InvalidPages { pages, path, total } => format!(
            "page_range: pages {} of {path:?}: the document has {total}",
            short(pages)
        ),
        Error::InvalidSlides {
            slides,
            path,
            total,
        } => format!(
            "slide_numbers: slides {} of {path:?}: the document has {total}",
            short(slides)
        ),
        Error::InvalidCells { .. } => format!("cell_range: {error}"),
        Error::SheetNotFound { sheet, path, .. } => {
            format!("no sheet {:?} in {path}", short(sheet))
        }
        Error::NoSheetNames { .. } => "CSV files don't have multiple sheets".to_owned(),
        Error::InvalidCursor { reason } => format!("continuation_token: {reason}"),
        Error::StaleCursor => {
            "continuation_token: the knowledge base has changed since the result to continue"
                .to_owned()
        }
        Error::EmbeddingModelUnavailable { needs } => format!(
            "the knowledge base needs the embedding model {needs:?}, which this server does not have"
        ),
        Error::RootVanished { root, documents } => format!(
            "path: there are no files in {}, but the knowledge base has {} from it; nothing was changed",
            root.display(),
            count(*documents, "document")
        ),
        Error::TooLarge { what, size, limit } => {
            format!("{what} has {size} bytes; the limit is {limit}")
        }
        Error::TooMany { what, count, limit } => {
            format!("{count} {what}; the limit is {limit}")
        }
        // The path of the program is a detail of the server's machine.
        Error::NoExtractionWorker { path, .. } => format!(
            "{:?}: this server cannot start the process that reads such files",
            short(path)
        ),
        other => other.to_string(),
    }
}

/// Adds the facts that programs read.
fn with_facts(tool_error: ToolError, error: Error) -> ToolError {
    match error {
        Error::DocumentNotFound {
            skipped, nearest, ..
        } if !skipped.is_empty() => tool_error
            .with_fact("skipped", skipped)
            .with_fact("nearest", nearest),
        Error::DocumentNotFound { nearest, .. }
        | Error::SectionNotFound { nearest, .. }
        | Error::AmbiguousSection {
            candidates: nearest,
            ..
        }
        | Error::FolderNotFound { nearest, .. }
            if !nearest.is_empty() =>
        {
            tool_error.with_fact("nearest", nearest)
        }
        Error::AmbiguousDocument { candidates, .. } => {
            tool_error.with_fact("candidates", candidates)
        }
        Error::InvalidRange { lines, .. } => tool_error.with_fact("lines", lines),
        Error::InvalidPages { total, .. } => tool_error.with_fact("total_pages", total),
        Error::InvalidSlides { total, .. } => tool_error.with_fact("total_slides", total),
        Error::InvalidCells { rows, .. } => tool_error.with_fact("rows", rows),
        Error::SheetNotFound { sheets, .. } => tool_error.with_fact("sheets", sheets.into_vec()),
        Error::EmbeddingModelUnavailable { needs } => tool_error.with_fact("model", needs),
        Error::TooLarge { size, limit, .. } => {
            tool_error.with_fact("size", size).with_fact("limit", limit)
        }
        Error::TooMany { count, limit, .. } => tool_error
            .with_fact("count", count)
            .with_fact("limit", limit),
        _ => tool_error,
    }
}

/// Returns the code of the engine if clients know it, else the code that this server uses for it.
fn code(error: &Error) -> &'static str {
    match error {
        Error::Io { action, source, .. } => match source.kind() {
            ErrorKind::PermissionDenied if is_reading(action) => "INTERNAL",
            kind => code_of(kind).unwrap_or("INTERNAL"),
        },
        Error::Storage { source, .. } => {
            let kind = source.as_ref().map(std::io::Error::kind);
            kind.and_then(code_of).unwrap_or("STORAGE")
        }
        Error::Damaged { .. } | Error::NotAKb { .. } | Error::FormatUnsupported { .. } => {
            "INDEX_CORRUPT"
        }
        Error::RootVanished { .. } => "PATH_NOT_FOUND",
        Error::WriterFailed | Error::DocumentExists { .. } => "INTERNAL",
        other => other.code(),
    }
}

/// Returns the code of a system failure that the operator of the server can fix.
fn code_of(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Some("INDEX_READ_ONLY"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("STORAGE"),
        _ => None,
    }
}

/// Whether an action of [`Error::Io`] needs no permission to write.
fn is_reading(action: &str) -> bool {
    matches!(action, "open" | "read" | "map" | "index or compare")
}

/// Returns the name that tools use for an argument of the engine.
fn argument_name(argument: &'static str) -> &'static str {
    match argument {
        "type" => "fileType",
        "tag" => "tags",
        "document" => "content",
        "k" => "limit",
        "continuation" => "continuation_token",
        same => same,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use kb_types::error::samples::samples;

    use super::*;

    #[test]
    fn no_error_names_a_flag_of_the_command_line() {
        for error in samples() {
            let text = ToolError::from(error).text();
            for foreign in ["--", "`kb", "kb ls"] {
                assert!(!text.contains(foreign), "{text}");
            }
            assert!(text.ends_with(['.', '?']) && !text.contains(".."), "{text}");
        }
    }

    #[test]
    fn engine_errors_have_the_codes_that_clients_know() {
        let codes: Vec<&str> = samples()
            .into_iter()
            .map(|error| ToolError::from(error).code)
            .collect();
        let expected = [
            "PATH_NOT_FOUND",
            "PATH_NOT_ALLOWED",
            "INDEX_READ_ONLY",
            "STORAGE",
            "STORAGE",
            "INDEX_CORRUPT",
            "INDEX_CORRUPT",
            "INDEX_CORRUPT",
            "INDEX_LOCKED",
            "FILE_REPLACED",
            "NOT_REPLACEABLE",
            "OUTPUT_EXISTS",
            "FORKED_WRITER",
            "SNAPSHOT_EXPIRED",
            "INTERNAL",
            "INVALID_ARGUMENT",
            "INVALID_REGEX",
            "DOCUMENT_NOT_FOUND",
            "AMBIGUOUS_DOCUMENT",
            "SECTION_NOT_FOUND",
            "SECTION_NOT_FOUND",
            "FOLDER_NOT_FOUND",
            "INTERNAL",
            "INVALID_RANGE",
            "INVALID_RANGE",
            "INVALID_RANGE",
            "INVALID_RANGE",
            "SHEET_NOT_FOUND",
            "CSV_NO_SHEETS",
            "UNSUPPORTED_DOCUMENT_TYPE",
            "INVALID_CONTINUATION_TOKEN",
            "CONTINUATION_STALE",
            "EMBEDDING_MODEL_UNAVAILABLE",
            "PATH_NOT_FOUND",
            "FILE_TOO_LARGE",
            "FILE_TOO_LARGE",
            "ENCRYPTED",
            "EXTRACTION_LIMIT",
            "EXTRACTION_FAILED",
            "NO_EXTRACTION_WORKER",
            "CANCELLED",
        ];
        assert_eq!(codes, expected);
    }

    #[test]
    fn what_a_client_sent_is_repeated_in_short() {
        let long = || "x".repeat(10_000);
        for error in [
            Error::DocumentNotFound {
                name: long(),
                skipped: Vec::new(),
                nearest: Vec::new(),
            },
            Error::SectionNotFound {
                section: long(),
                path: "a.md".to_owned(),
                nearest: Vec::new(),
            },
            Error::FolderNotFound {
                name: long(),
                nearest: Vec::new(),
            },
            Error::InvalidPages {
                pages: long(),
                path: "a.md".to_owned(),
                total: 3,
            },
        ] {
            let text = ToolError::from(error).text();
            assert!(text.len() < 300, "{text}");
        }
    }

    #[test]
    fn an_unreadable_file_is_an_internal_error_without_its_folder() {
        let error = ToolError::from(Error::Io {
            action: "read",
            path: PathBuf::from("/home/somebody/x.kb"),
            source: io::Error::from(ErrorKind::PermissionDenied),
        });
        assert_eq!(error.code, "INTERNAL");
        assert!(
            error.sentence.starts_with("cannot read x.kb: "),
            "{error:?}"
        );
    }

    /// A full disk or a read-only file system is nothing that a developer of the server must look at.
    #[test]
    fn failures_of_the_disk_have_a_code_and_a_remedy() {
        for (kind, code, hint) in [
            (
                ErrorKind::ReadOnlyFilesystem,
                "INDEX_READ_ONLY",
                "for writing",
            ),
            (ErrorKind::PermissionDenied, "INDEX_READ_ONLY", "to write"),
            (ErrorKind::StorageFull, "STORAGE", "Free some space"),
            (ErrorKind::QuotaExceeded, "STORAGE", "quota"),
            (ErrorKind::Other, "STORAGE", "is unchanged"),
        ] {
            let storage = Error::Storage {
                reason: "no".to_owned(),
                source: Some(io::Error::from(kind)),
            };
            let io = Error::Io {
                action: "create",
                path: PathBuf::from("/home/somebody/x.kb"),
                source: io::Error::from(kind),
            };
            let mut errors = vec![storage];
            errors.extend(Some(io).filter(|_| kind != ErrorKind::Other));
            for error in errors {
                let told = ToolError::from(error);
                assert_eq!(told.code, code, "{kind} {told:?}");
                assert!(told.text().contains(hint), "{kind} {told:?}");
                assert!(!told.text().contains("somebody"), "{told:?}");
            }
        }
    }

    #[test]
    fn the_nearest_names_are_in_text_and_facts() {
        let nearest = vec!["a.md".to_owned(), "b.md".to_owned()];
        let error = ToolError::from(Error::DocumentNotFound {
            name: "c".to_owned(),
            skipped: Vec::new(),
            nearest,
        });
        assert_eq!(
            error.text(),
            "DOCUMENT_NOT_FOUND: no document \"c\". Did you mean \"a.md\" or \"b.md\"?"
        );
        assert_eq!(error.facts["nearest"][1], "b.md");
    }
}
