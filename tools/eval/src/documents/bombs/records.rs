//! Malicious rich text and Office 97-2003 files.

use super::bomb::Bomb;

pub(super) const BOMBS: &[Bomb] = &[
    Bomb::new("a million groups", "a.rtf", rtf_of_groups),
    Bomb::new(
        "a million nested destinations",
        "a.rtf",
        rtf_of_destinations,
    ),
    Bomb::new("binary data of 2 GB", "a.rtf", rtf_of_binary),
    Bomb::new("a million fonts", "a.rtf", rtf_of_fonts),
    Bomb::new("half a million nested tables", "a.rtf", rtf_of_tables).long(),
    Bomb::new("chains in circles", "a.doc", || {
        compound(&["WordDocument", "1Table"], Circle::Chains)
    }),
    Bomb::new("chains in circles", "a.xls", || {
        compound(&["Workbook"], Circle::Chains)
    }),
    Bomb::new("chains in circles", "a.ppt", || {
        compound(&DECK, Circle::Chains)
    }),
    Bomb::new("a list of tables in a circle", "a.doc", || {
        compound(&["WordDocument"], Circle::Tables)
    }),
    Bomb::new("siblings in a circle", "a.xls", || {
        compound(&["Workbook"], Circle::Siblings)
    }),
    Bomb::new("50 000 sheets in one place", "a.xls", xls_of_sheets).long(),
    Bomb::new(
        "a million records of text that go on",
        "a.xls",
        xls_of_continued_text,
    ),
];

const DECK: [&str; 2] = ["Current User", "PowerPoint Document"];

fn rtf_of_groups() -> Vec<u8> {
    format!(
        "{{\\rtf1 {}words{}}}",
        "{".repeat(1_000_000),
        "}".repeat(1_000_000)
    )
    .into_bytes()
}

fn rtf_of_destinations() -> Vec<u8> {
    format!(
        "{{\\rtf1 {}words",
        "{\\*\\generator{\\info{\\title ".repeat(333_333)
    )
    .into_bytes()
}

fn rtf_of_binary() -> Vec<u8> {
    b"{\\rtf1 words \\bin2147483647 and\\bin-1 more}".to_vec()
}

fn rtf_of_fonts() -> Vec<u8> {
    let fonts: String = (0..1_000_000)
        .map(|number| format!("{{\\f{number} A;}}"))
        .collect();
    format!("{{\\rtf1{{\\fonttbl{fonts}}}words}}").into_bytes()
}

fn rtf_of_tables() -> Vec<u8> {
    let rows = "\\trowd\\itap9\\cellx1 a\\nestcell\\nestrow\\cell\\row ".repeat(500_000);
    format!("{{\\rtf1 {rows}}}").into_bytes()
}

/// What goes round in a compound file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Circle {
    /// The sectors of the directory and of all streams.
    Chains,
    /// The sectors that list the tables of sectors.
    Tables,
    /// Neighbours in the directory.
    Siblings,
    /// Nothing does.
    None,
}

const SECTOR_BYTES: usize = 512;
const END_OF_CHAIN: u32 = 0xFFFF_FFFE;
const FREE: u32 = 0xFFFF_FFFF;

fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    if let Some(target) = bytes.get_mut(at..at + field.len()) {
        target.copy_from_slice(field);
    }
}

/// A compound file whose streams have 1000 sectors of nothing.
fn compound(streams: &[&str], circle: Circle) -> Vec<u8> {
    let nothing = vec![0; 1000 * SECTOR_BYTES];
    let streams: Vec<(&str, &[u8])> = streams
        .iter()
        .map(|name| (*name, nothing.as_slice()))
        .collect();
    compound_of(&streams, circle)
}

/// A compound file of streams of 4096 bytes or more.
fn compound_of(streams: &[(&str, &[u8])], circle: Circle) -> Vec<u8> {
    // The directory, then the streams, then the tables.
    let mut sectors: Vec<u8> = vec![0; SECTOR_BYTES];
    let mut next: Vec<u32> = vec![if circle == Circle::Chains {
        0
    } else {
        END_OF_CHAIN
    }];
    let mut entries = vec![("Root Entry", 5_u8, END_OF_CHAIN, 0_u32)];
    for (name, content) in streams {
        let first = next.len();
        let count = content.len().div_ceil(SECTOR_BYTES);
        for step in 1..=count {
            next.push(match circle {
                Circle::Chains => number(first),
                _ if step == count => END_OF_CHAIN,
                _ => number(first + step),
            });
        }
        sectors.extend(*content);
        sectors.resize((first + count) * SECTOR_BYTES, 0);
        let size = match circle {
            Circle::Chains => i32::MAX.unsigned_abs(),
            _ => number(content.len()),
        };
        entries.push((name, 2, number(first), size));
    }
    for (position, (name, kind, first, size)) in entries.iter().enumerate() {
        let start = position * 128;
        let letters: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        put(&mut sectors, start, &letters);
        put(
            &mut sectors,
            start + 64,
            &[u8::try_from(letters.len() + 2).unwrap_or(0), 0, *kind, 1],
        );
        let sibling = |other: usize| {
            if other < entries.len() {
                number(other)
            } else {
                FREE
            }
        };
        let (left, right) = match circle {
            Circle::Siblings => (number(position), number(position)),
            _ if position > 0 => (FREE, sibling(position + 1)),
            _ => (FREE, FREE),
        };
        let child = if position == 0 { 1 } else { FREE };
        let fields = [left, right, child].map(u32::to_le_bytes).concat();
        put(&mut sectors, start + 68, &fields);
        put(
            &mut sectors,
            start + 116,
            &[*first, *size].map(u32::to_le_bytes).concat(),
        );
    }
    let mut header = vec![0; SECTOR_BYTES];
    put(&mut header, 0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
    put(&mut header, 24, &[0x3E, 0, 3, 0, 0xFE, 0xFF, 9, 0, 6, 0]);
    header[76..].fill(0xFF);
    // As many tables as list all sectors, themselves as well.
    let mut tables = 1;
    while tables * 128 < next.len() + tables {
        tables += 1;
    }
    for table in 0..tables.min(109) {
        put(
            &mut header,
            76 + 4 * table,
            &number(next.len() + table).to_le_bytes(),
        );
    }
    let mut list = next.clone();
    list.resize(next.len() + tables, 0xFFFF_FFFD);
    list.resize(tables * 128, FREE);
    sectors.extend(list.iter().flat_map(|number| number.to_le_bytes()));
    let mut further = END_OF_CHAIN;
    if circle == Circle::Tables {
        // A sector of the list of tables that names itself as the next one.
        further = number(sectors.len() / SECTOR_BYTES);
        let mut list = vec![0xFF; SECTOR_BYTES];
        put(&mut list, SECTOR_BYTES - 4, &further.to_le_bytes());
        sectors.extend(list);
    }
    let fields = [number(tables), 0, 0, 4096, END_OF_CHAIN, 0, further, 1];
    put(&mut header, 44, &fields.map(u32::to_le_bytes).concat());
    [header, sectors].concat()
}

fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn record(kind: u16, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap_or(0);
    [&kind.to_le_bytes(), &length.to_le_bytes(), content].concat()
}

/// The start of a stream of records: 0x05 is the workbook, 0x10 a sheet.
fn start(kind: u8) -> Vec<u8> {
    record(0x809, &[0, 6, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
}

fn xls_of_sheets() -> Vec<u8> {
    let sheet = |offset: u32| {
        record(
            0x85,
            &[&offset.to_le_bytes(), [0, 0, 1, 0].as_slice(), b"s"].concat(),
        )
    };
    let globals = [start(5), sheet(0).repeat(50_000), record(0x0A, &[])].concat();
    let offset = number(globals.len());
    let mut cells = start(0x10);
    for row in 0..10_000_u16 {
        let address = [row.to_le_bytes(), [0, 0], [0, 0]].concat();
        cells.extend(record(
            0x203,
            &[address, 1.5_f64.to_le_bytes().to_vec()].concat(),
        ));
    }
    cells.extend(record(0x0A, &[]));
    let globals = [start(5), sheet(offset).repeat(50_000), record(0x0A, &[])].concat();
    compound_of(&[("Workbook", &[globals, cells].concat())], Circle::None)
}

fn xls_of_continued_text() -> Vec<u8> {
    // One text that claims 4 billion others, and goes on in a million records of one byte.
    let mut stream = start(5);
    let claim = [u32::MAX.to_le_bytes(), u32::MAX.to_le_bytes()].concat();
    stream.extend(record(0xFC, &[claim, vec![0xFF, 0x7F, 0]].concat()));
    stream.extend(record(0x3C, &[0]).repeat(1_000_000));
    stream.extend(record(0x0A, &[]));
    compound_of(&[("Workbook", &stream)], Circle::None)
}
