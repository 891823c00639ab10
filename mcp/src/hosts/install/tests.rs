use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::hosts::{Folders, Launch, entry, file_of_project};

fn launch(file: &str) -> Launch {
    Launch {
        command: "/opt/kb".to_owned(),
        arguments: vec!["mcp".to_owned(), format!("notes={file}")],
    }
}

fn entry_of(host: Host) -> Entry {
    entry(host, &launch("/home/me/notes.kb"))
}

fn temporary(text: Option<&str>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    // As the change has it, without links.
    let file = folder.path().canonicalize().unwrap().join("settings");
    if let Some(text) = text {
        fs::write(&file, text).unwrap();
    }
    (folder, file)
}

/// Text before, and the text after the server was put in.
fn installed(host: Host, text: &str) -> Result<String, String> {
    let (_folder, file) = temporary(Some(text));
    let change = install(host, &file, "kb", &entry_of(host)).map_err(|error| error.to_string())?;
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "not applied yet");
    let again = change.after.clone();
    change.apply().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), again);
    let second = install(host, &file, "kb", &entry_of(host)).unwrap();
    assert!(second.is_empty(), "{}", second.diff());
    Ok(change.after)
}

#[test]
fn a_server_is_put_into_a_file_that_is_not_there_and_taken_out() {
    for host in Host::ALL {
        let (_folder, file) = temporary(None);
        let file = file.join("deep").join("file");
        let entry = entry_of(host);
        let change = install(host, &file, "kb", &entry).unwrap();
        assert_eq!(change.before, None);
        assert_eq!(change.apply().unwrap(), None, "nothing to back up");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.ends_with('\n') && text.contains("notes.kb"), "{text}");
        let keys = [entry.key];
        assert_eq!(
            server(host, &text, &keys, "kb").unwrap(),
            Some(entry.server)
        );
        let change = uninstall(host, &file, "kb").unwrap();
        let backup = change.apply().unwrap().unwrap();
        assert_eq!(fs::read_to_string(backup).unwrap(), text);
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(server(host, &text, &keys, "kb").unwrap(), None, "{text}");
        assert!(!text.contains("notes.kb"), "{text}");
        assert!(uninstall(host, &file, "kb").unwrap().is_empty());
    }
}

const COMMENTED: &str = "\
// Mine.
{
  \"theme\": \"dark\", // at night
  /* servers */
  \"mcpServers\": {
    \"other\": { \"command\": \"other\", \"args\": [ \"-x\" ], }, // keep
  },
}
";

#[test]
fn comments_order_and_other_servers_stay() {
    let after = installed(Host::Gemini, COMMENTED).unwrap();
    for line in COMMENTED.lines() {
        assert!(after.contains(line), "{line} is not in {after}");
    }
    let value = json_file::value(&after).unwrap();
    assert_eq!(value["mcpServers"]["other"]["args"], json!(["-x"]));
    assert_eq!(value["mcpServers"]["kb"]["command"], "/opt/kb");
    let (_folder, file) = temporary(Some(&after));
    let change = uninstall(Host::Gemini, &file, "kb").unwrap();
    assert_eq!(change.after, COMMENTED);
}

const TOML: &str = "\
# Mine.
model = \"o9\" # the fast one

[mcp_servers.other]
command = 'other'
args = [
  \"-x\", # keep
]

[[projects]]
path = \"/a\"
";

#[test]
fn toml_keeps_comments_order_and_other_servers() {
    let after = installed(Host::Codex, TOML).unwrap();
    for line in TOML.lines() {
        assert!(after.contains(line), "{line} is not in {after}");
    }
    assert!(
        after.contains("[mcp_servers.kb]\ncommand = \"/opt/kb\"\n"),
        "{after}"
    );
    let (_folder, file) = temporary(Some(&after));
    assert_eq!(uninstall(Host::Codex, &file, "kb").unwrap().after, TOML);
    for inline in [
        "mcp_servers = { other = { command = \"other\" } }\n",
        "mcp_servers.other.command = \"other\"\n",
        "[mcp_servers]\nother = { command = \"other\" }\n",
    ] {
        let after = installed(Host::Codex, inline).unwrap();
        let value = toml_file::value(&after).unwrap();
        assert_eq!(value["mcp_servers"]["other"]["command"], "other", "{after}");
        assert_eq!(value["mcp_servers"]["kb"]["command"], "/opt/kb", "{after}");
    }
}

/// What a person added to our server stays in TOML: a timeout, an environment.
#[test]
fn toml_settings_of_our_server_stay() {
    let text = "[mcp_servers.kb]\ncommand = \"/old/kb\"\nargs = [\"mcp\", \"notes=/home/me/notes.kb\"]\n\
                tool_timeout_sec = 90\n";
    let after = installed(Host::Codex, text).unwrap();
    assert!(
        after.contains("tool_timeout_sec = 90") && !after.contains("/old/kb"),
        "{after}"
    );
}

#[test]
fn line_ends_and_the_byte_order_mark_stay() {
    for (host, text) in [(Host::Cursor, COMMENTED), (Host::Codex, TOML)] {
        let text = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let after = installed(host, &text).unwrap();
        assert!(after.starts_with('\u{feff}'));
        assert_eq!(
            after.matches('\n').count(),
            after.matches("\r\n").count(),
            "{after:?}"
        );
        assert!(!after.contains("\r\r"), "{after:?}");
    }
}

#[test]
fn an_empty_file_is_one_without_settings() {
    for host in Host::ALL {
        for text in ["", "\n", "  "] {
            let after = installed(host, text).unwrap();
            assert!(after.contains("/opt/kb"), "{after}");
        }
    }
    installed(Host::Claude, "{}").unwrap();
    installed(Host::Claude, "{\"mcpServers\": {}}").unwrap();
}

#[test]
fn a_broken_file_is_refused_and_not_touched() {
    for (host, text) in [
        (Host::Claude, "{\"mcpServers\": {"),
        (Host::Claude, "{\"a\": 1 \"b\": 2}"),
        (Host::Claude, "[]"),
        (Host::Claude, "{\"mcpServers\": []}"),
        (Host::Claude, "{\"mcpServers\": null}"),
        (Host::Claude, "{} {}"),
        (Host::Vscode, "{servers: {}}"),
        (Host::Codex, "a = \n"),
        (Host::Codex, "mcp_servers = 3\n"),
    ] {
        let (folder, file) = temporary(Some(text));
        let error = install(host, &file, "kb", &entry_of(host)).unwrap_err();
        assert!(matches!(error, InstallError::Broken(_)), "{text}: {error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    let (_folder, file) = temporary(None);
    fs::write(&file, b"{\"a\": \"\xff\"}").unwrap();
    install(Host::Claude, &file, "kb", &entry_of(Host::Claude)).unwrap_err();
}

#[test]
fn a_server_of_others_or_of_other_files_stays() {
    for host in Host::ALL {
        let foreign = Launch {
            command: "npx".to_owned(),
            arguments: vec!["knowledge".to_owned()],
        };
        for (launch, is_ours) in [(foreign, false), (launch("/home/me/code.kb"), true)] {
            let (_folder, file) = temporary(None);
            let other = entry(host, &launch);
            let text = match host {
                Host::Codex => toml_file::with_server("", other.key, "kb", &other.server).unwrap(),
                _ => json_file::with_server("{}", &[other.key], "kb", &other.server).unwrap(),
            };
            fs::write(&file, &text).unwrap();
            match install(host, &file, "kb", &entry_of(host)).unwrap_err() {
                InstallError::ServesOthers(files) => {
                    assert!(is_ours);
                    assert_eq!(files, ["notes=/home/me/code.kb"]);
                }
                InstallError::NameTaken => assert!(!is_ours),
                other => panic!("{other}"),
            }
            // Under another name there is room for both.
            let both = install(host, &file, "notes", &entry_of(host))
                .unwrap()
                .after;
            assert!(
                both.contains(&launch.arguments[launch.arguments.len() - 1]),
                "{both}"
            );
            let taken_out = uninstall(host, &file, "kb");
            assert_eq!(taken_out.is_ok(), is_ours);
        }
    }
}

#[test]
fn opencode_2_has_its_servers_one_level_deeper() {
    let text =
        "{\"mcp\": {\"servers\": {\"other\": {\"type\": \"local\", \"command\": [\"other\"]}}}}";
    let after = installed(Host::Opencode, text).unwrap();
    let value = json_file::value(&after).unwrap();
    assert_eq!(value["mcp"]["servers"]["kb"]["command"][0], "/opt/kb");
}

#[test]
fn the_difference_shows_what_comes_and_goes() {
    let (_folder, file) = temporary(Some(TOML));
    let change = install(Host::Codex, &file, "kb", &entry_of(Host::Codex)).unwrap();
    let diff = change.diff();
    assert!(diff.contains("+ [mcp_servers.kb]\n"), "{diff}");
    assert!(!diff.contains("\n- "), "{diff}");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, file) = temporary(Some("{}"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    let change = install(Host::Claude, &link, "kb", &entry_of(Host::Claude)).unwrap();
    assert_eq!(change.file, file);
    let first = change.apply().unwrap().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&link).unwrap().contains("/opt/kb"));
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = uninstall(Host::Claude, &link, "kb").unwrap().apply();
    assert_ne!(second.unwrap().unwrap(), first, "no backup is overwritten");
    let broken = folder.path().join("broken");
    symlink(folder.path().join("nowhere/file"), &broken).unwrap();
    install(Host::Claude, &broken, "kb", &entry_of(Host::Claude)).unwrap_err();
}

#[test]
fn hosts_read_their_own_files() {
    let folders = Folders {
        home: "/home/me".into(),
        config: "/home/me/.config".into(),
        applications: "/home/me/.config".into(),
        codex: None,
    };
    let mut files: Vec<PathBuf> = Host::ALL.map(|host| folders.file_of(host)).into();
    files.extend(Host::ALL.map(|host| file_of_project(host, Path::new("/p"))));
    let mut unique = files.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), 14, "{files:?}");
    let moved = Folders {
        codex: Some("/codex".into()),
        ..folders
    };
    assert_eq!(moved.file_of(Host::Codex), Path::new("/codex/config.toml"));
}
