//! Arguments of the verbs that read pages, sheets and slides.

use clap::Args;

use crate::args::{FileFlag, JsonFlag, PageFlags, PageRanges};

/// Print the pages of a document
///
/// Its own pages where it has some, as a PDF file has; else about 800 tokens each. Each is headed by its number
/// and by how it is known where it begins.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kb pages report.pdf --pages 1-5,9")]
pub(crate) struct PagesArguments {
    /// Path of the document in the .kb file, or a file name that is unique in it
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// Print only these pages, counted from 1: `3`, `1-3`, `1-3,5`, `3-` [default: all]
    #[arg(long, value_name = "PAGES")]
    pub(crate) pages: Option<PageRanges>,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Print rows of a sheet
///
/// One line a row that has cells: its number, then the cells as they are shown, with tabs between. --json also
/// has the value of a cell that shows something else.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kb sheet accounts.xlsx --sheet Revenue --range A1:D10")]
pub(crate) struct SheetArguments {
    /// Path of the document in the .kb file, or a file name that is unique in it
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// The sheet, by its name [default: the first that is not hidden]
    #[arg(long, value_name = "NAME")]
    pub(crate) sheet: Option<String>,

    /// Print only these cells: `A1:D10`, `B2`, columns `A:D`, rows `3:10`
    ///
    /// The first row of a range is taken for the names of its columns.
    #[arg(long, value_name = "CELLS")]
    pub(crate) range: Option<String>,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}

/// Print the slides of a document with their notes
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kb slides review.pptx --slides 1-5,8")]
pub(crate) struct SlidesArguments {
    /// Path of the document in the .kb file, or a file name that is unique in it
    #[arg(value_name = "DOCUMENT")]
    pub(crate) document: String,

    #[command(flatten)]
    pub(crate) file: FileFlag,

    /// Print only these slides, counted from 1: `3`, `1-3`, `1-3,5`, `3-` [default: all]
    #[arg(long, value_name = "SLIDES")]
    pub(crate) slides: Option<PageRanges>,

    #[command(flatten)]
    pub(crate) page: PageFlags,

    #[command(flatten)]
    pub(crate) json: JsonFlag,
}
