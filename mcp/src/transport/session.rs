//! One session: the methods of MCP, as calls of `tools` and `content` that run on the executor.

use std::sync::Arc;
use std::time::Duration;

use hyper::http::request::Parts;
use kb_engine::escape::escape_line;
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

#[cfg(feature = "conformance")]
use super::conformance;
use super::executor::{JobKind, ProgressListener};
use super::quota::Owner;
use super::request_guard::RequestGuard;
use super::results::{
    add_server_info, array, check_uri, internal, job_error, milliseconds, reject_cursor,
    to_error_data, tool_result,
};
use super::server::Server;
use super::subscriptions::{self, Subscriptions};
use crate::content::{self, ContentError};
use crate::limits::ADDRESS_LIMIT_BYTES;
use crate::response::{Object, short};
use crate::tokens::Access;
use crate::tools::{self, Call};

/// How long clients may cache lists that never change.
const STATIC_TTL: Duration = Duration::from_secs(3600);

/// How long clients may cache what a commit may change.
const DYNAMIC_TTL: Duration = Duration::from_secs(10);

/// Methods of every protocol version. rmcp passes on a request that it cannot parse as a custom one:
/// with one of these names its parameters are wrong, with any other its method is unknown.
const COMMON_METHODS: [&str; 8] = [
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
];

/// Methods of protocols before 2026-07-28.
const LEGACY_METHODS: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

/// Methods since protocol 2026-07-28.
const CURRENT_METHODS: [&str; 1] = ["subscriptions/listen"];

/// One session. Protocol 2026-07-28 has a session for every HTTP request, so creating one is cheap.
#[derive(Clone)]
pub(super) struct Session {
    server: Arc<Server>,
    requires_token: bool,
    /// Subscriptions by `resources/subscribe`.
    subscriptions: Arc<Subscriptions>,
}

impl Session {
    /// With `requires_token`, a request without a token is read-only.
    pub(super) fn new(server: Arc<Server>, requires_token: bool) -> Session {
        Session {
            server,
            requires_token,
            subscriptions: Arc::default(),
        }
    }

    /// What the client of a request is told at first: it depends on its token.
    fn info_for(&self, cx: &RequestContext<RoleServer>) -> ServerConfig {
        self.server
            .info_for(may_write(self.requires_token, access(&cx.extensions)))
    }

    /// Who else may be given what names the tools: what depends on the token is not for others.
    fn scope_of_tools(&self) -> CacheScope {
        if self.requires_token {
            CacheScope::Private
        } else {
            CacheScope::Public
        }
    }

    /// Runs a query of the content on the executor.
    async fn run_query<T: Send + 'static>(
        &self,
        cx: &RequestContext<RoleServer>,
        query: impl FnOnce(&Server) -> Result<T, ContentError> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let server = Arc::clone(&self.server);
        let guard = RequestGuard::of_request(cx);
        let job = move |_: &_, _: &(dyn Fn(u64, u64) + Sync)| {
            let _guard = guard;
            query(&server)
        };
        let executor = &self.server.executor;
        let done = executor.run(JobKind::Read, owner(cx), &cx.ct, None, job);
        match done.await {
            Ok(result) => result.map_err(to_error_data),
            Err(error) => Err(internal(job_error(error).text())),
        }
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        self.server.info.clone()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        result.instructions = self.info_for(&cx).instructions;
        cx.peer.set_peer_info(request);
        Ok(result)
    }

    async fn discover(&self, cx: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(
            DiscoverResult::from_server_info(versions, self.info_for(&cx))
                .with_ttl_ms(milliseconds(STATIC_TTL))
                .with_cache_scope(self.scope_of_tools()),
        )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        reject_cursor(request.as_ref())?;
        let may_write = may_write(self.requires_token, access(&cx.extensions));
        let offered = self.server.tools.iter();
        let offered = offered.filter(|tool| may_write || reads_only(tool));
        let mut result = ListToolsResult::with_all_items(offered.cloned().collect())
            .with_ttl_ms(milliseconds(STATIC_TTL))
            .with_cache_scope(self.scope_of_tools());
        add_server_info(&mut result.meta);
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
        let kind = match self.server.tool(&request.name) {
            Some(tool) if reads_only(tool) => JobKind::Read,
            Some(_) => JobKind::Write,
            None if self.server.is_withheld(&request.name) => JobKind::Read,
            None => {
                let message = format!("Unknown tool: {}", escape_line(&short(&request.name)));
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        #[cfg(feature = "conformance")]
        if conformance::has(&request.name) {
            return conformance::call(request, &cx).await;
        }
        let listener = cx.meta.get_progress_token().map(|token| ProgressListener {
            peer: cx.peer.clone(),
            token,
        });
        let may_write = may_write(self.requires_token, access(&cx.extensions));
        let indexes = Arc::clone(&self.server.indexes);
        let arguments = request.arguments.unwrap_or_default();
        let offer = self.server.offer.clone();
        let name = offer.name_of(&request.name).unwrap_or_default().to_owned();
        let guard = RequestGuard::of_request(&cx);
        let job = move |cancel: &Arc<_>, progress: &(dyn Fn(u64, u64) + Sync)| {
            // The job may outlive the request, and holds the memory of its arguments until it ends.
            let _guard = guard;
            #[cfg(feature = "testing")]
            fault(&name);
            let response = tools::dispatch(Call {
                indexes: &indexes,
                name: &name,
                arguments,
                may_write,
                cancel,
                progress,
            });
            match response {
                Ok(response) => Ok(offer.rename_response(response)),
                Err(error) => Err(offer.rename_error(error)),
            }
        };
        let executor = &self.server.executor;
        let done = executor.run(kind, owner(&cx), &cx.ct, listener, job);
        let response = done.await.unwrap_or_else(|error| Err(job_error(error)));
        let mut result = tool_result(response);
        add_server_info(&mut result.meta);
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        reject_cursor(request.as_ref())?;
        let prompts = serde_json::from_value(array(content::prompts())).map_err(internal)?;
        #[cfg(feature = "conformance")]
        let prompts = [prompts, conformance::prompts()].concat();
        let mut result = ListPromptsResult::with_all_items(prompts)
            .with_ttl_ms(milliseconds(STATIC_TTL))
            .with_cache_scope(CacheScope::Public);
        add_server_info(&mut result.meta);
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
        let (text, description) =
            content::prompt(&request.name, &arguments).map_err(to_error_data)?;
        let text = self.server.offer.rename(&text).into_owned();
        let message = PromptMessage::new_text(Role::User, text);
        let mut result = GetPromptResult::new(vec![message]).with_description(description);
        add_server_info(&mut result.meta);
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
        let (resources, next) = self.run_query(&cx, page).await?;
        let resources = serde_json::from_value(array(resources)).map_err(internal)?;
        let mut result = ListResourcesResult::with_all_items(resources)
            .with_ttl_ms(milliseconds(DYNAMIC_TTL))
            .with_cache_scope(CacheScope::Private);
        #[cfg(feature = "conformance")]
        if is_first {
            conformance::add_resources(&mut result);
        }
        result.next_cursor = next;
        add_server_info(&mut result.meta);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        reject_cursor(request.as_ref())?;
        let templates = serde_json::from_value(array(content::templates())).map_err(internal)?;
        let mut result = ListResourceTemplatesResult::with_all_items(templates)
            .with_ttl_ms(milliseconds(STATIC_TTL))
            .with_cache_scope(CacheScope::Public);
        #[cfg(feature = "conformance")]
        conformance::add_templates(&mut result);
        add_server_info(&mut result.meta);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        check_uri(&uri)?;
        #[cfg(feature = "conformance")]
        if let Some(result) = conformance::read(&uri) {
            let result = result.with_ttl_ms(milliseconds(DYNAMIC_TTL));
            return Ok(result.with_cache_scope(CacheScope::Private).into());
        }
        let read = move |server: &Server| content::read(&server.indexes, &uri);
        let content = self.run_query(&cx, read).await?;
        let contents = ResourceContents::text(content.text, content.uri);
        let mut result = ReadResourceResult::new(vec![contents.with_mime_type(content.mime_type)])
            .with_ttl_ms(milliseconds(DYNAMIC_TTL))
            .with_cache_scope(CacheScope::Private);
        add_server_info(&mut result.meta);
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
                _ => {
                    return Err(ContentError::InvalidArgument(
                        "unknown kind of reference".to_owned(),
                    ));
                }
            };
            let context = request.context.and_then(|context| context.arguments);
            let given: Object = context
                .unwrap_or_default()
                .into_iter()
                .map(|(name, value)| (name, value.into()))
                .collect();
            let argument = &request.argument;
            let prefix = &argument.value;
            content::complete(&server.indexes, reference, &argument.name, prefix, &given)
        };
        let completion = self.run_query(&cx, complete).await?;
        let (values, total) = (completion.values, completion.total);
        let has_more = usize::try_from(total).is_ok_and(|total| total > values.len());
        let total = u32::try_from(total).ok();
        let completion =
            CompletionInfo::with_pagination(values, total, has_more).map_err(internal)?;
        let mut result = CompleteResult::new(completion);
        add_server_info(&mut result.meta);
        Ok(result)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(subscriptions::accepted(&self.server, requested))
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        let owner = owner(cx.request_context());
        subscriptions::listen(&self.server, owner, cx).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        check_uri(&request.uri)?;
        let (subscriptions, owner) = (&self.subscriptions, owner(&cx));
        let adding = subscriptions.add(&self.server, owner, &cx.peer, request.uri);
        tokio::select! {
            added = adding => added,
            () = cx.ct.cancelled() => Err(internal("cancelled")),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
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
        let is_current = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let of_version: &[&str] = if is_current {
            &CURRENT_METHODS
        } else {
            &LEGACY_METHODS
        };
        let mut methods = COMMON_METHODS.iter().chain(of_version);
        Err(if methods.any(|supported| *supported == method) {
            ErrorData::invalid_params(format!("{method}: wrong or missing parameters"), None)
        } else {
            let method = escape_line(&short(&method)).into_owned();
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
        })
    }
}

/// The access of the token that an HTTP request was authorized with.
fn access(extensions: &Extensions) -> Option<&Access> {
    let parts = extensions.get::<Parts>()?;
    parts.extensions.get::<Access>()
}

/// The token that an HTTP request was authorized with; `None` without tokens, and on stdio.
fn owner(cx: &RequestContext<RoleServer>) -> Owner {
    access(&cx.extensions).map(|access| access.hash)
}

/// Whether a tool changes nothing, as it is published.
fn reads_only(tool: &Tool) -> bool {
    let hints = tool.annotations.as_ref();
    hints.and_then(|hints| hints.read_only_hint) == Some(true)
}

/// Whether a request may write. Where tokens are required, a request without one may not, whatever
/// path it took to here.
fn may_write(requires_token: bool, access: Option<&Access>) -> bool {
    access.map_or(!requires_token, |access| access.may_write)
}

/// For tests: panics in the tool that `KB_FAULT_PANIC` names.
#[cfg(feature = "testing")]
fn fault(tool: &str) {
    let faulty = std::env::var("KB_FAULT_PANIC");
    assert!(
        faulty.as_deref() != Ok(tool),
        "the fault that was asked for"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Tokens;

    #[test]
    fn without_a_token_only_servers_that_require_none_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(folder.path().join("tokens.json"));
        let access = |name, may_write| {
            let token = tokens.create(name, may_write).unwrap();
            tokens.check(Some(&format!("Bearer {token}"))).unwrap()
        };
        let (reader, writer) = (access("reader", false), access("writer", true));
        for requires_token in [false, true] {
            assert!(
                !may_write(requires_token, Some(&reader))
                    && may_write(requires_token, Some(&writer))
            );
            assert_eq!(may_write(requires_token, None), !requires_token);
        }
    }
}
