//! What a client says of itself, which a conversation keeps for as long as it lasts.

use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ClientRequest, Implementation, JsonRpcMessage,
    RequestMetaObject,
};

use crate::response::cut;

/// Most characters of a client's name and of its version that are kept.
const NAME_LIMIT: usize = 100;

/// Leaves of an `initialize` what this server uses: revision, name and version. What a client can do
/// beyond that is asked for by nothing here, and would be kept once for each session.
pub(super) fn shorten(message: &mut ClientJsonRpcMessage) {
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
    // The fixtures of the conformance suite ask clients for input.
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
    fn a_client_that_says_much_of_itself_is_remembered_in_short() {
        let long = "n".repeat(10_000);
        let values: Vec<_> = (0..1000).map(|_| json!({"a": 0})).collect();
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "_meta": {"x": values},
            "capabilities": {"experimental": {"x": {"y": values}}, "extensions": {"x": {"y": values}}},
            "clientInfo": {"name": long, "version": long, "title": long, "websiteUrl": long,
                "description": long, "icons": [{"src": long}]}}});
        let mut message = serde_json::from_value(message).unwrap();
        shorten(&mut message);
        let text = serde_json::to_string(&message).unwrap();
        assert!(text.len() < 1000, "{text:.2000}");
        assert!(
            text.contains("2025-11-25") && text.contains("nnn"),
            "{text}"
        );
    }
}
