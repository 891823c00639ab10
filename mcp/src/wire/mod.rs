//! Carries requests to the tools: the only room that knows tokio, rmcp and hyper.

use crate::options::{Options, StartError};

/// Serves on stdin and stdout until stdin ends.
///
/// # Errors
/// [`StartError`] when a file cannot be opened or the system refuses.
pub fn serve_stdio(options: Options) -> Result<(), StartError> {
    let _ = crate::indexes::Indexes::open(&options)?;
    Ok(())
}
