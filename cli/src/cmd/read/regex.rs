//! `kb search --mode regex`: prints the lines or documents that match a pattern.

use std::io::Read;
use std::ops::Range;

use kb_engine::escape::escape_line;
use kb_engine::{
    Kb, PATTERN_LIMIT_BYTES, RegexMatch, RegexOutput, RegexRequest, Scope, Sort, search_files_regex,
};

use crate::args::SearchArguments;
use crate::cmd::freshness::{refresh, warn_of_changes};
use crate::cmd::opened::{Opened, Rest, SOURCES_TIMEOUT, show_rest, stale_warning};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::hyperlink::linked;
use crate::output::progress::LongSearch;

/// Maximum number of lines without `-k`.
const DEFAULT_LINES: usize = 100;

/// Maximum number of documents without `-k`.
const DEFAULT_DOCUMENTS: usize = 1000;

/// Maximum number of documents of a result whose files are checked for changes.
const MAX_CHECKED: usize = 256;

/// Replaces the rest of a long line.
const CUT: &str = "[...]";

/// The longest line that `--full` prints whole.
const WHOLE_LINE_BYTES: usize = 1 << 20;

pub(crate) fn run(arguments: &SearchArguments, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(flag) = other_flag(arguments) {
        let hint = "regex matches are not ranked; they are sorted by path and line".to_owned();
        let message = format!("{flag} cannot be used with --mode regex");
        return Err(Failure::usage(message, Some(hint)));
    }
    let flags = &arguments.pattern;
    let kind = if flags.count {
        RegexOutput::Counts
    } else if flags.files_with_matches {
        RegexOutput::Documents
    } else {
        RegexOutput::Lines
    };
    let default = if kind == RegexOutput::Lines {
        DEFAULT_LINES
    } else {
        DEFAULT_DOCUMENTS
    };
    let mut request = RegexRequest::new(pattern(arguments)?)
        .ignore_case(flags.ignore_case)
        .whole_words(flags.word)
        .literal(flags.fixed_strings)
        .multi_line(flags.multiline)
        .output(kind)
        .k(arguments.k.unwrap_or(default))
        .filters(arguments.filters())
        .documents(&flags.document)
        .page(arguments.page.page());
    if arguments.full {
        request = request.max_line_bytes(WHOLE_LINE_BYTES);
    }
    if arguments.fresh.refresh {
        refresh(&arguments.file, output)?;
    }
    let opened = Opened::all("kb search", &arguments.file, output)?;
    let Some(first) = opened.first() else {
        return Ok(Exit::Nothing);
    };
    let files: Vec<&Kb> = opened.iter().map(|opened| &opened.kb).collect();
    let mut long = LongSearch::new(output.stderr_is_terminal());
    let response = search_files_regex(&files, &request, &mut |_| long.tick());
    let response = first.ask(response)?;
    for warning in &response.warnings {
        output.warning(warning);
    }
    let stale = stale(&opened, &response.matches);
    if let Some(warning) = stale_warning(stale.iter().copied()) {
        output.warning(&warning);
        output.hint("`kb index` brings the .kb file up to date");
    }
    let names = Opened::names(&opened);
    output.link_documents(&arguments.link.hyperlink_format);
    for found in &response.matches {
        let file = names.get(found.file).map(String::as_str);
        if arguments.json.json {
            output.json(kb_json::regex_match(found, file, kind))?;
        } else {
            let kb = files.get(found.file).copied();
            let line = shown(found, (kb, file), kind, output);
            output.line(&line)?;
        }
    }
    let is_empty = response.matches.is_empty();
    if is_empty && response.is_complete {
        output.note("no line matches");
        if !flags.ignore_case && request.pattern.chars().any(char::is_alphabetic) {
            output.hint("`-i` ignores case, `-F` treats the pattern as plain text");
        }
    }
    if response.matches.next.is_some() || arguments.page.is_given() {
        show_rest(arguments.json.json, &Rest::from(&response.matches), output)?;
    }
    let told: Vec<&str> = stale.iter().map(|(document, _)| *document).collect();
    warn_of_changes(&opened, &told, arguments.json.json, output)?;
    Ok(if is_empty { Exit::Nothing } else { Exit::Found })
}

/// Returns a given flag that only ranked searches have, if there is one.
fn other_flag(arguments: &SearchArguments) -> Option<&'static str> {
    let flags = [
        (arguments.plain, "--plain"),
        (arguments.exact, "--exact"),
        (arguments.scope != Scope::default(), "--scope"),
        (
            arguments.sort != Sort::default() && arguments.sort != Sort::Path,
            "--sort",
        ),
        (arguments.group_by.is_some(), "--group-by"),
        (!arguments.facet.is_empty(), "--facet"),
        (arguments.min_score > 0.0, "--min-score"),
        (arguments.lines.is_some(), "--lines"),
        (arguments.smart_context, "--smart-context"),
        (arguments.before > 0, "--before"),
        (arguments.after > 0, "--after"),
        (arguments.no_join, "--no-join"),
        (arguments.explain, "--explain"),
        (arguments.vector.is_some(), "--vector"),
        (arguments.vector_column.is_some(), "--vector-column"),
    ];
    let given = flags.into_iter().find(|(is_given, _)| *is_given);
    given.map(|(_, name)| name)
}

/// Returns the pattern; if it comes from standard input, without the last line end.
fn pattern(arguments: &SearchArguments) -> Result<String, Failure> {
    if arguments.query != ["-"] {
        return Ok(arguments.query.join(" "));
    }
    // One byte more than the engine takes, and a line end.
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(PATTERN_LIMIT_BYTES as u64 + 3)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io("read the pattern from standard input", &error))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// Checks the source files of the first documents of the result.
fn stale<'m>(opened: &[Opened], matches: &'m [RegexMatch]) -> Vec<(&'m str, &'static str)> {
    let mut stale: Vec<(&'m str, &'static str)> = Vec::new();
    for (file, opened) in opened.iter().enumerate() {
        let of_file = matches.iter().filter(|found| found.file == file);
        let mut documents: Vec<&str> = of_file.map(|found| &*found.document).collect();
        documents.dedup();
        documents.truncate(MAX_CHECKED);
        // Staleness is best-effort: a result does not fail for it.
        let check = opened.kb.source_check(&documents).ok();
        let states = check.and_then(|check| check.run_within(SOURCES_TIMEOUT));
        let states = documents.into_iter().zip(states.unwrap_or_default());
        stale.extend(states.filter_map(|(document, state)| Some((document, state.stale()?))));
    }
    stale
}

/// Returns `path:12:text`, `report.pdf p. 4:120:text` or `ledger.xlsx [Q1] row 3:text`; for a document `path` or `path:7`.
fn shown(
    found: &RegexMatch,
    (kb, file): (Option<&Kb>, Option<&str>),
    kind: RegexOutput,
    output: &Output,
) -> String {
    let style = output.stdout_style();
    let mut place = file.map_or(String::new(), |file| format!("{} ", output.name(file)));
    place.push_str(&output.name(&found.document));
    if let Some(part) = &found.part {
        place.push_str(&format!(" {}", output.name(&part.to_string())));
    }
    let mut place = style.path(&place);
    let line = found.lines.first.max(1);
    if let Some(address) = kb.and_then(|kb| output.link(kb, &found.document, line)) {
        place = linked(&place, &address);
    }
    match kind {
        RegexOutput::Documents => return place,
        RegexOutput::Counts => {
            let count = found.matching_lines.to_string();
            return format!("{place}:{}", style.line_number(&count));
        }
        _ => {}
    }
    let lines = found.lines;
    let is_row = matches!(found.part, Some(kb_engine::PartAddress::Sheet { .. }));
    let number = match (is_row, lines.first == lines.last) {
        (true, _) => String::new(),
        (false, true) => format!("{}:", style.line_number(&lines.first.to_string())),
        (false, false) => {
            let range = format!("{}-{}", lines.first, lines.last);
            format!("{}:", style.line_number(&range))
        }
    };
    let before = if found.begins_within_line { CUT } else { "" };
    let after = if found.ends_within_line { CUT } else { "" };
    let is_terminal = output.columns().is_some();
    let text = marked(
        &found.text,
        &found.ranges,
        |text| style.mark(text),
        is_terminal,
    );
    // A match over several lines begins on a new line.
    let lead = if found.text.contains('\n') { "\n" } else { "" };
    format!("{place}:{number}{lead}{before}{text}{after}")
}

/// Returns a text with its matches marked; for a terminal, control characters are escaped.
fn marked(
    text: &str,
    ranges: &[Range<usize>],
    mark: impl Fn(&str) -> String,
    is_terminal: bool,
) -> String {
    let escaped = |text: &str| {
        if is_terminal {
            let lines = text.split('\n').map(|line| escape_line(line).into_owned());
            lines.collect::<Vec<_>>().join("\n")
        } else {
            text.to_owned()
        }
    };
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for range in ranges {
        shown.push_str(&escaped(text.get(end..range.start).unwrap_or_default()));
        shown.push_str(&mark(&escaped(text.get(range.clone()).unwrap_or_default())));
        end = range.end;
    }
    shown.push_str(&escaped(text.get(end..).unwrap_or_default()));
    shown
}
