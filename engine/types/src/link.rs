//! Links between documents, as documents name them.

/// A link to a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// A path, from the folder of the document on or, with a `/` before it, from the top.
    Path(String),
    /// The name of a note, or an end of its path, in lower case.
    Note(String),
}

/// Ends of names of notes, which links leave out.
const NOTES: [&str; 3] = [".md", ".markdown", ".mdx"];

/// A path without the end that links to notes leave out.
pub fn without_extension(path: &str) -> &str {
    let mut without = NOTES.iter().filter_map(|end| path.strip_suffix(end));
    without.next().unwrap_or(path)
}

/// The last name of a path, in lower case and without the end of notes: what links to a document have in common.
pub fn name_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    without_extension(&name).to_owned()
}
