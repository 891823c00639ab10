//! Diagrams (SmartArt) of Office Open XML: the texts of their points, each followed by those below it.

use std::collections::HashMap;

use crate::package::xml::{XmlEvent, XmlReader};
use crate::skip_reason::SkipReason;

#[derive(Debug, Default)]
struct Point {
    text: String,
    /// Points below it, with their order.
    below: Vec<(u32, usize)>,
    has_parent: bool,
}

/// The texts of the part that holds the data of a diagram, a point each. A point that no connection leads to comes in the
/// order of the file.
///
/// # Errors
/// As [`XmlReader::next`].
pub(crate) fn lines(part: &str) -> Result<Vec<String>, SkipReason> {
    let mut reader = XmlReader::new(part);
    let mut points: Vec<Point> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let (mut in_point, mut is_text) = (false, false);
    while let Some(event) = reader.next()? {
        match event {
            XmlEvent::Start(element) => match element.name() {
                "pt" => {
                    let id = element.reference("modelId").unwrap_or_default();
                    places.entry(id).or_insert(points.len());
                    points.push(Point::default());
                    in_point = true;
                }
                "t" if element.prefix() == "a" => is_text = in_point,
                "cxn" => {
                    let kind = element.attribute("type");
                    let place = |name| places.get(&element.reference(name)?).copied();
                    if matches!(kind.as_deref(), None | Some("parOf"))
                        && let (Some(above), Some(below)) = (place("srcId"), place("destId"))
                        && let Some(point) = points.get_mut(above)
                    {
                        let order = element.number("srcOrd").unwrap_or(0);
                        point.below.push((order, below));
                        if let Some(point) = points.get_mut(below) {
                            point.has_parent = true;
                        }
                    }
                }
                _ => {}
            },
            XmlEvent::End(end) => match end.name() {
                "pt" => in_point = false,
                "t" => is_text = false,
                "p" | "br" => push(points.last_mut().filter(|_| in_point), "\n"),
                _ => {}
            },
            XmlEvent::Text(text) if is_text => push(points.last_mut(), &text),
            XmlEvent::Text(_) => {}
        }
    }
    Ok(in_order(points))
}

fn push(point: Option<&mut Point>, text: &str) {
    if let Some(point) = point {
        point.text.push_str(text);
    }
}

/// Each point once, whatever leads to it.
fn in_order(mut points: Vec<Point>) -> Vec<String> {
    let roots = (0..points.len()).filter(|at| points.get(*at).is_some_and(|it| !it.has_parent));
    let mut waiting: Vec<usize> = roots.collect();
    // What is in a circle has no root.
    waiting.extend(0..points.len());
    waiting.reverse();
    let mut texts = Vec::new();
    while let Some(at) = waiting.pop() {
        let Some(point) = points.get_mut(at) else {
            continue;
        };
        let text = std::mem::take(&mut point.text);
        let text = text.trim();
        if !text.is_empty() {
            texts.push(text.to_owned());
        }
        let mut below = std::mem::take(&mut point.below);
        below.sort_by_key(|(order, _)| std::cmp::Reverse(*order));
        waiting.extend(below.into_iter().map(|(_, at)| at));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn points_come_in_the_order_of_their_connections() {
        let point = |id: u32, text: &str| {
            format!(
                "<dgm:pt modelId='{id}'><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>"
            )
        };
        let connection = |from: u32, to: u32, order: u32| {
            format!("<dgm:cxn srcId='{from}' destId='{to}' srcOrd='{order}'/>")
        };
        let part = |points: &[String], connections: &[String]| {
            format!(
                "<dgm:dataModel><dgm:ptLst><dgm:pt modelId='0' type='doc'/>{}</dgm:ptLst><dgm:cxnLst>{}</dgm:cxnLst></dgm:dataModel>",
                points.concat(),
                connections.concat()
            )
        };
        let points = [
            point(3, "Sow"),
            point(1, "Reap"),
            point(2, "Wait"),
            point(4, "dry"),
        ];
        let connections = [
            connection(0, 3, 0),
            connection(0, 1, 2),
            connection(0, 2, 1),
            connection(3, 4, 0),
            "<dgm:cxn type='presOf' srcId='1' destId='4'/>".to_owned(),
        ];
        let ordered = lines(&part(&points, &connections)).unwrap();
        assert_eq!(ordered, ["Sow", "dry", "Wait", "Reap"]);
        // In circles, and to nothing.
        let connections = [
            connection(3, 1, 0),
            connection(1, 3, 0),
            connection(3, 3, 0),
            connection(9, 1, 0),
        ];
        let all = lines(&part(&points, &connections)).unwrap();
        assert_eq!(all.len(), 4);
    }
}
