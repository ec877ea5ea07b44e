//! Prints what the parser sees in a file, one JSON object a line, then the facts of the whole: `observe FILE`.

use std::io::Read;

fn main() -> std::io::Result<()> {
    let path = std::env::args_os().nth(1).ok_or_else(|| std::io::Error::other("expected a file to read"))?;
    let mut file = std::fs::File::open(path)?;
    let mut reader = parser::LogReader::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut print = |observation: wire::Observation| println!("{}", visible(&observation));
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        reader.feed(&chunk[..read], &mut print);
    }
    let facts = reader.finish(&mut print);
    println!("{}", visible(&facts));
    Ok(())
}

/// A log's text is hostile, and this goes to a terminal.
fn visible(value: &impl serde::Serialize) -> String {
    wire::cell::json(&serde_json::json!(value).to_string()).into_owned()
}
