//! The constants of the ranking, in one table.

/// What each piece of evidence is worth. Shares multiply the score that a chunk has so far; the others are added to
/// it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankWeights {
    /// Weight of the vector score in a file of prose, when the model knows every word of the query.
    pub vector_in_prose: f32,
    /// The same in a file of code. Code has the words of a question less often than prose has.
    pub vector_in_code: f32,
    /// The same for a question.
    pub vector_in_code_for_questions: f32,
    /// Weight of the keyword score where a contextual model answers, too. The three weights sum up to 1.
    pub keyword_of_three: f32,
    /// The same for a question.
    pub keyword_of_three_for_questions: f32,
    /// Weight of the built-in model there, when it knows every word of the query.
    pub built_in_of_three: f32,
    /// The same for a question in a file of prose.
    pub built_in_of_three_in_prose_for_questions: f32,
    /// The same for a question in a file of code.
    pub built_in_of_three_in_code_for_questions: f32,
    /// Share that a chunk of tests keeps.
    pub test: f32,
    /// Share that a chunk with test functions keeps, outside of documents of tests.
    pub test_function: f32,
    /// Share that a chunk of a changelog keeps.
    pub changelog: f32,
    /// Share that a chunk of an example or a benchmark keeps.
    pub example: f32,
    /// Share that a chunk of declarations keeps.
    pub declaration: f32,
    /// Share that a generated or copied chunk keeps.
    pub generated: f32,
    /// Share that a chunk of data keeps when the query is a sentence.
    pub data: f32,
    /// For code, where a place is asked for, or what makes an error message.
    pub place_code: f32,
    /// For prose, where one of these is asked for.
    pub place_prose: f32,
    /// For prose, where a task is to be done.
    pub task_prose: f32,
    /// For code, where it is asked how something works.
    pub behaviour_code: f32,
    /// For prose, where a reason is asked for.
    pub reason_prose: f32,
    /// For a changelog, where a change is asked for.
    pub change_changelog: f32,
    /// For the share of the words of the query that the path has.
    pub path: f32,
    /// For the name of the file.
    pub file_name: f32,
    /// For the name of the file, in a question.
    pub file_name_in_question: f32,
    /// For neighbouring words, as a share of the weight of the keyword score.
    pub adjacency: f32,
    /// The same in a question.
    pub adjacency_in_question: f32,
    /// For words of a statement or an error message that the text has in a row.
    pub verbatim: f32,
    /// For a definition of a name with words of the query.
    pub definition: f32,
    /// The same in a question, whose words are no names.
    pub definition_in_question: f32,
    /// For a symbol of the name that the query asks for: more than all else together adds to a use of that name.
    pub symbol: f32,
    /// For the best chunk of a document whose title is the query: more than all else together adds, but for a symbol.
    pub title: f32,
}

/// The weights. Those of roles, intents and the path are fitted to 200 questions of eight repositories, leaving one
/// repository out at a time (`cargo xtask eval ranking`). The others were chosen on the judged collections, leaving one
/// collection out at a time (docs/decisions/12-reranking.md).
pub const RANK_WEIGHTS: RankWeights = RankWeights {
    vector_in_prose: 0.26,
    vector_in_code: 0.45,
    vector_in_code_for_questions: 0.55,
    keyword_of_three: 0.5,
    keyword_of_three_for_questions: 0.3,
    built_in_of_three: 0.2,
    built_in_of_three_in_prose_for_questions: 0.1,
    built_in_of_three_in_code_for_questions: 0.4,
    test: 0.6,
    test_function: 0.6,
    changelog: 0.5,
    example: 0.8,
    declaration: 0.6,
    generated: 0.8,
    data: 0.8,
    place_code: 0.08,
    place_prose: -0.08,
    task_prose: 0.08,
    behaviour_code: 0.04,
    reason_prose: 0.04,
    change_changelog: 0.2,
    path: 0.05,
    file_name: 0.2,
    file_name_in_question: 0.05,
    adjacency: 0.25,
    adjacency_in_question: 0.1,
    verbatim: 0.4,
    definition: 0.33,
    definition_in_question: 0.0,
    symbol: 1.0,
    title: 1.0,
};
