//! Small packages and compound files for tests.

use std::collections::HashMap;
use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::package::compound_file::SIGNATURE;

const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

pub(crate) fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .collect();
    package_of(&parts)
}

pub(crate) fn package_of(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        // As the formats demand, so that a file shows what it is.
        let method = match *name {
            "mimetype" => CompressionMethod::Stored,
            _ => CompressionMethod::Deflated,
        };
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn relationships(targets: &[(&str, &str)]) -> String {
    let each = targets.iter().enumerate().map(|(number, (kind, target))| {
        format!("<Relationship Id='r{number}' Type='{RELATIONSHIPS}/{kind}' Target='{target}'/>")
    });
    format!(
        "<Relationships>{}</Relationships>",
        each.collect::<String>()
    )
}

pub(crate) fn odf(kind: &str, content: &str, manifest: &str) -> Vec<u8> {
    package(&[
        (
            "mimetype",
            &format!("application/vnd.oasis.opendocument.{kind}"),
        ),
        ("META-INF/manifest.xml", manifest),
        (
            "content.xml",
            &format!("<office:document-content>{content}</office:document-content>"),
        ),
        (
            "meta.xml",
            "<m><dc:title>The title</dc:title><meta:keyword>a</meta:keyword><meta:keyword>b</meta:keyword></m>",
        ),
    ])
}

/// A compound file with streams of any length, in sectors of 512 bytes; some 6 MB at most.
pub(crate) fn compound_file(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
    compound_file_with(streams, streams.len())
}

/// A compound file of which only the first streams are in the outermost storage.
pub(crate) fn compound_file_with(streams: &[(&str, Vec<u8>)], outermost: usize) -> Vec<u8> {
    let nodes = streams.iter().enumerate().map(|(number, (name, stream))| {
        let place = if number < outermost { 0 } else { usize::MAX };
        (place, *name, Some(stream.clone()))
    });
    compound_tree(&nodes.collect::<Vec<_>>())
}

/// A compound file with these storages and streams: the storage that each is in, its name, what a stream holds. The
/// outermost storage is 0, the first of the list 1.
pub(crate) fn compound_tree(nodes: &[(usize, &str, Option<Vec<u8>>)]) -> Vec<u8> {
    const SECTOR: usize = 512;
    const END: u32 = 0xFFFF_FFFE;
    // The table of sectors comes first, as long as it must be.
    let of = |bytes: usize| bytes.div_ceil(SECTOR).max(1);
    let directory_sectors = of(128 * (nodes.len() + 1));
    let streams = || nodes.iter().filter_map(|(.., stream)| stream.as_ref());
    let data_sectors: usize = streams().map(|stream| of(stream.len())).sum();
    let table_sectors = (data_sectors + directory_sectors).div_ceil(SECTOR / 4 - 1);
    let mut next: Vec<u32> = vec![0xFFFF_FFFD; table_sectors];
    let mut data = Vec::new();
    let mut add = |bytes: &[u8], next: &mut Vec<u32>| -> u32 {
        let first = next.len();
        let sectors = of(bytes.len());
        for sector in 1..=sectors {
            let following = (first + sector) as u32;
            next.push(if sector == sectors { END } else { following });
        }
        data.extend_from_slice(bytes);
        data.resize((next.len() - table_sectors) * SECTOR, 0);
        first as u32
    };
    let entry = |name: &str, kind: u8, sibling: u32, child: u32, start: u32, length: usize| {
        let mut entry = [0u8; 128];
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        entry[..name.len()].copy_from_slice(&name);
        entry[64..66].copy_from_slice(&(name.len() as u16 + 2).to_le_bytes());
        entry[66] = kind;
        for (at, value) in [
            (68, u32::MAX),
            (72, sibling),
            (76, child),
            (116, start),
            (120, length as u32),
        ] {
            entry[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        entry
    };
    // Of each storage its first, of each node the next of the same storage.
    let mut last: HashMap<usize, usize> = HashMap::new();
    let (mut children, mut siblings) = (
        vec![u32::MAX; nodes.len() + 1],
        vec![u32::MAX; nodes.len() + 1],
    );
    for (place, (parent, ..)) in (1..)
        .zip(nodes)
        .filter(|(_, (parent, ..))| *parent <= nodes.len())
    {
        match last.insert(*parent, place) {
            None => children[*parent] = place as u32,
            Some(before) => siblings[before] = place as u32,
        }
    }
    let mut directory = entry("Root Entry", 5, u32::MAX, children[0], END, 0).to_vec();
    for (place, (_, name, stream)) in (1..).zip(nodes) {
        let (kind, start, length) = match stream {
            Some(stream) => (2, add(stream, &mut next), stream.len()),
            None => (1, 0, 0),
        };
        directory.extend(entry(
            name,
            kind,
            siblings[place],
            children[place],
            start,
            length,
        ));
    }
    let directory_start = add(&directory, &mut next);
    let mut header = [0u8; SECTOR];
    header[..8].copy_from_slice(SIGNATURE);
    header[30] = 9;
    for (at, value) in [(48, directory_start), (56, 0), (60, END), (68, END)] {
        header[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    header[76..].fill(0xFF);
    let places = header[76..].chunks_exact_mut(4).take(table_sectors);
    for (number, place) in places.enumerate() {
        place.copy_from_slice(&(number as u32).to_le_bytes());
    }
    next.resize(table_sectors * SECTOR / 4, u32::MAX);
    let table: Vec<u8> = next
        .iter()
        .flat_map(|sector| sector.to_le_bytes())
        .collect();
    [&header[..], &table, &data].concat()
}
