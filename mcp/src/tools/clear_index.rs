//! `clear_index`: deletes everything in a knowledge base.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::context::Context;
use super::call::tool::{Effect, Tool};
use crate::limits::NAME_LIMIT;
use crate::response::{Text, ToolError, ToolResponse, Warnings};

pub(super) struct ClearIndex;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ClearIndexParams {
    /// See list_indexes.
    #[schemars(length(max = NAME_LIMIT))]
    index_name: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Cleared {
    success: bool,
    message: String,
    warnings: Option<Warnings>,
}

impl Tool for ClearIndex {
    const NAME: &'static str = "clear_index";
    const TITLE: &'static str = "Clear an index";
    const DESCRIPTION: &'static str =
        "Permanently delete all indexed data of one knowledge base. Cannot be undone.";
    const EFFECT: Effect = Effect::Replaces;

    type Params = ClearIndexParams;
    type Output = Cleared;

    fn run(cx: &Context<'_>, params: &ClearIndexParams) -> Result<ToolResponse, ToolError> {
        let index = cx.indexes.named(&params.index_name)?;
        index.write_unless(cx.cancel, |writer| writer.clear())?;
        cx.indexes.committed();
        let message = format!("Index '{}' cleared successfully", index.name());
        let mut text = Text::new();
        text.line(&message);
        let result = Cleared {
            success: true,
            message,
            warnings: Warnings::of(cx.warnings.clone()),
        };
        Ok(ToolResponse::new(&result, text.end()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use serde_json::json;

    use crate::tools::testing::Fixture;

    #[test]
    fn clearing_keeps_name_and_id() {
        let fixture = Fixture::guides();
        let before = fixture.answer("list_indexes", json!({})).structured["indexes"][0].clone();
        let answer = fixture.answer("clear_index", json!({"index_name": "guides"}));
        assert_eq!(answer.text, "Index 'guides' cleared successfully");
        let after = fixture.answer("list_indexes", json!({})).structured["indexes"][0].clone();
        assert_eq!(
            (&before["documents"], &after["documents"]),
            (&json!(9), &json!(0))
        );
        assert_eq!(before["id"], after["id"]);
        fixture.answer(
            "upload_document",
            json!({"fileName": "a.md", "content": "walrus"}),
        );
        let found = fixture.answer("search", json!({"query": "walrus"}));
        assert_eq!(
            found.structured["data"]["results"][0]["document_id"],
            "a.md"
        );
    }

    #[test]
    fn a_call_cancelled_while_it_waits_clears_nothing() {
        let fixture = Fixture::guides();
        let index = fixture.index();
        let cancel = Arc::new(AtomicBool::new(false));
        let error = std::thread::scope(|scope| {
            let (holding, waits) = std::sync::mpsc::channel();
            let (indexes, index, flag) = (&fixture.indexes, &index, &cancel);
            scope.spawn(move || {
                let hold = |_: &mut kb_engine::KbWriter| {
                    holding.send(()).unwrap();
                    std::thread::sleep(Duration::from_millis(150));
                    flag.store(true, Ordering::Relaxed);
                    Ok(())
                };
                index.write(hold).unwrap();
            });
            waits.recv().unwrap();
            crate::tools::dispatch(crate::tools::Call {
                indexes,
                name: "clear_index",
                arguments: crate::response::object(json!({"index_name": "guides"})),
                may_write: true,
                cancel: &cancel,
                progress: &|_, _| {},
            })
        });
        assert_eq!(error.unwrap_err().code, "CANCELLED");
        assert_eq!(index.kb().state().unwrap().documents, 9);
    }

    #[test]
    fn a_read_only_server_refuses_writes() {
        let fixture = Fixture::of(&[("a", &[("a.md", "one")])], false);
        for (tool, given) in [
            ("clear_index", json!({"index_name": "a"})),
            (
                "upload_document",
                json!({"fileName": "b.md", "content": "b"}),
            ),
            ("index_codebase", json!({"path": "/"})),
        ] {
            assert_eq!(fixture.error(tool, given).code, "INDEX_READ_ONLY");
        }
        assert_eq!(
            fixture.answer("index_stats", json!({})).structured["file_count"],
            1
        );
    }
}
