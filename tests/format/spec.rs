//! Compares the text of `format-spec/` with the code: if one changes, the other must follow.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kb_engine::testing::catalog::{COLUMNS, Width};
use kb_engine::testing::container::codec::MAX_SEQUENCE_BYTES;
use kb_engine::testing::container::column::MAX_ITEM_BYTES;
use kb_engine::testing::container::{
    FEATURE_KEYWORD_STATISTICS, FEATURE_PAGE_EXTENTS, FEATURE_TEXT_BLOCKS, FORMAT_VERSION,
    MAX_KEY_BYTES, MAX_VALUE_BYTES, OLDEST_READABLE,
};
use kb_engine::testing::index::vector;
use kb_engine::testing::store::chunks;
use kb_engine::testing::store::facets::Facet;
use kb_engine::testing::store::fields::{self, BLOCK_TEXTS, STRIP_SLOTS, ValueKind};
use kb_engine::testing::store::tables;
use kb_engine::{Class, PageSource, SegmentId, SymbolKind};

use crate::format::golden::golden_bytes;

pub(super) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(super) fn read(name: &str) -> String {
    let path = repository().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The part of a page below the heading that begins with `title`, up to the next heading.
#[track_caller]
pub(super) fn section<'p>(page: &'p str, title: &str) -> &'p str {
    let start = page.find(&format!("\n{title}"));
    let start = start.unwrap_or_else(|| panic!("no heading {title:?}")) + 1;
    let rest = &page[start..];
    let body = rest.split_once('\n').map_or("", |(_, body)| body);
    body.find("\n#").map_or(body, |end| &body[..end])
}

/// The rows of the tables of a section, without heads, as cells.
pub(super) fn rows(section: &str) -> Vec<Vec<&str>> {
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for line in section.lines() {
        let Some(cells) = line
            .strip_prefix("| ")
            .and_then(|line| line.strip_suffix(" |"))
        else {
            if line.starts_with("|---") {
                rows.pop();
            }
            continue;
        };
        let cells = cells.trim_end_matches(['|', ' ']);
        rows.push(cells.split(" | ").map(str::trim).collect());
    }
    rows
}

/// Name and type of each field of a struct, as its source has them.
#[track_caller]
fn fields(file: &str, name: &str) -> Vec<(String, String)> {
    // Whether text is borrowed does not show in the bytes.
    let source = read(file).replace("<'a>", "").replace("&'a str", "String");
    let start = source.find(&format!("struct {name} {{"));
    let body = &source[start.unwrap_or_else(|| panic!("no struct {name} in {file}"))..];
    let body = &body[..body.find("\n}").expect("its end")];
    let lines = body.lines().skip(1).map(str::trim);
    lines
        .filter(|line| !line.starts_with("//"))
        .filter_map(|line| {
            line.trim_start_matches("pub ")
                .strip_suffix(',')?
                .split_once(": ")
        })
        .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
        .collect()
}

/// The value of a constant, as its source has it.
#[track_caller]
pub(super) fn constant(file: &str, name: &str) -> String {
    let source = read(file);
    let line = source
        .lines()
        .find(|line| line.contains(&format!("const {name}:")))
        .unwrap_or_else(|| panic!("no {name} in {file}"));
    let value = line.split_once("= ").expect("a value").1;
    value.trim_end_matches(';').to_owned()
}

/// A type of the code in the words of the pages.
fn in_words(kind: &str) -> String {
    let inner = |outer: &str| kind.strip_prefix(outer)?.strip_suffix('>').map(in_words);
    if let Some(inner) = inner("Vec<") {
        return format!("Vec of {inner}");
    }
    if let Some(inner) = inner("Option<") {
        return format!("Option of {inner}");
    }
    match kind {
        "[u8; 32]" => "`[u8; 32]`".to_owned(),
        "RootRecord" => "root".to_owned(),
        "SearchedRoot" => "searched".to_owned(),
        "EmbedderRecord" => "embedder".to_owned(),
        "RecallRecord" => "recall".to_owned(),
        "MeasuredRecord" => "measured".to_owned(),
        "ChunkerRecord" => "u32, u32".to_owned(),
        "DictionaryPart" => "part".to_owned(),
        "ColumnRecord" => "column".to_owned(),
        // Told in place, in brackets.
        "ProbeRecord" | "HeadingRecord" => "(".to_owned(),
        "PageRecord" => "page".to_owned(),
        "SheetRecord" => "sheet".to_owned(),
        "SlideRecord" => "slide".to_owned(),
        "MoreVectors" => "more".to_owned(),
        "BlockRecord" => "block".to_owned(),
        other => other.to_owned(),
    }
}

/// Fields of a table of the pages; a row may name several of one type.
fn fields_told(section: &str) -> Vec<(String, String)> {
    let mut told = Vec::new();
    for row in rows(section) {
        for name in row[0].split(", ") {
            told.push((name.to_owned(), row[1].to_owned()));
        }
    }
    told
}

fn fields_in_words(file: &str, name: &str) -> Vec<(String, String)> {
    let fields = fields(file, name).into_iter();
    fields.map(|(name, kind)| (name, in_words(&kind))).collect()
}

#[test]
fn records_have_the_fields_order_and_version_of_their_table() {
    let page = read("format-spec/tables.md");
    for (title, file, record, version) in [
        (
            "### `kb` / `meta`",
            "store/meta/mod.rs",
            "Meta",
            "META_VERSION",
        ),
        (
            "### `kb` / `manifest`",
            "store/meta/mod.rs",
            "Manifest",
            "MANIFEST_VERSION",
        ),
        (
            "### `kb` / `settings`",
            "store/meta/mod.rs",
            "SecretsRecord",
            "SETTINGS_VERSION",
        ),
        (
            "### `kb` / `trigrams`",
            "store/meta/mod.rs",
            "TrigramsRecord",
            "TRIGRAMS_VERSION",
        ),
        (
            "### `kb` / `effort`",
            "store/meta/effort.rs",
            "EffortRecord",
            "EFFORT_VERSION",
        ),
        (
            "### Document record",
            "store/documents/record.rs",
            "StoredDocument",
            "DOCUMENT_VERSION",
        ),
        (
            "### Segment record",
            "store/segments.rs",
            "SegmentRecord",
            "SEGMENT_VERSION",
        ),
        (
            "### Column of vectors",
            "store/meta/vector_columns.rs",
            "VectorColumnRecord",
            "COLUMN_VERSION",
        ),
    ] {
        let file = format!("engine/src/{file}");
        let mut coded = fields_in_words(&file, record);
        for (name, kind) in &mut coded {
            // Told field by field in the cell itself.
            if name == "columns" {
                let column =
                    fields_in_words("engine/src/container/layout/column.rs", "ColumnRecord");
                let column: Vec<String> = column
                    .iter()
                    .map(|(name, kind)| format!("{name} {kind}"))
                    .collect();
                *kind = format!("Vec of ({})", column.join(", "));
            }
        }
        assert_eq!(fields_told(section(&page, title)), coded, "{title}");
        let titled = format!("{title}, version {}", constant(&file, version));
        assert!(page.contains(&titled), "no {titled:?}");
    }
}

#[test]
fn records_told_in_prose_name_their_fields_in_order() {
    let page = read("format-spec/tables.md").replace('\n', " ");
    for (begin, file, record) in [
        (" root: id", "store/meta/mod.rs", "RootRecord"),
        (" embedder: id", "store/meta/mod.rs", "EmbedderRecord"),
        ("probes Vec of (", "store/meta/mod.rs", "ProbeRecord"),
        (" recall: queries", "store/meta/mod.rs", "RecallRecord"),
        (
            " measured: queries",
            "store/meta/effort.rs",
            "MeasuredRecord",
        ),
        (
            " effort: reach",
            "store/meta/effort.rs",
            "ColumnEffortRecord",
        ),
        (" more: number", "store/segments.rs", "MoreVectors"),
        (
            " default u16 (number",
            "store/meta/vector_columns.rs",
            "VectorStateRecord",
        ),
        (
            "headings: Vec of (",
            "store/outline/mod.rs",
            "HeadingRecord",
        ),
        (
            " pages Vec of page",
            "store/documents/parts.rs",
            "PartsRecord",
        ),
        (" page: start", "store/documents/parts.rs", "PageRecord"),
        (" sheet: start", "store/documents/parts.rs", "SheetRecord"),
        (" slide: start", "store/documents/parts.rs", "SlideRecord"),
        (
            " version u16 (of",
            "index/keyword/record.rs",
            "KeywordRecord",
        ),
        (
            " part: first_term",
            "index/keyword/record.rs",
            "DictionaryPart",
        ),
        (" codec u8 (1", "index/vector/record.rs", "VectorRecord"),
        (" texts u32 (", "store/fields/columns/mod.rs", "FieldRecord"),
        (
            " block: layer",
            "store/fields/columns/mod.rs",
            "BlockRecord",
        ),
    ] {
        let start = page.find(begin).unwrap_or_else(|| panic!("no {begin:?}"));
        let mut rest = &page[start..];
        for (name, kind) in fields_in_words(&format!("engine/src/{file}"), record) {
            let place = rest.find(&format!("{name} "));
            let place =
                place.unwrap_or_else(|| panic!("{record}: {name} is not told in its place"));
            rest = &rest[place + name.len() + 1..];
            // Fields of one type may be named together: `a and b Option of String`.
            let typed = rest.starts_with(&kind) || rest.starts_with("and ");
            assert!(typed, "{record}: {name} is no {kind}");
        }
    }
    for (file, name, version) in [
        ("store/outline/mod.rs", "OUTLINE_VERSION", "1"),
        ("store/documents/parts.rs", "PARTS_VERSION", "1"),
        ("store/meta/vector_columns.rs", "STATE_VERSION", "1"),
        ("store/meta/vector_columns.rs", "MEASURED_VERSION", "3"),
        ("store/meta/vector_columns.rs", "SHARED_VERSION", "2"),
        ("store/meta/effort.rs", "SHARED_VERSION", "2"),
        ("store/meta/effort.rs", "COUNTED_VERSION", "1"),
        ("index/keyword/record.rs", "RECORD_VERSION", "1"),
        ("index/vector/record.rs", "FLAT_VERSION", "1"),
        ("store/fields/columns/mod.rs", "FIELD_VERSION", "1"),
        ("index/vector/record.rs", "LISTS_VERSION", "2"),
    ] {
        let coded = constant(&format!("engine/src/{file}"), name);
        assert_eq!(coded, version, "{file}: {name}");
    }
}

#[test]
fn tables_and_columns_are_those_of_the_code() {
    let page = read("format-spec/tables.md");
    let mut names: Vec<String> = tables::ALL.iter().map(|name| format!("`{name}`")).collect();
    let any = tables::segment_table(SegmentId(0x2a));
    assert_eq!(any.strip_prefix("seg/").map(str::len), Some(16), "{any}");
    names.push("`seg/` + 16 hexadecimal digits of the segment number".to_owned());
    let told = rows(section(&page, "## Tables"));
    let told: Vec<&str> = told.iter().map(|row| row[0]).collect();
    assert_eq!(told, names);

    let told = rows(section(&page, "## Columns"));
    let told: BTreeMap<u16, (&str, &str)> = told
        .iter()
        .map(|row| {
            let (number, name) = row[0].split_once(' ').unwrap_or((row[0], "reserved"));
            (number.parse().expect("a number"), (name, row[1]))
        })
        .collect();
    let names = told.iter().map(|(number, (name, _))| (*number, *name));
    let mut coded: BTreeMap<u16, &str> = COLUMNS
        .iter()
        .map(|column| (column.id.0, column.name))
        .collect();
    coded.extend([1, 19, 33].map(|number| (number, "reserved")));
    assert_eq!(names.collect::<BTreeMap<u16, &str>>(), coded);
    assert!(COLUMNS.is_sorted_by(|a, b| a.id < b.id));
    for column in COLUMNS {
        let (name, row) = told[&column.id.0];
        let has_items = row.contains("item");
        let bytes = row
            .split_once(" bytes")
            .map(|(bytes, _)| bytes.parse::<u32>());
        match column.width {
            Width::Items => assert!(has_items, "{name}: {row}"),
            Width::Fixed(width) => assert_eq!(bytes, Some(Ok(width)), "{name}: {row}"),
            Width::Told(_) => assert!(!has_items, "{name}: {row}"),
        }
    }
    for said in [
        format!("strip     {STRIP_SLOTS} slots"),
        format!("block of {BLOCK_TEXTS} texts"),
    ] {
        assert!(page.contains(&said), "no {said:?}");
    }
    assert_eq!(fields::BLOCK_ROWS, 16_384);
    let block_rows = chunks::BLOCK_ROWS;
    assert!(page.contains(&format!("the numbers of {block_rows} rows of chunks")));
}

#[test]
fn numbers_of_the_registry_are_those_of_the_code() {
    let page = read("format-spec/registry.md");
    let facets = [
        (Facet::Type, "file type"),
        (Facet::Language, "language"),
        (Facet::Class, "class"),
        (Facet::Tag, "tag"),
        (Facet::Kind, "symbol kind"),
        (Facet::Role, "role of a chunk"),
        (Facet::Field, "field"),
        (Facet::Link, "link"),
        (Facet::Edited, "edited"),
    ];
    let mut coded: Vec<[String; 3]> = facets
        .iter()
        .map(|(facet, name)| ["facet".into(), (*facet as u8).to_string(), (*name).into()])
        .collect();
    coded.extend(Class::ALL.map(|class| {
        [
            "class".into(),
            (class as u8).to_string(),
            class.name().into(),
        ]
    }));
    coded.extend(PageSource::ALL.map(|source| {
        [
            "page source".into(),
            (source as u8).to_string(),
            source.name().into(),
        ]
    }));
    for (codec, what) in [
        (vector::CODEC_I8, "signed bytes, one scale"),
        (vector::CODEC_I4, "nibbles, one scale"),
    ] {
        coded.push(["vector codec".into(), codec.to_string(), what.into()]);
    }
    coded.extend(ValueKind::ALL.map(|kind| {
        let number = (kind as u8).to_string();
        ["kind of values".into(), number, kind.name().into()]
    }));
    assert_eq!(rows(section(&page, "## Numbers of values")), coded);
    let kinds = SymbolKind::ALL.map(|kind| format!("{} `{}`", kind as u8, kind.name()));
    let kinds = format!("The kinds of symbols are {}.", kinds.join(", "));
    let words: Vec<&str> = section(&page, "## Numbers of values")
        .split_whitespace()
        .collect();
    assert!(words.join(" ").contains(&kinds), "no {kinds:?}");

    let features: Vec<(String, u64)> = rows(section(&page, "### Feature bits"))
        .iter()
        .map(|row| {
            (
                row[0].to_owned(),
                1 << row[1].parse::<u32>().expect("a bit"),
            )
        })
        .collect();
    let coded = [
        ("incompat".to_owned(), FEATURE_PAGE_EXTENTS),
        ("incompat".to_owned(), FEATURE_TEXT_BLOCKS),
        ("ro-compat".to_owned(), FEATURE_KEYWORD_STATISTICS),
    ];
    assert_eq!(features, coded);

    let limits = rows(section(&page, "## Limits"));
    let limit = |what: &str| limits.iter().find(|row| row[0] == what).expect("a limit")[1];
    assert_eq!(limit("key"), format!("{} KiB", MAX_KEY_BYTES >> 10));
    assert_eq!(
        limit("value outside of extents"),
        format!("{} MiB", MAX_VALUE_BYTES >> 20)
    );
    let sequence = format!("{} MiB", MAX_SEQUENCE_BYTES >> 20);
    assert_eq!(limit("a sequence in a record, in memory"), sequence);
    let payload = limit("payload of an extent").replace([' ', ','], "");
    assert_eq!(payload, format!("{MAX_ITEM_BYTES}bytes"));
}

#[test]
fn versions_and_the_signature_block_are_those_of_the_code() {
    let page = read("format-spec/registry.md");
    let dotted = |(major, minor): (u16, u16)| format!("{major}.{minor}");
    let versions = format!(
        "`FORMAT_VERSION` is {}, `OLDEST_READABLE` is {}",
        dotted(FORMAT_VERSION),
        dotted(OLDEST_READABLE)
    );
    assert!(page.contains(&versions), "no {versions:?}");
    let tables_page = read("format-spec/tables.md");
    assert!(tables_page.contains(&format!("format {} ", dotted(FORMAT_VERSION))));

    // The places of the fields, looked up in a file that the code wrote.
    let block = &golden_bytes()[512..1024];
    let told = rows(section(&page, "## Signature block"));
    let field = |name: &str| -> usize {
        let row = told.iter().find(|row| row[2].starts_with(name));
        row.unwrap_or_else(|| panic!("no field {name}"))[0]
            .parse()
            .expect("an offset")
    };
    let number = |name: &str, len: usize| {
        let bytes = &block[field(name)..][..len];
        bytes
            .iter()
            .rev()
            .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    // The values that the page gives, against the bytes of that file.
    let mut compared = 0;
    for row in &told {
        let (Some(value), Some(width)) = (row.get(3), row[1].strip_prefix('u')) else {
            continue;
        };
        let first = value.split(' ').next().unwrap_or_default();
        if let (Ok(value), Ok(bits)) = (first.parse::<u64>(), width.parse::<usize>()) {
            assert_eq!(number(row[2], bits / 8), value, "{row:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 7, "major, minor, length, format, page, codecs");
    assert_eq!(number("major", 2), u64::from(FORMAT_VERSION.0));
    assert_eq!(number("minor", 2), u64::from(FORMAT_VERSION.1));
    assert_eq!(number("length of the block", 4), 512);
    assert_eq!(
        number("incompat", 8),
        FEATURE_PAGE_EXTENTS | FEATURE_TEXT_BLOCKS
    );
    assert_eq!(number("ro-compat", 8), FEATURE_KEYWORD_STATISTICS);
    assert_eq!(number("underlying format", 4), 3);
    assert_eq!(number("page size", 4), 4096);
    assert_eq!(number("record codec", 2), 1);
    assert_eq!(number("text codec", 2), 1);
    assert_eq!(
        number("XXH3-64", 8),
        xxhash_rust::xxh3::xxh3_64(&block[..504])
    );
    let magic: String = block[..8]
        .iter()
        .map(|byte| format!("{byte:02X} "))
        .collect();
    assert_eq!(told[0][3], format!("`{}`", magic.trim()));
}
