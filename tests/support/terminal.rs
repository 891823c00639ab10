//! Commands run on a terminal of their own.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, Winsize};

use crate::support::Outcome;

/// As [`run_on_terminal_of`] 200 columns.
pub(crate) fn run_on_terminal(command: Command) -> Outcome {
    run_on_terminal_of(command, 200)
}

/// Runs a command to its end with standard output and error on a terminal of that many columns. What it
/// wrote to either is in `stdout`, byte by byte: the terminal translates nothing.
pub(crate) fn run_on_terminal_of(command: Command, columns: u16) -> Outcome {
    run_with(command, columns, None)
}

/// As [`run_on_terminal`], with standard input on the terminal, too, and `typed` on it.
pub(crate) fn answer_on_terminal(command: Command, typed: &str) -> Outcome {
    run_with(command, 200, Some(typed))
}

fn run_with(mut command: Command, columns: u16, typed: Option<&str>) -> Outcome {
    let controller =
        rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    rustix::pty::grantpt(&controller).expect("granted");
    rustix::pty::unlockpt(&controller).expect("unlocked");
    let name = rustix::pty::ptsname(&controller, Vec::new()).expect("a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = rustix::fs::open(&name, flags, Mode::empty()).expect("opened");
    let mut modes = rustix::termios::tcgetattr(&terminal).expect("modes");
    modes.make_raw();
    rustix::termios::tcsetattr(&terminal, OptionalActions::Now, &modes).expect("raw");
    let size = Winsize {
        ws_row: 50,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&terminal, size).expect("a size");
    let terminal = File::from(terminal);
    let input = match typed {
        Some(_) => Stdio::from(terminal.try_clone().expect("a copy")),
        None => Stdio::null(),
    };
    command
        .stdin(input)
        .stdout(terminal.try_clone().expect("a copy"))
        .stderr(terminal);
    let mut child = command.spawn().expect("the command starts");
    // The terminal closes when the child's copies are the last.
    drop(command);
    let mut said = Vec::new();
    let mut controller = File::from(controller);
    let typed = typed.unwrap_or_default();
    controller.write_all(typed.as_bytes()).expect("typed");
    let mut bytes = [0; 4096];
    // Linux gives an error at the end.
    while let Ok(count @ 1..) = controller.read(&mut bytes) {
        said.extend_from_slice(&bytes[..count]);
    }
    let status = child.wait().expect("it ends");
    Outcome {
        code: status.code(),
        stdout: String::from_utf8(said).expect("text"),
        stderr: String::new(),
    }
}
