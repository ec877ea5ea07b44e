//! Writes the pages with made-up data into a folder, for looking at: `cargo run -p dashboards --example preview -- FOLDER`.
//! Serve the folder (`python3 -m http.server`), because pages refer to `/static/…`.

use std::error::Error;
use std::path::Path;

use dashboards::{Account, ErrorPage, Frame, Query, SignInPage, statics};

#[path = "../tests/sample/mod.rs"]
#[expect(dead_code, reason = "tests use the rest")]
mod sample;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder to write to")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder.join("static"))?;
    for file in statics::ALL {
        std::fs::write(folder.join(file.path().trim_start_matches('/')), file.bytes)?;
    }

    let mut fleet = sample::fleet();
    fleet.frame.account = Some(Account { name: "Ann, QA".to_owned(), csrf: "0".repeat(64) });
    let logs = sample::logs();
    let mut list = sample::list(&logs[23..34], Query::parse("crossing=every_present&path=d3d12&path=vulkan&cursor=x"));
    list.selection.whole = fleet.selection.whole;
    list.next_cursor = Some("opaque".to_owned());
    let mut nothing = sample::page(&[], Query::parse("exe=NoSuchViewer.exe"));
    nothing.selection.whole = fleet.selection.whole;
    let error = ErrorPage {
        frame: Frame::default(),
        status: 503,
        happened: "The database does not answer".to_owned(),
        safe: "Everything that was acknowledged is stored. Agents keep what is not, and send it again.".to_owned(),
        next_step: "Look at the server's own log, and load this page again when the database is back.".to_owned(),
        allowed: String::new(),
        ways: Vec::new(),
    };
    let mut sign_in =
        SignInPage { frame: Frame::default(), back: "/".to_owned(), complaint: String::new(), needs_tls: true };
    let first = sign_in.render()?;
    "This is not a valid token. It may have been revoked, or it has expired.".clone_into(&mut sign_in.complaint);
    for (name, page) in [
        ("sign-in", first),
        ("sign-in-refused", sign_in.render()?),
        ("index", fleet.render()?),
        ("logs", list.render()?),
        ("nothing", nothing.render()?),
        ("empty", sample::empty().render()?),
        ("error", error.render()?),
    ] {
        std::fs::write(folder.join(name).with_extension("html"), page)?;
    }
    for (name, page) in sample::pages::every(str::to_owned) {
        std::fs::write(folder.join(format!("sample-{name}.html")), page)?;
    }
    Ok(())
}
