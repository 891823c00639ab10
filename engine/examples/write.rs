//! Makes a .kb of two documents and changes one. `cargo run --example write [FILE]`

use std::path::PathBuf;

use kb_engine::{KbWriter, Result};

fn main() -> Result<()> {
    let path = std::env::args_os()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join("example.kb"), PathBuf::from);

    // `add_bytes` would refuse a path that is there already, as it is when this runs again.
    let mut writer = KbWriter::open_or_create(&path)?;
    writer.replace_bytes(
        "tides.md",
        b"# Tides\n\nThe moon pulls the sea twice a day.",
    )?;
    writer.replace_bytes("bread.md", b"# Bread\n\nFlour, water and salt.")?;
    writer.commit()?;

    // Readers see a commit as a whole or not at all, and go on while this one is made.
    let was_there =
        writer.replace_bytes("bread.md", b"# Bread\n\nFlour, water, salt and patience.")?;
    assert!(was_there);
    writer.commit()?;
    Ok(())
}
