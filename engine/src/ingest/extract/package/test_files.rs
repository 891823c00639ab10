//! Small packages and compound files for tests.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::ingest::extract::package::compound_file::SIGNATURE;

const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

pub(in crate::ingest::extract) fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .collect();
    package_of(&parts)
}

pub(in crate::ingest::extract) fn package_of(parts: &[(&str, &[u8])]) -> Vec<u8> {
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

pub(in crate::ingest::extract) fn relationships(targets: &[(&str, &str)]) -> String {
    let each = targets.iter().enumerate().map(|(number, (kind, target))| {
        format!("<Relationship Id='r{number}' Type='{RELATIONSHIPS}/{kind}' Target='{target}'/>")
    });
    format!(
        "<Relationships>{}</Relationships>",
        each.collect::<String>()
    )
}

pub(in crate::ingest::extract) fn odf(kind: &str, content: &str, manifest: &str) -> Vec<u8> {
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

/// A compound file with streams of any length, in sectors of 512 bytes, 127 at most.
pub(in crate::ingest::extract) fn compound_file(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
    compound_file_with(streams, streams.len())
}

/// A compound file of which only the first streams are in the outermost storage.
pub(in crate::ingest::extract) fn compound_file_with(
    streams: &[(&str, Vec<u8>)],
    outermost: usize,
) -> Vec<u8> {
    const SECTOR: usize = 512;
    const END: u32 = 0xFFFF_FFFE;
    let mut next: Vec<u32> = vec![0xFFFF_FFFD];
    let mut data = Vec::new();
    let mut add = |bytes: &[u8], next: &mut Vec<u32>| -> u32 {
        let first = next.len();
        let sectors = bytes.len().div_ceil(SECTOR).max(1);
        for sector in 1..=sectors {
            let following = (first + sector) as u32;
            next.push(if sector == sectors { END } else { following });
        }
        data.extend_from_slice(bytes);
        data.resize((next.len() - 1) * SECTOR, 0);
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
    let mut directory = entry("Root Entry", 5, u32::MAX, 1, END, 0).to_vec();
    for (number, (name, stream)) in streams.iter().enumerate() {
        let start = add(stream, &mut next);
        let sibling = if number + 1 >= outermost {
            u32::MAX
        } else {
            number as u32 + 2
        };
        directory.extend(entry(name, 2, sibling, u32::MAX, start, stream.len()));
    }
    let directory_start = add(&directory, &mut next);
    let mut header = [0u8; SECTOR];
    header[..8].copy_from_slice(SIGNATURE);
    header[30] = 9;
    for (at, value) in [
        (48, directory_start),
        (56, 0),
        (60, END),
        (68, END),
        (76, 0),
    ] {
        header[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    header[80..].fill(0xFF);
    next.resize(SECTOR / 4, u32::MAX);
    let table: Vec<u8> = next
        .iter()
        .flat_map(|sector| sector.to_le_bytes())
        .collect();
    [&header[..], &table, &data].concat()
}
