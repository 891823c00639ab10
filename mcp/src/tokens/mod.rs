//! Access tokens of HTTP clients: a file with their hashes, which only its owner can read.
//!
//! A token is shown once, when it is created. `secret` creates and hashes tokens, `store` reads and
//! changes the file, `file` is its format. Nothing here knows HTTP: [`Tokens::check`] takes the text of a
//! header.

mod error;
mod file;
mod secret;
mod store;
mod token;

pub use error::TokenError;
pub(crate) use secret::{Hash, random_secret};
pub use store::{Tokens, default_path};
pub use token::{Access, TOKENS_LIMIT, TokenInfo};
