//! Tools and a prompt of the conformance suite that need input of the client before they answer.

use std::sync::LazyLock;

use rmcp::model::*;
use serde_json::{Value, json};

use super::content::{complete, internal, text_block};

/// The tools that require input.
pub(super) const TOOLS: [&str; 9] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_capabilities",
    "test_streaming_elicitation",
];

/// Seals what a client carries from one round to the next.
static SEAL: LazyLock<RequestStateCodec> = LazyLock::new(|| {
    let mut key = [0; 32];
    // Without random bytes the key is zero, which is enough for a suite that does not attack it.
    let _ = getrandom::fill(&mut key);
    RequestStateCodec::new(key)
});

/// The response of a client to one request, if it is an object.
fn answer<'r>(responses: Option<&'r InputResponses>, name: &str) -> Option<&'r Value> {
    responses?.get(name).filter(|value| value.is_object())
}

fn asks_text(message: &str, name: &str) -> Value {
    asks(message, json!({ name: { "type": "string" } }), name)
}

fn asks(message: &str, properties: Value, required: &str) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": properties,
            "required": [required],
        },
    } })
}

fn asks_model(question: &str, max_tokens: u32) -> Value {
    json!({ "method": "sampling/createMessage", "params": {
        "messages": [{ "role": "user", "content": { "type": "text", "text": question } }],
        "maxTokens": max_tokens,
    } })
}

fn asks_roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// The result that requires these inputs and gives the client a sealed state to return.
pub(super) fn required(
    requests: Value,
    state: Option<Value>,
) -> Result<InputRequiredResult, ErrorData> {
    let requests = serde_json::from_value(requests).map_err(internal)?;
    let state = state.map(|state| SEAL.seal_json(&state)).transpose();
    Ok(InputRequiredResult::new(
        Some(requests),
        state.map_err(internal)?,
    ))
}

/// The state that the client returned; none in the first round.
fn opened(state: Option<&str>) -> Result<Option<Value>, ErrorData> {
    let opened = state.map(|state| SEAL.open_json(state)).transpose();
    opened.map_err(|_| ErrorData::invalid_params("requestState is not as it was given", None))
}

pub(super) fn call(
    request: &CallToolRequestParams,
    meta: &RequestMetaObject,
) -> Result<CallToolResponse, ErrorData> {
    let given = request.input_responses.as_ref();
    let state = opened(request.request_state.as_deref())?;
    let requests = match &*request.name {
        "test_input_required_result_elicitation" => match answer(given, "user_name") {
            Some(answer) => {
                let name = answer.pointer("/content/name").and_then(Value::as_str);
                let name = name.unwrap_or("friend");
                return complete(json!([text_block(format!("Hello, {name}!"))]));
            }
            None => json!({ "user_name": asks_text("What is your name?", "name") }),
        },
        "test_input_required_result_sampling" => match answer(given, "capital_question") {
            Some(answer) => {
                let text = answer.pointer("/content/text").and_then(Value::as_str);
                return complete(json!([text_block(text.unwrap_or_default())]));
            }
            None => {
                json!({ "capital_question": asks_model("What is the capital of France?", 100) })
            }
        },
        "test_input_required_result_list_roots" => match answer(given, "client_roots") {
            Some(answer) => {
                let roots = answer.get("roots").cloned().unwrap_or_default();
                return complete(json!([text_block(format!("Roots: {roots}"))]));
            }
            None => json!({ "client_roots": asks_roots() }),
        },
        "test_streaming_elicitation" => {
            json!({ "streaming_elicitation": asks_text("Provide a value", "value") })
        }
        "test_input_required_result_capabilities" => {
            let requests = those_declared(meta);
            if given.is_some() || requests == json!({}) {
                return complete(json!([text_block("Nothing more is needed")]));
            }
            requests
        }
        "test_input_required_result_multi_round" => return round(state.as_ref()),
        "test_input_required_result_multiple_inputs" => {
            let names = ["user_name", "greeting", "client_roots"];
            if state.is_some() && names.iter().all(|name| answer(given, name).is_some()) {
                return complete(json!([text_block("All three are there")]));
            }
            let requests = json!({
                "user_name": asks_text("What is your name?", "name"),
                "greeting": asks_model("Generate a greeting", 50),
                "client_roots": asks_roots(),
            });
            return Ok(required(requests, Some(json!({ "stage": "gather" })))?.into());
        }
        _ => {
            if state.is_some() {
                return complete(json!([text_block("state-ok")]));
            }
            let confirm = json!({ "ok": { "type": "boolean" } });
            let requests = json!({ "confirm": asks("Please confirm", confirm, "ok") });
            return Ok(required(requests, Some(json!({ "stage": "confirm" })))?.into());
        }
    };
    Ok(required(requests, None)?.into())
}

/// The requests that the client declares it can answer.
fn those_declared(meta: &RequestMetaObject) -> Value {
    let declared = meta.client_capabilities().unwrap_or_default();
    let mut requests = serde_json::Map::new();
    if declared.elicitation.is_some() {
        let question = asks_text("What is your name?", "name");
        requests.insert("user_name".to_owned(), question);
    }
    if declared.sampling.is_some() {
        let question = asks_model("Generate a greeting", 50);
        requests.insert("greeting".to_owned(), question);
    }
    if declared.roots.is_some() {
        requests.insert("client_roots".to_owned(), asks_roots());
    }
    Value::Object(requests)
}

fn round(state: Option<&Value>) -> Result<CallToolResponse, ErrorData> {
    let round = state.and_then(|state| state.get("round"));
    let (requests, next) = match round.and_then(Value::as_u64) {
        None => (
            json!({ "step1": asks_text("Step 1: What is your name?", "name") }),
            1,
        ),
        Some(1) => (
            json!({ "step2": asks_text("Step 2: What is your favorite color?", "color") }),
            2,
        ),
        Some(_) => return complete(json!([text_block("All rounds are done")])),
    };
    Ok(required(requests, Some(json!({ "round": next })))?.into())
}

/// The prompt that requires input.
pub(super) fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    match answer(request.input_responses.as_ref(), "user_context") {
        Some(answer) => {
            let context = answer.pointer("/content/context").and_then(Value::as_str);
            let text = format!("Use this context: {}", context.unwrap_or_default());
            let message = PromptMessage::new_text(Role::User, text);
            Ok(GetPromptResult::new(vec![message]).into())
        }
        None => {
            let question = asks_text("What context should the prompt use?", "context");
            Ok(required(json!({ "user_context": question }), None)?.into())
        }
    }
}
