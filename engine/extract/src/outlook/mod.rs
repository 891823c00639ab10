//! Messages of Outlook (`.msg`): properties of MAPI (MS-OXMSG) in a compound file, each text in a stream of its own.
//!
//! Read as messages of the Internet are: who wrote to whom about what, then the text, then the names of what is attached.
//! Of the forms of the text the plain one is read, else the page, else the RTF. Messages and texts that are attached are
//! read as well.

mod compressed_rtf;

use std::collections::{HashMap, HashSet};

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use kb_types::calendar::UtcTime;
use kb_types::file_types;

use crate::extracted::{Extracted, MAX_METADATA_CHARS, tidy};
use crate::markup::html;
use crate::markup::message::{
    MAX_ATTACHED_TEXT_BYTES, MAX_DEPTH, attachment_line, field_lines, people,
};
use crate::outlook::compressed_rtf::decompressed;
use crate::package::code_pages::encoding_of;
use crate::package::compound_file::{Child, CompoundFile};
use crate::package::little_endian::{u16_at, u32_at, utf_16};
use crate::skip_reason::SkipReason;
use crate::text;
use crate::text_builder::TextBuilder;
use crate::word::rtf;

pub(crate) const FORMAT: &str = "Outlook message";
/// The stream that each of them has.
pub(crate) const PROPERTIES: &str = "__properties_version1.0";

/// From the first day of 1601, in which Windows counts, to that of 1970, in seconds.
const UNIX_EPOCH: i64 = 11_644_473_600;

// Properties. Numbers of MS-OXPROPS, in ascending order.
const CLASS: u16 = 0x001A;
const SUBJECT: u16 = 0x0037;
const SUBMITTED: u16 = 0x0039;
const SENT_FOR_NAME: u16 = 0x0042;
const SENT_FOR_ADDRESS: u16 = 0x0065;
const RECIPIENT_KIND: u16 = 0x0C15;
const SENDER_NAME: u16 = 0x0C1A;
const SENDER_ADDRESS: u16 = 0x0C1F;
const SHOWN_CC: u16 = 0x0E03;
const SHOWN_TO: u16 = 0x0E04;
const DELIVERED: u16 = 0x0E06;
const BODY: u16 = 0x1000;
const RTF: u16 = 0x1009;
const PAGE: u16 = 0x1013;
const NAME: u16 = 0x3001;
const ADDRESS: u16 = 0x3003;
const CREATED: u16 = 0x3007;
const DATA: u16 = 0x3701;
const SHORT_FILE_NAME: u16 = 0x3704;
const ATTACH_METHOD: u16 = 0x3705;
const FILE_NAME: u16 = 0x3707;
const MEDIA_TYPE: u16 = 0x370E;
const CONTENT_ID: u16 = 0x3712;
const ATTACH_FLAGS: u16 = 0x3714;
const SMTP_ADDRESS: u16 = 0x39FE;
const PAGE_CODE_PAGE: u16 = 0x3FDE;
const CODE_PAGE: u16 = 0x3FFD;
const SENDER_SMTP: u16 = 0x5D01;
const SENT_FOR_SMTP: u16 = 0x5D02;
const IS_HIDDEN: u16 = 0x7FFE;

// Types of their values. MS-OXCDATA, 2.11.1.
const OBJECT: u16 = 0x000D;
const NARROW: u16 = 0x001E;
const WIDE: u16 = 0x001F;
const BINARY: u16 = 0x0102;

/// How an attachment is a message.
// MS-OXCMSG, 2.2.2.9: afEmbeddedMessage.
const EMBEDDED: u32 = 5;
/// A picture that the page shows.
// MS-OXCMSG, 2.2.2.18: attRenderedInBody.
const IN_PAGE: u32 = 4;

/// Reads a message.
///
/// # Errors
/// [`SkipReason::Damaged`], [`SkipReason::Encrypted`], [`SkipReason::Limit`] for messages too deep inside each other,
/// [`SkipReason::TooLong`].
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    let file = CompoundFile::open(bytes)
        .ok_or_else(|| SkipReason::damaged(FORMAT, "it has no directory"))?;
    let mut reader = MessageReader {
        entries_left: file.entries(),
        bytes_left: bytes.len(),
        read: HashSet::new(),
        file: &file,
        text: TextBuilder::new(),
        level: 0,
        attached: Vec::new(),
    };
    // Headers of property lists: 32 bytes of a message, 24 of one inside another, 8 of recipients
    // and attachments (MS-OXMSG, 2.4.1).
    let message = reader.storage(None, 32);
    if message.fixed.is_empty() && message.children.is_empty() {
        return Err(SkipReason::damaged(FORMAT, "it has no properties"));
    }
    let encoding = message.encoding();
    let class = reader.string(&message, CLASS, encoding);
    let is_sealed = |class: &str| class.eq_ignore_ascii_case("IPM.Note.SMIME");
    if class.as_deref().is_some_and(is_sealed) {
        return Err(SkipReason::Encrypted(FORMAT));
    }
    let head = reader.head(&message, encoding);
    let found = reader.text.found();
    found.title = (!head.subject.is_empty()).then(|| head.subject.clone());
    for (key, value) in [("author", &head.from), ("to", &head.to), ("cc", &head.cc)] {
        found.add_metadata(key, &people(value));
    }
    found.add_metadata("created", &head.date);
    reader.add_message(&message, &head, encoding, 0)?;
    reader.text.finish()
}

/// What is in a storage: a message, a recipient, an attachment.
struct Storage {
    /// By name, in lower case.
    children: HashMap<String, Child>,
    /// Values that are no longer than eight bytes, by property.
    fixed: HashMap<u16, [u8; 8]>,
}

impl Storage {
    fn number(&self, property: u16) -> Option<u32> {
        u32_at(self.fixed.get(&property)?, 0)
    }

    fn time(&self, property: u16) -> Option<String> {
        let ticks = i64::from_le_bytes(*self.fixed.get(&property)?);
        // Ticks of 100 nanoseconds.
        let seconds = (ticks / 10_000_000).checked_sub(UNIX_EPOCH)?;
        (seconds > 0).then(|| UtcTime::from_unix_seconds(seconds).to_string())
    }

    /// Of texts that are not UTF-16.
    fn encoding(&self) -> &'static Encoding {
        let mut pages = [CODE_PAGE, PAGE_CODE_PAGE].into_iter();
        let known = pages.find_map(|page| encoding_of(self.number(page)?));
        known.unwrap_or(WINDOWS_1252)
    }

    /// Storages whose names begin so, in order.
    fn storages(&self, prefix: &str) -> Vec<Child> {
        let all = self.children.iter();
        let mut found: Vec<(&String, &Child)> = all
            .filter(|(name, child)| child.is_storage && name.starts_with(prefix))
            .collect();
        found.sort_by_key(|(name, _)| *name);
        found.into_iter().map(|(_, child)| child.clone()).collect()
    }

    fn child(&self, property: u16, kind: u16) -> Option<&Child> {
        self.children
            .get(&format!("__substg1.0_{property:04x}{kind:04x}"))
    }
}

/// What stands above the text of a message.
struct Head {
    subject: String,
    from: String,
    to: String,
    cc: String,
    date: String,
}

struct MessageReader<'f> {
    file: &'f CompoundFile<'f>,
    /// Entries of the directory, and bytes of the file, that may still be read: of a sound file none comes twice.
    entries_left: usize,
    bytes_left: usize,
    /// Storages that were read. A hostile file has one inside itself.
    read: HashSet<Child>,
    text: TextBuilder,
    /// Level of the heading of the message that is read.
    level: usize,
    /// Lines about what is attached to it.
    attached: Vec<String>,
}

impl MessageReader<'_> {
    /// Reads what a storage holds; its values stand behind a header of that length.
    fn storage(&mut self, storage: Option<&Child>, header: usize) -> Storage {
        let children = self
            .file
            .children(storage, &mut self.entries_left)
            .into_iter();
        let mut found = Storage {
            children: children
                .map(|child| (child.name.to_ascii_lowercase(), child))
                .collect(),
            fixed: HashMap::new(),
        };
        let list = found.children.get(PROPERTIES).cloned();
        let list = list.and_then(|list| self.bytes(&list)).unwrap_or_default();
        for entry in list.get(header..).unwrap_or_default().chunks_exact(16) {
            let value = entry.get(8..).and_then(|value| value.try_into().ok());
            if let (Some(property), Some(value)) = (u16_at(entry, 2), value) {
                found.fixed.entry(property).or_insert(value);
            }
        }
        found
    }

    fn bytes(&mut self, stream: &Child) -> Option<Vec<u8>> {
        let bytes = self.file.read_child(stream)?;
        self.bytes_left = self.bytes_left.checked_sub(bytes.len())?;
        Some(bytes)
    }

    fn binary(&mut self, storage: &Storage, property: u16) -> Option<Vec<u8>> {
        self.bytes(storage.child(property, BINARY)?)
    }

    fn string(
        &mut self,
        storage: &Storage,
        property: u16,
        encoding: &'static Encoding,
    ) -> Option<String> {
        let text = match (
            storage.child(property, WIDE),
            storage.child(property, NARROW),
        ) {
            // UTF-16 first: it needs no code page.
            (Some(wide), _) => utf_16(&self.bytes(wide)?),
            (None, Some(narrow)) => {
                let bytes = self.bytes(narrow)?;
                encoding.decode_without_bom_handling(&bytes).0.into_owned()
            }
            (None, None) => return None,
        };
        let text = text.trim_end_matches('\0');
        (!text.trim().is_empty()).then(|| text.to_owned())
    }

    /// The first of these properties that says something, as a line.
    fn line(
        &mut self,
        storage: &Storage,
        properties: &[u16],
        encoding: &'static Encoding,
    ) -> Option<String> {
        let mut properties = properties.iter();
        let found = properties.find_map(|property| self.string(storage, *property, encoding))?;
        let line = tidy(&found, MAX_METADATA_CHARS);
        (!line.is_empty()).then_some(line)
    }

    /// `A. Writer <a@example.org>`; addresses that are names of a directory are left out.
    fn person(
        &mut self,
        storage: &Storage,
        names: &[u16],
        addresses: &[u16],
        encoding: &'static Encoding,
    ) -> String {
        let name = self.line(storage, names, encoding).unwrap_or_default();
        let mut addresses = addresses.iter();
        let address = addresses.find_map(|property| {
            self.line(storage, &[*property], encoding)
                .filter(|address| address.contains('@'))
        });
        match address {
            Some(address) if name.is_empty() || name == address => address,
            Some(address) => format!("{} <{address}>", name.trim_matches(['\'', '"'])),
            None => name,
        }
    }

    fn head(&mut self, message: &Storage, encoding: &'static Encoding) -> Head {
        let mut from = self.person(
            message,
            &[SENDER_NAME],
            &[SENDER_SMTP, SENDER_ADDRESS],
            encoding,
        );
        if from.is_empty() {
            let addresses = [SENT_FOR_SMTP, SENT_FOR_ADDRESS];
            from = self.person(message, &[SENT_FOR_NAME], &addresses, encoding);
        }
        let (mut to, mut cc) = (String::new(), String::new());
        for recipient in message.storages("__recip_version1.0_") {
            let recipient = self.storage(Some(&recipient), 8);
            let list = match recipient.number(RECIPIENT_KIND) {
                Some(2) => &mut cc,
                // Blind copies: the sender hid them from the others.
                Some(3) => continue,
                _ => &mut to,
            };
            // Cut to that many characters later; a list of thousands of recipients is not read to
            // its end.
            if list.len() > MAX_METADATA_CHARS * 4 {
                continue;
            }
            let person = self.person(&recipient, &[NAME], &[SMTP_ADDRESS, ADDRESS], encoding);
            if !person.is_empty() {
                list.push_str(if list.is_empty() { "" } else { ", " });
                list.push_str(&person);
            }
        }
        for (list, shown) in [(&mut to, SHOWN_TO), (&mut cc, SHOWN_CC)] {
            if list.is_empty() {
                *list = self.line(message, &[shown], encoding).unwrap_or_default();
            }
        }
        let mut dates = [SUBMITTED, DELIVERED, CREATED].into_iter();
        Head {
            subject: self.line(message, &[SUBJECT], encoding).unwrap_or_default(),
            from,
            to,
            cc,
            date: dates
                .find_map(|date| message.time(date))
                .unwrap_or_default(),
        }
    }

    fn add_message(
        &mut self,
        message: &Storage,
        head: &Head,
        encoding: &'static Encoding,
        depth: usize,
    ) -> Result<(), SkipReason> {
        if depth > MAX_DEPTH {
            return Err(SkipReason::Limit {
                what: "messages and parts inside each other",
                limit: MAX_DEPTH as u64,
            });
        }
        let outer = std::mem::take(&mut self.attached);
        self.level += 1;
        self.text.heading(self.level, &head.subject);
        let fields = [
            ("From", &head.from),
            ("To", &head.to),
            ("Cc", &head.cc),
            ("Date", &head.date),
        ];
        self.text.paragraph(&field_lines(fields));
        let body = self.body(message, encoding);
        self.text.paragraph(&body);
        for attachment in message.storages("__attach_version1.0_") {
            if self.text.is_full() {
                break;
            }
            if self.read.insert(attachment.clone()) {
                let attachment = self.storage(Some(&attachment), 8);
                self.add_attachment(&attachment, encoding, depth)?;
            }
        }
        if !self.attached.is_empty() {
            let list = format!("Attachments:\n{}", self.attached.join("\n"));
            self.text.paragraph(&list);
        }
        self.attached = outer;
        self.level -= 1;
        Ok(())
    }

    fn body(&mut self, message: &Storage, encoding: &'static Encoding) -> String {
        // Outlook keeps the text in up to three forms. The plain one needs no reader. RTF is packed
        // and may wrap the page (MS-OXRTFEX).
        if let Some(plain) = self.string(message, BODY, encoding) {
            return plain;
        }
        let page = match self.binary(message, PAGE) {
            Some(bytes) => {
                let page = message.number(PAGE_CODE_PAGE);
                page_text(&bytes, page.and_then(encoding_of))
            }
            None => self.string(message, PAGE, encoding),
        };
        if let Some(page) = page {
            let read = html::extract(&page).text.unwrap_or_default();
            if !read.trim().is_empty() {
                return read;
            }
        }
        let packed = self.binary(message, RTF);
        let rich = packed.and_then(|packed| decompressed(&packed));
        let rich = rich.and_then(|rich| rtf::extract(&rich).ok());
        rich.and_then(|rich| rich.text).unwrap_or_default()
    }

    fn add_attachment(
        &mut self,
        attachment: &Storage,
        encoding: &'static Encoding,
        depth: usize,
    ) -> Result<(), SkipReason> {
        let names = [FILE_NAME, SHORT_FILE_NAME, NAME];
        let name = self.line(attachment, &names, encoding).unwrap_or_default();
        if attachment.number(ATTACH_METHOD) == Some(EMBEDDED) {
            let inner = attachment.child(DATA, OBJECT).cloned();
            if let Some(inner) =
                inner.filter(|inner| inner.is_storage && self.read.insert(inner.clone()))
            {
                let message = self.storage(Some(&inner), 24);
                let encoding = message.encoding();
                let head = self.head(&message, encoding);
                return self.add_message(&message, &head, encoding, depth + 1);
            }
        }
        let stated = self
            .line(attachment, &[MEDIA_TYPE], encoding)
            .map(|word| word.to_ascii_lowercase());
        let media_type = stated.unwrap_or_else(|| media_type_of(&name));
        let is_hidden = attachment
            .number(IS_HIDDEN)
            .is_some_and(|hidden| hidden & 0xFF != 0);
        let flags = attachment.number(ATTACH_FLAGS).unwrap_or(0);
        let has_id = || {
            attachment
                .child(CONTENT_ID, WIDE)
                .or(attachment.child(CONTENT_ID, NARROW))
                .is_some()
        };
        let is_picture = media_type.starts_with("image/");
        // Logos of signatures would otherwise be listed as attachments of nearly every message.
        if is_picture && (is_hidden || (flags & IN_PAGE != 0 && has_id())) {
            return Ok(());
        }
        self.attached.push(attachment_line(&name, &media_type));
        let is_record = matches!(
            media_type.as_str(),
            "text/calendar" | "text/vcard" | "text/x-vcard"
        );
        if media_type.starts_with("text/") && !is_record {
            let bytes = self.binary(attachment, DATA).unwrap_or_default();
            self.add_attached_text(&name, &media_type, &bytes);
        }
        Ok(())
    }

    fn add_attached_text(&mut self, name: &str, media_type: &str, bytes: &[u8]) {
        let is_page = media_type == "text/html";
        let read = match bytes.len() <= MAX_ATTACHED_TEXT_BYTES {
            true => text::decode(bytes, is_page).ok(),
            false => None,
        };
        let Some(read) = read else {
            return;
        };
        self.text.heading(self.level + 1, name);
        match is_page {
            true => {
                let page = html::extract(&read).text;
                self.text.paragraph(&page.unwrap_or_default());
            }
            false => self.text.paragraph(&read),
        }
    }
}

/// The media type that a name shows.
fn media_type_of(name: &str) -> String {
    let ending = name
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if let "png" | "gif" | "bmp" | "jpeg" | "tiff" | "webp" = ending.as_str() {
        return format!("image/{ending}");
    }
    match (ending.as_str(), file_types::from_name(name)) {
        ("jpg", _) => "image/jpeg".to_owned(),
        (_, Some(known)) => file_types::mime(known.name).to_owned(),
        (_, None) => "application/octet-stream".to_owned(),
    }
}

/// A page in UTF-8 or the encoding that the message states for it, else in that which it names itself.
fn page_text(bytes: &[u8], encoding: Option<&'static Encoding>) -> Option<String> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    match encoding {
        Some(encoding) if encoding != UTF_8 && std::str::from_utf8(bytes).is_err() => {
            Some(encoding.decode(bytes).0.into_owned())
        }
        _ => text::decode(bytes, true).ok(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
