//! Reads a machine file and says in plain words what is wrong with it. A key that nobody reads is an error too: a fact
//! that is spelled wrongly would else be taken for one that is not known.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use resolver::replay::Told;
use serde_json::Value;
use wire::{MACHINE_SCHEMA, Machine, SessionFacts};

/// Words of `vulkan_type`.
const VULKAN_TYPES: [&str; 6] = ["discrete", "integrated", "virtual", "cpu", "other", "unknown"];
/// Words of `session.presenter`: what a client of the service presents with.
const PRESENTERS: [&str; 5] = ["NONE", "SERVICE_WINDOW", "APP_HWND", "CLIENT_TEXTURE", "SELF"];
/// Keys that may be left out because they say something unusual.
const RARE_KEYS: [&str; 2] = ["dxgi", "told_scanout"];
/// The key of an adapter that makes it an instance of another one. What was read has the instance itself.
const INSTANCE_KEY: &str = "virtual_of";

/// True when this is a JSON object that calls itself by a schema of ours, or looks as if it wanted to.
pub(super) fn looks_like(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('{')
        && ["\"weavewatch.", "\"gdi_name\"", "\"dedicated_vram_mib\""].iter().any(|sign| text.contains(sign))
}

/// Reads and checks the whole file. What it leaves out has its usual value and is named as not told.
pub(super) fn read(text: &str) -> Result<Told> {
    let text = text.trim_start_matches('\u{feff}');
    let value: Value = serde_json::from_str(text).context("failed to read it as JSON")?;
    match value.get("schema").and_then(Value::as_str) {
        Some(MACHINE_SCHEMA) => {}
        Some(other) => bail!("its schema is '{other}', and this version reads '{MACHINE_SCHEMA}'"),
        None => bail!("it has no schema; a machine file starts with {{\"schema\":\"{MACHINE_SCHEMA}\"}}"),
    }
    // From the text, so that an error names its line.
    let machine: Machine = serde_json::from_str(text).context("failed to read it as a machine file")?;
    let known = serde_json::to_value(&machine).context("failed to compare it with what was read")?;
    let mut unknown = Vec::new();
    strange_keys(&value, &known, "", &mut unknown);
    if !unknown.is_empty() {
        bail!("a machine file has no key {}; is it spelled as in the contract?", unknown.join(", "));
    }
    check(&machine)?;
    let missing = left_out(&value, &machine);
    Ok(Told { machine, missing })
}

/// The facts that the file does not state, by the names that logs are measured with.
fn left_out(file: &Value, machine: &Machine) -> Vec<Cow<'static, str>> {
    let stated = |fact: &str| {
        let key = fact.split('.').try_fold(file, |place, key| place.get(key));
        key.is_some_and(|value| !value.is_null())
    };
    let session = SessionFacts::FLAGS.into_iter().chain(["session.device_luid"]);
    let mut missing: Vec<_> = session.filter(|fact| !stated(fact)).map(Cow::Borrowed).collect();
    if !stated("settings") {
        missing.push(Cow::Borrowed("settings.DXR_WEAVE_ON_SCANOUT"));
    }
    if machine.adapters.is_empty() && machine.dxgi {
        missing.push(Cow::Borrowed("adapters"));
    }
    if machine.told_scanout.as_ref().is_some_and(wire::ToldScanout::is_open) {
        missing.push(Cow::Borrowed("monitors"));
    }
    missing
}

fn check(machine: &Machine) -> Result<()> {
    let mut seen = BTreeMap::new();
    for (index, adapter) in machine.adapters.iter().enumerate() {
        if let Some(luid) = adapter.luid {
            if luid.is_zero() {
                bail!("adapters[{index}] has the LUID {luid}, which no adapter has; write null for what is not known");
            }
            if let Some(first) = seen.insert(luid, index) {
                bail!(
                    "adapters[{first}] and adapters[{index}] have the same LUID {luid}; two instances of one card need two LUIDs"
                );
            }
        }
        if let Some(level) = &adapter.feature_level
            && !level.split_once('_').is_some_and(|(major, minor)| number(major) && number(minor))
        {
            bail!("adapters[{index}].feature_level is '{level}'; write it as 12_1");
        }
        if let Some(kind) = &adapter.vulkan_type
            && !VULKAN_TYPES.contains(&kind.as_str())
        {
            bail!("adapters[{index}].vulkan_type is '{kind}'; it is null or one of {}", VULKAN_TYPES.join(", "));
        }
    }
    let presenter = machine.session.presenter.as_str();
    if !PRESENTERS.contains(&presenter) {
        bail!("session.presenter is '{presenter}'; it is one of {}", PRESENTERS.join(", "));
    }
    let mut names = BTreeMap::new();
    for (index, monitor) in machine.monitors.iter().enumerate() {
        if let Some(first) = names.insert(&monitor.gdi_name, index) {
            bail!("monitors[{first}] and monitors[{index}] have the same gdi_name '{}'", monitor.gdi_name);
        }
    }
    Ok(())
}

/// A part of a feature level: DXGI's are of two digits at most.
fn number(digits: &str) -> bool {
    (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Keys of `given` that did not survive being read; `known` is what was read, written again.
fn strange_keys(given: &Value, known: &Value, place: &str, strange: &mut Vec<String>) {
    match (given, known) {
        (Value::Object(given), Value::Object(known)) => {
            for (key, value) in given {
                let inner = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                match known.get(key) {
                    Some(read) => strange_keys(value, read, &inner, strange),
                    None if place.is_empty() && RARE_KEYS.contains(&key.as_str()) => {}
                    None if place.starts_with("adapters[") && key == INSTANCE_KEY => {}
                    None => strange.push(format!("'{inner}'")),
                }
            }
        }
        (Value::Array(given), Value::Array(known)) => {
            for (index, (value, read)) in given.iter().zip(known).enumerate() {
                strange_keys(value, read, &format!("{place}[{index}]"), strange);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"schema":"weavewatch.machine/1","os":"windows","adapters":[
        {"name":"A","luid":"00000000:00000001"},{"name":"B","luid":null,"feature_level":"12_1"}],
        "panel":null,"session":{"hwnd":false}}"#;

    fn refused(from: &str, to: &str, expected: &str) {
        assert!(GOOD.contains(from), "{from}");
        let error = read(&GOOD.replace(from, to)).expect_err("the file is wrong");
        let error = format!("{error:#}");
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn what_may_be_left_out_may_be_left_out() {
        let Told { machine, missing } = read(&format!("\u{feff}{GOOD}")).expect("the file is sound");
        assert!(missing.contains(&"session.stage_a_ok".into()) && !missing.contains(&"session.hwnd".into()));
        assert!(!machine.session.hwnd && machine.session.stage_a_ok);
        assert_eq!(machine.adapters[0].dedicated_vram_mib, None);
        assert!(looks_like(GOOD) && !looks_like("{\"level\":\"warn\"}"));
    }

    #[test]
    fn an_instance_of_an_adapter_may_stand_in_its_place() {
        let text = GOOD.replace(r#"{"name":"B","luid":null,"#, r#"{"virtual_of":"0:1","luid":"0:2","#);
        let machine = read(&text).expect("the file is sound").machine;
        assert_eq!(
            (machine.adapters[1].name.as_str(), machine.adapters[1].luid),
            ("A (virtual 1)", Some(wire::Luid(2)))
        );
    }

    #[test]
    fn errors_name_the_place_and_what_to_do() {
        refused("machine/1", "machine/9", "its schema is 'weavewatch.machine/9'");
        refused("\"schema\":\"weavewatch.machine/1\",", "", "it has no schema");
        refused("00000000:00000001", "first", "expected a LUID such as");
        refused("00000000:00000001", "0:0", "write null for what is not known");
        refused("null,\"feature", "\"0:1\",\"feature", "adapters[0] and adapters[1] have the same LUID");
        refused("\"luid\":null", "\"virtual_of\":\"0:9\"", "no adapter before it has that LUID");
        refused("\"name\":\"B\",", "", "adapters[1] has no name");
        refused("12_1", "12.1", "adapters[1].feature_level is '12.1'");
        refused("12_1", "99999999999999999999_0", "write it as 12_1");
        refused("\"hwnd\":false", "\"presenter\":\"window\"", "session.presenter is 'window'; it is one of NONE,");
        refused("\"hwnd\"", "\"hwmd\"", "no key 'session.hwmd'");
        refused("\"os\":\"windows\",", "", "missing field `os`");
        refused("{\"schema\"", "{{\"schema\"", "failed to read it as JSON");
        refused("\"luid\":null", "\"vulkan_type\":\"fast\"", "vulkan_type is 'fast'");
    }
}
