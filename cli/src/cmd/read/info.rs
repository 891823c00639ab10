//! `kb info`: prints what a file holds, where it comes from, and the sizes of its sections.

use std::path::Path;

use kb_engine::{BUILT_IN_VECTORS, Info, RootInfo, Sizes, UnquantisedRecall, WriterInfo};

use crate::args::InfoArguments;
use crate::cmd::opened::Opened;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::columns::column_facts;
use crate::output::format::{bytes, count, percent, plural, shell_word, time};
use crate::output::passage::width;

/// Maximum number of types or languages in a line; the rest is counted.
const SHOWN_VALUES: usize = 8;

pub(crate) fn run(arguments: &InfoArguments, output: &mut Output) -> Result<Exit, Failure> {
    let opened = Opened::new("kb info", arguments.file.path())?;
    if arguments.fields {
        return show_fields(&opened, arguments, output);
    }
    if let Some(name) = &arguments.values {
        return show_values(&opened, name, arguments, output);
    }
    #[cfg(feature = "web")]
    if let Some(to) = &arguments.html {
        return crate::cmd::serve::site::report(&opened.file, to, output);
    }
    let info = opened.ask(opened.kb.info())?;
    let sizes = if arguments.sizes {
        Some(opened.ask(opened.kb.sizes())?)
    } else {
        None
    };
    let skipped = opened.ask(opened.kb.skipped_reasons())?;
    let writer = opened.ask(opened.kb.writer())?;
    let file = opened.file.display().to_string();
    if arguments.json.json {
        output.json(kb_json::info(
            &file,
            &info,
            &skipped,
            writer.as_ref(),
            sizes.as_ref(),
        ))?;
        return Ok(Exit::Found);
    }
    let style = output.stdout_style();
    let name = style.path(&output.name(&file));
    output.line(&format!(
        "{name}  {}",
        style.strong(&bytes(info.file_bytes))
    ))?;
    let more = [
        ("skipped", skipped_line(&skipped, &opened.file)),
        (
            "writer",
            writer.as_ref().map(writer_line).unwrap_or_default(),
        ),
    ];
    let more = more.into_iter().filter(|(_, value)| !value.is_empty());
    for (label, value) in facts(&info).into_iter().chain(more) {
        output.line(&format!("  {label:<10}  {}", output.name(&value)))?;
    }
    if let Some(sizes) = &sizes {
        output.line("")?;
        output.write(&sizes_table(sizes))?;
    }
    Ok(Exit::Found)
}

/// Frequent values of a field in a line.
const SHOWN_EXAMPLES: usize = 3;

fn show_fields(
    opened: &Opened,
    arguments: &InfoArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let fields = opened.ask(opened.kb.fields())?;
    let longest = fields.iter().map(|field| width(&field.name)).max();
    for field in &fields {
        if arguments.json.json {
            output.json(kb_json::field(field))?;
            continue;
        }
        let examples = field.values.iter().take(SHOWN_EXAMPLES);
        let mut examples: Vec<String> = examples.map(|(value, _)| value.clone()).collect();
        let more = field.values.len().saturating_sub(SHOWN_EXAMPLES);
        if more > 0 {
            let or_more = if field.has_more_values {
                " or more"
            } else {
                ""
            };
            examples.push(format!("{}{or_more} others", count(more as u64)));
        }
        let gap = " ".repeat(longest.unwrap_or(0).saturating_sub(width(&field.name)));
        let name = output.name(&field.name).into_owned();
        let examples = output.name(&examples.join(", ")).into_owned();
        let documents = plural(field.documents, "document");
        output.line(&format!(
            "{name}{gap}  {:<7}  {documents}  {examples}",
            field.kind
        ))?;
    }
    if fields.is_empty() {
        output.note(&format!(
            "no document of {} has a field",
            opened.file.display()
        ));
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Found)
}

fn show_values(
    opened: &Opened,
    name: &str,
    arguments: &InfoArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let wanted = name.trim().to_lowercase();
    let fields = opened.ask(opened.kb.fields())?;
    let mut found = Exit::Nothing;
    for field in fields.iter().filter(|field| field.name == wanted) {
        found = Exit::Found;
        for (value, documents) in &field.values {
            if arguments.json.json {
                let object = kb_json::Object::new().field("value", &**value);
                output.json(
                    object
                        .field("type", field.kind)
                        .field("documents", *documents),
                )?;
            } else {
                let shown = output.name(value).into_owned();
                output.line(&format!("{documents:>9}  {shown}"))?;
            }
        }
        if field.has_more_values {
            output.warning("there are more values; the first 100,000 were counted");
        }
    }
    if found == Exit::Nothing {
        output.note(&format!(
            "no document of {} has the field {name}",
            opened.file.display()
        ));
        output.hint("`kb info --fields` lists the fields");
    }
    Ok(found)
}

/// Returns the label and value of each line.
fn facts(info: &Info) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("documents", count(info.documents)),
        ("chunks", count(info.chunks)),
        ("text", bytes(info.text_bytes)),
        ("types", top_values(&info.types)),
        ("languages", top_values(&info.languages)),
        ("classes", top_values(&info.classes)),
        ("pending", symbols_pending(info.symbols_pending)),
    ];
    facts.extend(info.roots.iter().map(|root| ("root", root_line(root))));
    let available = if info.model_available {
        ""
    } else {
        ", not available in this program: keyword search only"
    };
    facts.extend([
        (
            "model",
            format!("{}, {} dimensions{available}", info.model, info.dim),
        ),
        ("vectors", vectors(info)),
    ]);
    // The built-in column is the line above.
    let imported = info
        .vector_columns
        .iter()
        .filter(|column| column.name != BUILT_IN_VECTORS);
    facts.extend(imported.map(|column| {
        let facts = column_facts(column, info.chunks);
        ("column", format!("{}: {facts}", column.name))
    }));
    facts.extend([
        ("analyser", info.analyser.clone()),
        ("created", time(info.created_ms)),
        ("updated", time(info.updated_ms)),
        (
            "format",
            format!(
                "{}, commit {}, segments {}",
                info.format, info.commit, info.segments
            ),
        ),
        ("uuid", info.uuid.clone()),
        ("deleted", deleted(info.deleted_chunks)),
        ("sealed", info.content_root.clone().unwrap_or_default()),
    ]);
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// `symbols of 1,204 source files; kb index parses them`; empty if none are pending.
fn symbols_pending(documents: u64) -> String {
    match documents {
        0 => String::new(),
        _ => format!(
            "symbols of {}; `kb index` parses them",
            plural(documents, "source file")
        ),
    }
}

/// `12 files: 8 binary file (PNG image), 4 symbolic link; kb ls --skipped lists them`.
fn skipped_line(skipped: &[(String, u64)], file: &Path) -> String {
    let total: u64 = skipped.iter().map(|(_, files)| files).sum();
    if total == 0 {
        return String::new();
    }
    format!(
        "{}: {}; `kb ls --skipped -f {}` lists them",
        plural(total, "file"),
        top_values(skipped),
        shell_word(file)
    )
}

/// Describes the program that is writing the file.
fn writer_line(writer: &WriterInfo) -> String {
    let program = if writer.program.is_empty() {
        "another program"
    } else {
        &writer.program
    };
    let host = if writer.host.is_empty() {
        String::new()
    } else {
        format!(" on {}", writer.host)
    };
    format!(
        "{program}, process {}{host}, since {}",
        writer.process_id,
        time(writer.since_ms)
    )
}

/// Describes how vectors are stored, and the recall of a search.
fn vectors(info: &Info) -> String {
    let name = info.vectors.name();
    match &info.recall {
        _ if info.is_exact => format!("{name}, search is exact"),
        None => name.to_owned(),
        Some(recall) => {
            let now = if recall.chunks == info.chunks {
                String::new()
            } else {
                format!(", now {}", count(info.chunks))
            };
            let (lists, unquantised) = match &info.unquantised_recall {
                Some(of) if of.lists < 1.0 && info.listed_segments > 0 => (
                    format!(
                        " in inverted lists ({:.1} % read per search on average)",
                        of.lists * 100.0
                    ),
                    unquantised(of),
                ),
                Some(of) => (String::new(), unquantised(of)),
                None => Default::default(),
            };
            let since = match &info.unquantised_recall {
                Some(of) if of.new_chunks > 0 => {
                    format!(", {} added since", count(of.new_chunks))
                }
                Some(_) => String::new(),
                // The file does not store which chunks these were.
                None => " at the last full write".to_owned(),
            };
            format!(
                "{name}{lists}, search finds {:.2} of the {} nearest{unquantised} ({} queries, at {}{since}{now})",
                recall.recall,
                recall.k,
                recall.queries,
                plural(recall.chunks, "chunk"),
            )
        }
    }
}

/// Describes the recall against unquantised vectors.
fn unquantised(recall: &UnquantisedRecall) -> String {
    let wanted = match recall.wanted {
        Some(wanted) => format!(", {wanted} required"),
        None => String::new(),
    };
    format!(
        ", {:.3} against unquantised vectors (exact search: {:.3}{wanted})",
        recall.recall, recall.exact
    )
}

/// Describes the deleted chunks that a seal would remove; empty if there are none.
fn deleted(chunks: u64) -> String {
    match chunks {
        0 => String::new(),
        _ => format!(
            "{}, still in the file until a merge or `kb seal`",
            plural(chunks, "chunk")
        ),
    }
}

fn root_line(root: &RootInfo) -> String {
    let mut line = root.source.clone();
    if !root.prefix.is_empty() {
        line.push_str(&format!(" as {}/", root.prefix));
    }
    if let Some(commit) = &root.git_commit {
        let short: String = commit.chars().take(12).collect();
        line.push_str(&format!(", git {short}"));
    }
    if let Some(branch) = &root.git_branch {
        line.push_str(&format!(" on {branch}"));
    }
    line
}

/// `rust 120, markdown 33 and 4 more`.
fn top_values(values: &[(String, u64)]) -> String {
    let shown: Vec<String> = values
        .iter()
        .take(SHOWN_VALUES)
        .map(|(value, documents)| format!("{value} {}", count(*documents)))
        .collect();
    match values.len().saturating_sub(SHOWN_VALUES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns a table of the sections with their shares, and of the whole file.
fn sizes_table(sizes: &Sizes) -> String {
    let names = sizes.sections.iter().map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or(0).max("section".len());
    let mut table = format!(
        "  {:<width$}  {:>13}  {:>10}  {:>8}  {:>8}\n",
        "section", "bytes", "", "of file", "of text"
    );
    let mut line = |name: &str, part: u64| {
        table.push_str(&format!(
            "  {name:<width$}  {:>13}  {:>10}  {:>8}  {:>8}\n",
            count(part),
            bytes(part),
            percent(part, sizes.file_bytes),
            percent(part, sizes.text_bytes),
        ));
    };
    for (name, part) in &sizes.sections {
        line(name, *part);
    }
    line("file", sizes.file_bytes);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_ends_with_the_whole_file() {
        let mut sizes = Sizes::default();
        (sizes.file_bytes, sizes.text_bytes) = (3000, 6000);
        sizes.sections = vec![
            ("text blocks".to_owned(), 2000),
            ("vectors".to_owned(), 1000),
        ];
        let table = sizes_table(&sizes);
        let lines: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(
            lines[1],
            [
                "text", "blocks", "2,000", "2.0", "KB", "66.7", "%", "33.3", "%"
            ]
        );
        assert_eq!(
            lines[3],
            ["file", "3,000", "3.0", "KB", "100.0", "%", "50.0", "%"]
        );
    }

    #[test]
    fn many_types_are_counted_not_listed() {
        let values: Vec<(String, u64)> = (0..11).map(|number| (format!("t{number}"), 1)).collect();
        assert!(top_values(&values).ends_with("t7 1 and 3 more"));
        assert_eq!(top_values(&[("rust".to_owned(), 1200)]), "rust 1,200");
        assert_eq!(top_values(&[]), "");
    }

    #[test]
    fn a_root_shows_its_prefix_and_commit() {
        let mut root = RootInfo::default();
        root.source = "/src/kb".to_owned();
        root.prefix = "kb".to_owned();
        root.git_commit = Some("0123456789abcdef".to_owned());
        root.git_branch = Some("main".to_owned());
        assert_eq!(root_line(&root), "/src/kb as kb/, git 0123456789ab on main");
    }
}
