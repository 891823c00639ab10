//! Resources of the conformance suite.

use rmcp::model::*;
use serde_json::json;

use super::content::PNG;

/// Whether an address is a fixture.
pub(crate) fn is_address(address: &str) -> bool {
    address.starts_with("test://")
}

/// The resources with a fixed address.
pub(crate) fn list() -> Vec<Resource> {
    let resources = [
        ("test://static-text", "text/plain"),
        ("test://static-binary", "image/png"),
        ("test://watched-resource", "text/plain"),
    ];
    let resources = resources.into_iter().map(|(address, mime)| {
        Resource::new(address, address)
            .with_description("For the conformance suite of the protocol.")
            .with_mime_type(mime)
    });
    resources.collect()
}

/// The resource with a parameter in its address.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new("test://template/{id}/data", "test_template")
        .with_description("For the conformance suite of the protocol.")
        .with_mime_type("application/json");
    vec![template]
}

/// The content of a resource; `None` for another address.
pub(crate) fn read(address: &str) -> Option<ReadResourceResult> {
    let text = |text: &str, mime: &str| ResourceContents::text(text, address).with_mime_type(mime);
    let contents = match address {
        "test://static-text" => text(
            "This is the content of the static text resource.",
            "text/plain",
        ),
        "test://watched-resource" => text("This resource never changes.", "text/plain"),
        "test://static-binary" => ResourceContents::blob(PNG, address).with_mime_type("image/png"),
        _ => {
            let id = address.strip_prefix("test://template/")?;
            let id = id.strip_suffix("/data")?;
            let data = json!({
                "id": id,
                "templateTest": true,
                "data": format!("Data for ID: {id}"),
            });
            text(&data.to_string(), "application/json")
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
}
