//! The configuration with which a host starts this server, or connects to one. A host is a program with a model in it, as MCP
//! calls it.

use std::fmt::Write as _;

use kb_engine::escape::{escape_json, is_hidden};
use serde_json::{Value, json};

/// Name of the server in the configuration.
const SERVER: &str = "kb";

/// Where Claude Code reads servers from.
const CLAUDE_FILE: &str = ".mcp.json in the folder of a project";

/// A program that starts servers, or connects to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Claude Code and Claude Desktop.
    Claude,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Zed.
    Zed,
    /// OpenCode.
    Opencode,
}

impl Host {
    /// All hosts.
    pub const ALL: [Host; 7] = [
        Host::Claude,
        Host::Cursor,
        Host::Vscode,
        Host::Codex,
        Host::Gemini,
        Host::Zed,
        Host::Opencode,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Host::Claude => "claude",
            Host::Cursor => "cursor",
            Host::Vscode => "vscode",
            Host::Codex => "codex",
            Host::Gemini => "gemini",
            Host::Zed => "zed",
            Host::Opencode => "opencode",
        }
    }

    /// The host of that name.
    pub fn from_name(name: &str) -> Option<Host> {
        Host::ALL.into_iter().find(|host| host.name() == name)
    }
}

/// The command that starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program, as an absolute path: hosts have a search path of their own.
    pub command: String,
    /// Its arguments; files as absolute paths, as hosts have a working directory of their own.
    pub arguments: Vec<String>,
}

/// A server that is running already, and that hosts reach over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its address, with the path of the endpoint: `http://127.0.0.1:8765/mcp`.
    pub url: String,
    /// Whether it requires a token. Hosts read it from the environment variable [`TOKEN_VARIABLE`], so
    /// that no configuration has it.
    pub requires_token: bool,
    /// The command that connects to it, for a host that cannot do that itself.
    pub bridge: Launch,
}

/// The environment variable that a token is read from.
pub const TOKEN_VARIABLE: &str = "KB_MCP_TOKEN";

/// A piece of configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The file it belongs in.
    pub file: &'static str,
    /// The piece, ending in a line feed.
    pub text: String,
}

/// The configuration with which `host` starts the server.
pub fn snippet(host: Host, launch: &Launch) -> Snippet {
    let (command, arguments) = (&launch.command, &launch.arguments);
    let server = json!({ "command": command, "args": arguments });
    match host {
        Host::Claude => servers(CLAUDE_FILE, "mcpServers", server),
        Host::Cursor => servers("~/.cursor/mcp.json", "mcpServers", server),
        Host::Gemini => servers("~/.gemini/settings.json", "mcpServers", server),
        Host::Zed => servers("~/.config/zed/settings.json", "context_servers", server),
        Host::Vscode => {
            let server = json!({ "type": "stdio", "command": command, "args": arguments });
            servers(".vscode/mcp.json", "servers", server)
        }
        Host::Opencode => {
            let command_line: Vec<&String> = std::iter::once(command).chain(arguments).collect();
            let server = json!({ "type": "local", "command": command_line, "enabled": true });
            servers("opencode.json", "mcp", server)
        }
        Host::Codex => {
            let arguments: Vec<String> = arguments.iter().map(|it| toml_string(it)).collect();
            let (command, arguments) = (toml_string(command), arguments.join(", "));
            Snippet {
                file: "~/.codex/config.toml",
                text: format!(
                    "[mcp_servers.{SERVER}]\ncommand = {command}\nargs = [{arguments}]\n"
                ),
            }
        }
    }
}

/// The configuration with which `host` uses a running server.
pub fn remote_snippet(host: Host, remote: &Remote) -> Snippet {
    let url = &remote.url;
    // Every host has its own way to name a variable.
    let with_token = |mut server: Value, variable: String| {
        if remote.requires_token
            && let Some(server) = server.as_object_mut()
        {
            let headers = json!({ "Authorization": format!("Bearer {variable}") });
            server.insert("headers".to_owned(), headers);
        }
        server
    };
    let braced = || format!("${{{TOKEN_VARIABLE}}}");
    let of_env = || format!("${{env:{TOKEN_VARIABLE}}}");
    match host {
        Host::Claude => {
            let server = with_token(json!({ "type": "http", "url": url }), braced());
            servers(CLAUDE_FILE, "mcpServers", server)
        }
        Host::Cursor => {
            let server = with_token(json!({ "url": url }), of_env());
            servers("~/.cursor/mcp.json", "mcpServers", server)
        }
        Host::Gemini => {
            let server = with_token(json!({ "httpUrl": url }), braced());
            servers("~/.gemini/settings.json", "mcpServers", server)
        }
        // It sends headers as they stand in its settings, so that the token would be there.
        Host::Zed if remote.requires_token => snippet(host, &remote.bridge),
        Host::Zed => {
            let server = json!({ "url": url });
            servers("~/.config/zed/settings.json", "context_servers", server)
        }
        Host::Vscode => {
            let server = with_token(json!({ "type": "http", "url": url }), of_env());
            servers(".vscode/mcp.json", "servers", server)
        }
        Host::Opencode => {
            let server = json!({ "type": "remote", "url": url, "enabled": true });
            let server = with_token(server, format!("{{env:{TOKEN_VARIABLE}}}"));
            servers("opencode.json", "mcp", server)
        }
        Host::Codex => {
            let mut text = format!("[mcp_servers.{SERVER}]\nurl = {}\n", toml_string(url));
            if remote.requires_token {
                text.push_str(&format!("bearer_token_env_var = \"{TOKEN_VARIABLE}\"\n"));
            }
            let file = "~/.codex/config.toml";
            Snippet { file, text }
        }
    }
}

fn servers(file: &'static str, key: &str, server: Value) -> Snippet {
    let value = json!({ key: { SERVER: server } });
    let text = escape_json(&format!("{value:#}\n")).into_owned();
    Snippet { file, text }
}

/// A basic string of TOML 1.0. Its escapes are those of JSON, with two differences: DEL must be escaped,
/// and a character beyond U+FFFF has eight digits instead of a surrogate pair.
fn toml_string(text: &str) -> String {
    let mut string = String::new();
    for character in Value::from(text).to_string().chars() {
        match u32::from(character) {
            // Writing to a String does not fail.
            code @ 0x10000.. if is_hidden(character) => drop(write!(string, "\\U{code:08X}")),
            code if is_hidden(character) => drop(write!(string, "\\u{code:04X}")),
            _ => string.push(character),
        }
    }
    string
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> Launch {
        Launch {
            command: "C:\\kb \"1\".exe".to_owned(),
            arguments: vec![
                "mcp".to_owned(),
                "a\u{7f}\u{9b}\u{e0041}=/x/caf\u{e9}.kb".to_owned(),
            ],
        }
    }

    #[test]
    fn every_host_but_codex_gets_json_with_the_command() {
        let launch = launch();
        let words = json!(launch.arguments);
        for host in Host::ALL.into_iter().filter(|host| *host != Host::Codex) {
            let text = snippet(host, &launch).text;
            assert!(!text.contains(['\u{7f}', '\u{9b}', '\u{e0041}']), "{text}");
            let value: Value = serde_json::from_str(&text).unwrap();
            let (key, command) = match host {
                Host::Vscode => ("servers", &launch.command),
                Host::Zed => ("context_servers", &launch.command),
                Host::Opencode => {
                    let all = json!([launch.command, "mcp", launch.arguments[1]]);
                    assert_eq!(value["mcp"]["kb"]["command"], all);
                    continue;
                }
                _ => ("mcpServers", &launch.command),
            };
            let server = &value[key]["kb"];
            assert_eq!(server["command"], json!(command), "{}", host.name());
            assert_eq!(server["args"], words, "{}", host.name());
        }
    }

    #[test]
    fn codex_gets_escaped_toml() {
        let text = snippet(Host::Codex, &launch()).text;
        assert_eq!(
            text,
            "[mcp_servers.kb]\ncommand = \"C:\\\\kb \\\"1\\\".exe\"\nargs = [\"mcp\", \
             \"a\\u007F\\u009B\\U000E0041=/x/caf\u{e9}.kb\"]\n"
        );
    }

    #[test]
    fn a_running_server_gets_its_token_from_the_environment() {
        let url = "http://127.0.0.1:8765/mcp";
        let mut remote = Remote {
            url: url.to_owned(),
            requires_token: true,
            bridge: launch(),
        };
        for (host, address, header) in [
            (Host::Claude, "/mcpServers/kb/url", "${KB_MCP_TOKEN}"),
            (Host::Cursor, "/mcpServers/kb/url", "${env:KB_MCP_TOKEN}"),
            (Host::Gemini, "/mcpServers/kb/httpUrl", "${KB_MCP_TOKEN}"),
            (Host::Vscode, "/servers/kb/url", "${env:KB_MCP_TOKEN}"),
            (Host::Opencode, "/mcp/kb/url", "{env:KB_MCP_TOKEN}"),
        ] {
            let value: Value = serde_json::from_str(&remote_snippet(host, &remote).text).unwrap();
            assert_eq!(value.pointer(address), Some(&json!(url)), "{value}");
            let (server, _) = address.rsplit_once('/').unwrap();
            let headers = value.pointer(&format!("{server}/headers")).unwrap();
            assert_eq!(
                headers,
                &json!({ "Authorization": format!("Bearer {header}") })
            );
        }
        assert_eq!(
            remote_snippet(Host::Codex, &remote).text,
            format!("[mcp_servers.kb]\nurl = \"{url}\"\nbearer_token_env_var = \"KB_MCP_TOKEN\"\n")
        );
        // Zed would need the token in its settings.
        let zed = remote_snippet(Host::Zed, &remote);
        assert_eq!(zed, snippet(Host::Zed, &launch()));
        remote.requires_token = false;
        for host in Host::ALL {
            let text = remote_snippet(host, &remote).text;
            assert!(text.contains(url) && !text.contains("TOKEN"), "{text}");
        }
    }

    #[test]
    fn hosts_are_parsed_from_their_names() {
        for host in Host::ALL {
            assert_eq!(Host::from_name(host.name()), Some(host));
        }
        assert_eq!(Host::from_name("emacs"), None);
    }
}
