//! The frame of results that come in pages: `data`, `status`, `continuation`, `actions`.
//!
//! Doc comments of the fields are published as the descriptions of the output schemas; comments for
//! developers are `//`.

use schemars::JsonSchema;
use serde::Serialize;

use super::tool_response::Warnings;

/// Most tokens of one response.
pub(crate) const TOKENS_LIMIT: u32 = 20_000;

/// Smaller budgets have room for content or for further actions.
const ACTIONS_LEAST_TOKENS: u64 = 400;

/// How much of a result one page holds, and why it ends where it does.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResultPage<'p> {
    /// Tokens of the page.
    pub(crate) tokens: u64,
    /// The budget.
    pub(crate) max_tokens: u64,
    /// Whether the page has a part of an item that is too long for any.
    pub(crate) is_cut: bool,
    /// Whether the time for it ran out.
    pub(crate) is_out_of_time: bool,
    /// Continues the result; `None` on the last page.
    pub(crate) token: Option<&'p str>,
    /// Whether it ends because it has as many items as the caller asked for.
    pub(crate) is_full: bool,
    /// Whether the call came with a token of an earlier page.
    pub(crate) is_continued: bool,
    /// The message of a complete result: `SUCCESS`, `SEARCH_COMPLETED`.
    pub(crate) complete: &'static str,
    /// The items of the page in plural: `results`, `pages`.
    pub(crate) items: &'static str,
    /// About how many tokens are left, where that is known.
    pub(crate) tokens_left: Option<u64>,
    /// The argument that asks for some items only, and an example of it, in tools that have one.
    pub(crate) range: Option<(RangeArgument, &'p str)>,
}

/// An argument that asks for some parts of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RangeArgument {
    Pages,
    Slides,
    Cells,
}

impl RangeArgument {
    /// The name of the argument.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RangeArgument::Pages => "page_range",
            RangeArgument::Slides => "slide_numbers",
            RangeArgument::Cells => "cell_range",
        }
    }
}

/// A page with its frame. `D` has a field `token_count` with the same tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Envelope<D> {
    data: D,
    pub(super) status: Status,
    pub(super) continuation: Continuation,
    /// What to do next.
    pub(super) actions: Option<Vec<Action>>,
    warnings: Option<Warnings>,
    #[serde(skip)]
    pub(super) tokens: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// Outcome
    pub(super) code: StatusCode,
    /// Status code such as SUCCESS, TOKEN_LIMIT_REACHED, TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED, NO_MORE_DATA, SEARCH_COMPLETED.
    pub(super) message: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatusCode {
    Success,
    // The first item alone is over the budget, or the time ran out.
    PartialSuccess,
}

impl StatusCode {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            StatusCode::Success => "success",
            StatusCode::PartialSuccess => "partial_success",
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Continuation {
    has_more: bool,
    /// Pass as continuation_token.
    pub(super) token: Option<String>,
}

impl Continuation {
    pub(crate) fn of(token: Option<&str>) -> Continuation {
        Continuation {
            has_more: token.is_some(),
            token: token.map(str::to_owned),
        }
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Action {
    /// Action
    pub(super) id: ActionId,
    pub(super) description: String,
    #[schemars(default)]
    pub(super) params: ActionParams,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum ActionId {
    Continue,
    IncreaseLimit,
    GetAll,
    UseSpecificRange,
}

impl ActionId {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            ActionId::Continue => "CONTINUE",
            ActionId::IncreaseLimit => "INCREASE_LIMIT",
            ActionId::GetAll => "GET_ALL",
            ActionId::UseSpecificRange => "USE_SPECIFIC_RANGE",
        }
    }
}

// The arguments to change in the next call.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ActionParams {
    pub(super) continuation_token: Option<String>,
    pub(super) max_tokens: Option<u64>,
    pub(super) page_range: Option<String>,
    pub(super) slide_numbers: Option<String>,
    pub(super) cell_range: Option<String>,
}

impl ActionParams {
    fn of_range(argument: RangeArgument, range: &str) -> ActionParams {
        let mut params = ActionParams::default();
        let field = match argument {
            RangeArgument::Pages => &mut params.page_range,
            RangeArgument::Slides => &mut params.slide_numbers,
            RangeArgument::Cells => &mut params.cell_range,
        };
        *field = Some(range.to_owned());
        params
    }

    /// The range and the name of its argument.
    pub(super) fn range(&self) -> Option<(&'static str, &str)> {
        let ranges = [
            (RangeArgument::Pages, &self.page_range),
            (RangeArgument::Slides, &self.slide_numbers),
            (RangeArgument::Cells, &self.cell_range),
        ];
        let mut ranges = ranges.into_iter();
        ranges.find_map(|(argument, range)| Some((argument.name(), range.as_deref()?)))
    }
}

impl ResultPage<'_> {
    /// The page `data` with its frame.
    pub(crate) fn envelope<D>(&self, data: D, warnings: Vec<String>) -> Envelope<D> {
        let code = if self.is_over() || self.is_out_of_time {
            StatusCode::PartialSuccess
        } else {
            StatusCode::Success
        };
        let actions = self.actions();
        Envelope {
            data,
            status: Status {
                code,
                message: self.message(),
            },
            continuation: Continuation::of(self.token),
            actions: (!actions.is_empty()).then_some(actions),
            warnings: Warnings::of(warnings),
            tokens: self.tokens,
        }
    }

    /// Whether the first item alone exceeds the budget.
    fn is_over(&self) -> bool {
        self.is_cut || self.tokens > self.max_tokens
    }

    /// Whether a larger budget would give more.
    fn is_limited(&self) -> bool {
        self.is_over() || (self.token.is_some() && !self.is_full && !self.is_out_of_time)
    }

    fn message(&self) -> &'static str {
        match self.token {
            _ if self.is_out_of_time => "TIME_LIMIT_REACHED",
            _ if self.tokens > self.max_tokens => "TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED",
            _ if self.is_cut => "TOKEN_LIMIT_REACHED",
            Some(_) if self.is_full => self.complete,
            Some(_) => "TOKEN_LIMIT_REACHED",
            None if self.is_continued => "NO_MORE_DATA",
            None => self.complete,
        }
    }

    fn actions(&self) -> Vec<Action> {
        let most = u64::from(TOKENS_LIMIT);
        let doubled = self.max_tokens.max(self.tokens).saturating_mul(2);
        let higher_limit = |description: &str| Action {
            id: ActionId::IncreaseLimit,
            description: description.to_owned(),
            params: ActionParams {
                max_tokens: Some(doubled.min(most)),
                ..ActionParams::default()
            },
        };
        let mut actions = Vec::new();
        if let Some(token) = self.token {
            actions.push(Action {
                id: ActionId::Continue,
                description: format!("Get the next {}", self.items),
                params: ActionParams {
                    continuation_token: Some(token.to_owned()),
                    ..ActionParams::default()
                },
            });
        }
        if self.is_limited() && doubled.min(most) > self.max_tokens {
            actions.push(higher_limit("Retry with a higher token limit"));
        }
        if self.max_tokens < ACTIONS_LEAST_TOKENS {
            return actions;
        }
        if self.token.is_some()
            && let Some(left) = self.tokens_left.filter(|left| *left < most)
        {
            // The estimate may be too low.
            let all = (left + left / 8 + 16).min(most);
            actions.push(Action {
                id: ActionId::GetAll,
                description: "Get the whole rest at once".to_owned(),
                params: ActionParams {
                    max_tokens: Some(all),
                    ..ActionParams::default()
                },
            });
        }
        if let Some((argument, range)) = self.range
            && (self.token.is_some() || self.is_over())
        {
            actions.push(Action {
                id: ActionId::UseSpecificRange,
                description: format!("Request only some {}", self.items),
                params: ActionParams::of_range(argument, range),
            });
        }
        actions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> ResultPage<'static> {
        ResultPage {
            tokens: 40,
            max_tokens: 400,
            complete: "SEARCH_COMPLETED",
            items: "results",
            ..ResultPage::default()
        }
    }

    fn framed(page: &ResultPage<'_>) -> (&'static str, &'static str, Vec<&'static str>) {
        let envelope = page.envelope((), Vec::new());
        let actions = envelope.actions.iter().flatten();
        let ids = actions.map(|action| action.id.as_str()).collect();
        (envelope.status.code.as_str(), envelope.status.message, ids)
    }

    #[test]
    fn the_status_says_why_a_page_ends() {
        let success = |message| ("success", message, Vec::new());
        assert_eq!(framed(&page()), success("SEARCH_COMPLETED"));
        let last = ResultPage {
            is_continued: true,
            ..page()
        };
        assert_eq!(framed(&last), success("NO_MORE_DATA"));
        let cut = framed(&ResultPage {
            token: Some("t"),
            ..page()
        });
        assert_eq!((cut.0, cut.1), ("success", "TOKEN_LIMIT_REACHED"));
        let full = framed(&ResultPage {
            token: Some("t"),
            is_full: true,
            ..page()
        });
        assert_eq!(full.1, "SEARCH_COMPLETED");
        let over = framed(&ResultPage {
            tokens: 401,
            ..page()
        });
        assert_eq!(
            (over.0, over.1),
            ("partial_success", "TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED")
        );
        assert_eq!(over.2, ["INCREASE_LIMIT"]);
        // S3-65: not all of it is included.
        let part = framed(&ResultPage {
            token: Some("t"),
            is_cut: true,
            ..page()
        });
        assert_eq!((part.0, part.1), ("partial_success", "TOKEN_LIMIT_REACHED"));
        let late = framed(&ResultPage {
            token: Some("t"),
            is_out_of_time: true,
            ..page()
        });
        let expected = ("partial_success", "TIME_LIMIT_REACHED", vec!["CONTINUE"]);
        assert_eq!(late, expected);
    }

    #[test]
    fn actions_say_how_to_continue() {
        let cut = ResultPage {
            token: Some("t"),
            ..page()
        };
        assert_eq!(framed(&cut).2, ["CONTINUE", "INCREASE_LIMIT"]);
        let near = ResultPage {
            tokens_left: Some(19_999),
            ..cut
        };
        assert_eq!(framed(&near).2, ["CONTINUE", "INCREASE_LIMIT", "GET_ALL"]);
        let far = ResultPage {
            tokens_left: Some(20_000),
            range: Some((RangeArgument::Pages, "1-2")),
            ..cut
        };
        assert_eq!(
            framed(&far).2,
            ["CONTINUE", "INCREASE_LIMIT", "USE_SPECIFIC_RANGE"]
        );
        let whole = ResultPage {
            range: Some((RangeArgument::Pages, "1-2")),
            tokens_left: Some(0),
            ..page()
        };
        assert!(framed(&whole).2.is_empty());
    }

    #[test]
    fn a_small_budget_has_the_actions_that_go_on() {
        // S3-60, S3-66
        let cut = ResultPage {
            token: Some("t"),
            max_tokens: 399,
            tokens_left: Some(9),
            ..page()
        };
        assert_eq!(framed(&cut).2, ["CONTINUE", "INCREASE_LIMIT"]);
        let full = ResultPage {
            is_full: true,
            ..cut
        };
        assert_eq!(framed(&full).2, ["CONTINUE"]);
    }

    #[test]
    fn continue_has_the_token() {
        // S3-60
        let cut = ResultPage {
            token: Some("t"),
            ..page()
        };
        let envelope = serde_json::to_value(cut.envelope((), Vec::new())).unwrap();
        assert_eq!(envelope["actions"][0]["params"]["continuation_token"], "t");
        let last = page().envelope((), Vec::new());
        assert!(last.actions.is_none());
    }

    #[test]
    fn a_higher_limit_stays_within_the_maximum() {
        let most = ResultPage {
            max_tokens: 15_000,
            token: Some("t"),
            ..page()
        };
        let envelope = most.envelope((), vec!["w".to_owned()]);
        let whole = serde_json::to_value(&envelope).unwrap();
        assert_eq!(whole["actions"][1]["params"]["max_tokens"], 20_000);
        assert_eq!(whole["actions"][1]["id"], "INCREASE_LIMIT");
        assert_eq!(whole["warnings"][0], "w");
    }

    #[test]
    fn names_are_those_of_the_json() {
        for code in [StatusCode::Success, StatusCode::PartialSuccess] {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
        for id in [
            ActionId::Continue,
            ActionId::IncreaseLimit,
            ActionId::GetAll,
            ActionId::UseSpecificRange,
        ] {
            assert_eq!(serde_json::to_value(id).unwrap(), id.as_str());
        }
    }
}
