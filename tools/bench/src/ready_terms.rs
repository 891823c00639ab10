//! Terms as the engine's analyser makes them, so that baselines get the same token stream.

use kb_engine::testing::index::keyword::Analyser;

/// Terms of a text in order, joined by spaces.
pub(crate) fn ready_terms(analyser: &mut Analyser, text: &str) -> String {
    let mut terms = String::new();
    analyser.analyse(text, |term, _| {
        terms.push_str(term);
        terms.push(' ');
    });
    terms
}
