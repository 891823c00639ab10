//! The part of `initialize` that a session keeps.

use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ClientRequest, Implementation, JsonRpcMessage,
    RequestMetaObject,
};

use crate::response::cut;

/// Longest name and version of a client, in characters.
const NAME_LIMIT: usize = 100;

/// Reduces an `initialize` to what this server uses: protocol version, name and version of the client.
/// rmcp keeps these parameters for the whole session, and a client may send up to 64 KiB of them.
pub(super) fn truncate_client_info(message: &mut ClientJsonRpcMessage) {
    let JsonRpcMessage::Request(request) = message else {
        return;
    };
    let ClientRequest::InitializeRequest(request) = &mut request.request else {
        return;
    };
    let params = &mut request.params;
    let name = cut(&params.client_info.name, NAME_LIMIT).into_owned();
    let version = cut(&params.client_info.version, NAME_LIMIT).into_owned();
    params.client_info = Implementation::new(name, version);
    params.meta = None;
    // The tools of the conformance suite ask clients for input, which needs their capabilities.
    if !cfg!(feature = "conformance") {
        params.capabilities = ClientCapabilities::default();
    }
    request.extensions.insert(RequestMetaObject::default());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_initialize_is_reduced_to_what_is_used() {
        let long = "n".repeat(10_000);
        let values: Vec<_> = (0..1000).map(|_| json!({"a": 0})).collect();
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "_meta": {"x": values},
            "capabilities": {"experimental": {"x": {"y": values}}, "extensions": {"x": {"y": values}}},
            "clientInfo": {"name": long, "version": long, "title": long, "websiteUrl": long,
                "description": long, "icons": [{"src": long}]}}});
        let mut message = serde_json::from_value(message).unwrap();
        truncate_client_info(&mut message);
        let text = serde_json::to_string(&message).unwrap();
        assert!(text.len() < 1000, "{text:.2000}");
        assert!(
            text.contains("2025-11-25") && text.contains("nnn"),
            "{text}"
        );
    }
}
