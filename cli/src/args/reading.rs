//! Flags of `kb pages`, `kb sheet` and `kb slides`.

use clap::Args;

use crate::args::{FileFlag, JsonFlag, PageFlags, PageRanges};

/// Print the pages of a document
///
/// A document without pages of its own, unlike a PDF file, is divided into pages of about 800 tokens. A line before each
/// page shows its number and where the page break comes from.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kb pages report.pdf --pages 1-5,9")]
pub(crate) struct PagesArguments {
    /// A document: its path in the .kb file, a unique file name, or its handle
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// Print only these pages, counted from 1: `3`, `1-3`, `1-3,5`, `3-` (to the end) [default: all]
    #[arg(long, value_name = "PAGES")]
    pub(crate) pages: Option<PageRanges>,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Print the rows of a sheet
///
/// Prints one line for each row that is not empty: the row number, then the cells as displayed, separated by tabs.
/// With --json, a cell also has its value if that differs from the displayed text.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kb sheet accounts.xlsx --sheet Revenue --range A1:D10")]
pub(crate) struct SheetArguments {
    /// A document: its path in the .kb file, a unique file name, or its handle
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// Name of the sheet [default: the first sheet that is not hidden]
    #[arg(long, value_name = "NAME")]
    pub(crate) sheet: Option<String>,

    /// Print only these cells: `A1:D10`, `B2`, columns `A:D`, rows `3:10`
    ///
    /// The first row of the range is treated as the header row.
    #[arg(long, value_name = "CELLS")]
    pub(crate) range: Option<String>,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Print the slides of a presentation with their notes
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kb slides review.pptx --slides 1-5,8")]
pub(crate) struct SlidesArguments {
    /// A document: its path in the .kb file, a unique file name, or its handle
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// Print only these slides, counted from 1: `3`, `1-3`, `1-3,5`, `3-` (to the end) [default: all]
    #[arg(long, value_name = "SLIDES")]
    pub(crate) slides: Option<PageRanges>,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}
