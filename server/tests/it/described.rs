//! Is an answer what the description of the API says? A reader of as much JSON Schema as the description uses, stricter
//! than the standard: a key that is not described is a fault.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::world::Answer;

/// Keywords that say nothing of which values are good, or nothing that a fault of ours would break.
const REMARKS: &[&str] =
    &["description", "examples", "default", "title", "format", "pattern", "propertyNames", "minimum", "maximum"];

/// The description.
pub struct Described(Value);

impl Described {
    pub fn new() -> Self {
        Self(serde_json::from_str(server::openapi()).expect("JSON"))
    }

    /// What is wrong with an answer, its status and content type included.
    pub fn fault(&self, method: &str, path: &str, answer: &Answer) -> Option<String> {
        let kind = answer.header("content-type").split(';').next().unwrap_or_default();
        let status = answer.status.as_str();
        let operation = &self.0["paths"][path][method.to_lowercase()];
        let schema = &operation["responses"][status]["content"][kind]["schema"];
        let place = format!("{method} {path} {status} {kind}");
        if schema.is_null() {
            return Some(format!("{place} is not described: {}", answer.text()));
        }
        let value = if kind.ends_with("json") { answer.json() } else { json!(answer.text()) };
        self.whole(schema, &value).err().map(|fault| format!("{place}{fault}\n{value:#}"))
    }

    /// Checks a value of which the schema says everything.
    fn whole(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let told = self.part(schema, value)?;
        match value.as_object().and_then(|object| object.keys().find(|key| !told.contains(*key))) {
            Some(key) => Err(format!(": nothing is said of {key}")),
            None => Ok(()),
        }
    }

    /// Checks a value, and answers the keys of which the schema says something.
    fn part(&self, schema: &Value, value: &Value) -> Result<BTreeSet<String>, String> {
        let schema = schema.as_object().expect("a schema is an object");
        let nothing = Map::new();
        let object = value.as_object().unwrap_or(&nothing);
        let mut told = BTreeSet::new();
        // An object of which no key is described may hold any.
        let free = !["$ref", "properties", "additionalProperties", "oneOf", "anyOf", "allOf"]
            .iter()
            .any(|keyword| schema.contains_key(*keyword));
        if free {
            told.extend(object.keys().cloned());
        }
        for (keyword, says) in schema {
            match keyword.as_str() {
                "$ref" => {
                    let name =
                        says.as_str().and_then(|to| to.strip_prefix("#/components/schemas/")).expect("one of ours");
                    told.extend(self.part(&self.0["components"]["schemas"][name], value)?);
                }
                "type" => {
                    let types = says.as_array().map_or(std::slice::from_ref(says), Vec::as_slice);
                    if !types.iter().any(|kind| is(value, kind.as_str().expect("a word"))) {
                        return Err(format!(" is not {says} but {value}"));
                    }
                }
                "enum" if !says.as_array().expect("words").contains(value) => {
                    return Err(format!(" is none of {says} but {value}"));
                }
                "required" if value.is_object() => {
                    let missing = says
                        .as_array()
                        .expect("names")
                        .iter()
                        .find(|name| !object.contains_key(name.as_str().expect("a name")));
                    if let Some(name) = missing {
                        return Err(format!(" lacks {name}"));
                    }
                }
                "properties" => {
                    for (key, schema) in says.as_object().expect("schemas") {
                        if let Some(value) = object.get(key) {
                            self.whole(schema, value).map_err(|fault| format!(".{key}{fault}"))?;
                            told.insert(key.clone());
                        }
                    }
                }
                "additionalProperties" => {
                    let named = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
                    for (key, value) in object.iter().filter(|(key, _)| !named.contains_key(*key)) {
                        self.whole(says, value).map_err(|fault| format!(".{key}{fault}"))?;
                        told.insert(key.clone());
                    }
                }
                "items" => {
                    for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                        self.whole(says, value).map_err(|fault| format!("[{index}]{fault}"))?;
                    }
                }
                "allOf" => {
                    for schema in says.as_array().expect("schemas") {
                        told.extend(self.part(schema, value)?);
                    }
                }
                "oneOf" | "anyOf" => {
                    let parts = says.as_array().expect("schemas").iter();
                    let (good, bad): (Vec<_>, Vec<_>) =
                        parts.map(|schema| self.whole(schema, value)).partition(Result::is_ok);
                    if good.is_empty() || (keyword == "oneOf" && good.len() > 1) {
                        let faults: Vec<_> = bad.into_iter().filter_map(Result::err).collect();
                        return Err(format!(" fits {} alternatives{}", good.len(), faults.join(";")));
                    }
                    told.extend(object.keys().cloned());
                }
                "enum" | "required" => {}
                other => assert!(REMARKS.contains(&other), "this reader does not know {other}"),
            }
        }
        Ok(told)
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type"),
    }
}
