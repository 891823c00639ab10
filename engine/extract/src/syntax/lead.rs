//! The comments and attributes right above an item.

use std::ops::Range;

/// A run of comments and attributes, without blank lines between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lead {
    /// All of its comments.
    pub(super) doc: Option<Range<usize>>,
    /// The first of its attributes.
    pub(super) attributes: Option<usize>,
    /// Where it ends.
    pub(super) end: usize,
}

impl Lead {
    /// Adds a comment behind `lead`, or begins another run where that does not end right above.
    pub(super) fn with_comment(lead: Option<Lead>, comment: Range<usize>, text: &str) -> Lead {
        let end = comment.end;
        let Some(mut lead) = lead.filter(|lead| is_right_above(lead.end, comment.start, text))
        else {
            return Lead {
                doc: Some(comment),
                attributes: None,
                end,
            };
        };
        lead.doc = match lead.doc {
            Some(doc) => Some(doc.start..end),
            None => Some(comment),
        };
        lead.end = end;
        lead
    }

    /// As [`with_comment`](Lead::with_comment), an attribute.
    pub(super) fn with_attribute(lead: Option<Lead>, attribute: Range<usize>, text: &str) -> Lead {
        let lead = lead.filter(|lead| is_right_above(lead.end, attribute.start, text));
        Lead {
            attributes: (lead.as_ref())
                .and_then(|lead| lead.attributes)
                .or(Some(attribute.start)),
            doc: lead.and_then(|lead| lead.doc),
            end: attribute.end,
        }
    }
}

/// Whether nothing but white space without a blank line stands between two nodes. Some comments end behind their
/// line feed.
pub(super) fn is_right_above(end: usize, start: usize, text: &str) -> bool {
    let Some(between) = text.as_bytes().get(end..start) else {
        return false;
    };
    let ended = text
        .as_bytes()
        .get(..end)
        .is_some_and(|head| head.ends_with(b"\n"));
    let mut ends = usize::from(ended);
    for byte in between {
        match byte {
            b'\n' => ends += 1,
            b' ' | b'\t' | b'\r' | b'\x0c' => {}
            _ => return false,
        }
        if ends > 1 {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_line_ends_a_run() {
        let text = "// a\n// b\n\n// c\n#[x]\nfn";
        let mut lead = None;
        for comment in [0..4, 5..9, 11..15] {
            lead = Some(Lead::with_comment(lead, comment, text));
        }
        let lead = Lead::with_attribute(lead, 16..20, text);
        assert_eq!(lead.doc, Some(11..15));
        assert_eq!(lead.attributes, Some(16));
        assert!(is_right_above(lead.end, 21, text));
        assert!(!is_right_above(9, 11, text));
        assert!(is_right_above(5, 5, text));
        assert!(!is_right_above(0, 5, text));
    }
}
