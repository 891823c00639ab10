//! The configuration with which a host starts this server, or connects to one. MCP calls a program with a model a host.

mod error;
mod install;
mod json_file;
mod places;
mod toml_file;

use std::fmt::Write as _;

pub use error::InstallError;
pub use install::{Change, install, uninstall};
pub use places::{Folders, file_of_project};

use kb_engine::escape::{escape_json, is_hidden};
use serde_json::{Value, json};

/// Name of the server in the configuration, where none is given.
pub const SERVER: &str = "kb";

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

/// A server as a host has it in its configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The object or table that servers are in.
    pub(crate) key: &'static str,
    /// The server.
    pub(crate) server: Value,
}

/// The object or table of its configuration that `host` has servers in.
pub(crate) fn key_of(host: Host) -> &'static str {
    match host {
        Host::Claude | Host::Cursor | Host::Gemini => "mcpServers",
        Host::Zed => "context_servers",
        Host::Vscode => "servers",
        Host::Opencode => "mcp",
        Host::Codex => "mcp_servers",
    }
}

/// The server with which `host` starts this program.
pub fn entry(host: Host, launch: &Launch) -> Entry {
    let (command, arguments) = (&launch.command, &launch.arguments);
    let server = match host {
        Host::Vscode => json!({ "type": "stdio", "command": command, "args": arguments }),
        Host::Opencode => {
            let command_line: Vec<&String> = std::iter::once(command).chain(arguments).collect();
            json!({ "type": "local", "command": command_line, "enabled": true })
        }
        _ => json!({ "command": command, "args": arguments }),
    };
    Entry {
        key: key_of(host),
        server,
    }
}

/// The server with which `host` uses a running server.
pub fn remote_entry(host: Host, remote: &Remote) -> Entry {
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
    let server = match host {
        Host::Claude => with_token(json!({ "type": "http", "url": url }), braced()),
        Host::Cursor => with_token(json!({ "url": url }), of_env()),
        Host::Gemini => with_token(json!({ "httpUrl": url }), braced()),
        // It sends headers as they stand in its settings, so that the token would be there.
        Host::Zed if remote.requires_token => return entry(host, &remote.bridge),
        Host::Zed => json!({ "url": url }),
        Host::Vscode => with_token(json!({ "type": "http", "url": url }), of_env()),
        Host::Opencode => {
            let server = json!({ "type": "remote", "url": url, "enabled": true });
            with_token(server, format!("{{env:{TOKEN_VARIABLE}}}"))
        }
        Host::Codex if remote.requires_token => {
            json!({ "url": url, "bearer_token_env_var": TOKEN_VARIABLE })
        }
        Host::Codex => json!({ "url": url }),
    };
    Entry {
        key: key_of(host),
        server,
    }
}

/// The configuration with this server in it.
pub fn snippet(host: Host, name: &str, entry: &Entry) -> Snippet {
    let Entry { key, server } = entry;
    let file = match host {
        Host::Claude => ".mcp.json in the folder of a project",
        Host::Cursor => "~/.cursor/mcp.json",
        Host::Gemini => "~/.gemini/settings.json",
        Host::Zed => "~/.config/zed/settings.json",
        Host::Vscode => ".vscode/mcp.json",
        Host::Opencode => "opencode.json",
        Host::Codex => "~/.codex/config.toml",
    };
    let text = if host == Host::Codex {
        let mut text = format!("[{key}.{name}]\n");
        for (field, value) in toml_fields(server) {
            let value = match value {
                Value::Array(items) => {
                    let items = items.iter().filter_map(Value::as_str);
                    let items: Vec<String> = items.map(toml_string).collect();
                    format!("[{}]", items.join(", "))
                }
                other => toml_string(other.as_str().unwrap_or_default()),
            };
            // Writing to a String does not fail.
            let _ = writeln!(text, "{field} = {value}");
        }
        text
    } else {
        let value = json!({ *key: { name: server } });
        escape_json(&format!("{value:#}\n")).into_owned()
    };
    Snippet { file, text }
}

/// The fields that a server has in TOML, in the order in which people write them.
fn toml_fields(server: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    let fields = ["command", "args", "url", "bearer_token_env_var"].into_iter();
    fields.filter_map(|field| Some((field, server.get(field)?)))
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

    fn shown(host: Host, launch: &Launch) -> Snippet {
        snippet(host, SERVER, &entry(host, launch))
    }

    fn remote_shown(host: Host, remote: &Remote) -> Snippet {
        snippet(host, SERVER, &remote_entry(host, remote))
    }

    #[test]
    fn every_host_but_codex_gets_json_with_the_command() {
        let launch = launch();
        let words = json!(launch.arguments);
        for host in Host::ALL.into_iter().filter(|host| *host != Host::Codex) {
            let text = shown(host, &launch).text;
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
        let text = shown(Host::Codex, &launch()).text;
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
            let value: Value = serde_json::from_str(&remote_shown(host, &remote).text).unwrap();
            assert_eq!(value.pointer(address), Some(&json!(url)), "{value}");
            let (server, _) = address.rsplit_once('/').unwrap();
            let headers = value.pointer(&format!("{server}/headers")).unwrap();
            assert_eq!(
                headers,
                &json!({ "Authorization": format!("Bearer {header}") })
            );
        }
        assert_eq!(
            remote_shown(Host::Codex, &remote).text,
            format!("[mcp_servers.kb]\nurl = \"{url}\"\nbearer_token_env_var = \"KB_MCP_TOKEN\"\n")
        );
        // Zed would need the token in its settings.
        let zed = remote_shown(Host::Zed, &remote);
        assert_eq!(zed, shown(Host::Zed, &launch()));
        remote.requires_token = false;
        for host in Host::ALL {
            let text = remote_shown(host, &remote).text;
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
