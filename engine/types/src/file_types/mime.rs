//! Media types of file types, as they are written in the world.

use crate::file_types::table::{ROWS, canonical_type, short};

/// File type, its media type, and other media types that mean it, separated by spaces.
#[rustfmt::skip]
static MEDIA_TYPES: &[(&str, &str, &str)] = &[
    ("asciidoc", "text/asciidoc", ""),
    ("bash", "text/x-shellscript", "application/x-sh application/x-shellscript text/x-sh"),
    ("bibtex", "text/x-bibtex", "application/x-bibtex"),
    ("c", "text/x-c", "text/x-csrc text/x-chdr"),
    ("clojure", "text/x-clojure", ""),
    ("cmake", "text/x-cmake", ""),
    ("cpp", "text/x-c++", "text/x-c++src text/x-c++hdr text/x-cpp"),
    ("csharp", "text/x-csharp", ""),
    ("css", "text/css", ""),
    ("csv", "text/csv", "application/csv"),
    ("dart", "text/x-dart", "application/dart"),
    ("diff", "text/x-diff", "text/x-patch"),
    ("doc", "application/msword", ""),
    ("dockerfile", "text/x-dockerfile", ""),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ""),
    ("eml", "message/rfc822", ""),
    ("msg", "application/vnd.ms-outlook", ""),
    ("epub", "application/epub+zip", ""),
    ("elixir", "text/x-elixir", ""),
    ("erlang", "text/x-erlang", ""),
    ("fsharp", "text/x-fsharp", ""),
    ("gettext", "text/x-gettext-translation", "application/x-gettext"),
    ("go", "text/x-go", ""),
    ("graphql", "application/graphql", ""),
    ("groovy", "text/x-groovy", ""),
    ("haskell", "text/x-haskell", ""),
    ("hcl", "text/x-hcl", "text/x-terraform"),
    ("html", "text/html", "application/xhtml+xml"),
    ("ipynb", "application/x-ipynb+json", ""),
    ("java", "text/x-java", "text/x-java-source"),
    ("javascript", "text/javascript", "application/javascript application/x-javascript"),
    ("json", "application/json", "text/json"),
    ("jsonl", "application/jsonl", "application/x-ndjson application/x-jsonlines"),
    ("julia", "text/x-julia", ""),
    ("kotlin", "text/x-kotlin", ""),
    ("latex", "text/x-tex", "application/x-tex application/x-latex"),
    ("less", "text/x-less", ""),
    ("lua", "text/x-lua", ""),
    ("makefile", "text/x-makefile", ""),
    ("man", "text/troff", "application/x-troff-man"),
    ("markdown", "text/markdown", "text/x-markdown"),
    ("nix", "text/x-nix", ""),
    ("objective-c", "text/x-objective-c", "text/x-objcsrc"),
    ("ocaml", "text/x-ocaml", ""),
    ("odp", "application/vnd.oasis.opendocument.presentation", ""),
    ("odt", "application/vnd.oasis.opendocument.text", ""),
    ("org", "text/x-org", "text/org"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet", ""),
    ("pascal", "text/x-pascal", ""),
    ("pdf", "application/pdf", "application/x-pdf"),
    ("perl", "text/x-perl", "application/x-perl"),
    ("php", "text/x-php", "application/x-httpd-php application/x-php"),
    ("powershell", "text/x-powershell", ""),
    ("ppt", "application/vnd.ms-powerpoint", ""),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", ""),
    ("protobuf", "text/x-protobuf", ""),
    ("python", "text/x-python", "application/x-python text/x-script.python"),
    ("r", "text/x-r", "text/x-rsrc"),
    ("rst", "text/x-rst", "text/prs.fallenstein.rst"),
    ("rtf", "application/rtf", "text/rtf"),
    ("ruby", "text/x-ruby", "application/x-ruby"),
    ("rust", "text/x-rust", "text/rust"),
    ("sass", "text/x-sass", ""),
    ("scala", "text/x-scala", ""),
    ("scss", "text/x-scss", ""),
    ("sql", "application/sql", "text/x-sql"),
    ("subtitles", "application/x-subrip", "text/vtt"),
    ("swift", "text/x-swift", ""),
    ("texinfo", "text/x-texinfo", "application/x-texinfo"),
    ("text", "text/plain", ""),
    ("toml", "application/toml", "text/x-toml"),
    ("tsv", "text/tab-separated-values", ""),
    ("typescript", "text/x-typescript", "application/typescript application/x-typescript"),
    ("vue", "text/x-vue", ""),
    ("xls", "application/vnd.ms-excel", "application/msexcel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.ms-excel.sheet.macroenabled.12"),
    ("xml", "application/xml", "text/xml"),
    ("yaml", "application/yaml", "application/x-yaml text/yaml text/x-yaml"),
    ("zig", "text/x-zig", ""),
];

/// The media type of a stored file type; `text/plain` for one that has none of its own, for what is
/// stored is always text.
pub fn mime(name: &str) -> &'static str {
    let found = MEDIA_TYPES.iter().find(|(of, ..)| *of == name);
    found.map_or("text/plain", |(_, mime, _)| mime)
}

/// How the name of a file of that media type ends: `text/markdown; charset=utf-8` -> `md`. `None`
/// for one that is no known text.
pub fn from_mime(mime: &str) -> Option<&'static str> {
    let essence = mime.split(';').next().unwrap_or(mime);
    let essence = essence.trim().to_ascii_lowercase();
    let listed = MEDIA_TYPES.iter().find(|(_, mime, others)| {
        *mime == essence
            || others
                .split_ascii_whitespace()
                .any(|other| other == essence)
    });
    if let Some((name, ..)) = listed {
        return Some(short(name));
    }
    // `application/ld+json`, `image/svg+xml`: the notation stands at the end.
    let structured = essence.rsplit_once('+').map(|(_, notation)| notation);
    let named = match structured {
        Some(notation) => {
            let notations = ["json", "xml", "yaml"];
            notations.into_iter().find(|known| *known == notation)
        }
        None => essence.strip_prefix("text/x-").and_then(canonical_type),
    }?;
    let row = ROWS.iter().find(|row| row.name == named)?;
    Some(short(row.name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::file_types::known_types;

    #[test]
    fn a_media_type_leads_to_an_ending_and_back() {
        for (name, media_type, ending) in [
            ("markdown", "text/markdown", "md"),
            ("html", "text/html", "html"),
            ("text", "text/plain", "txt"),
            ("json", "application/json", "json"),
            ("rust", "text/x-rust", "rs"),
        ] {
            assert_eq!(mime(name), media_type);
            assert_eq!(from_mime(media_type), Some(ending));
        }
        for (media_type, ending) in [
            ("Text/Markdown; charset=utf-8", "md"),
            (" application/x-yaml ", "yaml"),
            ("application/ld+json", "json"),
            ("image/svg+xml", "xml"),
            ("text/x-ada", "adb"),
        ] {
            assert_eq!(from_mime(media_type), Some(ending), "{media_type}");
        }
        for strange in ["application/zip", "image/png", "text/x-", "", "a+b", "md"] {
            assert_eq!(from_mime(strange), None, "{strange}");
        }
        assert_eq!(mime("ada"), "text/plain");
        assert_eq!(mime("no-such-type"), "text/plain");
    }

    #[test]
    fn every_media_type_stands_once_and_belongs_to_a_known_type() {
        let mut seen = BTreeSet::new();
        for (name, mime, others) in MEDIA_TYPES {
            assert!(known_types().contains(name), "{name}");
            assert_eq!(from_mime(mime), Some(short(name)));
            for mime in std::iter::once(*mime).chain(others.split_ascii_whitespace()) {
                assert!(seen.insert(mime), "{mime} stands twice");
            }
        }
    }
}
