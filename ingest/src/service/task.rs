//! What the task scheduler of Windows is told: `packaging/weavewatch-task.xml.in`, filled in for one user.

use super::{Plan, text_of};

/// The file that holds the text.
const TEMPLATE: &str = include_str!("../../../packaging/weavewatch-task.xml.in");

/// The task's text.
///
/// # Errors
/// When a path is no plain text.
pub(super) fn text(plan: &Plan, user: &str) -> anyhow::Result<String> {
    let words = [plan.program.clone().into_os_string(), "watch".into()].into_iter().chain(plan.options());
    let words = words.map(|word| text_of(word.as_ref()).map(quoted)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(TEMPLATE.replace("@USER@", &escaped(user)).replace("@COMMAND@", &escaped(&words.join(" "))))
}

/// As the scheduler reads it: UTF-16 with a mark at the start.
pub(super) fn bytes(text: &str) -> Vec<u8> {
    // The file says so of itself, and its lines end as Windows wants them.
    let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// One word of a command line of Windows. File names hold no quotes there, so only backslashes at the end matter: before
/// a quote each of them has to be doubled.
fn quoted(word: &str) -> String {
    let backslashes = word.len() - word.trim_end_matches('\\').len();
    format!("\"{word}{}\"", "\\".repeat(backslashes))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(config: Option<&str>) -> Plan {
        Plan { program: r"C:\Program Files\W & W\weavewatch.exe".into(), config: config.map(Into::into), user: true }
    }

    #[test]
    fn it_runs_the_agent_for_this_user_only() {
        let text = text(&plan(Some(r"D:\own.toml")), r"PC\Max <M>").expect("its paths are text");
        assert_eq!(text.matches(r"<UserId>PC\Max &lt;M&gt;</UserId>").count(), 2);
        assert!(text.contains(
            r"<Arguments>--headless &quot;C:\Program Files\W &amp; W\weavewatch.exe&quot; &quot;watch&quot; &quot;--config&quot; &quot;D:\own.toml&quot;</Arguments>"
        ));
        assert!(text.contains("<RunLevel>LeastPrivilege</RunLevel>"));
        assert!(!text.contains('@'), "a mark is left: {text}");
    }

    #[test]
    fn its_comments_are_comments() {
        for comment in TEMPLATE.split("<!--").skip(1) {
            let inside = comment.split("-->").next().expect("split gives at least one");
            assert!(!inside.contains("--"), "XML ends there: {inside}");
        }
    }

    #[test]
    fn a_backslash_at_the_end_does_not_open_the_quote() {
        assert_eq!(quoted(r"C:\a b\"), r#""C:\a b\\""#);
    }

    #[test]
    fn it_is_utf_16_with_a_mark() {
        assert_eq!(bytes("a\n"), [0xff, 0xfe, b'a', 0, b'\r', 0, b'\n', 0]);
    }
}
