//! Constructs of texts.

use super::{Construct, check, repeated};

/// What stands in a text of a format: how each construct begins and ends, and what is around all of them.
struct Grammar {
    file: &'static str,
    head: &'static str,
    constructs: &'static [(&'static str, &'static str)],
}

const HTML: Grammar = Grammar {
    file: "a.html",
    head: "<!doctype html><title>T</title><body>",
    constructs: &[
        ("<div>", "</div>"),
        ("<p>word ", "</p>"),
        ("<b>a", "</b>"),
        ("<a href='#{n}'>a", "</a>"),
        ("<ul>", "</ul>"),
        ("<ul><li>a", "</li></ul>"),
        ("<li>a", "</li>"),
        ("<table><tr><td>a", "</td></tr></table>"),
        ("<tr><td>a<td>b", "</tr>"),
        ("<td>a", "</td>"),
        ("<pre>\n  a  \n", "</pre>"),
        ("<textarea>a", "</textarea>"),
        ("<h1>a", "</h1>"),
        ("<h2 id=a{n}>b{n}", "</h2>"),
        ("<title>a", "</title>"),
        ("<script>a<b", "</script>"),
        ("<style>a", "</style>"),
        ("<noscript>a", "</noscript>"),
        ("<template>a", "</template>"),
        ("<svg><a>", "</a></svg>"),
        ("<select><option>a", "</option></select>"),
        ("<dl><dt>a<dd>b", "</dl>"),
        ("<blockquote>a", "</blockquote>"),
        ("<details><summary>a", "</summary></details>"),
        ("<div hidden>a", "</div>"),
        ("<div style='display:none'>a", "</div>"),
        ("<span style='color: red; visibility : hidden'>a", "</span>"),
        ("<br>", ""),
        ("<hr>", ""),
        ("<img alt='a b' src=x>", ""),
        ("<meta name=author content=a>", ""),
        ("<!-- a", " -->"),
        ("<!-- -", "- -->"),
        ("<![CDATA[a", "]]>"),
        ("<?a", "?>"),
        ("&amp;", ""),
        ("&#x41;", ""),
        ("&nosuchentity", ";"),
        ("<a b='", "'>"),
        ("<a b=\"", "\">"),
        ("<", ">"),
        ("</", ">"),
        ("&", ";"),
        ("a ", ""),
        (" \t", ""),
        ("\n", ""),
        ("\u{ad}a", ""),
        ("lettersonly", ""),
    ],
};

const XML: Grammar = Grammar {
    file: "a.xml",
    head: "<book><title>T</title>",
    constructs: &[
        ("<info>", "</info>"),
        ("<body>", "</body>"),
        ("<title>a", "</title>"),
        ("<title/>", ""),
        ("<section>", "</section>"),
        ("<section><title>a{n}</title>", "</section>"),
        ("<para>a ", "</para>"),
        ("<note>", "</note>"),
        ("<author>a", "</author>"),
        ("<info><author>a</author>", "</info>"),
        ("<keyword>a", "</keyword>"),
        ("<remark>a", "</remark>"),
        ("<emphasis>a", "</emphasis>"),
        ("<itemizedlist><listitem>a", "</listitem></itemizedlist>"),
        ("<programlisting>a\n", "</programlisting>"),
        ("<table><row><entry>a", "</entry></row></table>"),
        ("<entry>a", "</entry>"),
        ("<bridgehead>a", "</bridgehead>"),
        ("<xref a='{n}'/>", ""),
        ("<a b='", "'/>"),
        ("<![CDATA[a", "]]>"),
        ("<!DOCTYPE a [ ", "]>"),
        ("] ", "]"),
        ("<!-- a", "-->"),
        ("<?a", "?>"),
        ("&amp;", ""),
        ("&unknown;", ""),
    ],
};

const MARKDOWN: Grammar = Grammar {
    file: "a.md",
    head: "# T\n\n",
    constructs: &[
        ("*a ", "a*"),
        ("**a ", "a**"),
        ("_a ", "a_"),
        ("*a_ ", ""),
        ("a*", ""),
        ("a**b", "c* "),
        ("~~a ", "a~~"),
        ("`a ", "a`"),
        ("``` a\n", "```\n"),
        ("~~~\na\n", "~~~\n"),
        ("[", "]"),
        ("[a](b", ")"),
        ("[a](<b", ">)"),
        ("[a]( \"", "\")"),
        ("[a][b{n}]", ""),
        ("[a{n}]: b\n", ""),
        ("[a{n}]: b{n}\n\n[a{n}]\n\n", ""),
        ("![", "](a)"),
        ("[a](", ")"),
        ("[^a{n}]", ""),
        ("[^a{n}]: b\n\n", ""),
        ("> ", ""),
        ("> a\n", ""),
        ("- ", ""),
        ("- a\n", ""),
        ("1. a\n", ""),
        ("  - a\n", ""),
        ("- a\n\n      b\n", ""),
        ("# a\n", ""),
        ("# a {#b{n}}\n", ""),
        ("a\n===\n", ""),
        ("a\n", ""),
        ("a\n\n", ""),
        ("---\n", ""),
        ("| a ", "|\n"),
        ("|a|b|\n|-|-|\n|c|d|\n\n", ""),
        ("|", ""),
        ("| - ", "\n"),
        ("<a>", "</a>"),
        ("<a b='", "'>"),
        ("<a ", ">"),
        ("<!-- a", " -->"),
        ("<!A ", ">"),
        ("<?a", "?>"),
        ("<![CDATA[", "]]>"),
        ("<http://a", ">"),
        ("<div>\n", "</div>\n\n"),
        ("<script>\n", "</script>\n"),
        ("&amp;", ""),
        ("&a", ";"),
        ("\\*", ""),
        ("a\\\n", ""),
        ("a  \n", ""),
        ("    a\n", ""),
        ("\t", ""),
        ("(", ")"),
        ("\"", "\""),
        ("\u{ad}", ""),
    ],
};

const RST: Grammar = Grammar {
    file: "a.rst",
    head: "T\n=\n\n",
    constructs: &[
        ("a\n-\n\n", ""),
        ("===\na\n===\n\n", ""),
        ("a{n}\n~~~~\n", ""),
        (":Author: a\n", ""),
        ("a `b", "`_\n"),
        ("a :ref:`b", "`\n----\n\n"),
        ("``a", "``"),
        ("*a", "*"),
        ("|a", "|"),
        (".. note::\n   a\n", ""),
        (".. [{n}] a\n", ""),
        ("- a\n", ""),
        ("=== ===\na   b\n=== ===\n", ""),
        ("+-+\n|a|\n+-+\n", ""),
        ("::\n\n  a\n\n", ""),
        ("=", ""),
        ("\n", ""),
    ],
};

const ASCIIDOC: Grammar = Grammar {
    file: "a.adoc",
    head: "= T\n",
    constructs: &[
        (":a{n}: b\n", ""),
        ("== a\n", ""),
        ("== {a{n}}\n", ""),
        ("== [[a]] b <<c,d>> link:e[f] *g* _h_ `i`\n\n", ""),
        ("== <<a", ">>\n"),
        ("== [[", "]]\n"),
        ("== {", "}\n"),
        ("a\n-\n\n", ""),
        ("----\na\n", "----\n"),
        ("====\n", "====\n"),
        ("|===\n|a|b\n", "|===\n"),
        ("--\n", ""),
        ("-----\n----\n", ""),
        ("////\n", "////\n"),
        ("```\n", "```\n"),
        ("[source]\n", ""),
        ("* a\n", ""),
        ("a; ", ""),
        ("=", ""),
        ("= ", ""),
        ("\n", ""),
        ("//a\n", ""),
    ],
};

const NOTEBOOK: Grammar = Grammar {
    file: "a.ipynb",
    head: "{\"nbformat\": 4, \"cells\": [",
    constructs: &[
        ("{\"cell_type\": \"code\", \"source\": \"a\"},", ""),
        ("{\"cell_type\": \"markdown\", \"source\": [\"# a\"]},", ""),
        (
            "{\"cell_type\": \"code\", \"outputs\": [{\"text\": [\"a\"]}]},",
            "",
        ),
        ("{\"cell_type\": \"code\", \"source\": [", "]},"),
        ("{\"a\": ", "1}"),
        ("[", "]"),
        ("\"a\", ", ""),
        ("\"", "\""),
        ("\"\\u00e9", "\""),
        ("\\\"", ""),
        ("{\"a{n}\": 1},", ""),
        ("1e9,", ""),
        (" \n", ""),
        ("<<<<<<< a\n", ">>>>>>> b\n"),
    ],
};

const MAIL: Grammar = Grammar {
    file: "a.eml",
    head: "From: a@x.org\nSubject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\n",
    constructs: &[
        ("\n\nwords\n--b", "--\n"),
        (
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n",
            "--b--\n",
        ),
        (
            "Content-Type: multipart/alternative; boundary=b{n}\n\n--b{n}\n",
            "",
        ),
        ("Content-Type: message/rfc822\n\n", ""),
        ("Content-Type: text/html\n\n<p>a\n--b\n", ""),
        ("Content-Type: text/plain; charset=utf-16\n\na\n--b\n", ""),
        (
            "Content-Type: text/csv; name=a{n}\nContent-Disposition: attachment\n\na,b\n--b\n",
            "",
        ),
        ("Content-Type: application/pdf; name=\"a", "\"\n"),
        ("Content-Transfer-Encoding: base64\n\nQUJD\n--b\n", ""),
        (
            "Content-Transfer-Encoding: quoted-printable\n\n=41=\n--b\n",
            "",
        ),
        ("To: a <a@x.org>,\n b\n", ""),
        ("Subject: =?utf-8?Q?=C3=A9", "?=\n"),
        ("=?utf-8?B?QUJD?= ", ""),
        ("=?iso-2022-jp?B?GyRCJCIbKEI=?= ", ""),
        ("=?", "?="),
        ("(", ")"),
        (";", ""),
        ("; a{n}*0*=utf-8''%41", ""),
        (" folded\n", ""),
        ("> quoted\n", ""),
        ("--b\n", ""),
        ("--", ""),
        ("QUJD", ""),
        ("=41", ""),
    ],
};

const RTF: Grammar = Grammar {
    file: "a.rtf",
    head: "{\\rtf1\\ansi{\\fonttbl{\\f0 A;}}",
    constructs: &[
        ("{", "}"),
        ("{\\b a", "}"),
        ("\\par a", ""),
        ("\\'e9", ""),
        ("\\u8364?", ""),
        ("\\uc{n}\\u8364 ", ""),
        ("{\\*\\a b", "}"),
        ("{\\footnote a", "}"),
        ("{\\annotation a", "}"),
        ("{\\field{\\*\\fldinst a}{\\fldrslt b", "}}"),
        ("{\\pict 00ff", "}"),
        ("\\trowd\\cellx100 a\\cell b\\cell\\row ", ""),
        ("\\itap{n}\\intbl a\\nestcell ", "\\nestrow "),
        ("\\cell ", ""),
        ("{\\fonttbl{\\f{n}\\fcharset204 A;}", "}"),
        ("{\\f{n} a", "}"),
        ("{\\stylesheet{\\s{n}\\sbasedon{p} heading 1;}", "}"),
        ("\\s{n} a\\par ", ""),
        ("{\\upr{a}{\\*\\ud b", "}}"),
        ("{\\info{\\title a", "}}"),
        ("{\\listtext a", "}"),
        ("{\\*\\moMath{\\mr a}", "}"),
        ("{\\*\\moMath{\\mf{\\mnum{\\mr a}}{\\mden{\\mr b}}", "}}"),
        ("{\\mmath{\\*\\moMath{\\msSup{\\me{\\mr a}}{\\msup ", "}}}}"),
        ("{\\shptxt a\\par", "}"),
        ("\\bin4 abcd", ""),
        ("\\page ", ""),
        ("\\v a\\v0 ", ""),
        ("\\outlinelevel0 a\\par ", ""),
        ("\\tab ", ""),
        ("\\\n", ""),
        ("\\a", ""),
    ],
};

const CSV: Grammar = Grammar {
    file: "a.csv",
    head: "name,size\n",
    constructs: &[
        ("a,b\n", ""),
        ("a;b\n", ""),
        ("a,", ""),
        (",\n", ""),
        ("\"a", "\",b\n"),
        ("\"\"", ""),
        ("\"a\nb\",", ""),
        ("\t", "\n"),
        ("1,2024-05-06\r\n", ""),
        ("'a'|", "\n"),
        ("\n", ""),
        ("word ", ""),
    ],
};

/// What the chunker and the screen of keys meet in texts that are stored as they are.
const PLAIN: &[(&str, &str)] = &[
    ("a.txt", "word "),
    ("a.txt", "word\n"),
    ("a.txt", "word.\n\n"),
    ("a.txt", "\n"),
    ("a.txt", " "),
    ("a.txt", "letters"),
    ("a.txt", "\u{4e2d}"),
    ("a.txt", "    a\n        b\n"),
    ("a.txt", "- a\n"),
    ("a.txt", "-----BEGIN RSA PRIVATE KEY-----\n"),
    ("a.txt", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"),
    ("a.txt", "-----BEGIN PRIVATE KEY-----\\n"),
    ("a.txt", "-----END PRIVATE KEY-----\n"),
    ("a.txt", "-----BEGIN "),
    ("a.txt", "-----"),
    ("a.txt", "PuTTY-User-Key-File-2: "),
    ("a.txt", "AKIA"),
    ("a.txt", "ghp_"),
    ("a.txt", "ghp_abcdefghij "),
    ("a.txt", "xoxb-1-"),
    ("a.txt", "sk_live_"),
    ("a.txt", "token = \"EXAMPLE\"\n"),
    ("a.txt", "https://hooks.slack.com/services/"),
    ("a.txt", "eyJhbGciOi."),
    ("a.jsonl", "{\"a\": 1}\n"),
    ("a.jsonl", "{\"a{n}\": [1, \"b\"]}\n"),
    ("a.jsonl", "["),
    ("a.jsonl", "{\"a\": "),
    ("a.json", "{\"a\": "),
    ("a.json", "[\n"),
    ("a.json", "{\"a{n}\": 1},\n"),
    ("a.yaml", "a{n}: b\n"),
    ("a.yaml", "a:\n  - b\n"),
    ("secrets.yaml", "a{n}: ${b}\n"),
    ("secrets.json", "{\"password\": \"\"},"),
    ("secrets.json", "\"a"),
    ("credentials", "aws_secret_access_key = \n"),
    (".npmrc", "//a/:_authToken=${A}\n"),
    (".pypirc", "password = \n"),
    ("kubeconfig", "client-key-data: \n"),
    ("a.tfstate", "{\"sensitive_attributes\": [\"a\"]},"),
    ("a.tfstate", "[{\"type\": \"get_attr\","),
    ("secret.yaml", "kind: Secret\ndata:\n  a: \n---\n"),
    ("secret.yaml", "kind: Secret\n"),
    ("config.json", "{\"auths\": {\"a{n}\": {\"auth\": \"\"}}},"),
    ("client_secret.json", "{\"client_secret\": \"\"},"),
    ("a.log", "2024-05-06 10:00:00 a\n"),
];

/// Every construct of a grammar: one after the other, inside each other, begun and not ended, ended and not begun.
fn families(grammar: &Grammar) -> Vec<Construct> {
    let mut constructs = Vec::new();
    let (file, head) = (grammar.file, grammar.head);
    let mut add = |name: String, make: Box<dyn Fn(usize) -> String>| {
        constructs.push(Construct::new(file, name, move |bytes| {
            format!("{head}{}", make(bytes)).into_bytes()
        }));
    };
    for (open, close) in grammar.constructs {
        add(
            format!("{open:?} begun"),
            Box::new(move |bytes| repeated(open, bytes)),
        );
        if close.is_empty() {
            continue;
        }
        add(
            format!("{open:?} and {close:?} in a row"),
            Box::new(move |bytes| repeated(&format!("{open}{close}"), bytes)),
        );
        add(
            format!("{open:?} inside each other"),
            Box::new(move |bytes| {
                let times = bytes / (open.len() + close.len());
                repeated(open, times * open.len()) + &repeated(close, times * close.len())
            }),
        );
        // Readers refuse what is too deep: this never is.
        add(
            format!("{open:?} 50 deep, in a row"),
            Box::new(move |bytes| {
                let one = repeated(open, 50 * open.len()) + &repeated(close, 50 * close.len());
                repeated(&one, bytes)
            }),
        );
        add(
            format!("{close:?} ended"),
            Box::new(move |bytes| repeated(close, bytes)),
        );
    }
    constructs
}

/// Each construct of a grammar behind each other one, both many times.
fn pairs(grammar: &Grammar) -> Vec<Construct> {
    let (file, head) = (grammar.file, grammar.head);
    let mut constructs = Vec::new();
    for (place, (first, _)) in grammar.constructs.iter().enumerate() {
        for (other, (second, _)) in grammar.constructs.iter().enumerate() {
            if place == other {
                continue;
            }
            let name = format!("{first:?} begun, then {second:?}");
            constructs.push(Construct::new(file, name, move |bytes| {
                let half = bytes / 2;
                format!("{head}{}{}", repeated(first, half), repeated(second, half)).into_bytes()
            }));
        }
    }
    constructs
}

fn check_grammar(grammar: &Grammar) {
    check(families(grammar), 32 << 10, 512 << 10);
    check(pairs(grammar), 12 << 10, 48 << 10);
}

#[test]
fn html_is_read_in_linear_time() {
    check_grammar(&HTML);
}

#[test]
fn xml_is_read_in_linear_time() {
    check_grammar(&XML);
}

#[test]
fn markdown_is_read_in_linear_time() {
    check_grammar(&MARKDOWN);
}

#[test]
fn restructured_text_and_asciidoc_are_read_in_linear_time() {
    check_grammar(&RST);
    check_grammar(&ASCIIDOC);
}

#[test]
fn notebooks_are_read_in_linear_time() {
    check_grammar(&NOTEBOOK);
}

#[test]
fn mail_is_read_in_linear_time() {
    check_grammar(&MAIL);
    // Of a header alone, and of one long field.
    let heads = [
        "Subject: ",
        "Content-Type: x;",
        "From: a\nTo: ",
        "From: a\n\n",
    ];
    let mut constructs = Vec::new();
    for head in heads {
        for (piece, _) in MAIL.constructs {
            constructs.push(Construct::new(
                "a.eml",
                format!("{head:?}, then {piece:?}"),
                move |bytes| format!("{head}{}", repeated(piece, bytes)).into_bytes(),
            ));
        }
    }
    check(constructs, 32 << 10, 512 << 10);
}

#[test]
fn rtf_is_read_in_linear_time() {
    if cfg!(feature = "office") {
        check_grammar(&RTF);
    }
}

#[test]
fn tables_as_text_are_read_in_linear_time() {
    check_grammar(&CSV);
}

#[test]
fn plain_texts_are_read_in_linear_time() {
    let constructs = PLAIN.iter().map(|(file, piece)| {
        Construct::new(file, format!("{piece:?}"), move |bytes| {
            repeated(piece, bytes).into_bytes()
        })
    });
    check(constructs.collect(), 32 << 10, 512 << 10);
}

#[test]
fn texts_in_any_encoding_are_read_in_linear_time() {
    let pieces: [(&'static str, &'static [u8]); 9] = [
        ("UTF-16LE", b"a\0b\0\n\0"),
        ("UTF-16BE", b"\0a\0b\0\n"),
        ("UTF-32LE", b"a\0\0\0\n\0\0\0"),
        ("UTF-32BE", b"\0\0\0a\0\0\0\n"),
        ("Latin", b"caf\xe9 \n"),
        ("broken UTF-8", b"\xc3\xa9\xff \n"),
        ("Shift JIS", b"\x82\xa0\x82\xa2\n"),
        ("ISO-2022-JP", b"\x1b$B$\"\x1b(B\n"),
        ("controls", b"\x01a\n"),
    ];
    let constructs = pieces.map(|(name, piece)| {
        Construct::new("a.txt", name, move |bytes| {
            piece.repeat(bytes / piece.len())
        })
    });
    check(constructs.into(), 32 << 10, 1 << 20);
}
