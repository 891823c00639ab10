//! What a tool is: its definition, which clients read, and the function that runs it.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::arguments::{Arguments, JoinedList, OtherSystem, Signature};
use super::context::{Call, Context};
use super::{schema, stale};
use crate::response::{Object, ToolError, ToolResponse, object};

/// A tool. Its doc comment is for developers, its constants for models.
pub(in crate::tools) trait Tool {
    /// The name that clients call it by.
    const NAME: &'static str;
    /// The name that hosts show to people.
    const TITLE: &'static str;
    /// What it does and when to use it; at most 1024 characters.
    const DESCRIPTION: &'static str;
    /// What it may change.
    const EFFECT: Effect = Effect::Reads;
    /// Other names that are taken for an argument: the alias, then the name (`object.field` for a field).
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
    /// A system whose spellings bring other defaults.
    const OTHER_SYSTEM: Option<OtherSystem> = None;
    /// Texts that may also come as a list of texts.
    const JOINED_LISTS: &'static [JoinedList] = &[];
    /// Characters of a result that Claude Code passes on whole, where its default is too low.
    const MAX_RESULT_CHARACTERS: Option<u32> = None;

    /// The parameters; the published `inputSchema` is derived from them.
    type Params: DeserializeOwned + JsonSchema;
    /// The structured form of a result; the published `outputSchema` is derived from it.
    type Output: JsonSchema;

    /// Answers a call whose arguments were read and are within the published limits.
    fn run(cx: &Context<'_>, params: &Self::Params) -> Result<ToolResponse, ToolError>;
}

/// What a tool may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) enum Effect {
    /// Nothing.
    Reads,
    /// It adds, and replaces what it added before.
    Adds,
    /// It may replace or delete what others added.
    Replaces,
}

/// A tool in the table of tools.
#[derive(Debug, Clone, Copy)]
pub(in crate::tools) struct Entry {
    define: fn() -> Definition,
}

impl Entry {
    pub(in crate::tools) const fn of<T: Tool>() -> Entry {
        Entry {
            define: define::<T>,
        }
    }

    /// Derives the schemas, so it is done once.
    pub(in crate::tools) fn define(self) -> Definition {
        (self.define)()
    }
}

/// A tool with its derived schemas.
#[derive(Debug)]
pub(in crate::tools) struct Definition {
    pub(in crate::tools) effect: Effect,
    /// What is published, as an item of `tools/list`.
    pub(in crate::tools) published: Object,
    signature: Signature,
    run: fn(&Call<'_>, Arguments) -> Result<ToolResponse, ToolError>,
}

impl Definition {
    pub(in crate::tools) fn name(&self) -> &'static str {
        self.signature.tool
    }

    /// Reads the arguments of a call, and answers it.
    pub(in crate::tools) fn answer(&self, call: &mut Call<'_>) -> Result<ToolResponse, ToolError> {
        let given = std::mem::take(&mut call.arguments);
        (self.run)(call, Arguments::read(&self.signature, given)?)
    }

    /// How its arguments are read.
    #[cfg(test)]
    pub(in crate::tools) fn signature(&self) -> &Signature {
        &self.signature
    }
}

fn define<T: Tool>() -> Definition {
    let input = schema::of_params::<T::Params>();
    let published = object(json!({
        "name": T::NAME,
        "title": T::TITLE,
        "description": T::DESCRIPTION,
        "inputSchema": input,
        "outputSchema": schema::of_result::<T::Output>(),
        "annotations": {
            "readOnlyHint": T::EFFECT == Effect::Reads,
            "destructiveHint": T::EFFECT == Effect::Replaces,
            "idempotentHint": true,
            "openWorldHint": false,
        },
        "_meta": T::MAX_RESULT_CHARACTERS.map(|most| json!({"anthropic/maxResultSizeChars": most})),
    }));
    Definition {
        effect: T::EFFECT,
        published,
        signature: Signature::new(
            T::NAME,
            &input,
            T::ALIASES,
            T::OTHER_SYSTEM,
            T::JOINED_LISTS,
            T::EFFECT != Effect::Reads,
        ),
        run: run::<T>,
    }
}

fn run<T: Tool>(call: &Call<'_>, arguments: Arguments) -> Result<ToolResponse, ToolError> {
    let (params, read) = arguments.params::<T::Params>()?;
    let cx = Context {
        indexes: call.indexes,
        may_write: call.may_write,
        cancel: call.cancel,
        progress: call.progress,
        warnings: read.warnings,
        spelled: read.spelled,
        first: read.first,
        cursor: read.cursor,
    };
    T::run(&cx, &params).map_err(|error| stale::explain(call.indexes, error))
}
