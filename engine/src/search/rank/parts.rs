//! One row of evidence about a candidate, and the score that it makes, part by part.

use kb_types::{Class, Role};

use crate::search::query::intent::{Ask, Intent};
use crate::search::rank::weights::RANK_WEIGHTS;

/// What is known of a candidate beside its keyword and vector score. Class and role come from the index, what names
/// and texts say from the best candidates only; it is 0 for the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Features {
    pub(crate) class: Class,
    /// Of its document.
    pub(crate) role: Option<Role>,
    pub(crate) holds_test_functions: bool,
    /// Share of the words of the query that the path has, by weight, 0..1.
    pub(crate) path: f32,
    /// How much the name of the file says about the query, 0..1.
    pub(crate) file_name: f32,
    /// Neighbouring words of the query that are neighbours in the text, too, 0..1.
    pub(crate) adjacency: f32,
    /// Words of a statement or a message that the text has in a row, 0..1.
    pub(crate) verbatim: f32,
    /// How much a name that the text defines says about the query, 0..1.
    pub(crate) definition: f32,
    /// A symbol of the name that the query asks for, 0..1.
    pub(crate) symbol: f32,
    /// 1 for the best chunk of a document whose title is the query, less where the query names a symbol.
    pub(crate) title: f32,
    /// What it loses because better chunks of its document are shown, or gains in the place of a better copy.
    pub(crate) repeats: f32,
}

impl Default for Features {
    fn default() -> Features {
        Features {
            class: Class::Doc,
            role: None,
            holds_test_functions: false,
            path: 0.0,
            file_name: 0.0,
            adjacency: 0.0,
            verbatim: 0.0,
            definition: 0.0,
            symbol: 0.0,
            title: 0.0,
            repeats: 0.0,
        }
    }
}

/// One piece of evidence: its name, how much of it there is, and what it adds to the score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) value: f32,
    pub(crate) score: f32,
}

/// Parts of a score beside the fused one: the lines of [`Rules::parts`].
const PARTS: usize = 12;

/// What evidence is worth for one query.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    intent: Intent,
}

impl Rules {
    /// Those of a query.
    pub(crate) fn of(intent: &Intent) -> Rules {
        Rules {
            intent: intent.clone(),
        }
    }

    /// The score of a candidate: its fused score and all parts. It may exceed 1, so that the best of several good
    /// chunks is still the first.
    pub(crate) fn score(&self, fused: f32, keyword_weight: f32, features: &Features) -> f32 {
        let parts = self.parts(fused, keyword_weight, features);
        fused + parts.iter().map(|part| part.score).sum::<f32>()
    }

    /// The parts of a score beside the fused score. The shares come first and multiply what is there.
    pub(crate) fn parts(
        &self,
        fused: f32,
        keyword_weight: f32,
        features: &Features,
    ) -> [Part; PARTS] {
        let weights = &RANK_WEIGHTS;
        let is_question = self.intent.is_question;
        let mut left = fused;
        let mut keep = |name, share: Option<f32>| {
            let lost = left * (share.unwrap_or(1.0) - 1.0);
            left += lost;
            let value = f32::from(share.is_some());
            let score = lost;
            Part { name, value, score }
        };
        let role = features.role.filter(|role| !self.intent.wants(*role));
        let (name, share) = match role {
            Some(role) => (role_name(role), Some(self.share(role))),
            None => (role_name(features.role.unwrap_or(Role::Test)), None),
        };
        let of_role = keep(name, share);
        // A document of tests has lost its share already.
        let holds_tests = features.holds_test_functions
            && features.role != Some(Role::Test)
            && !self.intent.wants(Role::TestFunction);
        let of_tests = keep(
            "test functions",
            holds_tests.then_some(weights.test_function),
        );
        let is_data = features.class == Class::Data && self.intent.is_sentence;
        let of_data = keep("data", is_data.then_some(weights.data));
        let add = |name, value: f32, weight: f32| Part {
            name,
            value,
            score: value * weight,
        };
        let file_name = if is_question {
            weights.file_name_in_question
        } else {
            weights.file_name
        };
        let adjacency = if is_question {
            weights.adjacency_in_question
        } else {
            weights.adjacency
        };
        let of_intent = self.of_intent(features);
        [
            of_role,
            of_tests,
            of_data,
            add("intent", f32::from(of_intent != 0.0), of_intent),
            add("path", features.path, weights.path),
            add("file name", features.file_name, file_name),
            add("adjacency", features.adjacency, adjacency * keyword_weight),
            add("verbatim", features.verbatim, weights.verbatim),
            add("definition", features.definition, self.definition()),
            add("symbol", features.symbol, weights.symbol),
            add("title", features.title, weights.title),
            add("repeats", features.repeats, 1.0),
        ]
    }

    /// Whether a definition of a name adds to a score.
    pub(crate) fn counts_definitions(&self) -> bool {
        self.definition() != 0.0
    }

    /// What a definition of a name adds: the words of a question are names only where it writes them so.
    fn definition(&self) -> f32 {
        if self.intent.is_question && self.intent.identifiers.is_empty() {
            RANK_WEIGHTS.definition_in_question
        } else {
            RANK_WEIGHTS.definition
        }
    }

    /// The share of its score that a chunk of a role keeps.
    fn share(&self, role: Role) -> f32 {
        match role {
            Role::Test => RANK_WEIGHTS.test,
            Role::TestFunction => RANK_WEIGHTS.test_function,
            Role::Changelog => RANK_WEIGHTS.changelog,
            Role::Example => RANK_WEIGHTS.example,
            Role::Declaration => RANK_WEIGHTS.declaration,
            Role::Generated => RANK_WEIGHTS.generated,
        }
    }

    /// What the kind of text adds for what is asked.
    fn of_intent(&self, features: &Features) -> f32 {
        let weights = &RANK_WEIGHTS;
        let is_ordinary = features.role.is_none() && !features.holds_test_functions;
        match (self.intent.ask, features.class) {
            (Ask::Place | Ask::Message, Class::Code) if is_ordinary => weights.place_code,
            (Ask::Place | Ask::Message, Class::Doc) => weights.place_prose,
            (Ask::Task, Class::Doc) if features.role.is_none() => weights.task_prose,
            (Ask::Behaviour, Class::Code) if is_ordinary => weights.behaviour_code,
            (Ask::Reason, Class::Doc) if features.role.is_none() => weights.reason_prose,
            (Ask::Change, _) if features.role == Some(Role::Changelog) => weights.change_changelog,
            _ => 0.0,
        }
    }
}

/// The name of a role among the parts.
fn role_name(role: Role) -> &'static str {
    match role {
        Role::Test => "tests",
        Role::TestFunction => "test functions",
        Role::Changelog => "changelog",
        Role::Example => "example",
        Role::Declaration => "declarations",
        Role::Generated => "generated",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(query: &str, features: Features) -> f32 {
        Rules::of(&Intent::of(query)).score(0.5, 0.5, &features)
    }

    fn of_role(class: Class, role: Role) -> Features {
        Features {
            class,
            role: Some(role),
            ..Features::default()
        }
    }

    #[test]
    fn a_role_keeps_its_share_unless_it_is_asked_for() {
        let tests = of_role(Class::Code, Role::Test);
        assert_eq!(score("pool limit", tests), 0.5 * RANK_WEIGHTS.test);
        assert_eq!(score("tests of the pool", tests), 0.5);
        let both = Features {
            holds_test_functions: true,
            ..tests
        };
        assert_eq!(score("pool limit", both), score("pool limit", tests));
        let inline = Features { role: None, ..both };
        assert_eq!(
            score("pool limit", inline),
            0.5 * RANK_WEIGHTS.test_function
        );
        let changes = of_role(Class::Doc, Role::Changelog);
        assert!(score("what changed in the pool", changes) > 0.5);
        assert!(score("pool limit", changes) < 0.3);
    }

    #[test]
    fn what_is_asked_decides_between_code_and_prose() {
        let of = |class| Features {
            class,
            ..Features::default()
        };
        let (code, prose, data) = (of(Class::Code), of(Class::Doc), of(Class::Data));
        let place = "where is the pool closed";
        assert!(score(place, code) > score(place, prose));
        let task = "how do I close the pool";
        assert!(score(task, prose) > score(task, code));
        assert!(score(task, data) < score(task, code));
        assert_eq!(score("pool limit", code), score("pool limit", data));
    }

    #[test]
    fn a_word_of_a_question_is_no_name() {
        let defines = Features {
            class: Class::Code,
            definition: 0.6,
            ..Features::default()
        };
        let added = |query| score(query, defines) - score(query, of_class(Class::Code));
        assert!(added("how does a reader notice a commit") < 0.06);
        assert!(added("notice of a commit by readers") > 0.15);
        assert!(added("how does next_commit() wake a reader") > 0.15);
        let counts = |query| Rules::of(&Intent::of(query)).counts_definitions();
        assert!(!counts("how does a reader notice a commit"));
        assert!(counts("notice of a commit by readers"));
    }

    fn of_class(class: Class) -> Features {
        Features {
            class,
            ..Features::default()
        }
    }

    #[test]
    fn the_parts_add_up() {
        let features = Features {
            path: 0.5,
            adjacency: 0.25,
            repeats: -0.1,
            ..of_role(Class::Data, Role::Generated)
        };
        let rules = Rules::of(&Intent::of("where is the lock"));
        let parts = rules.parts(0.8, 0.6, &features);
        let sum: f32 = parts.iter().map(|part| part.score).sum();
        assert_eq!(rules.score(0.8, 0.6, &features), 0.8 + sum);
        let named = parts.iter().filter(|part| part.value != 0.0);
        let names: Vec<&str> = named.map(|part| part.name).collect();
        assert_eq!(names, ["generated", "data", "path", "adjacency", "repeats"]);
    }
}
