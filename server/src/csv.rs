//! An answer's rows as CSV for a spreadsheet. The columns are the keys of the JSON, those of inner objects behind the outer
//! key (`split_engaged`); what cells may not do is decided in `wire::cell`.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;

/// The rows with a header, the columns in `first` in front; nothing when there is no row.
///
/// # Errors
/// When a row is no JSON.
pub fn answer<T: Serialize>(rows: &[T], first: &[&str]) -> Result<Response, Error> {
    Ok(([(CONTENT_TYPE, "text/csv; charset=utf-8")], text(rows, first)?).into_response())
}

fn text<T: Serialize>(rows: &[T], first: &[&str]) -> Result<String, Error> {
    let mut writer = csv::WriterBuilder::new().flexible(true).terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    for (number, row) in rows.iter().enumerate() {
        let row = serde_json::to_value(row).map_err(|error| Error::Internal(error.into()))?;
        let mut cells = Vec::new();
        flatten("", &row, &mut cells);
        cells.sort_by_key(|(name, _)| first.iter().position(|first| first == name).unwrap_or(usize::MAX));
        if number == 0 {
            writer.write_record(cells.iter().map(|(name, _)| name)).map_err(|error| Error::Internal(error.into()))?;
        }
        writer.write_record(cells.iter().map(|(_, cell)| cell)).map_err(|error| Error::Internal(error.into()))?;
    }
    let bytes = writer.into_inner().map_err(|error| Error::Internal(error.into_error().into()))?;
    String::from_utf8(bytes).map_err(|error| Error::Internal(error.into()))
}

fn flatten(name: &str, value: &Value, cells: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                // What a group is of are columns by their own names.
                let inner = if name.is_empty() || name == "key" { key.clone() } else { format!("{name}_{key}") };
                flatten(&inner, value, cells);
            }
        }
        Value::Null => cells.push((name.to_owned(), String::new())),
        Value::String(text) => cells.push((name.to_owned(), wire::cell::csv(text).into_owned())),
        // Numbers, which may start with a minus, and lists of them.
        other => cells.push((name.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_flat_and_their_cells_harmless() {
        let rows = [
            json!({"key": {"exe": "=1+1"}, "logs": 2, "split": {"engaged": 1, "off": null}, "share": -0.5}),
            json!({"key": {"exe": "a, \"b\""}, "logs": 3, "split": {"engaged": 0, "off": 3}, "share": 0.5}),
        ];
        let expected = "logs,exe,share,split_engaged,split_off\r\n2,'=1+1,-0.5,1,\r\n3,\"a, \"\"b\"\"\",0.5,0,3\r\n";
        assert_eq!(text(&rows, &["logs"]).ok().as_deref(), Some(expected));
        assert_eq!(text::<Value>(&[], &[]).ok().as_deref(), Some(""));
    }
}
