//! Compound files: the file system in a file that Office 97-2003 stores streams in. What is wrong in tables is
//! passed over where Word and LibreOffice do so: short files, entries that point nowhere, circles. The usual crate
//! refuses real files that Word opens (docs/decisions/17-own-readers.md).

use std::collections::HashSet;

use crate::package::little_endian::{place_at, stretch, u16_at, u32_at, utf_16};

pub(crate) const SIGNATURE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// The largest sector number; what is above marks free sectors and ends of chains.
// MAXREGSECT of [MS-CFB] 2.1.
const MAX_SECTOR: u32 = 0xFFFF_FFFA;
/// Entries of the table of sectors that the header holds.
// [MS-CFB] 2.2: the header of 512 bytes has room for 109 entries of the DIFAT.
const HEADER_TABLE_ENTRIES: usize = 109;
/// Bytes of an entry of the directory.
const ENTRY_BYTES: usize = 128;
/// Bytes of a sector of the short streams.
// [MS-CFB] 2.2: the only value that the format allows.
const MINI_SECTOR_BYTES: usize = 64;
/// The kinds of a directory entry that is a storage, a stream.
const STORAGE: u8 = 1;
const STREAM: u8 = 2;

/// A stream or storage in a storage.
#[cfg(feature = "office")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Child {
    pub(crate) name: String,
    pub(crate) is_storage: bool,
    /// Its entry in the directory.
    place: u32,
}

pub(crate) struct CompoundFile<'a> {
    bytes: &'a [u8],
    sector_bytes: usize,
    /// The sector that follows each one.
    next: Vec<u32>,
    directory: Vec<u8>,
    /// Streams shorter than this lie in `mini`.
    mini_below: usize,
    mini: Vec<u8>,
    mini_next: Vec<u32>,
}

impl<'a> CompoundFile<'a> {
    /// Reads the tables; `None` where there is no directory.
    pub(crate) fn open(bytes: &'a [u8]) -> Option<CompoundFile<'a>> {
        if !bytes.starts_with(SIGNATURE) {
            return None;
        }
        // [MS-CFB] 2.2 allows 9 and 12. Others are clamped instead of refused: the rest of such
        // files is often readable.
        let shift = u16_at(bytes, 30)?.clamp(7, 14);
        let mut file = CompoundFile {
            bytes,
            sector_bytes: 1 << shift,
            next: Vec::new(),
            directory: Vec::new(),
            mini_below: place_at(bytes, 56)?,
            mini: Vec::new(),
            mini_next: Vec::new(),
        };
        // The order matters: the directory is a chain of the table, and the short streams are a
        // chain that the directory names.
        file.read_table();
        file.directory = file.chain(u32_at(bytes, 48)?, usize::MAX);
        let mini_table = file.chain(u32_at(bytes, 60)?, usize::MAX);
        file.mini_next = numbers(&mini_table).collect();
        let first = u32_at(&file.directory, 116)?;
        file.mini = file.chain(first, usize::MAX);
        Some(file)
    }

    /// Whether there is a stream of that name, wherever in the tree it is.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The bytes of a stream; those of the outermost storage come first, then any of that name. As many as there
    /// are, where it should be longer than the file.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.read_entry(self.find(name)?)
    }

    /// The bytes of a stream, as [`CompoundFile::read`].
    #[cfg(feature = "office")]
    pub(crate) fn read_child(&self, child: &Child) -> Option<Vec<u8>> {
        self.read_entry(self.entry(usize::try_from(child.place).ok()?)?)
    }

    fn read_entry(&self, entry: &[u8]) -> Option<Vec<u8>> {
        let first = u32_at(entry, 116)?;
        // The size of a stream comes from the file, and no stream is longer than it.
        let length = place_at(entry, 120)?.min(self.bytes.len());
        // [MS-CFB] 2.2: streams below the cutoff (4,096) are in short sectors.
        let mut stream = match length < self.mini_below {
            true => self.mini_chain(first, length),
            false => self.chain(first, length),
        };
        stream.truncate(length);
        Some(stream)
    }

    /// Entries of the directory.
    pub(crate) fn entries(&self) -> usize {
        self.directory.len() / ENTRY_BYTES
    }

    fn entry(&self, place: usize) -> Option<&[u8]> {
        let start = place.checked_mul(ENTRY_BYTES)?;
        self.directory.get(start..start.checked_add(ENTRY_BYTES)?)
    }

    fn find(&self, name: &str) -> Option<&[u8]> {
        let is_it = |entry: &&[u8]| is_stream(entry) && name_of(entry).eq_ignore_ascii_case(name);
        let outermost = self.outermost();
        let found = outermost.into_iter().find(|entry| is_it(entry));
        let mut all = (0..self.entries()).filter_map(|place| self.entry(place));
        // A damaged tree of siblings hides streams that the directory still lists.
        found.or_else(|| all.find(|entry| is_it(entry)))
    }

    /// The names of the streams of the outermost storage.
    pub(crate) fn outermost_streams(&self) -> Vec<String> {
        let streams = self.outermost().into_iter();
        streams
            .filter(|entry| is_stream(entry))
            .map(name_of)
            .collect()
    }

    /// What a storage holds, the outermost one without `storage`: `left` entries at most, which it lessens. An entry
    /// is in one storage, so that all of them together have as many as [`CompoundFile::entries`]; a hostile file puts
    /// one into many.
    #[cfg(feature = "office")]
    pub(crate) fn children(&self, storage: Option<&Child>, left: &mut usize) -> Vec<Child> {
        let place = storage.map_or(0, |storage| storage.place);
        let entries = self.siblings(place, *left);
        *left = left.saturating_sub(entries.len());
        let children = entries.into_iter();
        children
            .filter_map(|(place, entry)| {
                let kind = entry.get(66).copied();
                matches!(kind, Some(STORAGE | STREAM)).then(|| Child {
                    name: name_of(entry),
                    is_storage: kind == Some(STORAGE),
                    place,
                })
            })
            .collect()
    }

    /// The entries of the outermost storage.
    fn outermost(&self) -> Vec<&[u8]> {
        let entries = self.siblings(0, usize::MAX).into_iter();
        entries.map(|(_, entry)| entry).collect()
    }

    /// The entries of the storage at that place, `most` of them: the tree of the siblings of its first child.
    fn siblings(&self, storage: u32, most: usize) -> Vec<(u32, &[u8])> {
        let at = |place: u32| usize::try_from(place).ok().and_then(|it| self.entry(it));
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let first = at(storage).and_then(|entry| u32_at(entry, 76));
        let mut left = vec![first.unwrap_or(u32::MAX)];
        while let Some(place) = left.pop().filter(|_| entries.len() < most) {
            let Some(entry) = at(place) else {
                continue;
            };
            // A tree of a hostile file may lead in a circle.
            if seen.insert(place) {
                entries.push((place, entry));
                left.extend([68, 72].iter().filter_map(|at| u32_at(entry, *at)));
            }
        }
        entries
    }

    fn sector(&self, number: u32) -> &'a [u8] {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        // The header takes the place of one sector.
        let start = number.saturating_add(1).saturating_mul(self.sector_bytes);
        stretch(self.bytes, start, self.sector_bytes)
    }

    /// The table of which sector follows which, from the sectors that the header and its chain name.
    fn read_table(&mut self) {
        // No file has more sectors than its bytes; the bound ends chains of table sectors that lead
        // in a circle.
        let most = self.bytes.len() / self.sector_bytes + 2;
        let header = stretch(self.bytes, 76, 4 * HEADER_TABLE_ENTRIES);
        let mut tables: Vec<u32> = numbers(header).collect();
        let mut further = u32_at(self.bytes, 68).unwrap_or(u32::MAX);
        let mut read = 0;
        while further < MAX_SECTOR && read < most {
            let mut names: Vec<u32> = numbers(self.sector(further)).collect();
            further = names.pop().unwrap_or(u32::MAX);
            tables.extend(names);
            read += 1;
        }
        for table in tables.into_iter().filter(|table| *table < MAX_SECTOR) {
            if self.next.len() >= most {
                break;
            }
            self.next.extend(numbers(self.sector(table)));
        }
    }

    /// The sectors from `first` on, until there are `most` bytes. A circle ends when every sector of the file
    /// could have been read.
    fn chain(&self, first: u32, most: usize) -> Vec<u8> {
        // A chain that leads in a circle ends when it is as long as the file.
        let most = most.min(self.bytes.len());
        let mut read = Vec::new();
        let mut number = first;
        while number < MAX_SECTOR && read.len() < most {
            let sector = self.sector(number);
            if sector.is_empty() {
                break;
            }
            read.extend_from_slice(sector);
            let place = usize::try_from(number).unwrap_or(usize::MAX);
            number = self.next.get(place).copied().unwrap_or(u32::MAX);
        }
        read
    }

    fn mini_chain(&self, first: u32, most: usize) -> Vec<u8> {
        let mut read = Vec::new();
        let mut number = first;
        while number < MAX_SECTOR && read.len() < most {
            let place = usize::try_from(number).unwrap_or(usize::MAX);
            let start = place.saturating_mul(MINI_SECTOR_BYTES);
            let sector = stretch(&self.mini, start, MINI_SECTOR_BYTES);
            if sector.is_empty() {
                break;
            }
            read.extend_from_slice(sector);
            number = self.mini_next.get(place).copied().unwrap_or(u32::MAX);
        }
        read
    }
}

fn is_stream(entry: &[u8]) -> bool {
    entry.get(66) == Some(&STREAM)
}

fn name_of(entry: &[u8]) -> String {
    // [MS-CFB] 2.6.1: at most 32 UTF-16 units with the final zero.
    let length = usize::from(u16_at(entry, 64).unwrap_or(0)).min(64);
    utf_16(stretch(entry, 0, length.saturating_sub(2)))
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let quads = bytes.chunks_exact(4);
    quads.filter_map(|quad| u32_at(quad, 0))
}
