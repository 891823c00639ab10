//! XML: documents in a vocabulary of documents (DocBook, DITA, TEI, JATS, US patents) become readable text with
//! their titles as headings; everything else is configuration or data, and stored as it is.
//!
//! Like a page of HTML, a document is read tag by tag without a tree. No entity is expanded but those of HTML and
//! numbers, so none can grow.

use crate::extracted::{Extracted, MAX_METADATA_CHARS};
use crate::markup::html::{CDATA, Page, Tag, declaration_len, decode_into};

/// Bytes in which a document shows its vocabulary.
// The outermost element with its namespaces, behind a licence in a comment.
const HEAD_BYTES: usize = 8 << 10;

/// What only documents in such a vocabulary say of themselves.
const VOCABULARIES: [&str; 8] = [
    "docbook",
    "//DTD DITA",
    "ditaarch",
    "tei-c.org",
    "//DTD JATS",
    "//DTD Journal",
    "us-patent-application",
    "us-patent-grant",
];

/// What an element is to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A part of the document that has a title.
    Section,
    /// The title of what it is in.
    Title,
    /// A title of a level of its own.
    Heading(u8),
    /// Laid out like this element of HTML.
    Like(&'static str),
    /// What the document says of itself.
    Info,
    /// A fact of that name.
    Fact(&'static str),
    /// Not read: remarks, entries of an index.
    Hidden,
    /// Nothing of its own: what is in it is in what is around it.
    Group,
    /// Part of a line.
    Inline,
}

/// Whether text is read where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Yes,
    /// In what the document says of itself: only titles and abstracts are.
    Info,
    No,
}

/// Reads a document; nothing of other XML. Time and memory are linear in the length of `source`.
pub(crate) fn extract(source: &str) -> Extracted {
    if !is_document(source) {
        return Extracted::default();
    }
    let mut reader = DocumentReader {
        page: Page::new(source),
        open: Vec::new(),
        sections: 0,
        fact: None,
        facts: Vec::new(),
    };
    let mut at = 0;
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let open = rest.find('<').unwrap_or(rest.len());
        reader.add_text(rest.get(..open).unwrap_or_default(), at);
        at += open;
        let rest = rest.get(open..).unwrap_or_default();
        at += match rest.as_bytes().get(1) {
            // Found by its start: what is in it may look like tags.
            Some(b'!') if rest.starts_with(CDATA) => reader.add_cdata(rest, at),
            Some(b'!' | b'?') => declaration_len_of_xml(rest),
            _ => match Tag::scan(rest) {
                Some(tag) => {
                    reader.add_tag(&tag, at);
                    tag.len
                }
                None => rest.len(),
            },
        };
    }
    let mut extracted = reader.page.finish();
    for (key, value) in reader.facts {
        extracted.add_metadata(key, &value);
    }
    extracted
}

/// An element that has begun and not ended.
#[derive(Debug, Clone, Copy)]
struct OpenElement {
    role: Role,
    /// Whether text is read in it.
    shown: Shown,
    /// What a title in it is the title of: the element itself, or where it only groups, what it is in. Kept for each,
    /// because looking for it at each title takes quadratic time in a document that opens many groups.
    titled: Option<Role>,
}

struct DocumentReader<'a> {
    page: Page<'a>,
    /// The elements around the next text.
    open: Vec<OpenElement>,
    sections: usize,
    /// The fact that is read, and its value so far.
    fact: Option<(&'static str, String)>,
    facts: Vec<(&'static str, String)>,
}

impl DocumentReader<'_> {
    fn shown(&self) -> Shown {
        self.open.last().map_or(Shown::Yes, |around| around.shown)
    }

    fn add_text(&mut self, text: &str, at: usize) {
        if let Some((_, value)) = &mut self.fact {
            // Four bytes a character at most; more would be cut anyway.
            if value.len() <= MAX_METADATA_CHARS * 4 {
                value.push_str(text);
            }
        } else if self.shown() == Shown::Yes {
            self.page.add_text(text, at);
        }
    }

    fn add_cdata(&mut self, rest: &str, at: usize) -> usize {
        if self.shown() == Shown::Yes && self.fact.is_none() {
            return self.page.add_cdata(rest, at);
        }
        rest.find("]]>").map_or(rest.len(), |end| end + 3)
    }

    fn add_tag(&mut self, tag: &Tag<'_>, at: usize) {
        if tag.is_end {
            self.close();
            return;
        }
        let role = self.in_place(role(local_name(&tag.name)));
        self.begin(role, at);
        if tag.is_empty() {
            self.close();
        }
    }

    /// The role of an element where it stands.
    fn in_place(&self, role: Role) -> Role {
        let around = self.open.last();
        match role {
            Role::Title => match around.and_then(|around| around.titled) {
                Some(Role::Section) => {
                    Role::Heading(u8::try_from(self.sections).unwrap_or(6).min(6))
                }
                Some(Role::Like(_)) => Role::Like("p"),
                _ => Role::Inline,
            },
            Role::Fact(_) if around.map(|around| around.role) != Some(Role::Info) => Role::Inline,
            role => role,
        }
    }

    fn begin(&mut self, role: Role, at: usize) {
        let shown = match (role, self.shown()) {
            (_, Shown::No) | (Role::Hidden, _) => Shown::No,
            (Role::Info, _) => Shown::Info,
            (Role::Section | Role::Heading(_), _) => Shown::Yes,
            (_, shown) => shown,
        };
        let titled = match role {
            Role::Info | Role::Group => self.open.last().and_then(|around| around.titled),
            role => Some(role),
        };
        self.open.push(OpenElement {
            role,
            shown,
            titled,
        });
        match role {
            Role::Section => self.sections += 1,
            Role::Fact(key) if self.fact.is_none() => self.fact = Some((key, String::new())),
            _ => {}
        }
        if let Some((_, value)) = &mut self.fact {
            // The parts of a name are elements of their own.
            value.push(' ');
        } else if shown == Shown::Yes
            && let Some(name) = layout(role)
        {
            self.page.open(name, at);
        }
    }

    fn close(&mut self) {
        let Some(OpenElement { role, shown, .. }) = self.open.pop() else {
            return;
        };
        match role {
            Role::Section => self.sections = self.sections.saturating_sub(1),
            Role::Fact(_) => {
                if let Some((key, value)) = self.fact.take() {
                    self.add_fact(key, &value);
                }
            }
            _ => {}
        }
        if shown == Shown::Yes
            && self.fact.is_none()
            && let Some(name) = layout(role)
        {
            self.page.close(name);
        }
    }

    /// Authors and keywords are lists; of other facts the first counts.
    fn add_fact(&mut self, key: &'static str, value: &str) {
        let mut decoded = String::new();
        decode_into(&mut decoded, value);
        let known = self.facts.iter_mut().find(|(have, _)| *have == key);
        match known {
            None => self.facts.push((key, decoded)),
            Some((_, list)) if matches!(key, "author" | "keywords") => {
                if list.len() <= MAX_METADATA_CHARS * 4 {
                    list.push_str(", ");
                    list.push_str(decoded.trim());
                }
            }
            Some(_) => {}
        }
    }
}

/// The element of HTML that an element of that role is laid out like.
fn layout(role: Role) -> Option<&'static str> {
    let headings = ["h1", "h2", "h3", "h4", "h5", "h6"];
    match role {
        Role::Section => Some("section"),
        Role::Heading(level) => headings.get(usize::from(level).saturating_sub(1)).copied(),
        Role::Like(name) => Some(name),
        _ => None,
    }
}

/// Roles of elements by their names without prefix, in lower case.
fn role(name: &str) -> Role {
    match name {
        "set" | "book" | "part" | "chapter" | "appendix" | "preface" | "article" | "section"
        | "sect1" | "sect2" | "sect3" | "sect4" | "sect5" | "simplesect" | "reference"
        | "refentry" | "refsynopsisdiv" | "refsect1" | "refsect2" | "refsect3" | "refsection"
        | "glossary" | "bibliography" | "dedication" | "acknowledgements" | "colophon"
        | "abstract" => Role::Section,
        "topic" | "concept" | "task" | "troubleshooting" | "refsyn" | "context" => Role::Section,
        "tei" | "div" | "div1" | "div2" | "div3" | "div4" | "div5" | "div6" | "div7" => {
            Role::Section
        }
        "sec" | "ack" | "app" | "ref-list" => Role::Section,
        "us-patent-application" | "us-patent-grant" | "claims" => Role::Section,
        "title" | "refentrytitle" | "article-title" | "head" => Role::Title,
        "bridgehead" => Role::Heading(3),
        "invention-title" => Role::Heading(1),
        "heading" => Role::Heading(2),
        "info"
        | "setinfo"
        | "bookinfo"
        | "partinfo"
        | "chapterinfo"
        | "appendixinfo"
        | "prefaceinfo"
        | "articleinfo"
        | "sectioninfo"
        | "sect1info"
        | "refentryinfo"
        | "refmeta"
        | "prolog"
        | "authorgroup"
        | "keywordset"
        | "teiheader"
        | "filedesc"
        | "titlestmt"
        | "publicationstmt"
        | "article-meta"
        | "title-group"
        | "contrib-group"
        | "kwd-group"
        | "us-bibliographic-data-application"
        | "us-bibliographic-data-grant" => Role::Info,
        "front" | "body" | "back" | "text" => Role::Group,
        "author" | "contrib" => Role::Fact("author"),
        "pubdate" | "date" | "pub-date" => Role::Fact("date"),
        "keyword" | "kwd" => Role::Fact("keywords"),
        "remark" | "indexterm" | "titleabbrev" | "journal-meta" | "draft-comment"
        | "required-cleanup" | "permissions" => Role::Hidden,
        "para" | "simpara" | "formalpara" | "p" | "ab" | "lg" | "sp" | "shortdesc" | "subtitle"
        | "refnamediv" | "question" | "answer" | "ref" | "claim" | "claim-text" | "bibliomixed"
        | "biblioentry" | "glossentry" => Role::Like("p"),
        "note" | "tip" | "warning" | "caution" | "important" | "blockquote" | "lq"
        | "disp-quote" | "epigraph" | "sidebar" => Role::Like("blockquote"),
        "figure" | "informalfigure" | "example" | "informalexample" | "equation" | "fig"
        | "disp-formula" | "boxed-text" => Role::Like("figure"),
        "programlisting" | "screen" | "literallayout" | "synopsis" | "codeblock" | "msgblock"
        | "pre" | "preformat" => Role::Like("pre"),
        "itemizedlist" | "orderedlist" | "variablelist" | "simplelist" | "procedure"
        | "calloutlist" | "segmentedlist" | "qandaset" | "glosslist" | "ul" | "ol" | "sl"
        | "dl" | "steps" | "steps-unordered" | "substeps" | "choices" | "list" | "def-list" => {
            Role::Like("ul")
        }
        "listitem" | "member" | "step" | "substep" | "callout" | "li" | "sli" | "choice"
        | "item" | "list-item" => Role::Like("li"),
        "term" | "dt" | "dd" | "l" | "speaker" | "footnote" | "caption" | "address" | "line"
        | "funcprototype" | "cmdsynopsis" => Role::Like("div"),
        "table" | "informaltable" | "simpletable" => Role::Like("table"),
        "row" | "strow" | "sthead" | "tr" => Role::Like("tr"),
        "entry" | "stentry" | "td" | "th" | "cell" => Role::Like("td"),
        "lb" | "br" => Role::Like("br"),
        _ => Role::Inline,
    }
}

fn local_name(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Whether a text is a document in one of the vocabularies: its outermost element and what stands before it say
/// so, or the element that comes next is a title or the like.
fn is_document(source: &str) -> bool {
    let head = source
        .get(..source.floor_char_boundary(HEAD_BYTES))
        .unwrap_or(source);
    let Some((root, after)) = next_tag(head) else {
        return false;
    };
    // The name alone proves nothing: data have elements `book` and `article` too.
    let is_section = role(local_name(&root.name)) == Role::Section;
    if !is_section || root.is_end || matches!(local_name(&root.name), "div" | "abstract") {
        return false;
    }
    if VOCABULARIES.iter().any(|word| head.contains(word)) {
        return true;
    }
    let first = next_tag(after).map(|(tag, _)| role(local_name(&tag.name)));
    matches!(first, Some(Role::Title | Role::Info | Role::Hidden))
}

/// The first tag of a text and what follows it.
fn next_tag(text: &str) -> Option<(Tag<'_>, &str)> {
    let mut rest = text;
    loop {
        rest = rest.get(rest.find('<')?..)?;
        let len = match rest.as_bytes().get(1)? {
            b'!' | b'?' => declaration_len_of_xml(rest),
            _ => {
                let tag = Tag::scan(rest)?;
                let after = rest.get(tag.len..)?;
                return Some((tag, after));
            }
        };
        rest = rest.get(len..)?;
    }
}

/// As [`declaration_len`], where a document type may declare entities between brackets.
fn declaration_len_of_xml(rest: &str) -> usize {
    let len = declaration_len(rest);
    let has_subset = |start: &str| start.starts_with("<!DOCTYPE") && start.contains('[');
    if !rest.get(..len).is_some_and(has_subset) {
        return len;
    }
    let mut from = 0;
    while let Some(found) = rest.get(from..).and_then(|rest| rest.find(']')) {
        from += found + 1;
        let after = rest.get(from..).unwrap_or_default();
        let end = after.trim_start();
        if end.starts_with('>') {
            return from + (after.len() - end.len()) + 1;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCBOOK: &str = "<?xml version='1.0'?>\n<!DOCTYPE book PUBLIC '-//OASIS//DTD DocBook XML V4.5//EN' 'x' [\n\
        <!ENTITY ver '1.0'>\n]>\n<book><bookinfo><title>The Manual</title>\n\
        <author><firstname>Ada</firstname><surname>Writer</surname></author>\n\
        <author>Some One</author><pubdate>2024-05-06</pubdate><legalnotice><para>No</para></legalnotice>\n\
        </bookinfo>\n<chapter><title>Tides &amp; <literal>moons</literal></title>\n\
        <para>First &ver; words<footnote><para>noted</para></footnote>.</para>\n\
        <note><title>Mind</title><para>The gap.</para></note><remark>hidden</remark>\n\
        <programlisting><![CDATA[if (a < b) {\n    &c;\n}]]></programlisting>\n\
        <itemizedlist><listitem><para>one</para></listitem><listitem><para>two</para>\n\
        </listitem></itemizedlist>\n<section><title>Inner</title><table><title>Sizes</title>\n\
        <tgroup><row><entry>a</entry><entry>b</entry></row></tgroup></table></section>\n\
        </chapter><chapter><title>Last</title></chapter></book>\n";

    fn outline(extracted: &Extracted) -> Vec<(u8, &str, u32)> {
        let headings = extracted.outline.iter();
        headings
            .map(|heading| (heading.level, heading.title.as_str(), heading.line))
            .collect()
    }

    #[test]
    fn a_docbook_becomes_text_with_titles_as_headings() {
        let found = extract(DOCBOOK);
        let text = found.text.as_deref().unwrap_or_default();
        assert_eq!(
            text,
            "The Manual\n\nTides & moons\n\nFirst &ver; words\n\nnoted\n\n.\n\nMind\n\nThe gap.\n\n\
             if (a < b) {\n    &c;\n}\n\n- one\n- two\n\nInner\n\nSizes\n\na | b\n\nLast\n"
        );
        assert_eq!(
            outline(&found),
            [
                (1, "The Manual", 5),
                (2, "Tides & moons", 9),
                (3, "Inner", 17),
                (2, "Last", 19)
            ]
        );
        let facts: Vec<&str> = found
            .metadata
            .iter()
            .map(|(_, value)| value.as_str())
            .collect();
        assert_eq!(facts, ["Ada Writer, Some One", "2024-05-06"]);
    }

    #[test]
    fn other_vocabularies_of_documents_are_read() {
        for (source, text) in [
            (
                "<!DOCTYPE concept PUBLIC '-//OASIS//DTD DITA Concept//EN' 'c.dtd'>\n<concept id='a'>\
                 <title>T</title><shortdesc>S.</shortdesc><conbody><p>B</p><codeblock>x\n  y</codeblock>\
                 </conbody></concept>",
                "T\n\nS.\n\nB\n\nx\n  y\n",
            ),
            (
                "<TEI xmlns='http://www.tei-c.org/ns/1.0'><teiHeader><fileDesc><titleStmt><title>T</title>\
                 </titleStmt><sourceDesc><bibl><title>no</title></bibl></sourceDesc></fileDesc></teiHeader>\
                 <text><body><div><head>H</head><l>one</l><l>two</l></div></body></text></TEI>",
                "T\n\nH\n\none\ntwo\n",
            ),
            (
                "<!DOCTYPE article PUBLIC '-//NLM//DTD JATS (Z39.96)//EN' 'j.dtd'><article><front>\
                 <journal-meta><p>no</p></journal-meta><article-meta><title-group><article-title>T\
                 </article-title></title-group><abstract><p>A.</p></abstract></article-meta></front>\
                 <body><sec><title>S</title><p>B</p></sec></body></article>",
                "T\n\nA.\n\nS\n\nB\n",
            ),
            (
                "<us-patent-application><us-bibliographic-data-application><country>US</country>\
                 <invention-title>T</invention-title></us-bibliographic-data-application><description>\
                 <heading>H</heading><p>P</p></description></us-patent-application>",
                "T\n\nH\n\nP\n",
            ),
            (
                "<chapter><title>T</title><para>x</para></chapter>",
                "T\n\nx\n",
            ),
        ] {
            assert_eq!(extract(source).text.as_deref(), Some(text), "{source}");
        }
    }

    #[test]
    fn configuration_and_data_stay_as_they_are() {
        for source in [
            "<?xml version='1.0'?>\n<project><title>T</title></project>",
            "<section name='a'><key>b</key></section>",
            "<xsl:stylesheet xmlns:d='http://docbook.org/ns/docbook'><xsl:template/></xsl:stylesheet>",
            "<rss><channel><title>T</title></channel></rss>",
            "<div><title>T</title></div>",
            "",
            "<",
            "<!DOCTYPE book [",
            "no markup",
        ] {
            assert!(extract(source).text.is_none(), "{source}");
        }
    }

    #[test]
    fn hostile_documents_take_linear_time() {
        for piece in [
            "<para>",
            "<section><title>a",
            "<![CDATA[",
            "<!DOCTYPE [ ",
            "] ",
            "<a b='",
            "<info>",
        ] {
            let source = format!("<book><title>T</title>{}", piece.repeat(60_000));
            let found = extract(&source);
            assert!(found.outline.len() <= crate::extracted::MAX_HEADINGS);
        }
    }
}
