//! A program with so many symbols that its row is divided into groups, of which one begins within a class.

use std::fmt::Write as _;

/// Methods of the first class, and functions behind the second.
pub(crate) const METHODS: usize = 1200;
pub(crate) const FUNCTIONS: usize = 1000;

/// Its text: a class of methods, one with a class in it, and functions, two of the same name.
pub(crate) fn registers() -> String {
    let mut text = "class Registers:\n    \"\"\"All of the chip.\"\"\"\n\n".to_owned();
    for number in 0..METHODS {
        let _ = write!(
            text,
            "    def read_{number}(self, bank):\n        return bank.tide_gauge[{number}]\n\n"
        );
    }
    text.push_str(
        "class Banks:\n    class Bank:\n        def read_7(self):\n            return 7\n\n\n",
    );
    for number in 0..FUNCTIONS {
        let _ = write!(
            text,
            "def reset_{number}(chip):\n    chip.wharf({number})\n\n\n"
        );
    }
    text.push_str("def reset_0(chip):\n    chip.bollard()\n");
    text
}
