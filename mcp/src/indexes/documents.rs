//! Finds a document in the open indexes. A match by path wins over a match by handle, and a match by handle wins over a
//! match by the end of a path.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use kb_engine::{DocumentInfo, Error, Lines, NameMatch};

use super::index::{Index, is_of_file};
use super::registry::{Indexes, names, pass_one_of};
use crate::response::uri::{self, Part};
use crate::response::wording::one_of;
use crate::response::{ToolError, short};

/// Most names that an error suggests.
const SUGGESTIONS_LIMIT: usize = 5;

/// A document that a call names.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) index: Arc<Index>,
    pub(crate) document: DocumentInfo,
    /// The lines that its name selects, as they stand in it.
    pub(crate) lines: Option<Lines>,
    /// Bytes of the text of these lines that its name skips.
    pub(crate) skip_bytes: u32,
}

impl Located {
    /// Its path, with the lines behind it that its name selects, as calls for rows and slides take them.
    pub(crate) fn name(&self) -> String {
        let path = &self.document.path;
        match self.lines {
            None => path.clone(),
            Some(lines) => format!("{path}:{}", lines.range_text()),
        }
    }

    /// What is read of it.
    pub(crate) fn selection(&self) -> Selection {
        Selection::new(&self.document.path, self.lines, self.skip_bytes)
    }
}

/// A document or lines of it, as [`kb_engine::Kb::text_paged`] takes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The path; only where bytes are skipped, with the lines behind it.
    pub(crate) name: String,
    /// The lines. Behind a path they might be taken for a part of that of another document, `a.md:2-3`.
    pub(crate) lines: Option<Lines>,
}

impl Selection {
    /// `lines` of the document at `path`, all of it without, after the first `skip_bytes` of their text.
    pub(crate) fn new(path: &str, lines: Option<Lines>, skip_bytes: u32) -> Selection {
        match lines.filter(|_| skip_bytes > 0) {
            Some(lines) => Selection {
                name: format!("{path}:{}", lines.range_text_after(skip_bytes)),
                lines: None,
            },
            None => Selection {
                name: path.to_owned(),
                lines,
            },
        }
    }
}

impl Display for Selection {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)?;
        match self.lines {
            Some(lines) => write!(formatter, ":{}", lines.range_text()),
            None => Ok(()),
        }
    }
}

/// A document that an error suggests.
struct Suggestion<'i> {
    index: &'i str,
    path: String,
}

impl Indexes {
    /// The document of that name, which may be a `kb://` URI, and its index. Without the name of an
    /// index, all are searched.
    ///
    /// # Errors
    /// `DOCUMENT_NOT_FOUND` with the nearest names, `AMBIGUOUS_DOCUMENT` and `INDEX_AMBIGUOUS` with the
    /// candidates; where several indexes are open, each name with its index.
    pub(crate) fn document(&self, index: Option<&str>, name: &str) -> Result<Located, ToolError> {
        let (index, name, of_uri) = match uri::parse(name) {
            Some(uri) => {
                let lines = match uri.part {
                    Part::Lines(first, last) => Some(Lines { first, last }),
                    _ => None,
                };
                (Some(uri.index), uri.path, lines)
            }
            None => (index.map(str::to_owned), name.to_owned(), None),
        };
        let all = self.list();
        let asked = match index {
            Some(index) => vec![self.named(&index)?],
            None => all.clone(),
        };
        let mut located = match (asked.as_slice(), all.as_slice()) {
            ([index], [_]) => {
                let found = index.kb().locate(&name);
                let found = found.map_err(|error| or_new_file(index.failure(error), &asked))?;
                Located {
                    index: Arc::clone(index),
                    document: found.document,
                    lines: found.lines,
                    skip_bytes: found.skip_bytes,
                }
            }
            _ => match find(&asked, &name) {
                Err(error) if error.code == "DOCUMENT_NOT_FOUND" => {
                    let found = self.behind_name(&asked, &name);
                    found.ok_or_else(|| or_new_file(error, &asked))?
                }
                found => found?,
            },
        };
        located.lines = of_uri.or(located.lines);
        Ok(located)
    }
}

impl Indexes {
    /// The document of `NAME/PATH`, with the name of an index that is asked and the whole path in it.
    fn behind_name(&self, asked: &[Arc<Index>], name: &str) -> Option<Located> {
        let (of_index, path) = name.split_once('/')?;
        let index = asked.iter().find(|index| index.name() == of_index)?;
        let it = index.kb().locate(path).ok()?;
        (it.how == NameMatch::Path).then(|| Located {
            index: Arc::clone(index),
            document: it.document,
            lines: it.lines,
            skip_bytes: it.skip_bytes,
        })
    }
}

/// Adds to the error for a document that is nowhere how many files wait to be indexed. It does not look for
/// a file of that name: the folders are named by whoever made the index, and may be any of this machine.
fn or_new_file(mut error: ToolError, asked: &[Arc<Index>]) -> ToolError {
    if error.code != "DOCUMENT_NOT_FOUND" || error.facts.contains_key("skipped") {
        return error;
    }
    let mut waiting = Vec::new();
    for index in asked {
        let changes = index.staleness_of_none().changes.unwrap_or_default();
        let new = match changes.added {
            0 => continue,
            1 => "1 new file".to_owned(),
            many => format!("{many} new files"),
        };
        waiting.push(format!("{new} in the indexed folders of {}", index.name()));
    }
    if !waiting.is_empty() {
        let new = format!(
            "It may be one of the files that are not indexed yet ({}): kb index brings the index up to date",
            waiting.join(", ")
        );
        error.hint = Some(match error.hint {
            Some(hint) => format!("{hint}. {new}"),
            None => new,
        });
    }
    error
}

/// The document of that name in one of these indexes, of several that are open.
fn find(asked: &[Arc<Index>], name: &str) -> Result<Located, ToolError> {
    let mut found: Vec<(Located, NameMatch)> = Vec::new();
    let (mut nearest, mut candidates, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    let mut failed: Option<ToolError> = None;
    for index in asked {
        let suggested = |paths: Vec<String>| {
            let index = index.name();
            paths
                .into_iter()
                .map(move |path| Suggestion { index, path })
        };
        match index.kb().locate(name) {
            Ok(it) => {
                let located = Located {
                    index: Arc::clone(index),
                    document: it.document,
                    lines: it.lines,
                    skip_bytes: it.skip_bytes,
                };
                found.push((located, it.how));
            }
            Err(Error::DocumentNotFound {
                skipped,
                nearest: some,
                ..
            }) => {
                unread.extend(suggested(skipped));
                nearest.push(suggested(some));
            }
            Err(Error::AmbiguousDocument {
                candidates: some, ..
            }) => candidates.extend(suggested(some)),
            // Reported only if no other index has the document.
            Err(error) if is_of_file(&error) => {
                failed.get_or_insert(index.failure(error));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let best = found.iter().map(|(.., how)| *how).min();
    found.retain(|(.., how)| Some(*how) == best);
    // What several documents of an index end in is as good as what one of another ends in.
    let is_path_end = best.is_none_or(|how| how >= NameMatch::PathEnd);
    match found.as_slice() {
        [_] if candidates.is_empty() || !is_path_end => {}
        [] if candidates.is_empty() => {
            let nearest = alternate(nearest);
            return Err(failed.unwrap_or_else(|| not_found(asked, name, &unread, &nearest)));
        }
        several if candidates.is_empty() || !is_path_end => {
            let having: Vec<_> = several
                .iter()
                .map(|(located, _)| Arc::clone(&located.index))
                .collect();
            let sentence = format!("{} indexes have a document {:?}", having.len(), short(name));
            return Err(ToolError::new("INDEX_AMBIGUOUS", sentence).with_hint(pass_one_of(&having)));
        }
        some => {
            let mut all: Vec<Suggestion<'_>> = Vec::new();
            for (located, _) in some {
                let (index, path) = (located.index.name(), located.document.path.clone());
                all.push(Suggestion { index, path });
            }
            all.append(&mut candidates);
            all.truncate(SUGGESTIONS_LIMIT);
            let sentence = format!("{:?} matches several documents", short(name));
            return Err(ToolError::new("AMBIGUOUS_DOCUMENT", sentence)
                .with_hint(format!("Give the whole path: {}", listed(&all)))
                .with_fact("candidates", uris(&all)));
        }
    }
    let (located, _) = found
        .pop()
        .ok_or_else(|| ToolError::new("INTERNAL", "a document was lost"))?;
    Ok(located)
}

/// The first of each, then the second of each: the nearest of no index hide those of another.
fn alternate<'i>(mut lists: Vec<impl Iterator<Item = Suggestion<'i>>>) -> Vec<Suggestion<'i>> {
    let mut all = Vec::new();
    while all.len() < SUGGESTIONS_LIMIT {
        let before = all.len();
        all.extend(lists.iter_mut().filter_map(Iterator::next));
        if all.len() == before {
            break;
        }
    }
    all.truncate(SUGGESTIONS_LIMIT);
    all
}

/// `unread` are the files of that name that were not read, each as `path: reason`.
fn not_found(
    asked: &[Arc<Index>],
    name: &str,
    unread: &[Suggestion<'_>],
    nearest: &[Suggestion<'_>],
) -> ToolError {
    let names = names(asked);
    let place = if asked.len() == 1 {
        format!("index {names}")
    } else {
        format!("the indexes {names}")
    };
    let sentence = format!("no document {:?} in {place}", short(name));
    let hint = |skipped| {
        let (name, nearest) = (name.to_owned(), Vec::new());
        let error = Error::DocumentNotFound {
            name,
            skipped,
            nearest,
        };
        ToolError::from(error).hint
    };
    if let [Suggestion { index, path: file }, ..] = unread
        && let Some((path, reason)) = file.split_once(": ")
    {
        let place = format!("{path} is in the indexed folder of {index}");
        let sentence = format!("{sentence}; {place} but was not read: {reason}");
        let all: Vec<String> = unread.iter().map(|one| one.path.clone()).collect();
        let mut error = ToolError::new("DOCUMENT_NOT_FOUND", sentence);
        error.hint = hint(all.clone());
        return error.with_fact("skipped", all);
    }
    let mut error = ToolError::new("DOCUMENT_NOT_FOUND", sentence);
    if nearest.is_empty() {
        error.hint = hint(Vec::new());
        return error;
    }
    let shown: Vec<String> = nearest.iter().map(Suggestion::shown).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    error
        .with_hint(format!("Did you mean {}?", one_of(&shown)))
        .with_fact("nearest", uris(nearest))
}

impl Suggestion<'_> {
    /// The two arguments that name it.
    fn shown(&self) -> String {
        format!("{} (index_name {})", self.path, self.index)
    }
}

fn listed(suggestions: &[Suggestion<'_>]) -> String {
    let shown: Vec<String> = suggestions.iter().map(Suggestion::shown).collect();
    shown.join(", ")
}

fn uris(suggestions: &[Suggestion<'_>]) -> Vec<String> {
    let uris = suggestions
        .iter()
        .map(|one| uri::of_document(one.index, &one.path));
    uris.collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use kb_engine::KbWriter;

    use super::*;
    use crate::options::Options;

    fn indexes(folder: &Path, files: &[(&str, &[&str])]) -> Arc<Indexes> {
        let mut all = Vec::new();
        for (name, documents) in files {
            let path = folder.join(format!("{name}.kb"));
            let mut writer = KbWriter::open_or_create(&path).unwrap();
            for document in *documents {
                writer.add_bytes(document, document.as_bytes()).unwrap();
            }
            writer.commit().unwrap();
            all.push(((*name).to_owned(), path));
        }
        let options = Options::reading(all);
        Indexes::open(&options).unwrap_or_else(|error| panic!("{error:?}"))
    }

    fn found(indexes: &Indexes, name: &str) -> String {
        match indexes.document(None, name) {
            Ok(it) => format!("{}: {}", it.index.name(), it.document.path),
            Err(error) => error.text(),
        }
    }

    #[test]
    fn a_path_wins_over_the_end_of_one_in_another_index() {
        let folder = tempfile::tempdir().unwrap();
        let open = indexes(
            folder.path(),
            &[
                ("one", &["src/lib.rs", "docs/a.md", "b/x.md", "c/x.md"]),
                ("two", &["lib.rs", "x.md", "more/a.md", "only.md"]),
            ],
        );
        assert_eq!(found(&open, "lib.rs"), "two: lib.rs");
        assert_eq!(found(&open, "src/lib.rs"), "one: src/lib.rs");
        // Several in the one index are as near as nothing against a path in the other.
        assert_eq!(found(&open, "x.md"), "two: x.md");
        assert_eq!(found(&open, "kb://one/doc/lib.rs"), "one: src/lib.rs");
        let located = open.document(Some("two"), "only.md").unwrap();
        let handle = located.document.handle;
        assert_eq!(found(&open, &handle), "two: only.md");
        assert_eq!(
            found(&open, "a.md"),
            "INDEX_AMBIGUOUS: 2 indexes have a document \"a.md\". Pass index_name: one or two."
        );
    }

    #[test]
    fn every_name_in_an_error_says_its_index() {
        let folder = tempfile::tempdir().unwrap();
        let open = indexes(
            folder.path(),
            &[
                ("one", &["b/x.md", "c/x.md", "guide.md"]),
                ("two", &["d/x.md", "guides.md"]),
            ],
        );
        assert_eq!(
            found(&open, "x.md"),
            "AMBIGUOUS_DOCUMENT: \"x.md\" matches several documents. Give the whole path: \
             d/x.md (index_name two), b/x.md (index_name one), c/x.md (index_name one)."
        );
        assert_eq!(
            found(&open, "giude.md"),
            "DOCUMENT_NOT_FOUND: no document \"giude.md\" in the indexes one and two. \
             Did you mean guide.md (index_name one) or guides.md (index_name two)?"
        );
        let error = open.document(Some("two"), "guide.md").unwrap_err();
        assert_eq!(
            error.text(),
            "DOCUMENT_NOT_FOUND: no document \"guide.md\" in index two. \
             Did you mean guides.md (index_name two)?"
        );
        assert_eq!(error.facts["nearest"][0], "kb://two/doc/guides.md");
    }

    #[test]
    fn a_search_covers_all_indexes_unless_it_asks_for_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let open = indexes(folder.path(), &[("one", &["a.md"]), ("two", &["b.md"])]);
        assert_eq!(open.pick_all(None).unwrap().len(), 2);
        let error = open.pick_all(Some(".")).unwrap_err();
        assert_eq!(error.code, "INDEX_NOT_FOUND");
        // The tests run in the folder of this package, which is the root of its files.
        let here = std::env::current_dir().unwrap();
        let file = folder.path().join("here.kb");
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        let sources = [here.join("Cargo.toml")];
        let options = kb_engine::IndexOptions::new();
        writer
            .index(&sources, &options, &mut kb_engine::Progress::ignore)
            .unwrap();
        drop(writer);
        let files = [("one", "one.kb"), ("here", "here.kb")];
        let files = files.map(|(name, file)| (name.to_owned(), folder.path().join(file)));
        let options = Options::reading(files.to_vec());
        let open = Indexes::open(&options).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(open.pick_all(None).unwrap().len(), 2);
        let asked = open.pick_all(Some(".")).unwrap();
        assert_eq!((asked.len(), asked[0].name()), (1, "here"));
    }

    #[test]
    fn a_path_may_stand_behind_the_name_of_its_index() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("own", &["dup.md", "b.md"][..]),
            ("other", &["dup.md", "own/b.md"]),
        ];
        let open = indexes(folder.path(), &files);
        assert_eq!(found(&open, "own/dup.md"), "own: dup.md");
        assert_eq!(found(&open, "other/dup.md:1-1"), "other: dup.md");
        assert_eq!(found(&open, "own/b.md"), "other: own/b.md", "a path wins");
        assert!(found(&open, "own/none.md").starts_with("DOCUMENT_NOT_FOUND"));
        let lines = open.document(None, "own/dup.md:1-1").unwrap().lines;
        assert_eq!(lines, Some(Lines { first: 1, last: 1 }));
        // The name of an index need not be that of its file.
        let options = Options::reading(vec![
            ("first".to_owned(), folder.path().join("own.kb")),
            ("second".to_owned(), folder.path().join("other.kb")),
        ]);
        let open = Indexes::open(&options).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(found(&open, "first/dup.md:1"), "first: dup.md");
    }
}
