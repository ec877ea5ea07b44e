//! The inverse of reading: an event back to the bytes of its record.

use wire::Event;

use crate::{template, vocabulary};

/// The body that the event came from, byte for byte. `None` when the shape keeps only part of its text, or is none of the
/// vocabulary's.
pub fn body(event: &Event) -> Option<Vec<u8>> {
    if event.shape == "wp.empty" {
        return Some(Vec::new());
    }
    let printed = vocabulary::row(&event.shape)?.template.print(&event.fields)?;
    template::apply(&printed, &event.spelling)
}

/// The record with its prefix, without a line end.
pub fn record(event: &Event) -> Option<Vec<u8>> {
    let mut line = match &event.time {
        Some(time) => format!("[{time}] [{}] ", event.level.in_file()),
        None => format!("{:>5} ", event.level.in_file().trim_end()),
    };
    if let Some(function) = &event.function {
        line.push('[');
        line.push_str(function);
        line.push_str("] ");
    }
    let mut line = line.into_bytes();
    line.extend(body(event)?);
    Some(line)
}
