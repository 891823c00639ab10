//! How patches are made and applied, and what was done.

/// How [`crate::make_patch`] and [`crate::apply_patch`] write their output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatchOptions {
    /// Replace a .kb, or another patch, at the output. Nothing else is replaced.
    pub replace: bool,
}

impl PatchOptions {
    /// The defaults: the output is new.
    pub fn new() -> PatchOptions {
        PatchOptions::default()
    }

    /// Sets [`PatchOptions::replace`].
    #[must_use]
    pub fn replace(mut self, replace: bool) -> PatchOptions {
        self.replace = replace;
        self
    }
}

/// What a patch changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatchReport {
    /// Documents that only the newer file has.
    pub added: u64,
    /// Documents that are not alike in both.
    pub changed: u64,
    /// Documents that only the older file has.
    pub removed: u64,
    /// The content root of the older file, 64 hexadecimal digits.
    pub base_root: String,
    /// That of the newer file.
    pub content_root: String,
    /// Bytes of what was written.
    pub bytes: u64,
}
