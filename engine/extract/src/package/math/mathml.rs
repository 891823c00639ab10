//! Equations of MathML, as OpenDocument has them.

use crate::package::math::linear::{MAX_NESTED, accented, base, fraction, join, root, scripts};
use crate::package::xml::{XmlEvent, XmlReader};
use crate::skip_reason::SkipReason;

/// An element that is being read.
struct Open {
    name: String,
    /// Settings of brackets: how they begin, end and what separates.
    brackets: Option<[String; 3]>,
    children: Vec<String>,
    depth: u64,
}

/// Reads an equation, which is all of a part; nothing where there is none.
///
/// # Errors
/// As [`XmlReader::next`].
pub(crate) fn read_mathml(part: &str) -> Result<String, SkipReason> {
    let mut reader = XmlReader::new(part);
    let mut equation = Equation::default();
    let mut is_text = false;
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                // The source of the equation in another language.
                "annotation" | "annotation-xml" => reader.skip()?,
                "mspace" => equation.push(" ".to_owned()),
                "mi" | "mn" | "mo" | "mtext" | "ms" => {
                    is_text = true;
                    equation.push(String::new());
                }
                name => {
                    let brackets = (name == "mfenced").then(|| {
                        let of = |setting: &str, default: &str| {
                            let value = element.reference(setting);
                            value.unwrap_or_else(|| default.to_owned())
                        };
                        [of("open", "("), of("close", ")"), of("separators", ",")]
                    });
                    equation.start(name, brackets, reader.depth());
                }
            },
            XmlEvent::End(end) => {
                if matches!(end.name(), "mi" | "mn" | "mo" | "mtext" | "ms") {
                    is_text = false;
                }
                equation.end(reader.depth() + 1);
            }
            XmlEvent::Text(text) if is_text => equation.add(&text),
            XmlEvent::Text(_) => {}
        }
    }
    Ok(equation.finish())
}

#[derive(Default)]
struct Equation {
    open: Vec<Open>,
    done: Vec<String>,
}

impl Equation {
    fn children(&mut self) -> &mut Vec<String> {
        match self.open.last_mut() {
            Some(open) => &mut open.children,
            None => &mut self.done,
        }
    }

    fn push(&mut self, text: String) {
        self.children().push(text);
    }

    fn add(&mut self, text: &str) {
        if let Some(last) = self.children().last_mut() {
            last.push_str(text);
        }
    }

    fn start(&mut self, name: &str, brackets: Option<[String; 3]>, depth: u64) {
        if self.open.len() < MAX_NESTED {
            // The innermost takes all that is in it, whatever it is.
            let is_last = self.open.len() + 1 == MAX_NESTED;
            let name = if is_last { "mrow" } else { name };
            self.open.push(Open {
                name: name.to_owned(),
                brackets,
                children: Vec::new(),
                depth,
            });
        }
    }

    fn end(&mut self, depth: u64) {
        while self.open.last().is_some_and(|open| open.depth >= depth) {
            self.close();
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            let text = open.write();
            self.push(text);
        }
    }

    fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        row(&self.done)
    }
}

impl Open {
    fn write(&self) -> String {
        let child = |at: usize| self.children.get(at).map_or("", |text| text.trim());
        match self.name.as_str() {
            "mfrac" => fraction(child(0), child(1)),
            "msqrt" => root("", &row(&self.children)),
            "mroot" => root(child(1), child(0)),
            "msup" => scripts(&base(child(0)), "", child(1)),
            "msub" => scripts(&base(child(0)), child(1), ""),
            "msubsup" | "munderover" => scripts(&base(child(0)), child(1), child(2)),
            "mover" => match over(child(1)) {
                Some(mark) => accented(child(0), mark),
                None => scripts(&base(child(0)), "", child(1)),
            },
            "munder" => scripts(&base(child(0)), child(1), ""),
            "mfenced" => {
                let [begin, end, separators] =
                    self.brackets.as_ref().map_or(["(", ")", ","], |it| {
                        let [begin, end, separators] = it;
                        [begin, end, separators]
                    });
                let separator = separators.chars().next().map(String::from);
                let inside = self.children.join(separator.as_deref().unwrap_or(""));
                format!("{begin}{inside}{end}")
            }
            "mtable" => format!("[{}]", self.children.join("; ")),
            "mtr" | "mlabeledtr" => self.children.join(", "),
            _ => row(&self.children),
        }
    }
}

/// The combining character of a mark over a letter.
fn over(mark: &str) -> Option<&'static str> {
    Some(match mark {
        "^" | "ˆ" | "\u{302}" => "\u{302}",
        "¯" | "‾" | "‒" | "\u{305}" => "\u{305}",
        "→" | "⃗" => "\u{20D7}",
        "~" | "˜" | "\u{303}" => "\u{303}",
        "˙" | "." | "\u{307}" => "\u{307}",
        "¨" | "\u{308}" => "\u{308}",
        _ => return None,
    })
}

/// What stands side by side: a space behind the name of a function and a large operator with limits.
fn row(children: &[String]) -> String {
    const LARGE: &[char] = &['∑', '∏', '∐', '∫', '∬', '∭', '∮', '⋃', '⋂'];
    let mut written = String::new();
    let mut is_operator = false;
    for child in children {
        let is_word = child.chars().count() > 1 && child.chars().all(char::is_alphabetic);
        let continues = child.starts_with(char::is_alphanumeric);
        let follows_letter = written.ends_with(char::is_alphanumeric);
        if is_operator && continues || is_word && follows_letter {
            written.push(' ');
        }
        join(&mut written, child);
        let has_limits = child.starts_with(LARGE) && child.contains(['_', '^']);
        is_operator = is_word || has_limits || child.starts_with("lim_");
    }
    written
}
