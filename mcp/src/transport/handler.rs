//! One conversation: requests of the protocol become calls of tools and content, answers become
//! results.

use std::sync::Arc;
use std::time::Duration;

use hyper::http::request::Parts;
use kb_engine::escape::escape_line;
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::held::Held;
use super::listen::{self, Subscribed};
use super::server::{Server, implementation};
use super::share::Owner;
use super::work::{Listener, Trouble};
#[cfg(feature = "conformance")]
use crate::conformance;
use crate::content::{self, Refusal};
use crate::definitions::limits::ADDRESS_LIMIT_BYTES;
use crate::response::{Object, ToolError, ToolResponse, cut, short};
use crate::tokens::Access;
use crate::tools::{self, Call};

/// How long lists that never change may be kept.
const LASTING: Duration = Duration::from_secs(3600);

/// How long what a commit may change may be kept.
const PASSING: Duration = Duration::from_secs(10);

/// Most characters of why a request is wrong.
const REFUSAL_LIMIT: usize = 300;

/// Where results name the server.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Methods of both eras: a request of that name which rmcp cannot read has wrong parameters.
const METHODS: [&str; 8] = [
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
];

/// Methods that only the older protocol has.
const OLDER: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

/// Methods that only the newer protocol has.
const NEWER: [&str; 1] = ["subscriptions/listen"];

/// One conversation. Over HTTP the newer protocol makes one for every request: making one must cost
/// nothing.
#[derive(Clone)]
pub(super) struct Session {
    server: Arc<Server>,
    asks_for_tokens: bool,
    /// What a client of the older protocol subscribed to.
    subscribed: Arc<Subscribed>,
}

impl Session {
    /// `asks_for_tokens`: every request brings what its token allows; one that does not may nothing
    /// beyond reading.
    pub(super) fn new(server: Arc<Server>, asks_for_tokens: bool) -> Session {
        Session {
            server,
            asks_for_tokens,
            subscribed: Arc::default(),
        }
    }

    /// Asks the content in its turn.
    async fn ask<T: Send + 'static>(
        &self,
        cx: &RequestContext<RoleServer>,
        question: impl FnOnce(&Server) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let server = Arc::clone(&self.server);
        let held = Held::of(cx);
        let job = move |_: &_, _: &(dyn Fn(u64, u64) + Sync)| {
            let _held = held;
            question(&server)
        };
        match self
            .server
            .work
            .run(false, owner(cx), &cx.ct, None, job)
            .await
        {
            Ok(answer) => answer.map_err(refused),
            Err(trouble) => Err(internal(trouble_error(trouble).text())),
        }
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        self.server.info.clone()
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(milliseconds(LASTING))
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(request.as_ref())?;
        let mut result = ListToolsResult::with_all_items(self.server.tools.clone())
            .with_ttl_ms(milliseconds(LASTING))
            .with_cache_scope(CacheScope::Public);
        stamp(&mut result.meta);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.tool(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.server.tool(&request.name) else {
            let message = format!("Unknown tool: {}", escape_line(&short(&request.name)));
            return Err(ErrorData::invalid_params(message, None));
        };
        #[cfg(feature = "conformance")]
        if conformance::has(&request.name) {
            return conformance::call(request, &cx).await;
        }
        let hints = tool.annotations.as_ref();
        let writes = hints.and_then(|hints| hints.read_only_hint) != Some(true);
        let listener = cx.meta.get_progress_token().map(|token| Listener {
            peer: cx.peer.clone(),
            token,
        });
        let may_write = may_write(self.asks_for_tokens, access(&cx.extensions));
        let indexes = Arc::clone(&self.server.indexes);
        let arguments = request.arguments.unwrap_or_default();
        let name = request.name;
        let held = Held::of(&cx);
        let job = move |cancel: &Arc<_>, progress: &(dyn Fn(u64, u64) + Sync)| {
            // The work goes on where nobody waits for it any more.
            let _held = held;
            #[cfg(feature = "faults")]
            fault(&name);
            tools::dispatch(Call {
                indexes: &indexes,
                name: &name,
                arguments,
                may_write,
                cancel,
                progress,
            })
        };
        let work = &self.server.work;
        let answer = work.run(writes, owner(&cx), &cx.ct, listener, job).await;
        let answer = answer.unwrap_or_else(|trouble| Err(trouble_error(trouble)));
        let mut result = tool_result(answer);
        stamp(&mut result.meta);
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        only_page(request.as_ref())?;
        let prompts = serde_json::from_value(array(content::prompts())).map_err(internal)?;
        #[cfg(feature = "conformance")]
        let prompts = [prompts, conformance::prompts()].concat();
        let mut result = ListPromptsResult::with_all_items(prompts)
            .with_ttl_ms(milliseconds(LASTING))
            .with_cache_scope(CacheScope::Public);
        stamp(&mut result.meta);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(result) = conformance::prompt(&request) {
            return result;
        }
        let arguments = request.arguments.unwrap_or_default();
        let (text, description) = content::prompt(&request.name, &arguments).map_err(refused)?;
        let message = PromptMessage::new_text(Role::User, text);
        let mut result = GetPromptResult::new(vec![message]).with_description(description);
        stamp(&mut result.meta);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        #[cfg(feature = "conformance")]
        let is_first = cursor.is_none();
        let page = move |server: &Server| content::resources(&server.indexes, cursor.as_deref());
        let (resources, next) = self.ask(&cx, page).await?;
        let resources = serde_json::from_value(array(resources)).map_err(internal)?;
        let mut result = ListResourcesResult::with_all_items(resources)
            .with_ttl_ms(milliseconds(PASSING))
            .with_cache_scope(CacheScope::Private);
        #[cfg(feature = "conformance")]
        if is_first {
            conformance::add_resources(&mut result);
        }
        result.next_cursor = next;
        stamp(&mut result.meta);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        only_page(request.as_ref())?;
        let templates = serde_json::from_value(array(content::templates())).map_err(internal)?;
        let mut result = ListResourceTemplatesResult::with_all_items(templates)
            .with_ttl_ms(milliseconds(LASTING))
            .with_cache_scope(CacheScope::Public);
        #[cfg(feature = "conformance")]
        conformance::add_templates(&mut result);
        stamp(&mut result.meta);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        check_address(&uri)?;
        #[cfg(feature = "conformance")]
        if let Some(result) = conformance::read(&uri) {
            let result = result.with_ttl_ms(milliseconds(PASSING));
            return Ok(result.with_cache_scope(CacheScope::Private).into());
        }
        let read = move |server: &Server| content::read(&server.indexes, &uri);
        let found = self.ask(&cx, read).await?;
        let contents = ResourceContents::text(found.text, found.uri);
        let mut result = ReadResourceResult::new(vec![contents.with_mime_type(found.mime_type)])
            .with_ttl_ms(milliseconds(PASSING))
            .with_cache_scope(CacheScope::Private);
        stamp(&mut result.meta);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        #[cfg(feature = "conformance")]
        if conformance::completes(&request.r#ref) {
            return Ok(CompleteResult::default());
        }
        if request.argument.value.len() > ADDRESS_LIMIT_BYTES {
            let message = format!("argument: value over {ADDRESS_LIMIT_BYTES} bytes");
            return Err(ErrorData::invalid_params(message, None));
        }
        let complete = move |server: &Server| {
            let reference = match &request.r#ref {
                Reference::Prompt(prompt) => content::Reference::Prompt(&prompt.name),
                Reference::Resource(template) => content::Reference::Template(&template.uri),
                _ => return Err(Refusal::Invalid("unknown kind of reference".to_owned())),
            };
            let given = request.context.and_then(|context| context.arguments);
            let given = given.unwrap_or_default().into_iter();
            let given: Object = given.map(|(name, value)| (name, value.into())).collect();
            let argument = &request.argument;
            let typed = &argument.value;
            content::complete(&server.indexes, reference, &argument.name, typed, &given)
        };
        let found = self.ask(&cx, complete).await?;
        let has_more = usize::try_from(found.total).is_ok_and(|total| total > found.values.len());
        let total = u32::try_from(found.total).ok();
        let completion =
            CompletionInfo::with_pagination(found.values, total, has_more).map_err(internal)?;
        let mut result = CompleteResult::new(completion);
        stamp(&mut result.meta);
        Ok(result)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(listen::accepted(&self.server, requested))
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        let owner = owner(cx.request_context());
        listen::listen(&self.server, owner, cx).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        check_address(&request.uri)?;
        let added = &self.subscribed;
        let added = added.add(&self.server, owner(&cx), &cx.peer, request.uri);
        tokio::select! {
            added = added => added,
            () = cx.ct.cancelled() => Err(internal("cancelled")),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.remove(&request.uri);
        Ok(())
    }

    #[cfg(feature = "conformance")]
    #[expect(deprecated, reason = "the suite asks for it")]
    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let version = cx.protocol_version();
        let is_newer = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let of_its_era: &[&str] = if is_newer { &NEWER } else { &OLDER };
        let mut known = METHODS.iter().chain(of_its_era);
        Err(if known.any(|known| *known == method) {
            ErrorData::invalid_params(format!("{method}: wrong or missing parameters"), None)
        } else {
            let method = escape_line(&short(&method)).into_owned();
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
        })
    }
}

/// What the token of a request allows.
fn access(extensions: &Extensions) -> Option<&Access> {
    let parts = extensions.get::<Parts>()?;
    parts.extensions.get::<Access>()
}

/// Whose request it is.
fn owner(cx: &RequestContext<RoleServer>) -> Owner {
    access(&cx.extensions).map(|access| access.hash)
}

/// Whether a client may write. Where tokens are asked for, a request without one may not, however it
/// came here.
fn may_write(asks_for_tokens: bool, access: Option<&Access>) -> bool {
    access.map_or(!asks_for_tokens, |access| access.may_write)
}

/// A bug on demand: the tool that `KB_FAULT_PANIC` names panics.
#[cfg(feature = "faults")]
fn fault(tool: &str) {
    let faulty = std::env::var("KB_FAULT_PANIC");
    assert!(
        faulty.as_deref() != Ok(tool),
        "the fault that was asked for"
    );
}

/// Addresses are looked up, kept and repeated.
fn check_address(uri: &str) -> Result<(), ErrorData> {
    if uri.len() <= ADDRESS_LIMIT_BYTES {
        return Ok(());
    }
    let message = format!("uri: address over {ADDRESS_LIMIT_BYTES} bytes");
    Err(ErrorData::invalid_params(message, None))
}

/// The newer protocol asks every result to name its server.
fn stamp(meta: &mut Option<MetaObject>) {
    if let Ok(server) = serde_json::to_value(implementation()) {
        let meta = &mut meta.get_or_insert_default().0;
        meta.insert(SERVER_KEY.to_owned(), server);
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Lists that have one page have no cursor.
fn only_page(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_deref()) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("invalid cursor", None)),
    }
}

fn array(objects: Vec<Object>) -> Value {
    objects.into_iter().map(Value::Object).collect()
}

fn internal(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn refused(refusal: Refusal) -> ErrorData {
    match refusal {
        Refusal::NotFound(uri) => {
            ErrorData::resource_not_found("Resource not found", Some(json!({ "uri": uri })))
        }
        // What a client said may be in it.
        Refusal::Invalid(what) => {
            let what = escape_line(&cut(&what, REFUSAL_LIMIT)).into_owned();
            ErrorData::invalid_params(what, None)
        }
        Refusal::Failed(why) => internal(why),
    }
}

fn trouble_error(trouble: Trouble) -> ToolError {
    match trouble {
        Trouble::Busy => ToolError::new("RATE_LIMITED", "too many calls at once")
            .with_hint("Call again in a few seconds"),
        Trouble::Panicked => ToolError::new("INTERNAL", "this call met a bug in the server")
            .with_hint("Other calls are answered; try this one with other arguments"),
        Trouble::Cancelled => ToolError::new("CANCELLED", "the call was cancelled"),
    }
}

/// The result of a tool: what a caller can do something about is one, too.
fn tool_result(answer: Result<ToolResponse, ToolError>) -> CallToolResult {
    match answer {
        Ok(answer) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
            result.structured_content = Some(Value::Object(answer.structured));
            result
        }
        Err(error) => {
            let mut result = CallToolResult::error(vec![ContentBlock::text(error.text())]);
            let mut facts = error.facts;
            facts.insert("code".to_owned(), error.code.into());
            let meta = result.meta.get_or_insert_default();
            meta.0.insert("dev.kb/error".to_owned(), facts.into());
            result
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Tokens;

    #[test]
    fn a_request_without_a_token_writes_only_where_none_are_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(folder.path().join("tokens.json"));
        let access = |name, may_write| {
            let token = tokens.create(name, may_write).unwrap();
            tokens.check(Some(&format!("Bearer {token}"))).unwrap()
        };
        let (reader, writer) = (access("reader", false), access("writer", true));
        for asks in [false, true] {
            assert!(!may_write(asks, Some(&reader)) && may_write(asks, Some(&writer)));
            assert_eq!(may_write(asks, None), !asks);
        }
    }
}
