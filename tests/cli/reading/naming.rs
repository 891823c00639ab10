//! Documents, folders and filters named by the paths that programs use: absolute, as URIs, with `\`, through links.

use crate::support::{Folder, run};

/// `p.kb`, made from `disk/cove`, in which two files have the name `notes.md`.
fn indexed() -> Folder {
    let folder = Folder::empty();
    for (name, text) in [
        ("notes.md", "# Notes\n\nThe buoy bell.\nSecond line.\n"),
        ("log/notes.md", "# Log\n\nThe buoy light.\n"),
        ("log/Tide Table.md", "# Tides\n\nThe buoy swings.\n"),
        ("src/winch.py", "def hoist():\n    return 'buoy'\n"),
    ] {
        folder.write(format!("disk/cove/{name}"), text);
    }
    folder.kb("index disk/cove -o p.kb").expect(0);
    folder
}

fn absolute(folder: &Folder, below: &str) -> String {
    folder.join("disk/cove").join(below).display().to_string()
}

#[test]
fn the_path_of_an_indexed_file_names_its_document() {
    let folder = indexed();
    let path = absolute(&folder, "src/winch.py");
    for name in [
        path.clone(),
        format!("file://{path}"),
        format!("file://localhost{path}"),
        r"src\winch.py".to_owned(),
        r".\src\winch.py".to_owned(),
        "./src/../src/winch.py".to_owned(),
        "./disk/cove/src/winch.py".to_owned(),
        absolute(&folder, "log/../src/winch.py"),
    ] {
        let told = folder.kb(["get", "-f", "p.kb", &name]).expect(0);
        assert!(told.stdout.starts_with("def hoist"), "{name}: {told:#?}");
    }
    let spaced = absolute(&folder, "log/Tide%20Table.md");
    let told = folder.kb(["get", "-f", "p.kb", &format!("file://{spaced}")]);
    assert!(told.expect(0).stdout.starts_with("# Tides"));
    let below = folder.join("disk/cove/log");
    let mut command = folder.command();
    command
        .current_dir(below)
        .args(["get", "-f", "../../../p.kb", "../notes.md"]);
    assert!(run(&mut command).expect(0).stdout.starts_with("# Notes"));
    let listed = |here: &str, name: &str| {
        let mut command = folder.command();
        command.current_dir(folder.join(here));
        command
            .args(["ls", "-f"])
            .arg(folder.join("p.kb"))
            .arg(name);
        run(&mut command).expect(0).stdout
    };
    let log = "log/Tide Table.md\nlog/notes.md\n";
    assert_eq!(listed("disk/cove/src", "../log"), log);
    assert_eq!(listed("disk", "./cove/log"), log);
    assert_eq!(
        listed("disk/cove/src", "./log/"),
        log,
        "a folder of the file"
    );
}

#[test]
fn lines_may_stand_behind_the_path_of_a_file() {
    let folder = indexed();
    let path = absolute(&folder, "notes.md");
    for name in [
        format!("{path}:3"),
        format!("{path}#L3-L3"),
        format!("file://{path}#L3"),
        format!("{path}:3:5"),
    ] {
        let told = folder.kb(["get", "-f", "p.kb", &name]).expect(0);
        assert_eq!(told.stdout, "The buoy bell.\n", "{name}");
    }
    let told = folder
        .kb(["get", "-f", "p.kb", r"src\winch.py:2"])
        .expect(0);
    assert_eq!(told.stdout, "    return 'buoy'\n");
}

#[test]
#[cfg(unix)]
fn a_link_to_the_folder_names_the_same_documents() {
    let folder = indexed();
    std::os::unix::fs::symlink(folder.join("disk/cove"), folder.join("bay")).unwrap();
    let link = folder.join("bay").display().to_string();
    let told = folder.kb(["get", "-f", "p.kb", &format!("{link}/notes.md")]);
    assert!(told.expect(0).stdout.starts_with("# Notes"));
    let told = folder.kb(["ls", "-f", "p.kb", &link]).expect(0);
    assert_eq!(told.stdout, "log/\nsrc/\nnotes.md\n");
    let path = format!("{link}/log/**");
    let told = folder.kb(["search", "-f", "p.kb", "buoy", "--json", "--path", &path]);
    assert_eq!(told.expect(0).json_lines().len(), 2);
}

#[test]
fn filters_take_folders_of_the_disk() {
    let folder = indexed();
    let found = |flag: &str, value: &str| {
        let flags = [
            "search", "-f", "p.kb", "buoy", "--mode", "regex", "-l", flag,
        ];
        let mut command = folder.command();
        command.args(flags).arg(value);
        let mut lines: Vec<String> = run(&mut command)
            .stdout
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines.join(" ")
    };
    let log = absolute(&folder, "log");
    let both = "log/Tide Table.md log/notes.md";
    for value in [
        log.clone(),
        format!("{log}/"),
        format!("file://{log}"),
        "LOG".to_owned(),
    ] {
        assert_eq!(found("--folder", &value), both, "{value}");
    }
    for value in [
        log.clone(),
        format!("{log}/**"),
        format!("{log}/*.md"),
        r"log\*.md".to_owned(),
    ] {
        assert_eq!(found("--path", &value), both, "{value}");
    }
    assert_eq!(found("--path", &absolute(&folder, "*.md")), "notes.md");
    assert_eq!(
        found("--path", &absolute(&folder, "**/winch.*")),
        "src/winch.py"
    );
    assert_eq!(found("--path", &absolute(&folder, "notes.md")), "notes.md");
    let above = folder.join("disk").display().to_string();
    assert_eq!(
        found("--path", &format!("{above}/**/winch.py")),
        "src/winch.py"
    );
    assert_eq!(found("--path", "/elsewhere/**"), "");
    let all = absolute(&folder, "");
    assert_eq!(
        found("--folder", &all),
        format!("{both} notes.md src/winch.py")
    );
    let query = format!("buoy path:{log}");
    let told = folder
        .kb(["search", "-f", "p.kb", "--json", &query])
        .expect(0);
    assert_eq!(told.json_lines().len(), 2, "{told:#?}");
}

#[test]
fn a_file_outside_of_the_folders_is_no_document() {
    let folder = indexed();
    folder.write("other/notes.md", "# Another file\n");
    for name in ["other/notes.md", "other/log/notes.md"] {
        let path = folder.join(name).display().to_string();
        folder.kb(["get", "-f", "p.kb", &path]).expect(2);
    }
    for name in ["/", "//", "file:", "file://", r"\\", "/../..", "C:/x", "\\"] {
        let told = folder.kb(["get", "-f", "p.kb", name, "--json"]).expect(2);
        assert_eq!(told.error_code(), "DOCUMENT_NOT_FOUND", "{name}");
    }
}

#[test]
fn a_sealed_file_knows_its_folders_by_name_only() {
    let folder = indexed();
    folder.kb("seal p.kb -o s.kb").expect(0);
    let get = |name: &str| folder.kb(["get", "-f", "s.kb", name]);
    assert!(
        get("/ci/cove/notes.md")
            .expect(0)
            .stdout
            .starts_with("# Notes")
    );
    assert!(
        get(r"C:\work\cove\log\notes.md")
            .expect(0)
            .stdout
            .starts_with("# Log")
    );
    assert!(
        get("/ci/checkout/src/winch.py")
            .expect(0)
            .stdout
            .starts_with("def")
    );
    assert!(
        get("/ci/checkout/log/notes.md")
            .expect(0)
            .stdout
            .starts_with("# Log")
    );
    // Two documents end so.
    let told = folder.kb("get -f s.kb /ci/checkout/notes.md --json");
    assert_eq!(told.expect(2).error_code(), "AMBIGUOUS_DOCUMENT");
    let told = folder.kb("ls -f s.kb /ci/cove/log").expect(0);
    assert_eq!(told.stdout, "log/Tide Table.md\nlog/notes.md\n");
    let path = [
        "search",
        "-f",
        "s.kb",
        "buoy",
        "--json",
        "--path",
        "/ci/cove/src/**",
    ];
    assert_eq!(folder.kb(path).expect(0).json_lines().len(), 1);
    // A guess removes nothing.
    folder.kb("rm s.kb /ci/checkout/src/winch.py").expect(2);
}

#[test]
fn names_are_found_whatever_their_case_when_only_one_fits() {
    let folder = indexed();
    let get = |name: &str| folder.kb(["get", "-f", "p.kb", name]);
    assert!(get("WINCH.py").expect(0).stdout.starts_with("def"));
    assert!(
        get("Log/tide table.MD")
            .expect(0)
            .stdout
            .starts_with("# Tides")
    );
    // The one at the top has it as its whole path.
    assert!(get("NOTES.md").expect(0).stdout.starts_with("# Notes"));
    folder.write("disk/cove/docs/Readme.md", "# One\n");
    folder.write("disk/cove/log/README.md", "# Other\n");
    folder.kb("index disk/cove -o p.kb").expect(0);
    let told = folder.kb("get -f p.kb readme.md --json").expect(2);
    assert_eq!(told.error_code(), "AMBIGUOUS_DOCUMENT");
    assert!(get("README.md").expect(0).stdout.starts_with("# Other"));
}

#[test]
fn the_suffix_of_a_handle_names_the_document() {
    let folder = indexed();
    let told = folder.kb("ls -f p.kb --json log").expect(0);
    let handle = told.json_lines()[0]["handle"].as_str().unwrap().to_owned();
    let suffix = handle.rsplit('-').next().unwrap();
    for name in [
        suffix.to_owned(),
        handle.to_uppercase(),
        format!("{suffix}:1"),
    ] {
        let told = folder.kb(["get", "-f", "p.kb", &name]).expect(0);
        assert!(told.stdout.starts_with("# Tides"), "{name}");
    }
}
