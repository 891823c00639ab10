//! `kb add`: adds one document from a file or standard input.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::UNIX_EPOCH;

use kb_engine::{
    Document, DocumentInfo, Error, FieldValue, Kb, KbWriter, Secret, SourceInfo, document_of,
    give_fields, secret_by_name, secret_in,
};

use crate::args::AddArguments;
use crate::cmd::write::meta::given_fields;
use crate::cmd::write::reembed;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::locate::locate;
use crate::models::resolver;
use crate::output::Output;
use crate::output::format::shell_word;
use crate::output::progress::Meter;
use crate::target::writing_hint;
use crate::writer_wait::{wait_for_writer, waiting_note};

const STANDARD_INPUT: &str = "-";

/// The argument name in the error for a document that may hold a secret.
const SECRET: &str = "document";

/// Maximum size of a document in bytes; `kb index --max-file-size` has the same default.
const LIMIT_BYTES: u64 = 16 << 20;

pub(crate) fn run(arguments: &AddArguments, output: &mut Output) -> Result<Exit, Failure> {
    let file = locate(arguments.file.as_deref())?;
    let path = document_path(arguments)?;
    let fields = given_fields("--meta", &arguments.meta)?;
    let given: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    let (document, original) =
        document(arguments, &path, &fields).map_err(|error| explain(error, arguments, &file))?;
    let tags: Vec<&str> = arguments.tag.iter().map(String::as_str).collect();
    let added = wait_for_writer(
        arguments.wait.limit(),
        None,
        &mut |holder| output.note(&waiting_note(holder)),
        |wait| {
            let mut writer = KbWriter::open_or_create(&file)?.lock_timeout(wait);
            let replaced =
                writer.add_given(document.clone(), original, &given, arguments.replace)?;
            if !tags.is_empty() {
                writer.tag(&path, &tags, &[])?;
            }
            writer.commit()?;
            Ok((Kb::open(&file)?.document(&path)?, replaced))
        },
    );
    let (added, replaced) = added.map_err(|error| explain(error, arguments, &file))?;
    show(&added, replaced, arguments, output)?;
    let meter = Meter::of_run(output.stderr_is_terminal(), true);
    reembed::follow(&file, resolver(), &AtomicBool::new(false), &meter, output)?;
    Ok(Exit::Found)
}

/// Returns the path inside the .kb: the given one, else the file name of the source.
fn document_path(arguments: &AddArguments) -> Result<String, Failure> {
    if let Some(path) = &arguments.path {
        return Ok(path.clone());
    }
    let source = arguments.source.as_path();
    if source == Path::new(STANDARD_INPUT) {
        return Err(Failure::usage(
            "standard input has no file name; give the document a path with --path",
            Some("`kb add - --path notes/today.md`".to_owned()),
        ));
    }
    let name = source.file_name().unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}

/// Reads the document, and the facts about its file that are stored.
fn document(
    arguments: &AddArguments,
    path: &str,
    fields: &[(String, Vec<FieldValue>)],
) -> kb_engine::Result<(Document, SourceInfo)> {
    let source = arguments.source.as_path();
    let reading = |source_error| Error::Io {
        action: "read",
        path: source.to_owned(),
        source: source_error,
    };
    let is_input = source == Path::new(STANDARD_INPUT);
    let mut content = Vec::new();
    let mut modified = None;
    if is_input {
        let input = std::io::stdin().lock();
        input.take(LIMIT_BYTES + 1).read_to_end(&mut content)
    } else {
        if !source.exists() {
            let path = source.to_owned();
            return Err(Error::PathNotFound { path });
        }
        File::open(source).and_then(|file| {
            modified = file.metadata()?.modified().ok();
            file.take(LIMIT_BYTES + 1).read_to_end(&mut content)
        })
    }
    .map_err(reading)?;
    if content.len() as u64 > LIMIT_BYTES {
        return Err(Error::TooLarge {
            what: source.display().to_string(),
            size: content.len() as u64,
            limit: LIMIT_BYTES,
        });
    }
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let refuse = |secret: Option<Secret>| match secret {
        Some(secret) if !arguments.include_secrets => Err(Error::InvalidArgument {
            argument: SECRET,
            reason: format!("{path:?} {secret}"),
        }),
        _ => Ok(()),
    };
    refuse(secret_by_name(&name).or_else(|| secret_by_name(path)))?;
    let mut original = SourceInfo::of(&content);
    if let Some(since) = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()) {
        original.modified_ms = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    }
    let read_as = match Path::new(path).extension() {
        None if !is_input => &*name,
        _ => path,
    };
    let mut document = document_of(read_as, &content)?;
    document.path = name.into_owned();
    refuse(secret_in(&document))?;
    document.path = path.to_owned();
    if let Some(title) = &arguments.title {
        document.title.clone_from(title);
    }
    give_fields(&mut document, fields)?;
    refuse(secret_in(&document))?;
    Ok((document, original))
}

fn explain(error: Error, arguments: &AddArguments, file: &Path) -> Failure {
    let source = shell_word(&arguments.source);
    let hint = match &error {
        Error::DocumentExists { .. } => {
            let mut command = format!("kb add {source}");
            for (flag, value) in [
                ("-f", arguments.file.as_ref().map(shell_word)),
                ("--path", arguments.path.as_ref().map(shell_word)),
            ] {
                if let Some(value) = value {
                    command.push_str(&format!(" {flag} {value}"));
                }
            }
            Some(format!("`{command} --replace` replaces it"))
        }
        Error::InvalidArgument { argument, .. } if *argument == SECRET => {
            Some("--include-secrets adds it anyway".to_owned())
        }
        Error::Io { path, .. } if path.is_dir() => {
            Some(format!("`kb index {source} -o FILE.kb` indexes a folder"))
        }
        // A hint that offers to make the .kb would be about another path.
        Error::PathNotFound { path } if *path == arguments.source => None,
        other => writing_hint(other, file, Some("-f")),
    };
    Failure::from_engine(error, "kb add", file).and_hint(hint)
}

fn show(
    added: &DocumentInfo,
    replaced: bool,
    arguments: &AddArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    if arguments.json.json {
        return output.json(kb_json::added(added, replaced));
    }
    let path = output.stdout_style().path(&output.name(&added.path));
    let handle = output.name(&added.handle).into_owned();
    output.line(&format!("{path}  {handle}"))
}
