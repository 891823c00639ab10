//! Errors of calls: those of the engine, and those found before the engine is called.

use std::any::Any;

use kb_engine::Error;

use crate::base::panic::drop_quietly;
use crate::base::status::kb_status;

/// Why a call fails.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The engine refused or failed.
    Engine(Error),
    /// The boundary did.
    Own {
        status: kb_status,
        message: String,
        hint: Option<&'static str>,
    },
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Engine(error)
    }
}

impl Fault {
    /// An argument that the engine would not see.
    pub(crate) fn argument(name: &str, reason: &str) -> Fault {
        Fault::Own {
            status: kb_status::InvalidArgument,
            message: format!("{name}: {reason}"),
            hint: None,
        }
    }

    /// A handle that a call has at present.
    pub(crate) fn in_use(name: &str) -> Fault {
        Fault::Own {
            status: kb_status::InUse,
            message: format!("this {name} is in use by another call"),
            hint: Some(
                "wait for that call to return; a callback may not use the handle that called it",
            ),
        }
    }

    /// What this build of the library lacks.
    #[cfg_attr(feature = "write", allow(dead_code))]
    pub(crate) fn not_built(what: &str, feature: &'static str) -> Fault {
        Fault::Own {
            status: kb_status::NotBuilt,
            message: format!("this build of libkb has no {what}"),
            hint: Some(feature),
        }
    }

    /// A defect of this library.
    pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> Fault {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned());
        drop_quietly(payload);
        Fault::Own {
            status: kb_status::Panic,
            message: format!(
                "libkb failed: {}",
                text.as_deref().unwrap_or("for a reason without words")
            ),
            hint: Some("a defect of libkb, please report it; close the handle that was used"),
        }
    }

    /// The number of its kind.
    pub(crate) fn status(&self) -> kb_status {
        match self {
            Fault::Engine(error) => kb_status::of_code(error.code()),
            Fault::Own { status, .. } => *status,
        }
    }
}
