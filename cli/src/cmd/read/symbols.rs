//! `kb symbols`: lists the symbols of source code.

use kb_engine::{FoundSymbol, Kb, Progress, SymbolsRequest, SymbolsResponse, search_files_symbols};

use crate::args::SymbolsArguments;
use crate::cmd::freshness::{refresh, warn_of_changes};
use crate::cmd::opened::{Opened, Rest, show_rest};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{plural, shell_word};
use crate::output::hyperlink::linked;
use crate::output::passage::{clip_end, width};

/// Maximum number of lines that are listed as uses of one symbol.
const SHOWN_USES: usize = 10;

/// Least columns for which a part of a signature is worth showing.
const LEAST_SIGNATURE: usize = 12;

pub(crate) fn run(arguments: &SymbolsArguments, output: &mut Output) -> Result<Exit, Failure> {
    let (files, name) = arguments.files_and_name()?;
    if arguments.fresh.refresh {
        refresh(&files, output)?;
    }
    let opened = Opened::all("kb symbols", &files, output)?;
    let Some(first) = opened.first() else {
        return Ok(Exit::Nothing);
    };
    let mut request = SymbolsRequest::new()
        .kinds(arguments.kind.iter().copied())
        .filters(arguments.filters())
        .k(arguments.k)
        .page(arguments.page.page());
    request.name = name;
    request.relation = arguments.relation();
    let files: Vec<&Kb> = opened.iter().map(|opened| &opened.kb).collect();
    let response = search_files_symbols(&files, &request, &mut Progress::ignore);
    let response = first.ask(response)?;
    let file_names = Opened::names(&opened);
    for warning in &response.warnings {
        output.warning(warning);
    }
    if !response.has_symbols {
        output.note("no document has symbols");
        output.hint(&format!(
            "`kb ls -f {}` lists the documents; symbols come from source code in 19 languages (docs/formats.md)",
            shell_word(&first.file)
        ));
        warn_of_changes(&opened, &[], arguments.json.json, output)?;
        return Ok(Exit::Nothing);
    }
    output.link_documents(&arguments.link.hyperlink_format);
    for symbol in &response.symbols {
        let file = file_names.get(symbol.file).map(String::as_str);
        if arguments.json.json {
            output.json(kb_json::symbol(symbol, file))?;
        } else {
            let line = shown(symbol, (files.get(symbol.file).copied(), file), output);
            output.line(&line)?;
        }
    }
    tell_rest(arguments, &response, output)?;
    warn_of_changes(&opened, &[], arguments.json.json, output)?;
    Ok(if response.symbols.is_empty() {
        Exit::Nothing
    } else {
        Exit::Found
    })
}

/// Prints the total, and what was not listed.
fn tell_rest(
    arguments: &SymbolsArguments,
    response: &SymbolsResponse,
    output: &mut Output,
) -> Result<(), Failure> {
    let is_empty = response.symbols.is_empty();
    let name = arguments.uses.as_deref();
    if is_empty {
        output.note(match name {
            Some(_) => "no symbol uses that name",
            None => "no symbol matches",
        });
    } else if !arguments.json.json && response.total > response.symbols.len() as u64 {
        output.note(&format!("{} in total", plural(response.total, "symbol")));
    }
    if let (Some(name), 1..) = (name, response.uses_outside) {
        let lines = plural(response.uses_outside, "line");
        output.note(&format!("the name also occurs in {lines} outside symbols"));
        output.hint(&format!(
            "`kb search --mode regex -w -F {}` lists all lines",
            shell_word(name)
        ));
    }
    if response.symbols.next.is_some() || arguments.page.is_given() {
        show_rest(arguments.json.json, &Rest::from(&response.symbols), output)?;
    }
    Ok(())
}

/// Returns `src/a.rs:12-40  method  impl Foo > fn bar  pub fn bar(&self) -> u8`.
fn shown(symbol: &FoundSymbol, (kb, file): (Option<&Kb>, Option<&str>), output: &Output) -> String {
    let style = output.stdout_style();
    let lines = symbol.lines;
    let range = if lines.first == lines.last {
        lines.first.to_string()
    } else {
        format!("{}-{}", lines.first, lines.last)
    };
    let mut path = file.map_or_else(String::new, |file| format!("{} ", output.name(file)));
    path.push_str(&output.name(&symbol.document));
    let shown_hierarchy = output.name(&symbol.hierarchy);
    let taken = format!("{path}:{range}  {}  {shown_hierarchy}  ", symbol.kind);
    let mut place = format!("{}:{}", style.path(&path), style.line_number(&range));
    if let Some(address) = kb.and_then(|kb| output.link(kb, &symbol.document, lines.first)) {
        place = linked(&place, &address);
    }
    // On a narrow terminal the place is on its own line.
    let is_whole = |columns: usize| width(taken.trim_end()) <= columns;
    let (gap, taken) = if output.columns().is_none_or(is_whole) {
        ("  ", taken)
    } else {
        (
            "\n    ",
            format!("    {}  {shown_hierarchy}  ", symbol.kind),
        )
    };
    let hierarchy = style.strong(&shown_hierarchy);
    let mut line = format!("{place}{gap}{}  {hierarchy}", symbol.kind);
    // A struct or constant is often its label already.
    if !symbol.signature.is_empty() && !symbol.hierarchy.ends_with(&symbol.signature) {
        let signature = output.name(&symbol.signature);
        // A terminal would break the line anywhere.
        let room = output
            .columns()
            .map(|columns| columns.saturating_sub(width(&taken)));
        let signature = match room {
            None => signature.into_owned(),
            Some(room) if room < LEAST_SIGNATURE => String::new(),
            Some(room) => clip_end(&signature, room),
        };
        if !signature.is_empty() {
            line.push_str("  ");
            line.push_str(&signature);
        }
    }
    if !symbol.uses.is_empty() {
        let parts = [
            numbered("called", &symbol.calls),
            numbered("named", &symbol.mentions()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        line.push_str(&format!("\n    {}", parts.join("; ")));
    }
    line
}

/// Returns `called in line 5, 9`; `None` without lines.
fn numbered(verb: &str, lines: &[u32]) -> Option<String> {
    let numbers = lines.iter().take(SHOWN_USES).map(u32::to_string);
    let numbers: Vec<String> = numbers.collect();
    let more = if lines.len() > SHOWN_USES {
        ", ..."
    } else {
        ""
    };
    (!lines.is_empty()).then(|| format!("{verb} in line {}{more}", numbers.join(", ")))
}
