//! The frame of answers that come in parts: `data`, `status`, `continuation`, `actions`.

use serde_json::{Value, json};

use super::Object;

/// Most tokens that a client may ask for at once.
pub(crate) const MOST_TOKENS: u64 = 20_000;

/// What an answer in parts is told by.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Part<'p> {
    /// Tokens of the content.
    pub(crate) tokens: u64,
    /// How many were asked for.
    pub(crate) max_tokens: u64,
    /// What to ask for the next part with; none: this is the last.
    pub(crate) token: Option<&'p str>,
    /// Whether it ends because it has as many items as were asked for.
    pub(crate) is_full: bool,
    /// Whether this part goes on where another one ended.
    pub(crate) is_continued: bool,
    /// What a whole answer is called: `SUCCESS`, `SEARCH_COMPLETED`.
    pub(crate) whole: &'static str,
    /// What the next part holds: `results`, `pages`.
    pub(crate) items: &'static str,
    /// About how many tokens are left, where it is known.
    pub(crate) left: Option<u64>,
    /// An argument that asks for some items instead of all, and an example: `page_range`, `3-4`.
    pub(crate) range: Option<(&'static str, &'p str)>,
}

impl Part<'_> {
    /// Whether the first item alone was over the budget.
    fn is_over(&self) -> bool {
        self.tokens > self.max_tokens
    }

    fn message(&self) -> &'static str {
        match self.token {
            _ if self.is_over() => "TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED",
            Some(_) if self.is_full => self.whole,
            Some(_) => "TOKEN_LIMIT_REACHED",
            None if self.is_continued => "NO_MORE_DATA",
            None => self.whole,
        }
    }

    /// The whole frame around `data`, which gets its `token_count`.
    pub(crate) fn around(&self, mut data: Object, warnings: &[String]) -> Object {
        data.insert("token_count".to_owned(), self.tokens.into());
        let code = if self.is_over() {
            "partial_success"
        } else {
            "success"
        };
        let mut whole = Object::new();
        whole.insert("data".to_owned(), Value::Object(data));
        let status = json!({"code": code, "message": self.message()});
        whole.insert("status".to_owned(), status);
        whole.insert("continuation".to_owned(), continuation(self.token));
        let actions = self.actions();
        if !actions.is_empty() {
            whole.insert("actions".to_owned(), Value::Array(actions));
        }
        super::insert_warnings(&mut whole, warnings);
        whole
    }

    fn actions(&self) -> Vec<Value> {
        let mut actions = Vec::new();
        if let Some(token) = self.token {
            let items = self.items;
            let description = format!("Get the next {items}");
            actions.push(json!({"id": "CONTINUE", "description": description,
                "params": {"continuation_token": token}}));
            let more = self
                .max_tokens
                .max(self.tokens)
                .saturating_mul(2)
                .min(MOST_TOKENS);
            actions.push(
                json!({"id": "INCREASE_LIMIT", "description": "Retry with a higher token limit",
                "params": {"max_tokens": more}}),
            );
            if let Some(left) = self.left.filter(|left| *left < MOST_TOKENS) {
                // A little more than estimated.
                let all = (left + left / 8 + 16).min(MOST_TOKENS);
                actions.push(
                    json!({"id": "GET_ALL", "description": "Get everything that is left at once",
                    "params": {"continuation_token": token, "max_tokens": all}}),
                );
            }
        }
        if let Some((argument, example)) = self.range
            && (self.token.is_some() || self.is_over())
        {
            let description = format!("Ask for some {} only", self.items);
            actions.push(
                json!({"id": "USE_SPECIFIC_RANGE", "description": description,
                "params": {argument: example}}),
            );
        }
        actions
    }
}

/// `{has_more, token}`.
pub(crate) fn continuation(token: Option<&str>) -> Value {
    match token {
        Some(token) => json!({"has_more": true, "token": token}),
        None => json!({"has_more": false}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part() -> Part<'static> {
        Part {
            tokens: 40,
            max_tokens: 100,
            whole: "SEARCH_COMPLETED",
            items: "results",
            ..Part::default()
        }
    }

    fn told(part: &Part<'_>) -> (String, String, Vec<String>) {
        let whole = part.around(Object::new(), &[]);
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let actions = whole.get("actions").and_then(Value::as_array);
        let ids = actions
            .into_iter()
            .flatten()
            .map(|action| word(&action["id"]));
        let status = &whole["status"];
        (
            word(&status["code"]),
            word(&status["message"]),
            ids.collect(),
        )
    }

    #[test]
    fn the_status_says_why_an_answer_ends() {
        let success = |message: &str| ("success".to_owned(), message.to_owned(), Vec::new());
        assert_eq!(told(&part()), success("SEARCH_COMPLETED"));
        let last = Part {
            is_continued: true,
            ..part()
        };
        assert_eq!(told(&last), success("NO_MORE_DATA"));
        let cut = told(&Part {
            token: Some("t"),
            ..part()
        });
        assert_eq!(
            (cut.0.as_str(), cut.1.as_str()),
            ("success", "TOKEN_LIMIT_REACHED")
        );
        let full = told(&Part {
            token: Some("t"),
            is_full: true,
            ..part()
        });
        assert_eq!(full.1, "SEARCH_COMPLETED");
        let over = told(&Part {
            tokens: 101,
            ..part()
        });
        assert_eq!(over.0, "partial_success");
        assert_eq!(over.1, "TOKEN_LIMIT_EXCEEDED_BUT_INCLUDED");
    }

    #[test]
    fn actions_say_how_to_go_on() {
        let cut = Part {
            token: Some("t"),
            ..part()
        };
        assert_eq!(told(&cut).2, ["CONTINUE", "INCREASE_LIMIT"]);
        let near = Part {
            left: Some(19_999),
            ..cut
        };
        assert_eq!(told(&near).2, ["CONTINUE", "INCREASE_LIMIT", "GET_ALL"]);
        let far = Part {
            left: Some(20_000),
            range: Some(("page_range", "1-2")),
            ..cut
        };
        assert_eq!(
            told(&far).2,
            ["CONTINUE", "INCREASE_LIMIT", "USE_SPECIFIC_RANGE"]
        );
        let whole = Part {
            range: Some(("page_range", "1-2")),
            left: Some(0),
            ..part()
        };
        assert_eq!(told(&whole).2, Vec::<String>::new());
    }

    #[test]
    fn a_higher_limit_stays_within_what_may_be_asked() {
        let most = Part {
            max_tokens: 15_000,
            token: Some("t"),
            ..part()
        };
        let whole = most.around(Object::new(), &["w".to_owned()]);
        assert_eq!(whole["actions"][1]["params"]["max_tokens"], 20_000);
        assert_eq!(whole["data"]["token_count"], 40);
        assert_eq!(whole["warnings"][0], "w");
    }
}
