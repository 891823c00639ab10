//! The roles and their names.

/// What a chunk is for. A chunk without a role is ordinary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Of a document of tests.
    Test,
    /// It holds test functions. Its document may be another one than of tests.
    TestFunction,
    /// Of a list of changes by version.
    Changelog,
    /// Of an example, a demo or a benchmark.
    Example,
    /// Of declarations beside code that is elsewhere: `.d.ts`, `.pyi`.
    Declaration,
    /// Of a document that a program made, or that was copied from another project; a lock file.
    Generated,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 6] = [
        Role::Test,
        Role::TestFunction,
        Role::Changelog,
        Role::Example,
        Role::Declaration,
        Role::Generated,
    ];

    /// The name in a file.
    pub fn name(self) -> &'static str {
        match self {
            Role::Test => "test",
            Role::TestFunction => "test-function",
            Role::Changelog => "changelog",
            Role::Example => "example",
            Role::Declaration => "declaration",
            Role::Generated => "generated",
        }
    }
}
