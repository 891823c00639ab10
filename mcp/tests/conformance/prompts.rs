//! Prompts of the conformance suite.

use rmcp::model::*;
use serde_json::{Value, json};

use super::content::{image, internal, text_block};
use super::{input_required, resources};

/// The definitions of the prompts.
pub(crate) fn list() -> Vec<Prompt> {
    let argument = |name: &str| json!({ "name": name, "description": "Any.", "required": true });
    let prompts = [
        ("test_simple_prompt", json!([])),
        (
            "test_prompt_with_arguments",
            json!([argument("arg1"), argument("arg2")]),
        ),
        (
            "test_prompt_with_embedded_resource",
            json!([argument("resourceUri")]),
        ),
        ("test_prompt_with_image", json!([])),
        ("test_input_required_result_prompt", json!([])),
    ];
    let prompts = prompts.into_iter().filter_map(|(name, arguments)| {
        let prompt = json!({
            "name": name,
            "description": "For the conformance suite of the protocol.",
            "arguments": arguments,
        });
        serde_json::from_value(prompt).ok()
    });
    prompts.collect()
}

/// The content of a prompt; `None` for another name.
pub(crate) fn prompt(
    request: &GetPromptRequestParams,
) -> Option<Result<GetPromptResponse, ErrorData>> {
    let arguments = request.arguments.clone().unwrap_or_default();
    let argument = |name: &str| {
        let value = arguments.get(name).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text_block("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![text_block(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => vec![
            json!({ "type": "resource", "resource": {
                "uri": argument("resourceUri"),
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            } }),
            text_block("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![image(), text_block("Please analyze the image above.")],
        "test_input_required_result_prompt" => return Some(input_required::prompt(request)),
        _ => return None,
    };
    let messages = contents
        .into_iter()
        .map(|content| json!({ "role": "user", "content": content }));
    let messages = serde_json::from_value(messages.collect()).map_err(internal);
    Some(messages.map(|messages| GetPromptResult::new(messages).into()))
}

/// Whether a completion is of a fixture; it has no values.
pub(crate) fn completes(reference: &Reference) -> bool {
    match reference {
        Reference::Prompt(prompt) => prompt.name.starts_with("test_"),
        Reference::Resource(template) => resources::is_address(&template.uri),
        _ => false,
    }
}
