//! Tools of the conformance suite.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::*;
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::content::{WAV, complete, image, internal, text_block};
use super::input_required;

/// Name and arguments of every tool.
fn all() -> Vec<(&'static str, Value)> {
    let mut all = vec![
        (
            "test_elicitation",
            json!({ "message": text("What is asked") }),
        ),
        ("test_sampling", json!({ "prompt": text("What is asked") })),
    ];
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_missing_capability",
        "test_logging_tool",
    ];
    let plain = plain.into_iter().chain(input_required::TOOLS);
    all.extend(plain.map(|name| (name, json!({}))));
    all
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// The definitions of the tools.
pub(crate) fn definitions() -> Vec<Tool> {
    let tools = all().into_iter().filter_map(|(name, properties)| {
        let definition = json!({
            "name": name,
            "description": "For the conformance suite of the protocol.",
            "inputSchema": { "type": "object", "properties": properties },
        });
        serde_json::from_value(definition).ok()
    });
    tools.collect()
}

/// Whether a tool is a fixture.
pub(crate) fn has(name: &str) -> bool {
    all().iter().any(|(own, _)| *own == name)
}

/// Calls a fixture tool.
pub(crate) async fn call(
    request: CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if input_required::TOOLS.contains(&&*request.name) {
        return input_required::call(&request, &cx.meta);
    }
    if let Some(content) = fixed_content(&request.name) {
        return complete(content);
    }
    let arguments = request.arguments.clone().unwrap_or_default();
    let argument = |name: &str| {
        arguments
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or("hello")
    };
    let content = match &*request.name {
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            return Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into());
        }
        "test_tool_with_logging" => {
            log(cx).await;
            json!([text_block("Logged three times")])
        }
        "test_tool_with_progress" => {
            progress(cx).await;
            json!([text_block("Done")])
        }
        "test_logging_tool" => {
            if let Some(level) = cx.meta.log_level() {
                let message = LoggingMessageNotificationParam::new(level, json!("as asked"));
                let _ = cx.peer.notify_logging_message(message).await;
            }
            json!([text_block("Logged where it was asked for")])
        }
        "test_missing_capability" => {
            let declared = cx.meta.client_capabilities().unwrap_or_default();
            if declared.sampling.is_none() {
                let needed = ClientCapabilities::builder().enable_sampling().build();
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            json!([text_block("The capability is there")])
        }
        "test_sampling" => sampled(cx, argument("prompt")).await?,
        "test_elicitation" => {
            let schema = json!({
                "type": "object",
                "properties": {
                    "username": text("User's response"),
                    "email": text("User's email address"),
                },
                "required": ["username", "email"],
            });
            elicited(cx, "User response", argument("message"), schema).await?
        }
        "test_elicitation_sep1034_defaults" => {
            elicited(
                cx,
                "Elicitation completed",
                "Everything has a default",
                defaults(),
            )
            .await?
        }
        "test_elicitation_sep1330_enums" => {
            elicited(cx, "Elicitation completed", "Choose", choices()).await?
        }
        other => return Err(internal(format!("{other} is listed and not there"))),
    };
    complete(content)
}

/// The content of the tools that always answer the same.
fn fixed_content(name: &str) -> Option<Value> {
    Some(match name {
        "test_simple_text" => json!([text_block("This is a simple text response for testing.")]),
        "test_image_content" => json!([image()]),
        "test_audio_content" => {
            json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }])
        }
        "test_embedded_resource" => json!([{ "type": "resource", "resource": {
            "uri": "test://embedded-resource",
            "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        } }]),
        "test_multiple_content_types" => json!([
            text_block("Multiple content types test:"),
            image(),
            { "type": "resource", "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": "{\"test\":\"data\",\"value\":123}",
            } },
        ]),
        _ => return None,
    })
}

async fn log(cx: &RequestContext<RoleServer>) {
    let messages = [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ];
    for message in messages {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
        let _ = cx.peer.notify_logging_message(message).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn progress(cx: &RequestContext<RoleServer>) {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = cx.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, done).with_total(100.0);
            let _ = cx.peer.notify_progress(progress).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn sampled(cx: &RequestContext<RoleServer>, prompt: &str) -> Result<Value, ErrorData> {
    let messages = vec![SamplingMessage::user_text(prompt)];
    let asked = CreateMessageRequestParams::new(messages, 100);
    let answer = cx.peer.create_message(asked).await.map_err(internal)?;
    let answer = serde_json::to_value(answer).map_err(internal)?;
    let text = answer.pointer("/content/text").and_then(Value::as_str);
    let text = text.unwrap_or_default();
    Ok(json!([text_block(format!("LLM response: {text}"))]))
}

async fn elicited(
    cx: &RequestContext<RoleServer>,
    label: &str,
    message: &str,
    schema: Value,
) -> Result<Value, ErrorData> {
    let asked = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: serde_json::from_value(schema).map_err(internal)?,
    };
    let answer = cx.peer.create_elicitation(asked).await.map_err(internal)?;
    let answer = serde_json::to_value(answer).map_err(internal)?;
    let part = |name: &str| answer.get(name).cloned().unwrap_or_default();
    let action = part("action");
    let action = action.as_str().unwrap_or_default();
    let content = part("content");
    let text = format!("{label}: action={action}, content={content}");
    Ok(json!([text_block(text)]))
}

fn defaults() -> Value {
    json!({ "type": "object", "properties": {
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": { "type": "boolean", "default": true },
    } })
}

fn choices() -> Value {
    let titled = |titles: [&str; 3]| {
        let values = ["value1", "value2", "value3"].into_iter().zip(titles);
        let values = values.map(|(value, title)| json!({ "const": value, "title": title }));
        values.collect::<Vec<_>>()
    };
    let options = json!(["option1", "option2", "option3"]);
    json!({ "type": "object", "properties": {
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": {
            "type": "string",
            "oneOf": titled(["First Option", "Second Option", "Third Option"]),
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": {
            "type": "array",
            "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
        },
    } })
}
