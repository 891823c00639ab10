//! E-mail messages: who wrote to whom about what, then the text, then the names of what is attached.
//!
//! Of alternatives the plain text is read, else the page. Messages and texts that are attached are read as well,
//! everything else is named.

use std::borrow::Cow;

use crate::extracted::{Extracted, MAX_METADATA_CHARS, tidy};
use crate::markup::html;
use crate::markup::mime::{Entity, Value};
use crate::skip_reason::SkipReason;
use crate::text;
use crate::text_builder::TextBuilder;

/// What errors call a message.
pub(crate) const FORMAT: &str = "e-mail message";
/// Nesting depth of messages and multiparts.
// A message that was forwarded ten times has twenty levels. mail-parser 0.11 overflows its stack on
// 3 MB of nested messages (docs/decisions/17-own-readers.md).
pub(crate) const MAX_DEPTH: usize = 50;
/// As [`MAX_DEPTH`], for messages in a transfer encoding, which the standard does not allow.
// Each level is decoded into memory of its own.
const MAX_ENCODED_DEPTH: usize = 6;
/// Bytes of an attached text that is read; of a longer one the name is kept.
// Larger text attachments are logs and exports, which would outweigh the message.
pub(crate) const MAX_ATTACHED_TEXT_BYTES: usize = 1 << 20;
/// Characters of the name of an attachment.
// The longest name of a file in usual file systems.
const MAX_NAME_CHARS: usize = 255;
/// Bytes in which the header shows.
const HEAD_BYTES: usize = 16 << 10;

/// Fields that only messages have; another text with colons has few of them.
const FIELDS: [&str; 16] = [
    "bcc",
    "cc",
    "content-type",
    "date",
    "delivered-to",
    "from",
    "in-reply-to",
    "message-id",
    "mime-version",
    "received",
    "references",
    "reply-to",
    "return-path",
    "sender",
    "subject",
    "to",
];

/// Whether bytes begin with the header of a message: one field of a message or more where the name of the file
/// says that it is one, else four with a sender and a date, as in a mail folder.
pub(crate) fn is_message(bytes: &[u8], is_named: bool) -> bool {
    let head = text::as_utf_8(bytes.get(..HEAD_BYTES).unwrap_or(bytes));
    let head = Entity::parse(&head);
    let known = head.names().filter(|name| FIELDS.contains(name)).count();
    let has = |wanted: &str| head.names().any(|name| name == wanted);
    let is_whole = has("from") && has("date") && (has("message-id") || has("received"));
    if is_named {
        known >= 1
    } else {
        known >= 4 && is_whole
    }
}

/// Reads a message.
///
/// # Errors
/// [`SkipReason::Encrypted`], [`SkipReason::Limit`] for more than [`MAX_DEPTH`], [`SkipReason::TooLong`].
pub(crate) fn extract(bytes: &[u8]) -> Result<Extracted, SkipReason> {
    // Some programs save a message in UTF-16.
    let bytes = &text::as_utf_8(bytes);
    let message = Entity::parse(bytes);
    let media_type = message.media_type("text/plain");
    let is_enveloped =
        media_type.word.ends_with("/pkcs7-mime") || media_type.word.ends_with("/x-pkcs7-mime");
    let kind = media_type.parameter("smime-type").unwrap_or_default();
    if media_type.word == "multipart/encrypted" || (is_enveloped && kind == "enveloped-data") {
        return Err(SkipReason::Encrypted(FORMAT));
    }
    let mut reader = Reader {
        text: TextBuilder::new(),
        level: 0,
        attached: Vec::new(),
    };
    let found = reader.text.found();
    let subject = message.field("subject");
    found.title = (!subject.trim().is_empty()).then_some(subject);
    for (key, name) in [("author", "from"), ("to", "to"), ("cc", "cc")] {
        found.add_metadata(key, &people(&message.field(name)));
    }
    let date = message.field("date");
    found.add_metadata("created", &rfc3339(&date).unwrap_or_default());
    reader.add_message(&message, 0)?;
    reader.text.finish()
}

struct Reader {
    text: TextBuilder,
    /// Level of the heading of the message that is read.
    level: usize,
    /// Names of what is attached to the message that is read.
    attached: Vec<String>,
}

impl Reader {
    fn add_message(&mut self, message: &Entity<'_>, depth: usize) -> Result<(), SkipReason> {
        let outer = std::mem::take(&mut self.attached);
        self.level += 1;
        let subject = message.field("subject");
        self.text
            .heading(self.level, &tidy(&subject, MAX_METADATA_CHARS));
        let value = |name: &str| message.field(name).replace('"', "");
        let [from, to, cc, date] = ["from", "to", "cc", "date"].map(value);
        let fields = [("From", &from), ("To", &to), ("Cc", &cc), ("Date", &date)];
        self.text.paragraph(&field_lines(fields));
        self.add_entity(message, "text/plain", true, depth)?;
        if !self.attached.is_empty() {
            let list = format!("Attachments:\n{}", self.attached.join("\n"));
            self.text.paragraph(&list);
        }
        self.attached = outer;
        self.level -= 1;
        Ok(())
    }

    /// Adds a part. Of what is not `shown`, because another form of it is, only attachments count.
    fn add_entity(
        &mut self,
        entity: &Entity<'_>,
        default: &str,
        shown: bool,
        depth: usize,
    ) -> Result<(), SkipReason> {
        if depth > MAX_DEPTH {
            return Err(SkipReason::Limit {
                what: "messages and parts inside each other",
                limit: MAX_DEPTH as u64,
            });
        }
        let media_type = entity.media_type(default);
        let disposition = entity.value("content-disposition");
        let is_attached = disposition.word == "attachment";
        match media_type.word.as_str() {
            word if word.starts_with("multipart/") => {
                self.add_parts(entity, &media_type, shown, depth)
            }
            "message/rfc822" | "message/global" => {
                // Encoded messages are copies, each as long as what is around it.
                let content = match depth <= MAX_ENCODED_DEPTH {
                    true => entity.content(),
                    false => Cow::Borrowed(entity.body),
                };
                self.add_message(&Entity::parse(&content), depth + 1)
            }
            "text/html" | "application/xhtml+xml" if !is_attached => {
                if shown {
                    let page = html::extract(&entity.text()).text;
                    self.text.paragraph(&page.unwrap_or_default());
                }
                Ok(())
            }
            // Other forms of the text beside them.
            "text/calendar" | "text/x-amp-html" | "text/enriched" if !is_attached => Ok(()),
            // Records for programs are named only.
            "text/calendar" | "text/vcard" | "text/x-vcard" if is_attached => {
                self.name_attachment(entity, &media_type, &disposition);
                Ok(())
            }
            word if is_attached && word.starts_with("text/") => {
                self.add_attached_text(entity, &media_type, &disposition);
                Ok(())
            }
            word if !is_attached && (word.starts_with("text/") || word.starts_with("message/")) => {
                if shown {
                    self.text.paragraph(&entity.text());
                }
                Ok(())
            }
            _ => {
                self.name_attachment(entity, &media_type, &disposition);
                Ok(())
            }
        }
    }

    fn add_parts(
        &mut self,
        entity: &Entity<'_>,
        media_type: &Value,
        shown: bool,
        depth: usize,
    ) -> Result<(), SkipReason> {
        let boundary = media_type.parameter("boundary").unwrap_or_default();
        let sources = match boundary.is_empty() {
            true => Vec::new(),
            false => entity.parts(&boundary),
        };
        if sources.is_empty() {
            // Without its boundary it is a text with odd lines in it.
            if shown {
                self.text.paragraph(&entity.text());
            }
            return Ok(());
        }
        let default = match media_type.word.as_str() {
            "multipart/digest" => "message/rfc822",
            _ => "text/plain",
        };
        let chosen = match media_type.word.as_str() {
            "multipart/alternative" => Some(best_alternative(&sources)),
            _ => None,
        };
        for (place, source) in sources.into_iter().enumerate() {
            let shown = shown && chosen.is_none_or(|chosen| chosen == place);
            if self.text.is_full() {
                break;
            }
            self.add_entity(&Entity::parse(source), default, shown, depth + 1)?;
        }
        Ok(())
    }

    fn add_attached_text(&mut self, entity: &Entity<'_>, media_type: &Value, disposition: &Value) {
        let name = self.name_attachment(entity, media_type, disposition);
        let text = entity.text();
        if text.len() > MAX_ATTACHED_TEXT_BYTES {
            return;
        }
        self.text.heading(self.level + 1, &name);
        match media_type.word.as_str() {
            "text/html" => {
                let page = html::extract(&text).text;
                self.text.paragraph(&page.unwrap_or_default());
            }
            _ => self.text.paragraph(&text),
        }
    }

    /// Lists an attachment; returns its name. Pictures of the page itself and signatures are none.
    fn name_attachment(
        &mut self,
        entity: &Entity<'_>,
        media_type: &Value,
        disposition: &Value,
    ) -> String {
        let name = disposition
            .parameter("filename")
            .or_else(|| media_type.parameter("name"));
        let is_inline = disposition.word != "attachment" && !entity.field("content-id").is_empty();
        let name = tidy(&name.unwrap_or_default(), MAX_NAME_CHARS);
        let is_part_of_page = is_inline && media_type.word.starts_with("image/");
        if !is_part_of_page && !media_type.word.ends_with("-signature") {
            self.attached.push(attachment_line(&name, &media_type.word));
        }
        name
    }
}

/// A list of people as a field has it: `, ` between them, and none within a name, so that each is a value.
/// `"Kim, Ann" <a@example.org>` becomes `Kim Ann <a@example.org>`.
pub(crate) fn people(list: &str) -> String {
    let list = list.replace('"', "");
    if !list.contains('@') {
        return list;
    }
    let (mut people, mut person): (Vec<String>, String) = Default::default();
    for piece in list.split(',') {
        if !person.is_empty() {
            person.push(' ');
        }
        person.push_str(piece.trim());
        // A name may have a comma: a person ends with an address.
        if piece.contains('@') {
            people.push(std::mem::take(&mut person));
        }
    }
    people.extend(Some(person).filter(|rest| !rest.is_empty()));
    people.join(", ")
}

/// The lines above the text of a message; a field without a value has none.
pub(crate) fn field_lines(fields: [(&str, &String); 4]) -> String {
    let mut lines = String::new();
    for (label, value) in fields {
        let value = tidy(value, MAX_METADATA_CHARS);
        if !value.is_empty() {
            lines.push_str(&format!("{label}: {value}\n"));
        }
    }
    lines
}

/// The line that lists an attachment.
pub(crate) fn attachment_line(name: &str, media_type: &str) -> String {
    let name = tidy(name, MAX_NAME_CHARS);
    let shown = if name.is_empty() { "(no name)" } else { &name };
    format!("- {shown} ({})", tidy(media_type, MAX_NAME_CHARS))
}

/// The alternative that is read: the first plain text with words, else the last that holds any text.
fn best_alternative(sources: &[&[u8]]) -> usize {
    let kinds = sources.iter().map(|source| {
        let entity = Entity::parse(source);
        let word = entity.media_type("text/plain").word;
        let is_blank = || entity.text().trim().is_empty();
        match word.as_str() {
            "text/plain" | "text/markdown" if !is_blank() => 3,
            "text/html" | "application/xhtml+xml" => 2,
            word if word.starts_with("multipart/") => 2,
            _ => 0,
        }
    });
    let kinds: Vec<u8> = kinds.collect();
    let best = kinds.iter().max().copied().unwrap_or(0);
    let is_best = |kind: &u8| *kind == best;
    let place = match best {
        3 => kinds.iter().position(is_best),
        _ => kinds.iter().rposition(is_best),
    };
    place.unwrap_or(0)
}

/// `Mon, 6 May 2024 10:00:00 +0200 (CEST)` -> `2024-05-06T10:00:00+02:00`; `None` for other forms.
fn rfc3339(date: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let date = date.split('(').next()?.to_ascii_lowercase();
    let after_day = date
        .split_once(',')
        .map_or(date.as_str(), |(_, after)| after);
    let mut words = after_day.split_whitespace();
    let day: u32 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| month.starts_with(name))? + 1;
    let year: u32 = match words.next()?.parse().ok()? {
        year @ 0..50 => year + 2000,
        year @ 50..1000 => year + 1900,
        year => year,
    };
    let mut time = words.next()?.split(':').map(|number| number.parse::<u32>());
    let hour = time.next()?.ok()?;
    let minute = time.next()?.ok()?;
    let second = time.next().unwrap_or(Ok(0)).ok()?;
    let is_valid =
        (1..=31).contains(&day) && year < 10_000 && hour < 24 && minute < 60 && second <= 60;
    let zone = match words.next().unwrap_or_default() {
        "" | "gmt" | "ut" | "utc" | "z" => "Z".to_owned(),
        zone => {
            let (hours, minutes) = zone.split_at_checked(3)?;
            let is_number = hours.starts_with(['+', '-']) && zone.len() == 5;
            let digits = zone.bytes().skip(1).all(|byte| byte.is_ascii_digit());
            (is_number && digits).then(|| format!("{hours}:{minutes}"))?
        }
    };
    is_valid
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(source: &str) -> Extracted {
        extract(source.as_bytes()).unwrap()
    }

    const MESSAGE: &str = "Return-Path: <a@x.org>\r\nFrom: =?utf-8?Q?Ad=C3=A9?= \"W\" <a@x.org>\r\n\
        To: B <b@x.org>,\r\n C <c@x.org>\r\nDate: Mon, 6 May 2024 10:00:00 +0200 (CEST)\r\n\
        Subject: Tide =?utf-8?B?4oKs?=\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=\"out\"\r\n\r\npreamble\r\n--out\r\n\
        Content-Type: multipart/alternative; boundary=in\r\n\r\n--in\r\n\
        Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
        High water at =\r\nnoon =E2=82=AC.\r\n--in\r\nContent-Type: text/html\r\n\r\n<p>Page words</p>\r\n--in--\r\n\
        --out\r\nContent-Type: application/pdf; name=\"r.pdf\"\r\nContent-Disposition: attachment\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--out\r\n\
        Content-Type: text/plain\r\nContent-Disposition: attachment; filename*=utf-8''n%C3%B6te.txt\r\n\r\n\
        Attached words\r\n--out\r\nContent-Type: image/png\r\nContent-ID: <x>\r\n\r\nx\r\n--out\r\n\
        Content-Type: message/rfc822\r\n\r\nSubject: Inner\r\nFrom: d@x.org\r\n\r\nInner words\r\n--out--\r\n";

    #[test]
    fn a_message_has_its_header_text_and_attachments() {
        let found = read(MESSAGE);
        assert_eq!(
            found.text.as_deref(),
            Some(
                "Tide \u{20ac}\n\nFrom: Ad\u{e9} W <a@x.org>\nTo: B <b@x.org>, C <c@x.org>\n\
                 Date: Mon, 6 May 2024 10:00:00 +0200 (CEST)\n\nHigh water at noon \u{20ac}.\n\n\
                 n\u{f6}te.txt\n\nAttached words\n\nInner\n\nFrom: d@x.org\n\nInner words\n\n\
                 Attachments:\n- r.pdf (application/pdf)\n- n\u{f6}te.txt (text/plain)\n\n"
            )
        );
        assert_eq!(found.title.as_deref(), Some("Tide \u{20ac}"));
        let outline: Vec<(u8, &str)> = found
            .outline
            .iter()
            .map(|heading| (heading.level, heading.title.as_str()))
            .collect();
        assert_eq!(
            outline,
            [(1, "Tide \u{20ac}"), (2, "n\u{f6}te.txt"), (2, "Inner")]
        );
        let date = found.metadata.iter().find(|(key, _)| key == "created");
        assert_eq!(date.unwrap().1, "2024-05-06T10:00:00+02:00");
        let author = found.metadata.iter().find(|(key, _)| key == "author");
        assert_eq!(author.unwrap().1, "Ad\u{e9} W <a@x.org>");
    }

    #[test]
    fn each_person_of_a_list_is_one_value() {
        for (list, expected) in [
            ("a@x.org,b@x.org", "a@x.org, b@x.org"),
            (
                "\"Kim, Ann\" <a@x.org>, Lee <l@x.org>",
                "Kim Ann <a@x.org>, Lee <l@x.org>",
            ),
            ("Kim, Ann", "Kim, Ann"),
            ("a@x.org, undisclosed, more", "a@x.org, undisclosed more"),
            (",, <a@x.org>,", "<a@x.org>"),
            ("", ""),
        ] {
            assert_eq!(people(list), expected, "{list}");
        }
    }

    #[test]
    fn a_message_that_was_saved_in_utf_16_is_a_message() {
        let whole = read(MESSAGE);
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            for marked in [MESSAGE.to_owned(), format!("\u{feff}{MESSAGE}")] {
                let bytes: Vec<u8> = marked.encode_utf16().flat_map(order).collect();
                assert!(is_message(&bytes, true));
                let found = extract(&bytes).unwrap();
                assert_eq!(
                    (found.text, found.title),
                    (whole.text.clone(), whole.title.clone())
                );
            }
        }
        let marked = format!("\u{feff}{MESSAGE}");
        assert_eq!(read(&marked).title, whole.title);
    }

    #[test]
    fn a_page_is_read_where_there_is_no_plain_text() {
        for (parts, text) in [
            ("--b\nContent-Type: text/html\n\n<p>a<br>b", "a\nb\n\n"),
            (
                "--b\nContent-Type: text/plain\n\n \n--b\nContent-Type: text/html\n\n<p>page",
                "page\n\n",
            ),
            (
                "--b\n\nplain\n--b\nContent-Type: text/html\n\n<p>page",
                "plain\n\n",
            ),
        ] {
            let head = "From: a\nContent-Type: multipart/alternative; boundary=b\n\n";
            let found = read(&format!("{head}{parts}"));
            assert_eq!(found.text.unwrap(), format!("From: a\n\n{text}"), "{parts}");
        }
    }

    #[test]
    fn attached_texts_of_every_kind_are_read() {
        for (media_type, content, read_as) in [
            ("text/csv", "a,b\n1,2\n", Some("a,b\n1,2")),
            ("text/x-patch", "-old\n+new\n", Some("-old\n+new")),
            ("text/html", "<p>a<br>b</p>\n", Some("a\nb")),
            ("text/calendar", "BEGIN:VCALENDAR\n", None),
        ] {
            let source = format!(
                "From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nbody\n--b\n\
                 Content-Type: {media_type}\nContent-Disposition: attachment; filename=f\n\n{content}--b--\n"
            );
            let attached = read_as.map_or_else(String::new, |text| format!("f\n\n{text}\n\n"));
            let expected =
                format!("From: a\n\nbody\n\n{attached}Attachments:\n- f ({media_type})\n\n");
            assert_eq!(read(&source).text.unwrap(), expected);
        }
    }

    #[test]
    fn broken_and_encrypted_messages_have_their_answers() {
        let encrypted =
            b"Subject: s\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n\nx\n--b--\n";
        assert_eq!(
            extract(encrypted).unwrap_err(),
            SkipReason::Encrypted(FORMAT)
        );
        for source in [
            "Subject: s\nContent-Type: multipart/mixed\n\nwords\n",
            "Subject: s\nContent-Type: multipart/mixed; boundary=none\n\nwords\n",
            "Subject: s\nContent-Type: ;;;\n\nwords\n",
            "Subject: s\nContent-Type: text/plain; charset=\"\n\nwords\n",
        ] {
            assert_eq!(
                read(source).text.as_deref(),
                Some("s\n\nwords\n\n"),
                "{source}"
            );
        }
        assert_eq!(read("").text.as_deref(), Some(""));
    }

    #[test]
    fn hostile_nesting_is_refused_in_linear_time() {
        let messages = "Content-Type: message/rfc822\n\n".repeat(100_000);
        let nested: String = (0..10_000)
            .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"))
            .collect();
        let limit = SkipReason::Limit {
            what: "messages and parts inside each other",
            limit: 50,
        };
        for source in [messages, nested] {
            assert_eq!(extract(source.as_bytes()).unwrap_err(), limit);
        }
        let head = "Content-Type: multipart/mixed; boundary=b\n\n";
        for piece in [
            "--b",
            "--b\n\n",
            "Content-Type: multipart/digest; boundary=b\n\n--b\n\n",
            "A: b\n",
            "=?utf-8?q?a?= ",
            "(",
            ";",
        ] {
            for head in [head, "Subject: ", "Content-Type: x;"] {
                read(&format!("{head}{}", piece.repeat(60_000)));
            }
        }
    }

    #[test]
    fn messages_are_told_from_texts_by_their_fields() {
        assert!(is_message(MESSAGE.as_bytes(), true));
        assert!(is_message(b"Subject: x\n\n", true));
        for text in ["", "words\n", "Note: this\n", "{\"a\": 1}"] {
            assert!(!is_message(text.as_bytes(), true), "{text}");
        }
        let folder = "Received: x\nMessage-ID: <1>\nDate: x\nFrom: a\n\nwords";
        assert!(is_message(folder.as_bytes(), false));
        assert!(!is_message(
            b"From: a\nTo: b\nSubject: c\nDate: d\n\n",
            false
        ));
    }

    #[test]
    fn dates_of_the_usual_forms_are_read() {
        for (date, written) in [
            (
                "Mon, 6 May 2024 10:00:00 +0200",
                Some("2024-05-06T10:00:00+02:00"),
            ),
            ("06 Dec 99 1:02 GMT", Some("1999-12-06T01:02:00Z")),
            ("Mon May  6 10:00:00 2024", None),
            ("6 May 2024 25:00:00 +0000", None),
            ("6 May 2024 10:00:00 +\u{e9}0", None),
            ("", None),
        ] {
            assert_eq!(rfc3339(date).as_deref(), written, "{date}");
        }
    }

    proptest! {
        #[test]
        fn any_parts_give_a_document_or_a_reason(
            pieces in prop::collection::vec(
                prop_oneof![
                    Just(b"Content-Type: multipart/alternative; boundary=b\n".to_vec()),
                    Just(b"Content-Type: message/rfc822\n".to_vec()),
                    Just(b"Content-Type: text/html; charset=utf-16\n".to_vec()),
                    Just(b"Content-Disposition: attachment; filename*0*=utf-8''%".to_vec()),
                    Just(b"Content-Transfer-Encoding: base64\n".to_vec()),
                    Just(b"Content-Transfer-Encoding: quoted-printable\n".to_vec()),
                    Just(b"Subject: =?utf-8?b?".to_vec()),
                    Just(b"\n".to_vec()),
                    Just(b"--b\n".to_vec()),
                    Just(b"--b--".to_vec()),
                    prop::collection::vec(any::<u8>(), 0..12),
                ],
                0..60,
            ),
        ) {
            if let Ok(found) = extract(&pieces.concat()) {
                let text = found.text.unwrap_or_default();
                let is_inside = |at: u32| text.is_char_boundary(at as usize) && (at as usize) < text.len();
                prop_assert!(found.outline.iter().all(|heading| is_inside(heading.start)));
            }
        }
    }
}
