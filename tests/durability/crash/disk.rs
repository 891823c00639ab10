//! Computes what a disk holds after a power loss, from a log of the operations on it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use kb_engine::testing::container::faults::{FileId, Observer, Op};

use crate::support::Random;

/// Bytes that a disk writes whole or not at all.
const SECTOR: usize = 512;

/// One change, owned.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Create(PathBuf),
    Write(FileId, u64, Vec<u8>),
    SetLen(FileId, u64),
    Sync(FileId),
    Rename(PathBuf, PathBuf),
    SyncFolder,
    Remove(PathBuf),
    Acknowledge,
}

/// Writes down what happens.
#[derive(Debug, Default)]
pub(super) struct Recorder(Mutex<Vec<Operation>>);

impl Recorder {
    pub(super) fn acknowledge(&self) {
        self.0.lock().expect("lock").push(Operation::Acknowledge);
    }

    pub(super) fn operations(&self) -> Vec<Operation> {
        self.0.lock().expect("lock").clone()
    }

    /// Positions of all syncs of files.
    pub(super) fn syncs(&self) -> Vec<usize> {
        let operations = self.operations();
        let numbered = operations.iter().enumerate();
        numbered
            .filter(|(_, operation)| matches!(operation, Operation::Sync(_)))
            .map(|(position, _)| position)
            .collect()
    }
}

impl Observer for Recorder {
    fn before(&self, op: &Op<'_>) -> io::Result<()> {
        let operation = match *op {
            Op::Create { path } => Operation::Create(path.to_owned()),
            Op::Write { file, offset, data } => Operation::Write(file, offset, data.to_vec()),
            Op::SetLen { file, len } => Operation::SetLen(file, len),
            Op::Sync { file } => Operation::Sync(file),
            Op::Rename { from, to } => Operation::Rename(from.to_owned(), to.to_owned()),
            Op::SyncFolder { .. } => Operation::SyncFolder,
            Op::Remove { path } => Operation::Remove(path.to_owned()),
            Op::SetPermissions { .. } => return Ok(()),
        };
        self.0.lock().expect("lock").push(operation);
        Ok(())
    }
}

/// Refuses one operation, once.
#[derive(Debug)]
pub(super) struct RefuseNth {
    nth: usize,
    error: i32,
    heard: Mutex<usize>,
}

impl RefuseNth {
    pub(super) fn new(nth: usize, error: i32) -> RefuseNth {
        RefuseNth {
            nth,
            error,
            heard: Mutex::default(),
        }
    }

    /// Operations so far.
    pub(super) fn heard(&self) -> usize {
        *self.heard.lock().expect("lock")
    }
}

impl Observer for RefuseNth {
    fn before(&self, _: &Op<'_>) -> io::Result<()> {
        let mut heard = self.heard.lock().expect("lock");
        *heard += 1;
        if *heard - 1 == self.nth {
            Err(io::Error::from_raw_os_error(self.error))
        } else {
            Ok(())
        }
    }
}

/// A file: what is durable, and what was done since.
#[derive(Debug, Default, Clone)]
struct Content {
    durable: Vec<u8>,
    pending: Vec<Operation>,
}

/// Names and files. A file that was created anew has a new number, whatever its id.
#[derive(Debug, Default)]
pub(super) struct Disk {
    files: Vec<Content>,
    /// The file that an id means now.
    numbers: BTreeMap<FileId, usize>,
    names: BTreeMap<PathBuf, usize>,
    /// Changes of names that are not durable, each with the file it gives a name to.
    pending_names: Vec<(Operation, usize)>,
    created: Option<PathBuf>,
    /// Acknowledgements so far.
    pub(super) acknowledged: usize,
}

impl Disk {
    pub(super) fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(path) => self.created = Some(path.clone()),
            Operation::SetLen(file, _) | Operation::Write(file, ..) => {
                if let Some(path) = self.created.take() {
                    let number = self.files.len();
                    self.files.push(Content::default());
                    self.numbers.insert(*file, number);
                    self.pending_names.push((Operation::Create(path), number));
                }
                if let Some(content) = self.content(*file) {
                    content.pending.push(operation.clone());
                }
            }
            Operation::Sync(file) => {
                if let Some(content) = self.content(*file) {
                    for operation in std::mem::take(&mut content.pending) {
                        change(&mut content.durable, &operation, |_| true);
                    }
                }
            }
            Operation::Rename(..) | Operation::Remove(_) => {
                self.pending_names.push((operation.clone(), 0));
            }
            Operation::SyncFolder => {
                for (operation, number) in std::mem::take(&mut self.pending_names) {
                    rename(&mut self.names, &operation, number);
                }
            }
            Operation::Acknowledge => self.acknowledged += 1,
        }
    }

    fn content(&mut self, file: FileId) -> Option<&mut Content> {
        let number = self.numbers.get(&file)?;
        self.files.get_mut(*number)
    }

    /// What `target` holds when power is lost now; `None`: there is no such file. Variants 0 and 1
    /// lose all or nothing of what is not durable, the others some of it.
    pub(super) fn after_power_loss(
        &self,
        target: &Path,
        variant: usize,
        random: &mut Random,
    ) -> Option<Vec<u8>> {
        let mut names = self.names.clone();
        // Names change in order.
        let kept = match variant {
            0 => 0,
            1 => self.pending_names.len(),
            _ => random.below(self.pending_names.len() + 1),
        };
        for (operation, number) in self.pending_names.iter().take(kept) {
            rename(&mut names, operation, *number);
        }
        let content = self.files.get(*names.get(target)?)?;
        let mut image = content.durable.clone();
        let pending = content.pending.len();
        let cut = random.below(pending + 1);
        let single = random.below(pending.max(1));
        for (position, operation) in content.pending.iter().enumerate() {
            let is_kept = match variant {
                0 => false,
                1 => true,
                // The end is lost.
                2 => position < cut,
                // One is lost.
                3 => position != single,
                // Only one is there.
                4 => position == single,
                // The beginning is lost: later changes have overtaken it.
                5 => position >= cut,
                _ => random.below(2) == 0,
            };
            let is_torn = variant > 5 && random.below(4) == 0;
            if is_torn {
                change(&mut image, operation, |_| random.below(2) == 0);
            } else if is_kept {
                change(&mut image, operation, |_| true);
            }
        }
        Some(image)
    }
}

/// Carries out a change of a file; of what is written only the sectors that `keeps`.
fn change(bytes: &mut Vec<u8>, operation: &Operation, mut keeps: impl FnMut(usize) -> bool) {
    match operation {
        Operation::SetLen(_, len) => bytes.resize(*len as usize, 0),
        Operation::Write(_, offset, data) => {
            let start = *offset as usize;
            let mut at = 0;
            while at < data.len() {
                let sector = (start + at) / SECTOR;
                let end = ((sector + 1) * SECTOR - start).min(data.len());
                if keeps(sector) {
                    if bytes.len() < start + end {
                        bytes.resize(start + end, 0);
                    }
                    bytes[start + at..start + end].copy_from_slice(&data[at..end]);
                }
                at = end;
            }
        }
        _ => {}
    }
}

fn rename(names: &mut BTreeMap<PathBuf, usize>, operation: &Operation, number: usize) {
    match operation {
        Operation::Create(path) => {
            names.insert(path.clone(), number);
        }
        Operation::Rename(from, to) => {
            if let Some(number) = names.remove(from) {
                names.insert(to.clone(), number);
            }
        }
        Operation::Remove(path) => {
            names.remove(path);
        }
        _ => {}
    }
}
