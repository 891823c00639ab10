//! A file that has something for every field.

#[path = "../../../tests/support/parts.rs"]
mod parts;

use std::fs;
use std::path::{Path, PathBuf};

use kb_engine::{IndexOptions, Kb, KbWriter, Progress, Report};
use tempfile::TempDir;

/// A folder of sources and the file made of it. It is deleted in the end.
pub struct Example {
    /// The folder of both.
    _folder: TempDir,
    /// The sources.
    pub sources: PathBuf,
    /// The file.
    pub file: PathBuf,
    /// The run that read the sources.
    pub report: Report,
    /// The file, opened.
    pub kb: Kb,
}

const NOTES: &str = "---\nauthor: Ada\ndate: 2024-03-01\n---\n# Lamps\n\nThe lamp turns on mercury.\n\n## Oil\n\nColza burns for nine hours.\n";

const PROGRAM: &str = "\
class Lamp:
    def turn(self, degrees):
        \"\"\"Turns the lamp on its bath of mercury.\"\"\"
        return degrees % 360


def watch(lamp):
    lamp.turn(90)
";

impl Example {
    pub fn new() -> Example {
        let folder = tempfile::tempdir().unwrap();
        let sources = folder.path().join("harbour");
        fs::create_dir_all(sources.join("logs")).unwrap();
        fs::write(sources.join("notes.md"), NOTES).unwrap();
        fs::write(sources.join("logs/lamp.py"), PROGRAM).unwrap();
        fs::write(sources.join("chart.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
        let file = folder.path().join("harbour.kb");
        let report = index(&file, &sources);
        let mut writer = KbWriter::open_or_create(&file).unwrap();
        for document in [parts::ledger(), parts::pilot_book(), parts::talk()] {
            writer.add(document).unwrap();
        }
        writer.tag("notes.md", &["lamps"], &[]).unwrap();
        writer.commit().unwrap();
        drop(writer);
        let kb = Kb::open(&file).unwrap();
        Example {
            _folder: folder,
            sources,
            file,
            report,
            kb,
        }
    }
}

/// Reads the sources into the file.
pub fn index(file: &Path, sources: &Path) -> Report {
    let mut writer = KbWriter::open_or_create(file).unwrap();
    let sources = [sources.to_path_buf()];
    let options = IndexOptions::new();
    let report = writer.index(&sources, &options, &mut Progress::ignore);
    report.unwrap()
}
