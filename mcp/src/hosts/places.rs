//! Where hosts keep their configuration.

use std::path::{Path, PathBuf};

use super::Host;

/// The folders that configurations lie in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders {
    /// The user's home.
    pub home: PathBuf,
    /// Where programs keep settings: `$XDG_CONFIG_HOME`, else `~/.config`.
    pub config: PathBuf,
    /// Where applications keep settings: `~/Library/Application Support`, `%APPDATA%`, or as `config`.
    pub applications: PathBuf,
    /// Where Codex keeps its configuration, if `$CODEX_HOME` says so.
    pub codex: Option<PathBuf>,
}

impl Folders {
    /// Those of the user of this process; `None` for one without a home.
    pub fn of_user() -> Option<Folders> {
        let set = |name: &str| {
            let path = PathBuf::from(std::env::var_os(name)?);
            path.is_absolute().then_some(path)
        };
        let home = std::env::home_dir().filter(|home| home.is_absolute())?;
        let config = set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let applications = if cfg!(target_os = "macos") {
            home.join("Library").join("Application Support")
        } else if cfg!(windows) {
            set("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming"))
        } else {
            config.clone()
        };
        Some(Folders {
            codex: set("CODEX_HOME"),
            home,
            config,
            applications,
        })
    }

    /// The file in which `host` looks for servers in every project.
    pub fn file_of(&self, host: Host) -> PathBuf {
        match host {
            Host::Claude => self.home.join(".claude.json"),
            Host::Cursor => self.home.join(".cursor").join("mcp.json"),
            Host::Vscode => self.applications.join("Code").join("User").join("mcp.json"),
            Host::Codex => {
                let folder = self.codex.clone();
                let folder = folder.unwrap_or_else(|| self.home.join(".codex"));
                folder.join("config.toml")
            }
            Host::Gemini => self.home.join(".gemini").join("settings.json"),
            Host::Zed if cfg!(windows) => self.applications.join("Zed").join("settings.json"),
            Host::Zed if cfg!(target_os = "macos") => {
                self.home.join(".config").join("zed").join("settings.json")
            }
            Host::Zed => self.config.join("zed").join("settings.json"),
            Host::Opencode => with_comments(self.config.join("opencode").join("opencode.json")),
        }
    }
}

/// The file in which `host` looks for servers in the project at `folder`.
pub fn file_of_project(host: Host, folder: &Path) -> PathBuf {
    match host {
        Host::Claude => folder.join(".mcp.json"),
        Host::Cursor => folder.join(".cursor").join("mcp.json"),
        Host::Vscode => folder.join(".vscode").join("mcp.json"),
        Host::Codex => folder.join(".codex").join("config.toml"),
        Host::Gemini => folder.join(".gemini").join("settings.json"),
        Host::Zed => folder.join(".zed").join("settings.json"),
        Host::Opencode => with_comments(folder.join("opencode.json")),
    }
}

/// The same file with the ending `.jsonc`, where that one is there and this one is not.
fn with_comments(file: PathBuf) -> PathBuf {
    let other = file.with_extension("jsonc");
    if !file.exists() && other.exists() {
        other
    } else {
        file
    }
}
