//! Just enough HTML reading for the tests: tags with their attributes, and the text between them.

/// A start tag.
#[derive(Debug)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
}

impl Element {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find_map(|(own, value)| (own == name).then_some(value.as_str()))
    }
}

/// Every start tag, in order, attribute values unescaped. Panics on anything that is not written as our templates write it,
/// so that text which breaks out of its place is noticed.
pub fn elements(html: &str) -> Vec<Element> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if rest.starts_with('/') || rest.starts_with('!') {
            continue;
        }
        let end = rest.find(|char: char| !char.is_ascii_alphanumeric()).expect("a tag ends");
        let name = rest[..end].to_owned();
        assert!(!name.is_empty(), "a bare < in front of {:?}", rest.chars().take(40).collect::<String>());
        rest = &rest[end..];
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix("/>").or_else(|| rest.strip_prefix('>')) {
                rest = after;
                break;
            }
            let end = rest.find(['=', ' ', '>', '/']).expect("a tag ends");
            let name = rest[..end].to_owned();
            let is_name =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-:".contains(&byte));
            assert!(is_name, "{name:?} is no attribute of ours");
            rest = &rest[end..];
            let value = match rest.strip_prefix("=\"") {
                Some(quoted) => {
                    let (value, after) = quoted.split_once('"').expect("a value ends");
                    rest = after;
                    unescape(value)
                }
                None => String::new(),
            };
            attributes.push((name, value));
        }
        found.push(Element { name, attributes });
    }
    found
}

/// What is between the tags, blanks folded.
pub fn text(html: &str) -> String {
    let between = html.split('<').enumerate().map(|(index, part)| match part.split_once('>') {
        Some((_, text)) if index > 0 => text,
        _ if index > 0 => "",
        _ => part,
    });
    let read = unescape(&between.collect::<String>());
    read.split([' ', '\n']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn unescape(text: &str) -> String {
    let pairs = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&nbsp;", "\u{a0}"), ("&#38;", "&")];
    pairs.into_iter().fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}
