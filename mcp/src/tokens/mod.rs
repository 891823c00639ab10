//! Access tokens of HTTP clients.
