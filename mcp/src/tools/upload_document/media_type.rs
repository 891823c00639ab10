//! What a media type claims about the bytes: that they are text, or their format.

use kb_engine::file_types;

/// A format that is no text, as a media type declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BinaryFormat(&'static [&'static str]);

impl BinaryFormat {
    /// Whether the engine's name of a format is one of it; an empty list takes any.
    pub(super) fn covers(self, format: &str) -> bool {
        self.0.is_empty() || self.0.contains(&format)
    }
}

/// Media types of formats, and the names that the engine has for these. Office formats are zip archives,
/// and their old forms one container.
const FORMATS: &[(&str, &[&str])] = &[
    ("application/pdf", &["PDF"]),
    ("application/rtf", &["RTF"]),
    ("text/rtf", &["RTF"]),
    ("application/msword", &["Office 97-2003", "RTF"]),
    ("application/vnd.ms-excel", &["Office 97-2003"]),
    ("application/vnd.ms-powerpoint", &["Office 97-2003"]),
    (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        &["Word document"],
    ),
    (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        &["Excel workbook"],
    ),
    (
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        &["PowerPoint presentation"],
    ),
    (
        "application/vnd.oasis.opendocument.text",
        &["OpenDocument text"],
    ),
    (
        "application/vnd.oasis.opendocument.spreadsheet",
        &["OpenDocument spreadsheet"],
    ),
    (
        "application/vnd.oasis.opendocument.presentation",
        &["OpenDocument presentation"],
    ),
    ("application/epub+zip", &["EPUB"]),
    ("application/gzip", &["gzip"]),
    // What any of the archives above may be sent as.
    ("application/zip", &[]),
    ("application/x-zip-compressed", &[]),
];

/// The binary format that a media type declares; `None` for types of texts, and for types that
/// say nothing, as `application/octet-stream`.
pub(super) fn binary_format(mime: &str) -> Option<BinaryFormat> {
    let mime = essence(mime);
    if let Some((_, names)) = FORMATS.iter().find(|(known, _)| *known == mime) {
        return Some(BinaryFormat(names));
    }
    let is_picture = mime.starts_with("image/") && !mime.ends_with("+xml");
    let is_media = ["audio/", "video/", "font/"]
        .iter()
        .any(|kind| mime.starts_with(kind));
    (is_picture || is_media).then_some(BinaryFormat(&[]))
}

/// Type and subtype in lower case, without parameters.
fn essence(mime: &str) -> String {
    let essence = mime.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether files of a media type are no text.
pub(super) fn is_binary(mime: &str) -> bool {
    let mime = essence(mime);
    let texts = [
        "json",
        "xml",
        "yaml",
        "toml",
        "javascript",
        "script",
        "markdown",
        "sql",
    ];
    let is_text = mime.starts_with("text/")
        || file_types::from_mime(&mime).is_some()
        || texts.iter().any(|text| mime.contains(text))
        || mime.is_empty();
    !is_text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_of_texts_declare_no_binary_format() {
        for text in [
            "text/plain",
            "text/markdown; charset=utf-8",
            "application/json",
            "image/svg+xml",
            "application/octet-stream",
            "",
        ] {
            assert_eq!(binary_format(text), None, "{text}");
        }
        let pdf = binary_format("Application/PDF; version=1.7").unwrap();
        assert!(pdf.covers("PDF") && !pdf.covers("PNG image"));
        assert!(binary_format("video/mp4").unwrap().covers("MP4 media"));
    }
}
