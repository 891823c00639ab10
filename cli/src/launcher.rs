//! How to start this program again, as a worker or a server: it may be an executable, or a library in another program.

use std::borrow::Cow;
use std::sync::OnceLock;

use kb_engine::WorkerOptions;

/// The name of the command in the texts of this crate.
const NAME: &str = "kb";

/// How to start this program again.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The name of the command as users type it; hints and help use it instead of `kb`.
    pub name: &'static str,
    /// The first words of its command line. The program is an absolute path, or a name in the search path. `None`: the
    /// executable of this process.
    pub command: Option<Vec<String>>,
    /// The worker processes that read document formats with risky parsers. `None`: such documents are skipped.
    pub worker: Option<WorkerOptions>,
}

/// The launcher of this process.
static LAUNCHER: OnceLock<Launcher> = OnceLock::new();

impl Launcher {
    /// Returns the launcher that starts the executable of this process, also as its worker.
    pub fn this_executable() -> Launcher {
        #[cfg(feature = "testing")]
        let worker = crate::faults::worker();
        #[cfg(not(feature = "testing"))]
        let worker = WorkerOptions::this_program().ok();
        Launcher {
            name: NAME,
            command: None,
            worker,
        }
    }

    /// Sets the launcher of this process. Later calls have no effect.
    pub(crate) fn install(self) {
        let _ = LAUNCHER.set(self);
    }
}

/// Returns the first words of a command line that starts this program again; `None`: its executable.
pub(crate) fn command() -> Option<&'static [String]> {
    LAUNCHER.get()?.command.as_deref()
}

/// Replaces `kb` in help and hints by the name of this command: `kb search` becomes `kbfile search`. File names such as
/// `notes.kb` stay.
pub(crate) fn with_name(text: &str) -> Cow<'_, str> {
    let name = LAUNCHER.get().map_or(NAME, |launcher| launcher.name);
    renamed(text, name)
}

fn renamed<'t>(text: &'t str, name: &str) -> Cow<'t, str> {
    if name == NAME {
        return Cow::Borrowed(text);
    }
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("kb ") {
        let (before, after) = rest.split_at(at);
        let after = after.get(NAME.len()..).unwrap_or_default();
        // A command comes after nothing, white space, a quote or a bracket.
        let is_command = match before
            .chars()
            .next_back()
            .or_else(|| renamed.chars().next_back())
        {
            None => true,
            Some(it) => it.is_whitespace() || matches!(it, '`' | '(' | '"' | '\''),
        };
        renamed.push_str(before);
        renamed.push_str(if is_command { name } else { NAME });
        rest = after;
    }
    renamed.push_str(rest);
    Cow::Owned(renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_command_is_that_which_users_type() {
        for (text, expected) in [
            (
                "`kb index PATH -o FILE.kb` makes one",
                "`kbfile index PATH -o FILE.kb` makes one",
            ),
            ("kb ls; (kb get a.md)", "kbfile ls; (kbfile get a.md)"),
            (
                "  kb search x -f notes.kb -k 3",
                "  kbfile search x -f notes.kb -k 3",
            ),
            ("the file notes.kb stays", "the file notes.kb stays"),
            ("", ""),
        ] {
            assert_eq!(renamed(text, "kbfile"), expected);
            assert_eq!(renamed(text, "kb"), text);
        }
    }
}
