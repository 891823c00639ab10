//! What one run found: plain data, and its JSON.

use serde_json::{Value, json};

use super::facet::Facet;
use crate::peers::results::Outcome;

/// Modes in the order of the tables.
pub(crate) const MODES: [&str; 3] = ["keyword", "semantic", "hybrid"];

/// Everything of one run.
pub(crate) struct Figures {
    pub(crate) date: String,
    pub(crate) machine: String,
    pub(crate) commit: String,
    pub(crate) command: String,
    pub(crate) corpus: String,
    pub(crate) chunks: usize,
    pub(crate) text_bytes: u64,
    pub(crate) dim: usize,
    pub(crate) queries: usize,
    /// Whether each timed process was kept to one core.
    pub(crate) pinned: bool,
    pub(crate) facets: Vec<Facet>,
    pub(crate) systems: Vec<Outcome<Measured>>,
}

/// The figures of one system.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Measured {
    pub(crate) version: String,
    /// The mode of the first answer.
    pub(crate) mode: &'static str,
    pub(crate) build_seconds: Option<f64>,
    pub(crate) disk_bytes: u64,
    /// Median microseconds to open and answer once, counted inside a fresh process.
    pub(crate) first_us: f64,
    /// The same with start and end of the process.
    pub(crate) process_us: f64,
    /// Private memory before the index is opened: the language and its libraries.
    pub(crate) start_private_bytes: u64,
    /// Private memory after all questions.
    pub(crate) private_bytes: u64,
    /// Pages of files that only this process has mapped; the system may drop them.
    pub(crate) mapped_bytes: u64,
    pub(crate) cells: Vec<Cell>,
    /// Recall@10 by filter, none first.
    pub(crate) recall: Vec<Option<f64>>,
    /// Microseconds for 16 queries at once, where the system has that.
    pub(crate) batch: Option<Times>,
}

/// Times of one mode with one filter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) mode: String,
    pub(crate) filter: Option<String>,
    pub(crate) times: Times,
}

/// Microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Times {
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) mean: f64,
    pub(crate) runs: u64,
}

impl Times {
    pub(crate) fn from_json(value: &Value) -> Option<Times> {
        Some(Times {
            p50: value["p50_us"].as_f64()?,
            p95: value["p95_us"].as_f64()?,
            mean: value["mean_us"].as_f64()?,
            runs: value["runs"].as_u64()?,
        })
    }

    fn to_json(self) -> Value {
        json!({
            "p50_us": self.p50, "p95_us": self.p95, "mean_us": self.mean, "runs": self.runs,
        })
    }
}

impl Measured {
    /// Times of a mode with a filter.
    pub(crate) fn times(&self, mode: &str, filter: Option<&str>) -> Option<Times> {
        let found = |cell: &&Cell| cell.mode == mode && cell.filter.as_deref() == filter;
        self.cells.iter().find(found).map(|cell| cell.times)
    }

    fn to_json(&self) -> Value {
        let cells = self.cells.iter().map(|cell| {
            let mut value = cell.times.to_json();
            value["mode"] = cell.mode.clone().into();
            value["filter"] = cell.filter.clone().into();
            value
        });
        json!({
            "version": self.version,
            "build_seconds": self.build_seconds,
            "disk_bytes": self.disk_bytes,
            "first_mode": self.mode,
            "first_us": self.first_us,
            "process_us": self.process_us,
            "start_private_bytes": self.start_private_bytes,
            "private_bytes": self.private_bytes,
            "mapped_bytes": self.mapped_bytes,
            "cells": cells.collect::<Vec<_>>(),
            "recall_at_10": self.recall,
            "batch_of_16": self.batch.map(Times::to_json),
        })
    }
}

impl Figures {
    /// All of it as one object.
    pub(crate) fn to_json(&self) -> Value {
        let systems = self.systems.iter();
        let systems = systems.map(|one| one.to_json(Measured::to_json));
        json!({
            "date": self.date,
            "machine": self.machine,
            "commit": self.commit,
            "command": self.command,
            "corpus": self.corpus,
            "chunks": self.chunks,
            "text_bytes": self.text_bytes,
            "dim": self.dim,
            "queries": self.queries,
            "one_core": self.pinned,
            "filters": self.facets.iter().map(Facet::to_json).collect::<Vec<_>>(),
            "systems": systems.collect::<Vec<_>>(),
        })
    }
}
