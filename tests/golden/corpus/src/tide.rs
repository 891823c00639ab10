//! Tide tables from harmonic constituents.

use std::f64::consts::TAU;

/// One harmonic constituent of the tide.
#[derive(Debug, Clone, Copy)]
pub struct Constituent {
    /// Amplitude in metres.
    pub amplitude: f64,
    /// Period in hours.
    pub period: f64,
    /// Phase in radians.
    pub phase: f64,
}

/// Height of the water in metres above chart datum.
pub fn water_level(constituents: &[Constituent], hours: f64) -> f64 {
    constituents
        .iter()
        .map(|part| part.amplitude * (TAU * hours / part.period + part.phase).cos())
        .sum()
}

/// Hours until the next high water after `from`, by bisection of the slope.
pub fn next_high_water(constituents: &[Constituent], from: f64) -> f64 {
    let step = 0.1;
    let mut hours = from;
    while water_level(constituents, hours + step) <= water_level(constituents, hours) {
        hours += step;
    }
    while water_level(constituents, hours + step) > water_level(constituents, hours) {
        hours += step;
    }
    hours - from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lunar_tide_peaks_after_one_period() {
        let moon = Constituent { amplitude: 1.5, period: 12.42, phase: 0.0 };
        assert!((next_high_water(&[moon], 0.5) - 11.92).abs() < 0.2);
    }
}
