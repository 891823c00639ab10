//! The flags of `kb symbols`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use kb_engine::{Filters, SymbolKind, SymbolRelation};

use super::flags::{JsonFlag, LinkFlag, PageFlags, RefreshFlag, is_kb_file};
use crate::failure::Failure;

/// List the symbols of source code: functions, classes, types, constants
///
/// Prints one line for each symbol, sorted by path and line: PATH:LINES, kind, enclosing symbols and name, signature.
/// Symbols exist for languages that `kb` parses. `kb outline DOCUMENT` lists the symbols of one document.
/// Fields of types are listed if NAME or `--kind field` asks for them.
///
/// --uses and --used-by compare names only. They also find another function of the same name, and they miss calls
/// through another name. A line counts as a call if an opening bracket follows the name outside a comment. In languages
/// that call without brackets, a line only counts as naming the symbol.
#[derive(Debug, Args)]
#[command(after_help = SYMBOLS_EXAMPLES)]
pub(crate) struct SymbolsArguments {
    /// A symbol name or pattern as for --name: `parse_*`, `Runtime::spawn`; a .kb file may come before it
    #[arg(value_name = "NAME", value_hint = ValueHint::Other)]
    operand: Vec<String>,

    /// The .kb file (repeatable: files are searched one after the other)
    ///
    /// Default: the file that KB_FILE names, else the .kb file in this folder or in the nearest parent folder with
    /// one. Among several, the newest that was indexed from this folder.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    file: Vec<PathBuf>,

    /// Only symbols of this kind (repeatable, or with commas)
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kinds())]
    pub(crate) kind: Vec<SymbolKind>,

    /// Only symbols whose name matches; `*` matches any characters, `?` matches one
    ///
    /// Case is ignored. The pattern must match the whole name or its last part: `bar` finds `Foo::bar`. `Foo::bar`,
    /// `Foo.bar` and `Foo.bar()` find the `bar` inside Foo. Quote patterns to keep the shell from expanding them.
    #[arg(long, value_name = "GLOB")]
    name: Option<String>,

    /// Only this programming language: rust, python, or a short name (repeatable)
    #[arg(long, value_name = "LANG")]
    pub(crate) lang: Vec<String>,

    /// Only documents whose path matches, such as `src/**/*.rs`; `!tests/**` excludes (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) path: Vec<String>,

    /// Only documents for which a condition on fields holds: 'modified >= 2026-11'; see `kb search --help`
    #[arg(long = "where", value_name = "EXPRESSION")]
    pub(crate) where_: Option<String>,

    /// Only symbols that use this name, such as the callers of a function, with the lines where they use it
    #[arg(long, value_name = "NAME", conflicts_with = "used_by")]
    pub(crate) uses: Option<String>,

    /// Only symbols that the definition of NAME uses: functions that it calls, and types that it names
    #[arg(long, value_name = "NAME")]
    pub(crate) used_by: Option<String>,

    /// Maximum number of symbols
    #[arg(short, long = "limit", value_name = "N", default_value_t = 100)]
    pub(crate) k: usize,

    #[command(flatten)]
    pub(crate) link: LinkFlag,

    #[command(flatten)]
    pub(crate) fresh: RefreshFlag,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

const SYMBOLS_EXAMPLES: &str = "\
Examples:
  kb symbols parse_header                       where parse_header is defined
  kb symbols 'parse_*' -f notes.kb              all symbols whose name begins with parse_
  kb symbols Runtime::spawn                     the method of that type
  kb symbols --kind class --kind struct --name '*Handler'
  kb symbols --lang python --path 'src/**' --kind function
  kb symbols --uses parse_header                who calls parse_header, and where
  kb symbols --used-by parse_header             what parse_header calls";

impl SymbolsArguments {
    /// Returns the .kb files and the symbol name that were given.
    ///
    /// # Errors
    /// A usage error if several names are given.
    pub(crate) fn files_and_name(&self) -> Result<(Vec<PathBuf>, Option<String>), Failure> {
        let mut files = self.file.clone();
        let mut names: Vec<&String> = self.name.iter().collect();
        for operand in &self.operand {
            // A name that ends in `.kb` and is a file is one.
            let path = Path::new(operand);
            if is_kb_file(path) && !files.iter().any(|file| file == path) {
                files.push(path.to_owned());
            } else {
                names.push(operand);
            }
        }
        match names.as_slice() {
            [] => Ok((files, None)),
            [name] => Ok((files, Some((*name).clone()))),
            [first, second, ..] => Err(Failure::usage(
                format!("only one name is allowed, and two are given: {first} and {second}"),
                Some("give one pattern: `*` matches any characters, `?` matches one".to_owned()),
            )),
        }
    }

    pub(crate) fn filters(&self) -> Filters {
        let mut filters = Filters::new().languages(&self.lang).paths(&self.path);
        filters.where_.clone_from(&self.where_);
        filters
    }

    pub(crate) fn relation(&self) -> Option<SymbolRelation> {
        match (&self.uses, &self.used_by) {
            (Some(name), _) => Some(SymbolRelation::Uses(name.clone())),
            (None, Some(name)) => Some(SymbolRelation::UsedBy(name.clone())),
            (None, None) => None,
        }
    }
}

/// Parses the name of a symbol kind.
pub(super) fn kinds() -> impl TypedValueParser<Value = SymbolKind> {
    PossibleValuesParser::new(SymbolKind::ALL.map(SymbolKind::name))
        .try_map(|name| SymbolKind::from_name(&name).ok_or("no kind of that name"))
}
