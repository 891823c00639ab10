//! The table of file types: file name or extension -> type, language and class.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::{Class, PartKind};

/// What a file name says about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileType {
    /// The word stored with a document and used in filters: `markdown`, `rust`, `csv`.
    pub name: &'static str,
    /// Programming or markup language, the same word as `name`; empty for plain text and tables.
    pub language: &'static str,
    /// What such files are for.
    pub class: Class,
}

/// Plain text under a name that means prose: `.txt`, `README`.
pub const TEXT: FileType = FileType {
    name: "text",
    language: "",
    class: Class::Doc,
};

/// Text under a name that the table does not know.
pub const UNKNOWN: FileType = FileType {
    name: "text",
    language: "",
    class: Class::Data,
};

pub(super) struct Row {
    pub(super) name: &'static str,
    kind: Kind,
    /// Extensions without the dot and whole file names, lower case, separated by spaces, the usual
    /// extension first. A whole name is written with a leading `=`.
    files: &'static str,
    /// Other words for the same language: filter aliases and interpreters after `#!`.
    aliases: &'static str,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Program source.
    Code,
    /// Prose with markup.
    Markup,
    /// Prose without markup.
    Prose,
    /// Documents that are no text yet: of office programs, books, mail.
    Office,
    /// Presentations, which are no text.
    Presentation,
    /// Workbooks, which are no text.
    Workbook,
    /// Data in a notation that has a name as a language: JSON, YAML.
    DataLanguage,
    /// Tables and other data that is no language.
    Data,
}

const fn row(name: &'static str, kind: Kind, files: &'static str, aliases: &'static str) -> Row {
    Row {
        name,
        kind,
        files,
        aliases,
    }
}

use Kind::{Code, Data, DataLanguage, Markup, Office, Presentation, Prose, Workbook};

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    // Programs.
    row("ada", Code, "adb ads ada", ""),
    row("assembly", Code, "asm s nasm", "asm"),
    row("awk", Code, "awk", "gawk mawk"),
    row("bash", Code, "sh bash zsh ksh bats ebuild =pkgbuild =.bashrc =.zshrc =.profile", "sh shell zsh ksh dash shellscript"),
    row("batch", Code, "bat cmd", "bat"),
    row("c", Code, "c h", ""),
    row("clojure", Code, "clj cljs cljc edn", "clj"),
    row("cmake", Code, "cmake =cmakelists.txt", ""),
    row("cobol", Code, "cob cbl cpy", ""),
    row("coffeescript", Code, "coffee", "coffee"),
    row("common-lisp", Code, "lisp cl lsp asd", "lisp"),
    row("cpp", Code, "cpp cc cxx c++ hh hpp hxx h++ ipp tpp inl ino cppm ixx", "c++ cc"),
    row("crystal", Code, "cr", ""),
    row("csharp", Code, "cs csx", "c# cs"),
    row("css", Code, "css", ""),
    row("cuda", Code, "cu cuh", "cu"),
    row("cython", Code, "pyx pxd pxi", ""),
    row("d", Code, "d di", ""),
    row("dart", Code, "dart", ""),
    row("dockerfile", Code, "dockerfile =dockerfile =containerfile", "docker"),
    row("elisp", Code, "el", "emacs-lisp"),
    row("elixir", Code, "ex exs heex eex", "ex"),
    row("elvish", Code, "elv elvish", "elv"),
    row("elm", Code, "elm", ""),
    row("erlang", Code, "erl hrl =rebar.config", "erl escript"),
    row("fennel", Code, "fnl", ""),
    row("fish", Code, "fish", ""),
    row("fortran", Code, "f90 f f77 f95 f03 f08 for", ""),
    row("fsharp", Code, "fs fsi fsx", "f# fs"),
    row("gdscript", Code, "gd", ""),
    row("gleam", Code, "gleam", ""),
    row("glsl", Code, "glsl vert frag geom comp", ""),
    row("go", Code, "go", "golang"),
    row("graphql", Code, "graphql gql graphqls", "gql"),
    row("groovy", Code, "groovy gradle gvy =jenkinsfile", "gradle"),
    row("haskell", Code, "hs lhs hsc", "hs runhaskell"),
    row("hcl", Code, "tf tfvars hcl nomad", "terraform tf"),
    row("hlsl", Code, "hlsl fx", ""),
    row("java", Code, "java", ""),
    row("javascript", Code, "js jsx mjs cjs es6", "js jsx node nodejs"),
    row("julia", Code, "jl", "jl"),
    row("just", Code, "just =justfile", "justfile"),
    row("kotlin", Code, "kt kts", "kt"),
    row("less", Code, "less", ""),
    row("lua", Code, "lua rockspec", "luajit"),
    row("makefile", Code, "mk mak make =makefile =gnumakefile =bsdmakefile", "make"),
    row("matlab", Code, "matlab", ""),
    row("meson", Code, "=meson.build =meson_options.txt =meson.options", ""),
    row("nim", Code, "nim nims nimble", ""),
    row("nix", Code, "nix", ""),
    row("objective-c", Code, "m mm", "objc"),
    row("nushell", Code, "nu", "nu"),
    row("ocaml", Code, "ml mli mll mly", "ml"),
    row("odin", Code, "odin", ""),
    row("pascal", Code, "pas pp dpr lpr", "delphi"),
    row("perl", Code, "pl pm t pod", "pl"),
    row("php", Code, "php phtml php5 php7 phps", ""),
    row("powershell", Code, "ps1 psm1 psd1 powershell", "pwsh ps1 ps"),
    row("prisma", Code, "prisma", ""),
    row("prolog", Code, "pro prolog", "swipl"),
    row("protobuf", Code, "proto", "proto"),
    row("puppet", Code, "=puppetfile epp", ""),
    row("python", Code, "py pyi pyw =sconstruct =sconscript =wscript", "py python2 python3 pypy"),
    row("qml", Code, "qml", ""),
    row("r", Code, "r rprofile", "rscript"),
    row("racket", Code, "rkt", ""),
    row("ruby", Code, "rb rake gemspec ru erb =rakefile =gemfile =guardfile =podfile =vagrantfile =brewfile =fastfile", "rb jruby"),
    row("rust", Code, "rs", "rs"),
    row("sass", Code, "sass", ""),
    row("scala", Code, "scala sc sbt", ""),
    row("scheme", Code, "scm ss sld", "guile"),
    row("scss", Code, "scss", ""),
    row("sed", Code, "sed", ""),
    row("smalltalk", Code, "st", ""),
    row("solidity", Code, "sol", ""),
    row("sql", Code, "sql ddl dml psql pgsql", "psql plpgsql"),
    row("starlark", Code, "bzl star bazel =build =workspace =build.bazel =module.bazel =tiltfile", "bazel"),
    row("svelte", Code, "svelte", ""),
    row("swift", Code, "swift", ""),
    row("systemverilog", Code, "sv svh", ""),
    row("tcl", Code, "tcl tk", "tclsh wish"),
    row("thrift", Code, "thrift", ""),
    row("typescript", Code, "ts tsx mts cts", "ts tsx deno"),
    row("vala", Code, "vala vapi", ""),
    row("vb", Code, "vb bas vbs cls frm", "visual-basic vbnet"),
    row("verilog", Code, "v vh", ""),
    row("vhdl", Code, "vhd vhdl", ""),
    row("vim", Code, "vim =.vimrc", "vimscript viml"),
    row("vue", Code, "vue", ""),
    row("wgsl", Code, "wgsl", ""),
    row("astro", Code, "astro", ""),
    row("zig", Code, "zig zon", ""),
    // Prose.
    row("doc", Office, "doc", ""),
    row("eml", Office, "eml", "email"),
    row("epub", Office, "epub", ""),
    row("docx", Office, "docx docm dotx dotm", "word"),
    row("msg", Office, "msg", "outlook"),
    row("odp", Presentation, "odp otp", ""),
    row("odt", Office, "odt ott", ""),
    row("pdf", Office, "pdf", ""),
    row("ppt", Presentation, "ppt pps", ""),
    row("pptx", Presentation, "pptx pptm ppsx ppsm potx potm", "powerpoint"),
    row("rtf", Office, "rtf", ""),
    row("asciidoc", Markup, "adoc asciidoc asc", "adoc"),
    row("html", Markup, "html htm xhtml shtml", "htm xhtml"),
    row("latex", Markup, "tex ltx sty dtx", "tex"),
    row("man", Markup, "man mdoc 1 2 3 4 5 6 7 8 9", "roff troff groff"),
    row("markdown", Markup, "md markdown mdown mkd mkdn mdx qmd rmd livemd", "md mdx"),
    row("mediawiki", Markup, "wiki mediawiki", "wiki"),
    row("org", Markup, "org", "org-mode"),
    row("rst", Markup, "rst rest", "restructuredtext rest"),
    row("texinfo", Markup, "texi texinfo", "texi"),
    row("text", Prose, "txt text nfo =readme =license =licence =copying =copyright =notice =authors \
        =contributors =contributing =maintainers =changelog =changes =history =news =install =todo \
        =hacking =thanks =credits =faq =security =roadmap =unlicense =patents =bugs =about =version", "txt plain"),
    row("typst", Markup, "typ", ""),
    row("xml", Markup, "xml rss atom tei dita docbook dbk", ""),
    // Notations for data.
    row("bibtex", DataLanguage, "bib", "bib"),
    row("diff", DataLanguage, "diff patch", "patch"),
    row("dot", DataLanguage, "dot gv", "graphviz"),
    row("dtd", DataLanguage, "dtd", ""),
    row("gettext", DataLanguage, "po pot", "po"),
    row("go-module", DataLanguage, "=go.mod =go.sum =go.work =go.work.sum", "gomod"),
    row("ini", DataLanguage, "ini cfg conf cnf properties desktop service timer socket env editorconfig \
        gitconfig =config =pylintrc =.editorconfig =.gitconfig =pipfile.cfg", "cfg conf properties"),
    row("json", DataLanguage, "json json5 jsonc geojson webmanifest avsc har topojson map \
        =composer.lock =pipfile.lock =flake.lock =.babelrc =.eslintrc =.prettierrc", "json5 jsonc"),
    row("nginx", DataLanguage, "nginx nginxconf =nginx.conf", ""),
    row("toml", DataLanguage, "toml =cargo.lock =poetry.lock =uv.lock =pipfile =pdm.lock", ""),
    // Vocabularies that programs write and read: schemas, projects, user interfaces, pictures.
    row("xml", DataLanguage, "xsd xsl xslt svg plist wsdl pom csproj vbproj fsproj props targets resx nuspec storyboard \
        xib xmi kml gpx ui qrc rdf owl xaml =pom.xml =androidmanifest.xml =build.xml =web.xml", "svg"),
    row("yaml", DataLanguage, "yaml yml clang-format clang-tidy cff =.clang-format =pnpm-lock.yaml", "yml"),
    // Tables and everything else.
    row("csv", Data, "csv", ""),
    // Found as code and as prose: they are both.
    row("ipynb", Data, "ipynb", "notebook jupyter"),
    row("jsonl", Data, "jsonl ndjson", "ndjson"),
    row("log", Data, "log", ""),
    row("lock", Data, "lock lockb =yarn.lock =gemfile.lock =podfile.lock =mix.lock", ""),
    row("subtitles", Data, "srt vtt", "srt"),
    row("tsv", Data, "tsv tab", ""),
    // Workbooks.
    row("ods", Workbook, "ods ots", ""),
    row("xls", Workbook, "xls xlt", ""),
    row("xlsx", Workbook, "xlsx xlsm xltx xltm", "excel"),
];

impl Row {
    fn file_type(&self) -> FileType {
        let (has_language, class) = match self.kind {
            Code => (true, Class::Code),
            Markup => (true, Class::Doc),
            Prose | Office | Presentation | Workbook => (false, Class::Doc),
            DataLanguage => (true, Class::Data),
            Data => (false, Class::Data),
        };
        FileType {
            name: self.name,
            language: if has_language { self.name } else { "" },
            class,
        }
    }

    fn has_extension(&self, word: &str) -> bool {
        !word.starts_with('=') && self.files.split_ascii_whitespace().any(|own| own == word)
    }

    fn answers_to(&self, word: &str) -> bool {
        self.name == word
            || self
                .aliases
                .split_ascii_whitespace()
                .any(|alias| alias == word)
    }
}

/// The words of `files` of all rows, with the leading `=` of whole names: each file of a tree is
/// looked up several times.
static BY_FILE: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| {
    let words = |row: &'static Row| {
        row.files
            .split_ascii_whitespace()
            .map(move |word| (word, row))
    };
    ROWS.iter().flat_map(words).collect()
});

fn by_whole_name(name: &str) -> Option<FileType> {
    let row = BY_FILE.get(format!("={name}").as_str())?;
    Some(row.file_type())
}

/// An extension holds no `=`: such a word would be a whole name.
fn by_extension(extension: &str) -> Option<FileType> {
    let row = BY_FILE
        .get(extension)
        .filter(|_| !extension.starts_with('='))?;
    Some(row.file_type())
}

/// The type of a file by its name: the last part of `path`, whole name first (`CMakeLists.txt`),
/// then the extension, then the name before the first dot or dash (`README.fr`,
/// `Dockerfile.test`). `None` when the table knows none of them.
pub fn from_name(path: &str) -> Option<FileType> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if let Some(found) = by_whole_name(&name) {
        return Some(found);
    }
    if let Some((stem, extension)) = name.rsplit_once('.')
        && !stem.is_empty()
    {
        // Templates are named after what they make: `config.yaml.in`, `page.html.j2`.
        if matches!(
            extension,
            "in" | "tmpl" | "template" | "j2" | "jinja" | "example" | "sample"
        ) && let Some(found) = from_name(stem)
        {
            return Some(found);
        }
        if let Some(found) = by_extension(extension) {
            return Some(found);
        }
    }
    let stem = name.split(['.', '-', '_']).next().unwrap_or_default();
    if stem.len() < name.len() {
        return by_whole_name(stem);
    }
    None
}

/// The type that the first line of a script states: `#!/usr/bin/env python3 -u` -> `python`.
pub fn from_first_line(line: &str) -> Option<FileType> {
    let mut words = line.strip_prefix("#!")?.split_ascii_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        // `env -S deno run`, `env LANG=C perl`: options and assignments come before the program.
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        program = program.rsplit('/').next()?;
    }
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let row = ROWS.iter().find(|row| {
        matches!(row.kind, Code) && (row.answers_to(program) || row.answers_to(bare))
    })?;
    Some(row.file_type())
}

/// The stored word of a language for what a person may write: `sh` and `shell` -> `bash`,
/// `terraform` -> `hcl`, `C++` -> `cpp`. `None` for a word that is no known language.
pub fn canonical_language(word: &str) -> Option<&'static str> {
    let word = word.trim().to_ascii_lowercase();
    let mut languages = ROWS
        .iter()
        .filter(|row| !row.file_type().language.is_empty());
    canonical(&mut languages, &word)
}

/// The stored word of a file type for what a person may write: `md` and `.md` -> `markdown`,
/// `txt` -> `text`. `None` for a word that is no known type.
pub fn canonical_type(word: &str) -> Option<&'static str> {
    let word = word.trim().to_ascii_lowercase();
    let word = word.strip_prefix('.').unwrap_or(&word);
    canonical(&mut ROWS.iter(), word)
}

/// The row of a file type by its stored word.
pub fn from_type(name: &str) -> Option<FileType> {
    let row = ROWS.iter().find(|row| row.name == name)?;
    Some(row.file_type())
}

/// Whether files of a type are no text: a text under such a name is of another type.
pub fn is_packed(name: &str) -> bool {
    ROWS.iter()
        .any(|row| row.name == name && matches!(row.kind, Office | Presentation | Workbook))
}

/// The parts that all documents of a type have, be it none of them: slides of presentations, sheets of
/// workbooks. `None` for types whose documents may be without.
pub fn part_kind(name: &str) -> Option<PartKind> {
    let row = ROWS.iter().find(|row| row.name == name)?;
    match row.kind {
        Presentation => Some(PartKind::Slide),
        Workbook => Some(PartKind::Sheet),
        _ => None,
    }
}

/// The short word for a stored type, as people name it and as files of it end: `markdown` -> `md`,
/// `text` -> `txt`, `rust` -> `rs`. A type whose files have no ending of their own, or that the table
/// does not know, keeps its name.
pub fn short(name: &str) -> &str {
    let row = ROWS.iter().find(|row| row.name == name);
    let ending = row.and_then(|row| {
        let mut files = row.files.split_ascii_whitespace();
        files.find(|word| !word.starts_with('='))
    });
    ending.unwrap_or(name)
}

/// Names win over aliases, aliases over extensions, so that no row hides another's own word.
fn canonical(
    rows: &mut (impl Iterator<Item = &'static Row> + Clone),
    word: &str,
) -> Option<&'static str> {
    let named = rows.clone().find(|row| row.name == word);
    let aliased = || rows.clone().find(|row| row.answers_to(word));
    let extension = || rows.clone().find(|row| row.has_extension(word));
    named
        .or_else(aliased)
        .or_else(extension)
        .map(|row| row.name)
}

/// All languages that documents can carry, in alphabetical order.
pub fn known_languages() -> Vec<&'static str> {
    let mut languages: Vec<&str> = (ROWS.iter())
        .map(|row| row.file_type().language)
        .filter(|language| !language.is_empty())
        .collect();
    languages.sort_unstable();
    languages.dedup();
    languages
}

/// All file types that documents can carry, in alphabetical order.
pub fn known_types() -> Vec<&'static str> {
    let mut types: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    types.sort_unstable();
    types.dedup();
    types
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn names_and_extensions_find_their_type() {
        for (path, name, language, class) in [
            ("src/main.rs", "rust", "rust", Class::Code),
            ("a/B.PY", "python", "python", Class::Code),
            ("docs/index.md", "markdown", "markdown", Class::Doc),
            ("CMakeLists.txt", "cmake", "cmake", Class::Code),
            ("notes.txt", "text", "", Class::Doc),
            ("README", "text", "", Class::Doc),
            ("LICENSE-MIT", "text", "", Class::Doc),
            ("Dockerfile.test", "dockerfile", "dockerfile", Class::Code),
            ("x/Makefile", "makefile", "makefile", Class::Code),
            ("Cargo.lock", "toml", "toml", Class::Data),
            ("data.csv", "csv", "", Class::Data),
            ("nginx.conf.in", "nginx", "nginx", Class::Data),
            ("main.tf", "hcl", "hcl", Class::Code),
            ("git.1", "man", "man", Class::Doc),
            ("manual.xml", "xml", "xml", Class::Doc),
            ("pom.xml", "xml", "xml", Class::Data),
            ("schema.xsd", "xml", "xml", Class::Data),
            ("logo.svg", "xml", "xml", Class::Data),
        ] {
            let found = from_name(path).unwrap();
            assert_eq!(
                (found.name, found.language, found.class),
                (name, language, class),
                "{path}"
            );
        }
        assert_eq!(from_name("strange.qqq"), None);
        assert_eq!(from_name("noextension"), None);
        assert_eq!(from_name(".hidden"), None);
        assert_eq!(from_name(""), None);
    }

    #[test]
    fn a_script_without_extension_is_known_by_its_first_line() {
        for (line, name) in [
            ("#!/bin/sh", "bash"),
            ("#! /usr/bin/env python3 -u", "python"),
            ("#!/usr/bin/python3.11", "python"),
            ("#!/usr/bin/env -S LANG=C node --trace", "javascript"),
            ("#!/usr/bin/env perl", "perl"),
        ] {
            assert_eq!(from_first_line(line).unwrap().name, name, "{line}");
        }
        assert_eq!(from_first_line("#!"), None);
        assert_eq!(from_first_line("#!/usr/bin/env"), None);
        assert_eq!(from_first_line("plain words"), None);
        assert_eq!(from_first_line("#!/usr/bin/markdown"), None);
    }

    #[test]
    fn filters_accept_the_usual_other_words() {
        for (word, language) in [
            ("sh", "bash"),
            ("shell", "bash"),
            ("terraform", "hcl"),
            ("rs", "rust"),
            ("py", "python"),
            ("JS", "javascript"),
            ("ts", "typescript"),
            ("c++", "cpp"),
            ("C#", "csharp"),
            ("golang", "go"),
            ("c", "c"),
            ("d", "d"),
            ("md", "markdown"),
        ] {
            assert_eq!(canonical_language(word), Some(language), "{word}");
        }
        assert_eq!(canonical_language("klingon"), None);
        assert_eq!(canonical_language("csv"), None);
        assert_eq!(canonical_language(""), None);
        assert_eq!(canonical_type("md"), Some("markdown"));
        assert_eq!(canonical_type(".txt"), Some("text"));
        assert_eq!(canonical_type("htm"), Some("html"));
        assert_eq!(canonical_type("csv"), Some("csv"));
        assert_eq!(canonical_type("exe"), None);
    }

    #[test]
    fn every_word_of_the_table_has_one_owner_and_is_lower_case() {
        let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
        for row in ROWS {
            for word in row.files.split_ascii_whitespace() {
                assert_eq!(word, word.to_ascii_lowercase());
                if let Some(other) = owners.insert(word, row.name) {
                    panic!("{word} belongs to {other} and {}", row.name);
                }
            }
        }
        let mut words: BTreeMap<&str, &str> = BTreeMap::new();
        for row in ROWS {
            for word in std::iter::once(row.name).chain(row.aliases.split_ascii_whitespace()) {
                // One type may have two rows, of two classes.
                if let Some(other) = words.insert(word, row.name)
                    && other != row.name
                {
                    panic!("{word} means {other} and {}", row.name);
                }
            }
        }
    }

    #[test]
    fn the_short_word_of_a_type_is_its_usual_ending() {
        for (name, ending) in [
            ("markdown", "md"),
            ("text", "txt"),
            ("rust", "rs"),
            ("bash", "sh"),
            ("cpp", "cpp"),
            ("meson", "meson"),
            ("starlark", "bzl"),
            ("no-such-type", "no-such-type"),
        ] {
            assert_eq!(short(name), ending);
        }
        for name in known_types() {
            assert_eq!(canonical_type(short(name)), Some(name), "{name}");
        }
    }

    #[test]
    fn every_known_word_is_its_own_canonical_form() {
        for language in known_languages() {
            assert_eq!(canonical_language(language), Some(language));
        }
        for name in known_types() {
            assert_eq!(canonical_type(name), Some(name));
        }
    }
}
