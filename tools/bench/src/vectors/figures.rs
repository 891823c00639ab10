//! What one run found: plain data, and its JSON.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::sets::Data;
use crate::peers::results::Outcome;

/// Shares of the true ten that a setting is looked for.
pub(crate) const TARGETS: [f64; 3] = [0.90, 0.95, 0.99];

/// Everything of one run.
pub(crate) struct Figures {
    pub(crate) date: String,
    pub(crate) machine: String,
    pub(crate) commit: String,
    pub(crate) command: String,
    /// Processes that waited for a core before the run began, as the system counts them.
    pub(crate) load: String,
    /// Whether each timed process was kept to one core.
    pub(crate) pinned: bool,
    /// Processes of the last column of the tables.
    pub(crate) together: usize,
    pub(crate) sets: Vec<SetFigures>,
}

/// All systems on one set.
pub(crate) struct SetFigures {
    pub(crate) data: Data,
    pub(crate) systems: Vec<Outcome<Measured>>,
}

/// The figures of one system.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Measured {
    pub(crate) version: String,
    pub(crate) build: Build,
    pub(crate) cold: Cold,
    /// All settings, in the order of the system.
    pub(crate) points: Vec<Point>,
    /// By target; none where no setting reaches it.
    pub(crate) reached: Vec<Option<Reached>>,
}

/// What building took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Build {
    pub(crate) wall_seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_private_bytes: u64,
    pub(crate) disk_bytes: u64,
}

/// A fresh process, nothing of the index in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cold {
    pub(crate) setting: String,
    /// Medians over some processes.
    pub(crate) open_us: f64,
    pub(crate) first_us: f64,
    /// Private memory before the index is opened, and after some queries.
    pub(crate) start_private_bytes: u64,
    pub(crate) private_bytes: u64,
}

/// One setting.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Point {
    pub(crate) setting: String,
    pub(crate) recall: f64,
    /// Queries that recall is of.
    pub(crate) queries: usize,
    pub(crate) p50_us: f64,
    pub(crate) p95_us: f64,
    pub(crate) mean_us: f64,
    /// Processor time of a query, of all threads.
    pub(crate) cpu_us: f64,
}

/// The fastest setting that reaches a target.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Reached {
    /// Its place among the settings.
    pub(crate) point: usize,
    /// Queries a second of one process.
    pub(crate) alone: f64,
    /// The same of several at once, where there are cores for them.
    pub(crate) together: Option<f64>,
}

impl Build {
    /// From the answer of a system and what was seen from outside.
    pub(crate) fn from_json(value: &Value, peak_private_bytes: u64) -> Result<Build> {
        Ok(Build {
            wall_seconds: value["wall_seconds"].as_f64().context("no time")?,
            cpu_seconds: value["cpu_seconds"].as_f64().context("no time")?,
            peak_private_bytes,
            disk_bytes: value["disk_bytes"].as_u64().context("no size on disk")?,
        })
    }
}

impl Point {
    /// From the answer of a system; its recall is told by the caller.
    pub(crate) fn from_json(value: &Value, recall: f64, queries: usize) -> Result<Point> {
        let micros = |name: &str| value[name].as_f64().context("a setting without times");
        Ok(Point {
            setting: value["setting"].as_str().context("no name")?.to_owned(),
            recall,
            queries,
            p50_us: micros("p50_us")?,
            p95_us: micros("p95_us")?,
            mean_us: micros("mean_us")?,
            cpu_us: micros("cpu_us")?,
        })
    }

    /// Queries a second, one after the other, by the median: other work on the machine moves the mean.
    pub(crate) fn rate(&self) -> f64 {
        1e6 / self.p50_us
    }

    fn to_json(&self) -> Value {
        json!({
            "setting": self.setting, "recall_at_10": self.recall, "queries": self.queries,
            "p50_us": self.p50_us, "p95_us": self.p95_us, "mean_us": self.mean_us,
            "cpu_us": self.cpu_us,
        })
    }
}

/// The fastest setting that reaches the target.
pub(crate) fn fastest(points: &[Point], target: f64) -> Option<usize> {
    let reaching = points.iter().enumerate();
    let reaching = reaching.filter(|(_, point)| point.recall >= target);
    let fastest = reaching.min_by(|(_, a), (_, b)| a.p50_us.total_cmp(&b.p50_us));
    fastest.map(|(place, _)| place)
}

impl Measured {
    /// The setting with the most recall.
    pub(crate) fn best(&self) -> Option<&Point> {
        let by_recall = |a: &&Point, b: &&Point| a.recall.total_cmp(&b.recall);
        self.points.iter().max_by(by_recall)
    }

    fn to_json(&self) -> Value {
        let reached = TARGETS.iter().zip(&self.reached).map(|(target, reached)| {
            reached.map(|reached| {
                json!({
                    "target": target,
                    "setting": self.points.get(reached.point).map(|point| &point.setting),
                    "queries_a_second": reached.alone,
                    "queries_a_second_together": reached.together,
                })
            })
        });
        json!({
            "version": self.version,
            "build": {
                "wall_seconds": self.build.wall_seconds,
                "cpu_seconds": self.build.cpu_seconds,
                "peak_private_bytes": self.build.peak_private_bytes,
            },
            "disk_bytes": self.build.disk_bytes,
            "cold": {
                "setting": self.cold.setting,
                "open_us": self.cold.open_us,
                "first_us": self.cold.first_us,
            },
            "start_private_bytes": self.cold.start_private_bytes,
            "private_bytes": self.cold.private_bytes,
            "points": self.points.iter().map(Point::to_json).collect::<Vec<_>>(),
            "reached": reached.collect::<Vec<_>>(),
        })
    }
}

impl SetFigures {
    fn to_json(&self) -> Value {
        let systems = self.systems.iter();
        let systems = systems.map(|one| one.to_json(Measured::to_json));
        json!({
            "name": self.data.name,
            "source": self.data.source,
            "rows": self.data.rows,
            "dim": self.data.dim,
            "queries": self.data.queries,
            "systems": systems.collect::<Vec<_>>(),
        })
    }
}

impl Figures {
    /// All of it as one object.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "date": self.date,
            "machine": self.machine,
            "commit": self.commit,
            "command": self.command,
            "load_before": self.load,
            "one_core": self.pinned,
            "processes_together": self.together,
            "sets": self.sets.iter().map(SetFigures::to_json).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_setting_that_reaches_a_target_is_taken() {
        let point = |recall: f64, p50_us: f64| Point {
            recall,
            p50_us,
            ..Point::default()
        };
        let points = [
            point(0.8, 10.0),
            point(0.93, 40.0),
            point(0.91, 30.0),
            point(0.97, 50.0),
        ];
        assert_eq!(fastest(&points, 0.90), Some(2));
        assert_eq!(fastest(&points, 0.95), Some(3));
        assert_eq!(fastest(&points, 0.99), None);
    }
}
