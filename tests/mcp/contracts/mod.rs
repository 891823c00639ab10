//! The contracts of the five systems that this server takes the place of, line by line: each test names the lines of
//! the acceptance list that it holds.

mod code;
mod company;
mod documents;
mod tokens;

use serde_json::Value;

use self::company::company;
use super::client::Client;

/// The ids of the actions of an answer.
fn actions(answer: &Value) -> Vec<&str> {
    let actions = answer["actions"].as_array().into_iter().flatten();
    actions
        .map(|action| action["id"].as_str().expect("an id"))
        .collect()
}

/// The action of that id.
fn action<'a>(answer: &'a Value, id: &str) -> &'a Value {
    let mut actions = answer["actions"].as_array().into_iter().flatten();
    actions
        .find(|action| action["id"] == id)
        .expect("the action")
}

fn served() -> (crate::support::Folder, Client) {
    let folder = company();
    let client = Client::stdio(&folder, &["company.kb"]);
    (folder, client)
}

fn results(answer: &Value) -> &Vec<Value> {
    answer["data"]["results"].as_array().expect("results")
}
