//! The link to an issue tracker, with the report's words filled in.

use triage::reading;
use wire::{Outcome, ScanReport};

/// What the words may take in an address: servers and browsers refuse more than about 8 KiB.
const BODY_BYTES: usize = 6_000;

/// The address to file an issue about a log at; `page` is where it can be read, `markdown` what is said of it. In the
/// template, `{title}` and `{body}` stand for the words.
pub fn href(template: &str, report: &ScanReport, page: &str, markdown: &str) -> String {
    let mut title = String::new();
    dashboards::query::encode(&self::title(report), &mut title);
    template.replace("{title}", &title).replace("{body}", &body(page, markdown))
}

fn title(report: &ScanReport) -> String {
    let program = report.process.as_ref().map_or_else(|| reading::base_name(&report.file), |process| &process.exe);
    let runtime = report.runtime.version.as_deref().or(report.runtime.build.as_deref());
    let runtime = runtime.map(|version| format!(" with runtime {version}")).unwrap_or_default();
    let title = format!("{}: {program}{runtime}", Outcome::of(&report.verdict).label());
    title.chars().filter(|char| !char.is_control()).take(200).collect()
}

/// Whole lines, as many as there is room for.
fn body(page: &str, markdown: &str) -> String {
    let mut body = String::new();
    dashboards::query::encode(&format!("{page}\n\n"), &mut body);
    for line in markdown.lines() {
        let mut own = String::new();
        dashboards::query::encode(line, &mut own);
        if body.len() + own.len() > BODY_BYTES {
            dashboards::query::encode("…\n", &mut body);
            break;
        }
        body.push_str(&own);
        body.push_str("%0A");
    }
    body
}

/// What may stand behind `--issue-tracker`.
///
/// # Errors
/// In words, for whoever typed it.
pub fn template(text: &str) -> Result<String, String> {
    let is_web = ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme));
    if !is_web || text.chars().any(|char| char.is_whitespace() || char.is_control()) {
        return Err(
            "is no web address such as https://github.com/OWNER/NAME/issues/new?title={title}&body={body}".to_owned()
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(exe: &str) -> ScanReport {
        let (mut report, _) = triage::scan::report(&mut b"x\n".as_slice(), "a.log".to_owned(), &mut vec![0; 4096]);
        report.process = Some(wire::Process { exe: exe.to_owned(), pid: 7, started: None });
        report
    }

    #[test]
    fn the_words_are_filled_in_and_nothing_of_them_is_an_address() {
        let template = "https://tracker.example/new?t={title}&b={body}";
        let href = href(template, &report("a&b#{body}.exe"), "http://here/reports/x", "# Title & more\n{title}");
        assert_eq!(
            href,
            "https://tracker.example/new?t=Cannot%20tell%3A%20a%26b%23%7Bbody%7D.exe\
             &b=http%3A%2F%2Fhere%2Freports%2Fx%0A%0A%23%20Title%20%26%20more%0A%7Btitle%7D%0A"
        );
    }

    #[test]
    fn a_long_text_ends_with_a_whole_line() {
        let text = "x ".repeat(400) + "\n";
        let href = href("http://t/{body}", &report("a.exe"), "p", &text.repeat(100));
        assert!(href.len() < BODY_BYTES + 100 && href.ends_with("%0A%E2%80%A6%0A"), "{}", href.len());
        assert!(
            template("ftp://x").is_err() && template("https://x/{title} ").is_err() && template("https://x").is_ok()
        );
    }
}
