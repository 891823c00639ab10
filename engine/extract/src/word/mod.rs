//! Documents of word processors: their text in reading order, with headings and pages.

pub(super) mod doc;
mod doc_notes;
mod doc_paragraphs;
pub(super) mod docx;
mod docx_numbering;
mod docx_parts;
mod docx_styles;
mod flow;
pub(super) mod list_numbers;
pub(super) mod odt;
mod odt_lists;
pub(super) mod rtf;
mod rtf_tokens;

#[cfg(test)]
pub(super) mod tests;
