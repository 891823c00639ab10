//! Tables of calls.

/// A call: its name, the names of its arguments, and what answers it.
pub(crate) type Call<F> = (&'static str, &'static [&'static str], F);

/// The call of a name.
pub(crate) fn find<'c, F>(calls: &'c [Call<F>], name: &str) -> Option<&'c Call<F>> {
    calls.iter().find(|(known, _, _)| *known == name)
}
