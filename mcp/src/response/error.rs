//! Errors of the engine in the words of this server: names of its arguments, no flags of the command
//! line.

use std::io::ErrorKind;

use kb_engine::Error;

use super::{ToolError, cut, short};

/// Characters of a reason at most: it may repeat what a client said.
const REASON: usize = 400;

impl From<Error> for ToolError {
    fn from(error: Error) -> ToolError {
        let code = code(&error);
        match error {
            Error::PathNotFound { path } => {
                ToolError::new(code, format!("path: {} does not exist", short(&path.to_string_lossy())))
            }
            Error::Io { action, path, source } => {
                // Where it lies on the server is nobody's business.
                let name = path.file_name().unwrap_or(path.as_os_str());
                let name = name.to_string_lossy();
                let error = ToolError::new(code, format!("cannot {action} {name}: {source}"));
                match code {
                    "INTERNAL" => error,
                    _ => error.with_hint(remedy(source.kind())),
                }
            }
            Error::Storage { reason, source } => {
                let kind = source.map_or(ErrorKind::Other, |source| source.kind());
                let what = "the disk under the knowledge base failed";
                ToolError::new(code, format!("{what}: {reason}")).with_hint(remedy(kind))
            }
            Error::NotAKb { reason } => {
                ToolError::new(code, format!("the file is not a knowledge base: {reason}"))
            }
            Error::FormatUnsupported { needs, reads } => ToolError::new(
                code,
                format!("the file needs {needs}, and this server reads {reads}"),
            )
            .with_hint("A newer server may read it"),
            Error::Damaged { what } => {
                ToolError::new(code, format!("the file is damaged: {what}"))
                    .with_hint("Restore a copy of it, or index its sources again")
            }
            // Which process on which machine it is is nobody's business.
            Error::IndexLocked { .. } => {
                ToolError::new(code, "the knowledge base is being written by another program")
                    .with_hint("Try again when it is done")
            }
            Error::PathNotAllowed { path } => {
                let path = path.to_string_lossy();
                let path = short(&path);
                ToolError::new(
                    code,
                    format!("path: {path:?} lies outside the folders that may be indexed"),
                )
            }
            Error::FileReplaced { .. } => ToolError::new(
                code,
                "the file of the knowledge base was moved, removed or replaced while it was written",
            )
            .with_hint("Nothing of this change was written; call again to change what is there now"),
            Error::NotReplaceable { reason, .. } => {
                ToolError::new(code, format!("the file cannot be replaced: {reason}"))
            }
            Error::OutputExists { .. } => {
                ToolError::new(code, "another knowledge base is where the new one shall be")
            }
            Error::SnapshotExpired => ToolError::new(
                code,
                "the knowledge base changed faster than the answer could be made",
            )
            .with_hint("Call again"),
            Error::WriterFailed => ToolError::new(code, "an earlier write failed")
                .with_hint("Call again; nothing of this change was kept"),
            Error::InvalidArgument { argument, reason } => {
                ToolError::new(code, format!("{}: {}", ours(argument), cut(&reason, REASON)))
            }
            Error::DocumentNotFound { name, nearest } => near(
                ToolError::new(code, format!("no document {:?}", short(&name))),
                nearest,
                "list_documents and search name the documents there are",
            ),
            Error::AmbiguousDocument { name, candidates } => {
                ToolError::new(code, format!("{:?} names several documents", short(&name)))
                    .with_hint(format!("Give the whole path: {}", candidates.join(", ")))
                    .with_fact("candidates", candidates)
            }
            Error::SectionNotFound { section, path, nearest } => near(
                ToolError::new(code, format!("{path} has no one section {:?}", short(&section))),
                nearest,
                "get_document_outline lists the sections",
            ),
            Error::FolderNotFound { name, nearest } => near(
                ToolError::new(code, format!("no folder {:?}", short(&name))),
                nearest,
                "list_folders names the folders there are",
            ),
            Error::DocumentExists { path } => {
                ToolError::new(code, format!("a document {path:?} is already there"))
            }
            Error::InvalidRange { asked, path, lines } => ToolError::new(
                code,
                format!("lines {} of {path:?}: the document has {lines} lines", short(&asked)),
            )
            .with_fact("lines", lines),
            Error::InvalidPages { asked, path, total } => ToolError::new(
                code,
                format!("page_range: pages {} of {path:?}: the document has {total}", short(&asked)),
            )
            .with_hint(format!("Give pages from 1 to {total}, as 1-3,5"))
            .with_fact("total_pages", total),
            Error::InvalidCursor { reason } => {
                ToolError::new(code, format!("continuation_token: {reason}"))
                    .with_hint("Call again without it")
            }
            Error::StaleCursor => ToolError::new(
                code,
                "continuation_token: the knowledge base changed since the answer that it continues",
            )
            .with_hint("Call again without it"),
            Error::EmbeddingModelUnavailable { needs } => ToolError::new(
                code,
                format!("the knowledge base needs the embedding model {needs:?}, which this server does not have"),
            )
            .with_hint("search with mode=keyword works")
            .with_fact("model", needs),
            Error::RootVanished { root, documents } => ToolError::new(
                code,
                format!(
                    "path: no file is left in {}, and the knowledge base has {documents} documents from it",
                    root.display()
                ),
            )
            .with_hint("Is it mounted? Nothing was changed"),
            Error::TooLarge { what, size, limit } => ToolError::new(
                code,
                format!("{what} has {size} bytes, and the limit is {limit}"),
            )
            .with_fact("size", size)
            .with_fact("limit", limit),
            Error::TooMany { what, count, limit } => {
                ToolError::new(code, format!("{count} {what}, and the limit is {limit}"))
                    .with_fact("count", count)
                    .with_fact("limit", limit)
            }
            Error::Cancelled => {
                ToolError::new(code, "stopped on request").with_hint("Nothing was changed")
            }
            other => ToolError::new(code, other.to_string()),
        }
    }
}

/// The engine's code where clients know it, else ours for it.
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

/// The code of a failure of the system that somebody at the server can end.
fn code_of(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Some("INDEX_READ_ONLY"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("STORAGE"),
        _ => None,
    }
}

/// What to do when the file could not be written.
fn remedy(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::PermissionDenied => {
            "The server needs leave of the system to write the file and its folder"
        }
        ErrorKind::ReadOnlyFilesystem => {
            "The server needs a file system that it is allowed to write: whoever runs it can mount this \
             one for writing, or serve a copy elsewhere"
        }
        ErrorKind::StorageFull => {
            "Free some space on its disk and try again; the knowledge base is as it was before"
        }
        ErrorKind::QuotaExceeded => {
            "Free some of the quota, or have it raised, and try again; the knowledge base is as it was \
             before"
        }
        _ => "Nothing of this change was kept; the knowledge base is as it was before",
    }
}

/// Whether what failed needs no leave to write.
fn is_reading(action: &str) -> bool {
    matches!(action, "open" | "read" | "map" | "index or compare")
}

/// What an argument of the engine is called here.
fn ours(argument: &'static str) -> &'static str {
    match argument {
        "type" => "fileType",
        "tag" => "tags",
        "document" => "content",
        "k" => "limit",
        "continuation" => "continuation_token",
        same => same,
    }
}

/// With what is nearest to what was asked for, or what to look it up with.
fn near(error: ToolError, nearest: Vec<String>, otherwise: &str) -> ToolError {
    match nearest.as_slice() {
        [] => error.with_hint(otherwise),
        some => error
            .with_hint(format!("The nearest are {}", some.join(", ")))
            .with_fact("nearest", nearest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::path::PathBuf;

    fn all() -> Vec<Error> {
        let io = |kind| Error::Io {
            action: "create",
            path: PathBuf::from("/x.kb"),
            source: io::Error::from(kind),
        };
        let name = || "a".to_owned();
        vec![
            Error::PathNotFound {
                path: PathBuf::from("/gone"),
            },
            Error::PathNotAllowed {
                path: PathBuf::from("/etc"),
            },
            io(ErrorKind::PermissionDenied),
            io(ErrorKind::StorageFull),
            Error::Storage {
                reason: name(),
                source: None,
            },
            Error::NotAKb { reason: "no" },
            Error::FormatUnsupported {
                needs: name(),
                reads: name(),
            },
            Error::Damaged { what: name() },
            Error::IndexLocked { holder: name() },
            Error::FileReplaced {
                path: PathBuf::from("/x.kb"),
                is_gone: true,
            },
            Error::NotReplaceable {
                path: PathBuf::from("/x.kb"),
                reason: name(),
            },
            Error::OutputExists {
                path: PathBuf::from("/x.kb"),
            },
            Error::SnapshotExpired,
            Error::WriterFailed,
            Error::InvalidArgument {
                argument: "type",
                reason: name(),
            },
            Error::DocumentNotFound {
                name: name(),
                nearest: Vec::new(),
            },
            Error::AmbiguousDocument {
                name: name(),
                candidates: vec![name()],
            },
            Error::SectionNotFound {
                section: name(),
                path: name(),
                nearest: Vec::new(),
            },
            Error::FolderNotFound {
                name: name(),
                nearest: Vec::new(),
            },
            Error::DocumentExists { path: name() },
            Error::InvalidRange {
                asked: name(),
                path: name(),
                lines: 3,
            },
            Error::InvalidPages {
                asked: name(),
                path: name(),
                total: 3,
            },
            Error::InvalidCursor {
                reason: "it is malformed",
            },
            Error::StaleCursor,
            Error::EmbeddingModelUnavailable { needs: name() },
            Error::RootVanished {
                root: PathBuf::from("/r"),
                documents: 2,
            },
            Error::TooLarge {
                what: name(),
                size: 2,
                limit: 1,
            },
            Error::TooMany {
                what: "things",
                count: 2,
                limit: 1,
            },
            Error::Cancelled,
        ]
    }

    #[test]
    fn no_error_speaks_of_the_command_line() {
        for error in all() {
            let text = ToolError::from(error).text();
            for foreign in ["--", "`kb", "kb ls"] {
                assert!(!text.contains(foreign), "{text}");
            }
            assert!(text.ends_with('.') && !text.contains(".."), "{text}");
        }
    }

    #[test]
    fn codes_are_those_that_clients_know() {
        let codes: Vec<&str> = all()
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
            "SNAPSHOT_EXPIRED",
            "INTERNAL",
            "INVALID_ARGUMENT",
            "DOCUMENT_NOT_FOUND",
            "AMBIGUOUS_DOCUMENT",
            "SECTION_NOT_FOUND",
            "FOLDER_NOT_FOUND",
            "INTERNAL",
            "INVALID_RANGE",
            "INVALID_RANGE",
            "INVALID_CONTINUATION_TOKEN",
            "CONTINUATION_STALE",
            "EMBEDDING_MODEL_UNAVAILABLE",
            "PATH_NOT_FOUND",
            "FILE_TOO_LARGE",
            "FILE_TOO_LARGE",
            "CANCELLED",
        ];
        assert_eq!(codes, expected);
    }

    #[test]
    fn what_a_client_said_is_repeated_in_short() {
        let long = || "x".repeat(10_000);
        for error in [
            Error::DocumentNotFound {
                name: long(),
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
                asked: long(),
                path: "a.md".to_owned(),
                total: 3,
            },
        ] {
            let text = ToolError::from(error).text();
            assert!(text.len() < 300, "{text}");
        }
    }

    #[test]
    fn a_file_that_may_not_be_read_is_not_called_read_only_and_not_placed() {
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
    fn failures_of_the_disk_have_their_code_and_their_remedy() {
        for (kind, code, hint) in [
            (
                ErrorKind::ReadOnlyFilesystem,
                "INDEX_READ_ONLY",
                "for writing",
            ),
            (ErrorKind::PermissionDenied, "INDEX_READ_ONLY", "to write"),
            (ErrorKind::StorageFull, "STORAGE", "Free some space"),
            (ErrorKind::QuotaExceeded, "STORAGE", "quota"),
            (ErrorKind::Other, "STORAGE", "as it was before"),
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
    fn what_is_near_is_named() {
        let nearest = vec!["a.md".to_owned(), "b.md".to_owned()];
        let error = ToolError::from(Error::DocumentNotFound {
            name: "c".to_owned(),
            nearest,
        });
        assert_eq!(
            error.text(),
            "DOCUMENT_NOT_FOUND: no document \"c\". The nearest are a.md, b.md."
        );
        assert_eq!(error.facts["nearest"][1], "b.md");
    }
}
