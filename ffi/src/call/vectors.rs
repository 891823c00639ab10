//! Vectors of other models: the rows of an import.

use kb_engine::{Metric, NewVectors, VectorCodec, VectorTarget};
use serde_json::{Map, Value};

use crate::base::fault::Fault;
use crate::call::arguments::{Arguments, numbers_of};

/// Arguments of "import_vectors".
pub(crate) const IMPORT: &[&str] = &[
    "name", "rows", "model", "metric", "codec", "default", "replace",
];

/// A vector and its chunk.
pub(crate) type Row = (VectorTarget, Vec<f32>);

/// The column, and what comes into it.
pub(crate) fn import(arguments: &mut Arguments) -> Result<(NewVectors, Vec<Row>), Fault> {
    let codecs = [VectorCodec::I8, VectorCodec::I4];
    let codec = |name: &str| codecs.into_iter().find(|codec| codec.name() == name);
    let codec = arguments.named("codec", codec, &codecs.map(VectorCodec::name))?;
    let metric = arguments.named("metric", Metric::from_name, &Metric::ALL.map(Metric::name))?;
    let mut column = NewVectors::new(arguments.required("name")?)
        .model(arguments.text("model")?.unwrap_or_default())
        .make_default(arguments.flag("default")?)
        .replace(arguments.flag("replace")?);
    column.codec = codec.into_iter().next_back().unwrap_or(column.codec);
    column.metric = metric.into_iter().next_back().unwrap_or(column.metric);
    let rows = arguments.array("rows")?;
    let rows = rows.into_iter().enumerate().map(|(number, row)| {
        let read = match row {
            Value::Array(_) => {
                numbers_of(&row).map(|it| (VectorTarget::Position(number as u64), it))
            }
            Value::Object(row) => named(&row),
            _ => Err("it is neither an object nor an array of numbers".to_owned()),
        };
        read.map_err(|reason| Fault::argument("rows", &format!("row {number}: {reason}")))
    });
    Ok((column, rows.collect::<Result<_, Fault>>()?))
}

/// A row that names its chunk.
fn named(row: &Map<String, Value>) -> Result<Row, String> {
    let known = ["document", "chunk", "span", "lines", "vector"];
    if let Some(unknown) = row.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(format!(
            "it has {unknown:?}; allowed are {}",
            known.join(", ")
        ));
    }
    let document = row.get("document").and_then(Value::as_str);
    let document = document
        .ok_or("`document` is missing, or no string")?
        .to_owned();
    let vector = numbers_of(row.get("vector").unwrap_or(&Value::Null))?;
    let given = |name: &str| row.get(name).filter(|value| !value.is_null());
    let target = match (given("chunk"), given("span"), given("lines")) {
        (None, None, None) => VectorTarget::Document(document),
        (Some(chunk), None, None) => VectorTarget::Chunk {
            document,
            index: whole(chunk).ok_or("`chunk` is no number of a chunk")?,
        },
        (None, Some(span), None) => {
            let (start, end) = pair(span).ok_or("`span` is not [start, end] in bytes")?;
            VectorTarget::Span {
                document,
                start,
                end,
            }
        }
        (None, None, Some(lines)) => {
            let (first, last) = pair(lines).ok_or("`lines` is not [first, last]")?;
            VectorTarget::Lines {
                document,
                first,
                last,
            }
        }
        _ => return Err("`chunk`, `span` and `lines` exclude each other".to_owned()),
    };
    Ok((target, vector))
}

fn whole(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn pair(value: &Value) -> Option<(u32, u32)> {
    match value.as_array()?.as_slice() {
        [first, second] => Some((whole(first)?, whole(second)?)),
        _ => None,
    }
}
