//! The flags of `kb symbols`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use kb_engine::{Filters, SymbolKind, SymbolRelation};

use super::flags::{JsonFlag, LinkFlag, PageFlags, RefreshFlag, is_kb_file};
use crate::failure::Failure;

/// List the definitions of programs: functions, classes, types, constants
///
/// One line each, sorted by path and line: PATH:LINES, kind, the symbols that hold it and its own label, signature. A
/// document has symbols when its language is parsed; `kb outline DOCUMENT` lists those of one.
///
/// --uses and --used-by compare names, not what the compiler makes of them: another function of the same name counts as
/// well, what is called through another name does not. A line calls a name when an opening bracket follows it outside
/// of a comment; languages that call without brackets have only lines that name it.
#[derive(Debug, Args)]
#[command(after_help = SYMBOLS_EXAMPLES)]
pub(crate) struct SymbolsArguments {
    /// A name, as --name takes it: `parse_*`, `Runtime::spawn`; before it the .kb file, unless -f names it
    #[arg(value_name = "NAME", value_hint = ValueHint::Other)]
    operand: Vec<String>,

    /// The .kb file (repeatable: several files are asked one after the other)
    ///
    /// Default: the file named by KB_FILE, else the .kb file in this folder or in the nearest parent folder that
    /// has one; of several the newest that was made from this folder.
    #[arg(short, long, value_name = "FILE.kb", value_hint = ValueHint::FilePath)]
    file: Vec<PathBuf>,

    /// Only symbols of this kind (repeatable, or with commas)
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kinds())]
    pub(crate) kind: Vec<SymbolKind>,

    /// Only symbols whose name matches, in upper or lower case; `*` stands for any characters, `?` for one
    ///
    /// A name matches whole or by its last part: `bar` finds `Foo::bar`. `Foo::bar`, `Foo.bar` and `Foo.bar()` find
    /// what Foo holds. Quote patterns to keep the shell from
    /// expanding them.
    #[arg(long, value_name = "GLOB")]
    name: Option<String>,

    /// Only this programming language: rust, python, or a short name (repeatable)
    #[arg(long, value_name = "LANG")]
    pub(crate) lang: Vec<String>,

    /// Only documents whose path matches, for example `src/**/*.rs` (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) path: Vec<String>,

    /// Only symbols that use this name, such as the callers of a function, with the lines that have it
    #[arg(long, value_name = "NAME", conflicts_with = "used_by")]
    pub(crate) uses: Option<String>,

    /// Only symbols whose name stands in the definition of NAME: what it calls, and types that it names
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
  kb symbols 'parse_*' -f notes.kb              functions, methods and constants of such names
  kb symbols Runtime::spawn                     the method of that type
  kb symbols --kind class --kind struct --name '*Handler'
  kb symbols --lang python --path 'src/**' --kind function
  kb symbols --uses parse_header                who calls parse_header, and where
  kb symbols --used-by parse_header             what parse_header calls";

impl SymbolsArguments {
    /// The files that were named, and the name.
    ///
    /// # Errors
    /// A mistake in the command line: several names.
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
                format!("two names are given, {first} and {second}"),
                Some("give one; `*` and `?` in it stand for any characters".to_owned()),
            )),
        }
    }

    pub(crate) fn filters(&self) -> Filters {
        Filters::new().languages(&self.lang).paths(&self.path)
    }

    pub(crate) fn relation(&self) -> Option<SymbolRelation> {
        match (&self.uses, &self.used_by) {
            (Some(name), _) => Some(SymbolRelation::Uses(name.clone())),
            (None, Some(name)) => Some(SymbolRelation::UsedBy(name.clone())),
            (None, None) => None,
        }
    }
}

/// Reads the name of a kind.
pub(super) fn kinds() -> impl TypedValueParser<Value = SymbolKind> {
    PossibleValuesParser::new(SymbolKind::ALL.map(SymbolKind::name))
        .try_map(|name| SymbolKind::from_name(&name).ok_or("no kind of that name"))
}
