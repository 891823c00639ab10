//! What makes a host of agents use this server: a piece of configuration for each.

use axum::http::StatusCode;
use kb_mcp::hosts::{Host, Launch, Remote, SERVER, TOKEN_VARIABLE, remote_entry, snippet};
use maud::{Markup, html};

use super::layout::{Layout, page as layout_page};
use crate::answer::{Answer, Problem};
use crate::site::Visit;

/// The pieces, ready to be copied.
pub(crate) fn page(visit: &Visit) -> Result<Answer, Problem> {
    let site = &visit.site;
    let url = format!("http://{}/mcp", visit.host);
    let requires_token = site.files.requires_token();
    let is_near = ["127.0.0.1", "localhost", "[::1]"];
    let is_near = is_near.iter().any(|near| visit.host.starts_with(near));
    let remote = Remote {
        bridge: Launch {
            command: "kb".to_owned(),
            arguments: ["mcp", "--connect", &url].map(str::to_owned).into(),
        },
        url,
        requires_token,
    };
    let body = html! {
        article.narrow {
            h1 { "Ask an agent" }
            p { "Programs that speak MCP search and read these files at " code #url { (remote.url) } " "
                button.copy type="button" data-copy="#url" hidden { "Copy" } }
            @if !is_near { p.quiet { "If a proxy with TLS stands before this server, write " code { "https" } "." } }
            @if requires_token {
                p { "They need an access token, in the environment variable " code { (TOKEN_VARIABLE) }
                    " of the program. " a href=(site.links.page("tokens")) { "Make one" } }
            }
            @for host in Host::ALL { (section(host, &remote)) }
        }
    };
    let layout = Layout {
        title: "Ask an agent",
        is_for_strangers: false,
        file: None,
        search: None,
        body,
    };
    Ok(layout_page(site, StatusCode::OK, &layout))
}

fn section(host: Host, remote: &Remote) -> Markup {
    let piece = snippet(host, SERVER, &remote_entry(host, remote));
    let id = format!("for-{}", host.name());
    html! {
        section.agent {
            h2 { (title(host)) }
            p.about { span { "In " (piece.file) }
                button.copy type="button" data-copy={ "#" (id) } aria-label={ "Copy for " (title(host)) } hidden { "Copy" } }
            pre.passage tabindex="0" { code id=(id) { (piece.text) } }
        }
    }
}

/// The name that its makers give it.
fn title(host: Host) -> &'static str {
    match host {
        Host::Claude => "Claude Code",
        Host::Cursor => "Cursor",
        Host::Vscode => "Visual Studio Code",
        Host::Codex => "Codex",
        Host::Gemini => "Gemini CLI",
        Host::Zed => "Zed",
        Host::Opencode => "OpenCode",
    }
}
