//! `kb get`: prints the text of documents, or some of their lines, pages or sections.

use std::path::Path;

use kb_engine::{DocumentText, Error, Kb, LeftOutReason, Lines, PageOptions, read_texts};

use crate::args::{GetArguments, GetFormat, PageRanges, file_and_documents};
use crate::cmd::opened::{Opened, Rest, each_part};
use crate::cmd::read::{chunks, metadata};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::plural;

/// Characters of a glob. A name with one of them is a glob unless a document has this name.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// Maximum number of skipped documents that a warning names.
const LEFT_OUT_SHOWN: usize = 5;

pub(crate) fn run(arguments: &GetArguments, output: &mut Output) -> Result<Exit, Failure> {
    let given = arguments.file.file.as_deref();
    let (file, names) = file_and_documents(given, &arguments.documents, Path::is_file);
    let opened = Opened::new("kb get", file)?;
    check_format(arguments)?;
    for name in names {
        if arguments.lines.is_some() && selects_lines(&opened, name) {
            let message = format!("{name} selects lines, and --lines selects others");
            let hint = "give only one of the two".to_owned();
            return Err(Failure::usage(message, Some(hint)));
        }
    }
    if let [name] = names
        && let [name] = expand(&opened, name)?.as_slice()
    {
        print(&opened, arguments, name, output)?;
        return Ok(Exit::Found);
    }
    several(&opened, arguments, names, output)
}

/// Whether a name, or the name of the first document of a glob, selects lines.
fn selects_lines(opened: &Opened, name: &str) -> bool {
    // An error comes again, and is reported, when the document is read.
    let found = expand(opened, name).unwrap_or_default();
    let first = found.first().map(|name| opened.kb.locate(name));
    matches!(first, Some(Ok(located)) if located.lines.is_some())
}

/// Refuses flags that a format does not support.
fn check_format(arguments: &GetArguments) -> Result<(), Failure> {
    let selects = [
        ("--lines", arguments.lines.is_some()),
        ("--section", arguments.section.is_some()),
        ("--pages", arguments.pages.is_some()),
        ("--max-tokens", arguments.page.max_tokens.is_some()),
        ("--continue", arguments.page.continuation.is_some()),
    ];
    let useless = match arguments.format {
        GetFormat::Raw => return Ok(()),
        GetFormat::Chunks => &selects[2..3],
        GetFormat::Metadata => &selects[..],
    };
    match useless.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => {
            let format = match arguments.format {
                GetFormat::Chunks => "chunks",
                _ => "metadata",
            };
            let message = format!("{flag} cannot be used with --format {format}");
            Err(Failure::usage(message, None))
        }
    }
}

/// Returns the documents that a name stands for: the document of this name, else those that it matches as a glob.
fn expand(opened: &Opened, name: &str) -> Result<Vec<String>, Failure> {
    let itself = || vec![name.to_owned()];
    if !name.contains(GLOB) {
        return Ok(itself());
    }
    match opened.kb.locate(name) {
        Err(Error::DocumentNotFound { .. }) => match opened.kb.matching(name, usize::MAX) {
            Ok((paths, 0)) if paths.is_empty() => {
                let message = format!("no document matches {name:?}");
                let hint = format!("`{}` lists the documents", opened.list_command());
                Err(Failure::new("DOCUMENT_NOT_FOUND", message, Some(hint)))
            }
            // The error is that of a name.
            Err(Error::InvalidArgument { .. }) if !name.contains('*') => Ok(itself()),
            matching => Ok(opened.ask(matching)?.0),
        },
        _ => Ok(itself()),
    }
}

/// Prints several documents, each after a line with its name. Reports those that fail and prints the others.
fn several(
    opened: &Opened,
    arguments: &GetArguments,
    names: &[String],
    output: &mut Output,
) -> Result<Exit, Failure> {
    if arguments.page.continuation.is_some() {
        let message = "--continue works with one document only, and several are given";
        return Err(Failure::usage(message, None));
    }
    let mut exit = Exit::Found;
    let mut documents: Vec<String> = Vec::new();
    for name in names {
        let found = expand(opened, name);
        for document in soften(found, &mut exit, output)?.unwrap_or_default() {
            if !documents.contains(&document) {
                documents.push(document);
            }
        }
    }
    if let Some(max_tokens) = arguments.page.max_tokens {
        if arguments.format == GetFormat::Chunks {
            let message = "--max-tokens with --format chunks works with one document only";
            return Err(Failure::usage(message, None));
        }
        if arguments.section.is_some() || arguments.pages.is_some() {
            let message = "--max-tokens with --section or --pages works with one document only";
            return Err(Failure::usage(message, None));
        }
        return within(opened, arguments, &documents, max_tokens, exit, output);
    }
    let mut is_first = true;
    for document in &documents {
        let there = check(opened, arguments, document);
        if soften(there, &mut exit, output)?.is_none() {
            continue;
        }
        if !arguments.json.json && arguments.format == GetFormat::Raw {
            head(document, is_first, output)?;
        }
        is_first = false;
        let printed = print(opened, arguments, document, output);
        soften(printed, &mut exit, output)?;
    }
    Ok(exit)
}

/// Fails where a document has nothing that the arguments ask for; reads no more than its first words.
fn check(opened: &Opened, arguments: &GetArguments, name: &str) -> Result<(), Failure> {
    let page = PageOptions::default().max_tokens(1);
    if arguments.format == GetFormat::Metadata {
        return opened.ask(opened.kb.document(name)).map(|_| ());
    }
    let checked = match &arguments.pages {
        Some(PageRanges(ranges)) => opened.kb.pages(name, ranges, &page).map(|_| ()),
        None => text_of(opened, arguments, name, &page).map(|_| ()),
    };
    opened.ask(checked)
}

/// Prints those texts that fit together.
fn within(
    opened: &Opened,
    arguments: &GetArguments,
    documents: &[String],
    max_tokens: u32,
    mut exit: Exit,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let names: Vec<(&Kb, &str, Option<Lines>)> = documents
        .iter()
        .map(|document| (&opened.kb, document.as_str(), arguments.lines))
        .collect();
    let read = opened.ask(read_texts(&names, max_tokens))?;
    for (number, named) in read.texts.into_iter().enumerate() {
        let name = documents.get(named.position).map_or("", String::as_str);
        let (text, rest) = (named.text, named.rest);
        opened.warn_stale(&text.document.path, output);
        if arguments.json.json {
            output.json(kb_json::document_text(text))?;
        } else {
            head(name, number == 0, output)?;
            output.document_text(&text.text)?;
        }
        if let Some(rest) = rest {
            output.flush()?;
            output.hint(&format!("there is more: {rest}"));
        }
    }
    output.flush()?;
    let mut over_budget = Vec::new();
    for left in read.left_out {
        let name = documents.get(left.position).map_or("", String::as_str);
        match left.reason {
            LeftOutReason::Failed(error) => {
                soften(opened.ask::<()>(Err(error)), &mut exit, output)?;
            }
            LeftOutReason::OverBudget(Some(tokens)) => {
                over_budget.push((name, Some(tokens)));
            }
            _ => over_budget.push((name, None)),
        }
    }
    warn_left_out(&over_budget, output);
    Ok(exit)
}

/// Warns of documents that do not fit, with the tokens that they need if these are known.
fn warn_left_out(documents: &[(&str, Option<u64>)], output: &mut Output) {
    match documents {
        [] => {}
        [(name, Some(tokens))] => output.warning(&format!(
            "{name} was skipped: its {} do not fit into --max-tokens",
            plural(*tokens, "token")
        )),
        [(name, None)] => output.warning(&format!(
            "{name} was skipped: it does not fit into --max-tokens"
        )),
        several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| *name).collect();
            let shown = names.get(..LEFT_OUT_SHOWN).unwrap_or(&names);
            let more = match names.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            output.warning(&format!(
                "{} documents were skipped because they do not fit into --max-tokens: {}{more}",
                names.len(),
                shown.join(", ")
            ));
        }
    }
}

/// Reports a failure and goes on, unless the output is closed.
fn soften<T>(
    result: Result<T, Failure>,
    exit: &mut Exit,
    output: &mut Output,
) -> Result<Option<T>, Failure> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Reported(report)) => {
            output.flush()?;
            output.failure(&report);
            *exit = Exit::Error;
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// Prints the line before one of several documents.
fn head(name: &str, is_first: bool, output: &mut Output) -> Result<(), Failure> {
    let name = output.stdout_style().path(&output.name(name));
    let space = if is_first { "" } else { "\n" };
    output.line(&format!("{space}==> {name} <=="))
}

/// Prints one document, or the part that the arguments select.
fn print(
    opened: &Opened,
    arguments: &GetArguments,
    name: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    match arguments.format {
        GetFormat::Chunks => return chunks::print(opened, arguments, name, output),
        GetFormat::Metadata => {
            let document = opened.ask(opened.kb.document(name))?;
            opened.warn_stale(&document.path, output);
            return metadata::print(&document, arguments.json.json, output);
        }
        GetFormat::Raw => {}
    }
    if let Some(PageRanges(ranges)) = &arguments.pages {
        return pages(opened, arguments, name, ranges, output);
    }
    let mut is_first = true;
    each_part(
        &arguments.page,
        arguments.json.json,
        output,
        |page, output| {
            let found = opened.ask(text_of(opened, arguments, name, page))?;
            let rest = Rest::from(&found);
            if std::mem::take(&mut is_first) {
                opened.warn_stale(&found.document.path, output);
            }
            if arguments.json.json {
                output.json(kb_json::document_text(found))?;
            } else if rest.next.is_none() {
                output.document_text(&found.text)?;
            } else {
                output.document_part(&found.text)?;
            }
            Ok(rest)
        },
    )
}

fn pages(
    opened: &Opened,
    arguments: &GetArguments,
    name: &str,
    ranges: &[(u32, u32)],
    output: &mut Output,
) -> Result<(), Failure> {
    let mut is_first = true;
    each_part(
        &arguments.page,
        arguments.json.json,
        output,
        |page, output| {
            let found = opened.ask(opened.kb.pages(name, ranges, page))?;
            let rest = Rest::from(&found.pages);
            if std::mem::take(&mut is_first) {
                opened.warn_stale(&found.document.path, output);
            }
            for page in found.pages {
                if arguments.json.json {
                    output.json(kb_json::page_text(&found.document, found.total, page))?;
                } else {
                    output.document_text(&page.text)?;
                }
            }
            Ok(rest)
        },
    )
}

fn text_of(
    opened: &Opened,
    arguments: &GetArguments,
    name: &str,
    page: &PageOptions,
) -> kb_engine::Result<DocumentText> {
    match &arguments.section {
        Some(section) => opened.kb.section_text(name, section, page),
        None => opened.kb.text_paged(name, arguments.lines, page),
    }
}
