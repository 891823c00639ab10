//! Documents whose title is the query.

use kb_types::DocumentId;
use kb_types::error::Result;
use rustc_hash::FxHashSet;

use super::ranker::Ranker;
use super::scored::Scored;
use crate::search::plan::Plan;

/// Documents of one title that come first. Of more, as of pages called "Introduction", the title tells nothing.
pub(super) const MOST_TITLED: usize = 3;

/// Share of a title where the query is the name of a symbol, which comes first.
const BESIDE_SYMBOL_SHARE: f32 = 0.5;

impl Ranker<'_, '_> {
    /// Moves the best chunk of each document that is titled as the query before all that scores less, unless there are
    /// many of them. Those are known that were looked for, and those among the first `read` chunks, whose records were
    /// read.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub(super) fn titled_to_front(
        &mut self,
        plan: &Plan<'_>,
        mut all: Vec<Scored>,
        read: usize,
    ) -> Result<Vec<Scored>> {
        if self.titled.len() > MOST_TITLED {
            return Ok(all);
        }
        let mut documents: FxHashSet<(usize, DocumentId)> = FxHashSet::default();
        let mut places = Vec::new();
        for (place, scored) in all.iter().enumerate() {
            if place >= read && self.titled.is_empty() {
                break;
            }
            let file = self.sources.file_of(scored.address.segment);
            let document = (file, self.sources.document_of(scored.address)?);
            let is_titled = self.titled.contains(&document)
                || (place < read && self.document(scored.address)?.is_titled);
            if is_titled && documents.insert(document) {
                places.push(place);
            }
        }
        if places.len() > MOST_TITLED {
            return Ok(all);
        }
        let share = match plan.definitions.name() {
            Some(_) => BESIDE_SYMBOL_SHARE,
            None => 1.0,
        };
        let mut titled = Vec::with_capacity(places.len());
        // From the last on, so that the places of the others stay.
        for place in places.into_iter().rev() {
            let mut scored = all.remove(place);
            scored.features.title = share;
            scored.score = self.score(plan, &scored);
            titled.push(scored);
        }
        for scored in titled.into_iter().rev() {
            // Behind those of the same score: the better ones come first.
            let at = all.iter().position(|other| other.score < scored.score);
            all.insert(at.unwrap_or(all.len()), scored);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use crate::kb::{Kb, KbWriter};
    use crate::search::{Mode, Request, Response};

    /// Some titled documents, and others that say the words far more often.
    fn kb(titled: &[(&str, &str)]) -> (tempfile::TempDir, Kb) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kb");
        let mut writer = KbWriter::open_or_create(&path).unwrap();
        for (name, text) in titled {
            writer.add_bytes(name, text.as_bytes()).unwrap();
        }
        for number in 0..30 {
            let text = format!(
                "# Harbour watch and harbour watch {number}\n\n{}",
                "The harbour watch keeps the harbour watch.\n".repeat(6)
            );
            let name = format!("harbour-watch/{number}.md");
            writer.add_bytes(&name, text.as_bytes()).unwrap();
        }
        writer.commit().unwrap();
        let kb = Kb::open(&path).unwrap();
        (folder, kb)
    }

    fn ask(kb: &Kb, query: &str, mode: Mode) -> Response {
        let request = Request::new(query).mode(mode).explain(true);
        kb.search(&request).unwrap()
    }

    fn is_titled(response: &Response) -> bool {
        let bonuses = response.hits.iter().flat_map(|hit| &hit.bonuses);
        bonuses.filter(|bonus| bonus.name == "title").count() > 0
    }

    const BODY: &str =
        "Keepers look at the sea by turns, and write down each ship that comes in at night.\n";

    #[test]
    fn a_document_of_this_title_comes_first() {
        let stated = format!("---\ntitle: Harbour watch\n---\n\n# Rules\n\n{BODY}");
        for (name, text) in [
            ("rules.md", format!("# Harbour Watch\n\n{BODY}")),
            ("rules.md", stated),
            ("Harbour-Watch.txt", BODY.to_owned()),
        ] {
            let (_folder, kb) = kb(&[(name, &text)]);
            for mode in [Mode::Hybrid, Mode::Keyword] {
                let found = ask(&kb, "harbour watch", mode);
                assert_eq!(found.hits[0].document, name, "{text} {mode:?}");
                assert!(is_titled(&found));
                let scores: Vec<f32> = found.hits.iter().map(|hit| hit.score).collect();
                assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
                // More words, or fewer, are no title.
                for query in ["harbour watch rules of keepers", "harbour"] {
                    assert!(!is_titled(&ask(&kb, query, mode)), "{query}");
                }
            }
        }
    }

    #[test]
    fn one_of_many_of_a_title_comes_by_its_score() {
        let text = |number| format!("# Harbour watch\n\n{BODY}Station {number}.\n");
        let texts: Vec<String> = (0..5).map(text).collect();
        let names: Vec<String> = (0..5).map(|number| format!("{number}/a.md")).collect();
        let of = |count: usize| {
            let documents = names.iter().zip(&texts).take(count);
            kb(&documents
                .map(|(name, text)| (&**name, &**text))
                .collect::<Vec<_>>())
        };
        let (_folder, few) = of(2);
        let found = ask(&few, "harbour watch", Mode::Keyword);
        assert!(is_titled(&found));
        let (_folder, many) = of(5);
        assert!(!is_titled(&ask(&many, "harbour watch", Mode::Keyword)));
    }
}
