//! How vectors are compared.

/// How the vectors of a [column](crate::VectorColumn) are compared with a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// The cosine of the angle between both; what is imported becomes of unit length. The score is the cosine,
    /// 0..1; below 0 nothing answers. The default.
    #[default]
    Cosine,
    /// The dot product `d` of both. The score is `1 - 0.5 / (1 + d)`, for `d < 0` it is `0.5 / (1 - d)`: 0..1, rising
    /// with `d`.
    Dot,
    /// The Euclidean distance. The score is `1 / (1 + d)`, where `d` is its square.
    L2,
}

impl Metric {
    /// All metrics, in the order of their numbers.
    pub const ALL: [Metric; 3] = [Metric::Cosine, Metric::Dot, Metric::L2];

    /// The name used in options and output: `cosine`, `dot`, `l2`.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Cosine => "cosine",
            Metric::Dot => "dot",
            Metric::L2 => "l2",
        }
    }

    /// The metric with that name; `None` when there is none.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// The number in a file.
    pub(crate) fn number(self) -> u8 {
        match self {
            Metric::Cosine => 1,
            Metric::Dot => 2,
            Metric::L2 => 3,
        }
    }

    /// The metric with that number in a file.
    pub(crate) fn from_number(number: u8) -> Option<Metric> {
        Metric::ALL
            .into_iter()
            .find(|metric| metric.number() == number)
    }
}
