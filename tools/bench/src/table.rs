//! A table of what was measured beside the threshold it has to reach.

use std::fs;

use anyhow::Result;
use xtask::repository;

use crate::machine;

/// Lines of the table: what, measured, threshold.
#[derive(Default)]
pub(super) struct Table(Vec<[String; 3]>);

impl Table {
    /// Adds a line, and shows it at once.
    pub(super) fn add(
        &mut self,
        what: impl Into<String>,
        measured: impl Into<String>,
        threshold: &str,
    ) {
        let line = [what.into(), measured.into(), threshold.to_owned()];
        println!("{} | {} | {}", line[0], line[1], line[2]);
        self.0.push(line);
    }

    /// Writes the table of today among the results, and says where.
    pub(super) fn write(&self, name: &str, title: &str, command: &str) -> Result<()> {
        let file = format!("tests/bench-results/{name}-{}.md", machine::today());
        let path = repository::root().join(file);
        fs::write(&path, self.markdown(title, command))?;
        println!("written to {}", path.display());
        Ok(())
    }

    fn markdown(&self, title: &str, command: &str) -> String {
        let mut text = format!(
            "# {title}, {}\n\n`{command}`, commit {}.\n{}\n\n\
             | what | measured | threshold |\n|---|---|---|\n",
            machine::today(),
            machine::commit(),
            machine::describe()
        );
        for [what, measured, threshold] in &self.0 {
            text.push_str(&format!("| {what} | {measured} | {threshold} |\n"));
        }
        text
    }
}
