//! Elements that a page does not show: those with the attribute `hidden`, and those whose own style says so. Rules of
//! style sheets are not read, and what only screen readers pass over (`aria-hidden`) is shown.
//!
//! Where such an element ends is found without a tree: at its own end, at the end of what is around it, and where the
//! next element ends it without saying so, as a paragraph ends one.

use crate::markup::html::tag::Tag;

/// Elements whose end ends what is in them. Those that only mark words are not: `<b><p hidden></b>` goes on.
const CONTAINERS: [&str; 30] = [
    "div",
    "td",
    "tr",
    "li",
    "ul",
    "table",
    "section",
    "tbody",
    "p",
    "ol",
    "article",
    "header",
    "footer",
    "main",
    "nav",
    "aside",
    "dl",
    "form",
    "th",
    "thead",
    "tfoot",
    "figure",
    "blockquote",
    "details",
    "fieldset",
    "menu",
    "select",
    "dialog",
    "body",
    "button",
];

/// Elements that hold nothing.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// How many of each container are open.
#[derive(Debug, Default)]
pub(super) struct OpenContainers {
    counts: [u32; CONTAINERS.len()],
}

impl OpenContainers {
    fn count(&mut self, name: &str) -> Option<&mut u32> {
        let place = CONTAINERS.iter().position(|known| *known == name)?;
        self.counts.get_mut(place)
    }

    pub(super) fn open(&mut self, name: &str) {
        if let Some(count) = self.count(name) {
            *count = count.saturating_add(1);
        }
    }

    /// Whether one of them was open.
    pub(super) fn close(&mut self, name: &str) -> bool {
        match self.count(name) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    fn has(&mut self, name: &str) -> bool {
        self.count(name).is_some_and(|count| *count > 0)
    }
}

/// Whether an element that begins with this tag is not shown.
pub(super) fn hides(tag: &Tag<'_>) -> bool {
    // Pages hide themselves until their scripts have run.
    if tag.attributes.is_empty() || matches!(tag.name.as_str(), "html" | "body" | "head") {
        return false;
    }
    let mut hides = false;
    for (name, value) in tag.attributes() {
        if name.eq_ignore_ascii_case("hidden") {
            // What a search in the page finds is text of it.
            hides |= value.is_none_or(|value| !value.eq_ignore_ascii_case("until-found"));
        } else if name.eq_ignore_ascii_case("style") {
            hides |= value.is_some_and(is_invisible);
        }
    }
    hides
}

/// Whether a style shows nothing. Of several values of a property the last counts.
fn is_invisible(style: &str) -> bool {
    let (mut display, mut visibility) = ("", "");
    for declaration in style.split(';') {
        let Some((property, value)) = declaration.split_once(':') else {
            continue;
        };
        let value = value.split('!').next().unwrap_or_default().trim();
        let property = property.trim();
        if property.eq_ignore_ascii_case("display") {
            display = value;
        } else if property.eq_ignore_ascii_case("visibility") {
            visibility = value;
        }
    }
    display.eq_ignore_ascii_case("none") || visibility.eq_ignore_ascii_case("hidden")
}

/// Whether elements of that name hold nothing, so that there is nothing to hide behind their tag.
pub(super) fn is_void(name: &str) -> bool {
    VOID.contains(&name)
}

/// What a tag is to a hidden element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meets {
    /// Part of it.
    Within,
    /// Its end.
    End,
    /// What comes behind it.
    Behind,
}

/// An element that is not shown, up to its end.
#[derive(Debug)]
pub(super) struct HiddenElement {
    name: String,
    /// Open elements of the same name in it.
    same: u32,
    inside: OpenContainers,
}

impl HiddenElement {
    pub(super) fn new(name: &str) -> HiddenElement {
        HiddenElement {
            name: name.to_owned(),
            same: 0,
            inside: OpenContainers::default(),
        }
    }

    /// Takes the next tag; `around` are the containers that it is in.
    pub(super) fn take(&mut self, tag: &Tag<'_>, around: &mut OpenContainers) -> Meets {
        let name = tag.name.as_str();
        let is_same = name == self.name;
        if !tag.is_end {
            if self.is_ended_by(name) {
                return Meets::Behind;
            }
            if !is_void(name) {
                self.same = self.same.saturating_add(u32::from(is_same));
                self.inside.open(name);
            }
            return Meets::Within;
        }
        if is_same && self.same == 0 {
            return Meets::End;
        }
        self.same -= u32::from(is_same);
        // An end that ends nothing counts for nothing.
        match self.inside.close(name) || is_same || !around.has(name) {
            true => Meets::Within,
            false => Meets::Behind,
        }
    }

    /// Whether it ends where an element of that name begins, without an end of its own.
    fn is_ended_by(&mut self, name: &str) -> bool {
        let mut outside =
            |containers: &[&str]| !containers.iter().any(|name| self.inside.has(name));
        let is_body = matches!(name, "tbody" | "thead" | "tfoot");
        match self.name.as_str() {
            "p" => ends_paragraph(name),
            "li" => name == "li" && outside(&["ul", "ol", "menu"]),
            "dt" | "dd" => matches!(name, "dt" | "dd") && outside(&["dl"]),
            "option" => matches!(name, "option" | "optgroup"),
            "tr" => (name == "tr" || is_body) && outside(&["table"]),
            "td" | "th" => (matches!(name, "td" | "th" | "tr") || is_body) && outside(&["table"]),
            "tbody" | "thead" | "tfoot" => is_body && outside(&["table"]),
            _ => false,
        }
    }
}

fn ends_paragraph(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dd"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "table"
            | "ul"
    )
}

#[cfg(test)]
mod tests {
    use crate::markup::html::extract;

    fn read(page: &str) -> String {
        let text = extract(page).text.unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_page_hides_is_no_text_of_it() {
        for (page, text) in [
            ("a<p hidden>b</p>c", "a c"),
            ("a<span HIDDEN=''>b</span>c", "ac"),
            (
                "a<div style='color:red; Display : NONE !important'>b<div>c</div>d</div>e",
                "a e",
            ),
            ("a<span style=visibility:hidden>b</span>c", "ac"),
            ("a<h2 hidden>b</h2>c", "a c"),
            (
                "a<table><tr><td>b<td hidden>c<td>d<tr style='display:none'><td>e<tr><td>f</table>",
                "a b | d f",
            ),
            // Without an end, up to what ends it.
            ("<p hidden>a<p>b", "b"),
            ("<div><p hidden>a</div>b", "b"),
            ("<ul><li hidden>a<ul><li>b</ul>c<li>d</ul>e", "- d e"),
            ("<ul><li>a<li hidden>b</ul>c", "- a c"),
            ("<dl><dt>a<dd hidden>b<dt>c</dl>", "a c"),
            ("<section><div hidden>a</section>b", "b"),
            (
                "<section><div hidden>a</p></span></nav>b</div>c</section>",
                "c",
            ),
            ("<select><option>a<option hidden>b<option>c</select>", "a c"),
            ("<div hidden>a", ""),
            ("<div hidden><script>'</div>'</script>a</div>b", "b"),
            ("<div hidden><!-- </div> -->a</div>b", "b"),
            ("<b><div hidden>a</b>b</div>c", "c"),
            (
                "<p>Hafen&shy;meis\u{ad}ter <pre>Boots\u{ad}haus</pre>",
                "Hafenmeister Bootshaus",
            ),
            ("a<img hidden alt=b>c<input hidden>d", "acd"),
            (
                "<?xml version='1.0'?><html><p hidden='hidden'/>a<div hidden='hidden'><div/>b</div>c</html>",
                "a c",
            ),
            ("<div hidden><title>no</title></div>b", "b"),
        ] {
            assert_eq!(read(page), text, "{page}");
        }
    }

    #[test]
    fn what_a_page_shows_is_text_of_it() {
        for (page, text) in [
            ("<p aria-hidden=true>a</p>", "a"),
            ("<p hidden=until-found>a</p>", "a"),
            ("<p style='display:none;display:block'>a</p>", "a"),
            ("<p style='overflow:hidden;text-align:none'>a</p>", "a"),
            ("<p data-hidden class=hidden title=hidden>a</p>", "a"),
            ("<body style='visibility:hidden'>a</body>", "a"),
            ("<body hidden><p>a", "a"),
            ("<p a='hidden' b=\"x hidden\">a</p>", "a"),
        ] {
            assert_eq!(read(page), text, "{page}");
        }
    }
}
