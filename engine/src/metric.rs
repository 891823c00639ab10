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
    pub fn number(self) -> u8 {
        match self {
            Metric::Cosine => 1,
            Metric::Dot => 2,
            Metric::L2 => 3,
        }
    }

    /// The metric with that number in a file.
    pub fn from_number(number: u8) -> Option<Metric> {
        Metric::ALL
            .into_iter()
            .find(|metric| metric.number() == number)
    }

    /// The squared length of a vector that a column of `dim` dimensions may have, or what is wrong with it.
    ///
    /// Longer ones than f32 can square are refused: what is computed of them would be infinite.
    pub fn check(self, vector: &[f32], dim: u32) -> Result<f64, String> {
        if vector.len() != dim as usize {
            let given = vector.len();
            return Err(format!(
                "it has {given} numbers, the column has {dim}: take a vector by its model"
            ));
        }
        if let Some(at) = vector.iter().position(|x| !x.is_finite()) {
            let number = vector.get(at).copied().unwrap_or_default();
            return Err(format!(
                "number {at} is {number}: only finite numbers can be compared"
            ));
        }
        // In f64: the square of a number of f32 always fits, and a sum of 4,096 of them stays exact
        // enough.
        let squares = vector.iter().map(|x| f64::from(*x) * f64::from(*x));
        let norm: f64 = squares.sum();
        if norm > f64::from(f32::MAX) {
            return Err("it is longer than 1.8e19, which cannot be squared: divide all vectors by one number".to_owned());
        }
        if norm == 0.0 && self == Metric::Cosine {
            return Err("all its numbers are 0, so it has no direction: leave it out, or compare by dot or l2".to_owned());
        }
        Ok(norm)
    }

    /// Gives a vector of that squared length the length that it is compared with: by cosine 1.
    pub fn scale(self, vector: &mut [f32], norm: f64) {
        if self == Metric::Cosine {
            let length = norm.sqrt();
            for x in vector {
                *x = (f64::from(*x) / length) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_column_may_have_is_named() {
        let [cosine, dot, l2] = Metric::ALL;
        let fault = |metric: Metric, vector: &[f32]| metric.check(vector, 3).unwrap_err();
        let told = fault(dot, &[1.0]);
        assert_eq!(
            told,
            "it has 1 numbers, the column has 3: take a vector by its model"
        );
        for (number, shown) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
            let told = fault(l2, &[0.0, 1.0, number]);
            assert!(
                told.starts_with(&format!("number 2 is {shown}: only finite")),
                "{told}"
            );
        }
        assert!(fault(dot, &[2e19, 0.0, 0.0]).contains("longer than"));
        assert!(fault(cosine, &[0.0, -0.0, 0.0]).contains("no direction"));
        assert_eq!(l2.check(&[0.0; 3], 3), Ok(0.0));
        assert_eq!(dot.check(&[3.0, 0.0, 4.0], 3), Ok(25.0));
        let mut vector = [3e-30, 0.0, 4e-30];
        let norm = cosine.check(&vector, 3).unwrap();
        cosine.scale(&mut vector, norm);
        assert_eq!(vector, [0.6, 0.0, 0.8]);
    }

    #[test]
    fn each_metric_has_its_name_and_number() {
        for metric in Metric::ALL {
            assert_eq!(Metric::from_name(metric.name()), Some(metric));
            assert_eq!(Metric::from_number(metric.number()), Some(metric));
        }
        assert_eq!(Metric::from_number(0), None);
        assert_eq!(Metric::from_name("euclid"), None);
    }
}
