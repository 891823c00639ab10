//! Reads the answer of a service. It may be cut off, too long, in another order, or of another shape.

use serde::Deserialize;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Refusal {
    error: Fault,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Fault {
    Text(String),
    Object {
        message: Option<String>,
        code: Option<serde_json::Value>,
    },
}

/// The vectors of `texts` texts, in their order; an error says what is wrong with the answer.
pub(super) fn vectors(
    body: &[u8],
    texts: usize,
    dimension: Option<u32>,
) -> Result<Vec<f32>, String> {
    let answer: Answer = serde_json::from_slice(body)
        .map_err(|error| format!("an answer without vectors: {error}"))?;
    if answer.data.len() != texts {
        return Err(format!("{} vectors for {texts} texts", answer.data.len()));
    }
    let mut ordered: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (place, row) in answer.data.into_iter().enumerate() {
        let index = row.index.unwrap_or(place);
        match ordered.get_mut(index) {
            Some(slot @ None) => *slot = Some(row.embedding),
            Some(Some(_)) => return Err(format!("two vectors for the text {index}")),
            None => return Err(format!("a vector for the text {index} of {texts}")),
        }
    }
    let rows: Vec<Vec<f32>> = ordered.into_iter().flatten().collect();
    let first = rows.first().map_or(0, Vec::len);
    let expected = dimension.map_or(first, |dimension| dimension as usize);
    if let Some(row) = rows.iter().find(|row| row.len() != expected) {
        return Err(format!(
            "a vector has {} numbers, and the model has {expected} dimensions",
            row.len()
        ));
    }
    let vectors = rows.concat();
    if vectors.iter().all(|number| number.is_finite()) {
        Ok(vectors)
    } else {
        Err("a vector has a number that is not finite".to_owned())
    }
}

/// What a service says about an error, and whether it is about money: then asking again does not help.
pub(super) fn refusal(body: &[u8]) -> (String, bool) {
    let (text, code) = match serde_json::from_slice(body) {
        Ok(Refusal {
            error: Fault::Text(text),
        }) => (text, None),
        Ok(Refusal {
            error: Fault::Object { message, code },
        }) => (message.unwrap_or_default(), code),
        Err(_) => (String::from_utf8_lossy(body).into_owned(), None),
    };
    let is_final = code.is_some_and(|code| code == "insufficient_quota");
    let visible = text.chars().filter(|character| !character.is_control());
    (visible.take(300).collect(), is_final)
}
