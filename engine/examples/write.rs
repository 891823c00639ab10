//! Makes a .kb of two documents and changes one. `cargo run --example write [FILE]`

use std::path::PathBuf;

use kb_engine::{KbWriter, Result};

fn main() -> Result<()> {
    let path = std::env::args_os()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join("example.kb"), PathBuf::from);

    let mut writer = KbWriter::open_or_create(&path)?;
    writer.add_bytes(
        "tides.md",
        b"# Tides\n\nThe moon pulls the sea twice a day.",
    )?;
    writer.add_bytes("bread.md", b"# Bread\n\nFlour, water and salt.")?;
    writer.commit()?;

    // A document of the same path is replaced. Readers see a commit as a whole or not at all.
    writer.add_bytes("bread.md", b"# Bread\n\nFlour, water, salt and patience.")?;
    writer.commit()?;
    Ok(())
}
