//! tantivy as a peer of `cargo xtask bench search`: see `protocol`.

mod lines;
mod protocol;
mod summary;

use anyhow::Result;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!("{}", protocol::run(&arguments)?);
    Ok(())
}
