//! Reads a stream of server-sent events (HTML Standard, section 9.2.6), as far as MCP uses them.

/// Longest event, in bytes.
const EVENT_LIMIT: usize = 64 << 20;

/// One event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Its data; lines are joined by line feeds.
    pub(super) data: String,
    /// The id of the stream at this point, with which it can be resumed.
    pub(super) id: Option<String>,
}

/// Splits a stream into events as its bytes arrive.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    /// Bytes of a line that has no end yet.
    line: Vec<u8>,
    /// Whether the last line ended in a carriage return, whose line feed may be still to come.
    after_return: bool,
    data: Option<String>,
    id: Option<String>,
}

/// An event is longer than [`EVENT_LIMIT`].
#[derive(Debug)]
pub(super) struct TooLong;

impl EventReader {
    /// Takes the next bytes; gives the events that they end.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        for byte in bytes {
            let is_second = self.after_return && *byte == b'\n';
            self.after_return = *byte == b'\r';
            match byte {
                _ if is_second => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(*byte),
            }
        }
        let length = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if length > EVENT_LIMIT {
            return Err(TooLong);
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = self.data.take()?;
            let id = self.id.clone();
            return Some(Event { data, id });
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            // Comments keep the connection alive; MCP has no use for other fields.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(data: &str, id: Option<&str>) -> Event {
        Event {
            data: data.to_owned(),
            id: id.map(str::to_owned),
        }
    }

    #[test]
    fn events_are_the_same_however_their_bytes_arrive() {
        let stream = "\u{feff}: hello\n\ndata: {\"a\":1}\n\nid: 7\ndata:x\r\ndata: y\r\n\r\nid\n\
                      retry: 3\n\ndata\n\ndata: end";
        let expected = [
            event("{\"a\":1}", None),
            event("x\ny", Some("7")),
            event("", Some("")),
        ];
        for size in 1..stream.len() {
            let mut reader = EventReader::default();
            let parts = stream.as_bytes().chunks(size);
            let events: Vec<Event> = parts.flat_map(|part| reader.feed(part).unwrap()).collect();
            assert_eq!(events, expected, "{size}");
        }
    }

    #[test]
    fn an_event_that_does_not_end_is_refused() {
        let mut reader = EventReader::default();
        let part = vec![b'x'; 1 << 20];
        let fed = (0..80).find(|_| reader.feed(&part).is_err());
        assert_eq!(fed, Some(64));
    }
}
