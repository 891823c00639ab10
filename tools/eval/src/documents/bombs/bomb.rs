//! The description of a file made to harm.

/// A file made to harm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bomb {
    pub(super) what: &'static str,
    /// The name of its document.
    pub(super) name: &'static str,
    pub(super) make: fn() -> Vec<u8>,
    /// Takes seconds in a build without optimisation, to make or to read.
    pub(super) is_long: bool,
}

impl Bomb {
    pub(super) const fn new(what: &'static str, name: &'static str, make: fn() -> Vec<u8>) -> Bomb {
        Bomb {
            what,
            name,
            make,
            is_long: false,
        }
    }

    pub(super) const fn long(mut self) -> Bomb {
        self.is_long = true;
        self
    }
}
