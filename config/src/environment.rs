use std::ffi::OsString;

use toml::Value;

use crate::{
    Origin,
    draft::Draft,
    key::Key,
    overlay::overlay,
    parse::parse_value,
    tree::{Content, Node},
};

/// The variables of this process that are settings: those whose name begins with `STEPCAST_`.
#[allow(clippy::disallowed_methods, reason = "this crate is the one that reads settings and secrets")]
pub fn environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(PREFIX.as_bytes())).collect()
}

/// How the names of settings begin.
const PREFIX: &str = "STEPCAST_";

/// Names the configuration file where the command line does not.
pub(crate) const FILE: &str = "STEPCAST_CONFIG";

/// The deepest setting there may be a variable for. The deepest there is has five names.
const DEEPEST: usize = 8;

/// Lays the variables over the draft, in the order of their names. Variables of other names are passed over.
pub(crate) fn lay_environment(draft: &mut Draft, variables: &[(OsString, OsString)]) {
    let mut variables: Vec<_> = variables.iter().collect();
    variables.sort();
    for (name, value) in variables {
        let shown = name.to_string_lossy();
        let Some(rest) = shown.strip_prefix(PREFIX) else { continue };
        let origin = Origin::Environment(shown.as_ref().into());
        if shown == FILE {
            continue;
        }
        let parts: Vec<&str> = rest.split("__").collect();
        if name.to_str().is_none() || parts.len() > DEEPEST || parts.contains(&"") {
            draft.fault_of_layer("there is no such setting".to_owned(), origin);
        } else if let Some(text) = value.to_str() {
            let key = resolve(&draft.tree, &parts);
            let node = parse_value(text, &origin)
                .unwrap_or_else(|| Node::leaf(origin.clone(), Value::String(text.to_owned())));
            lay(draft, &key, node, &origin);
        } else {
            draft.fault_of_layer("the value is not UTF-8".to_owned(), origin);
        }
    }
}

/// The setting that a variable means. Its name has no small letters and no hyphens, so that one that is there already is
/// looked for without regard to them; a new one is taken in small letters.
fn resolve(tree: &Node, parts: &[&str]) -> Key {
    let mut key = Key::default();
    for part in parts {
        let small = part.to_ascii_lowercase();
        let alike = |name: &&String| name.to_ascii_lowercase().replace('-', "_") == small.replace('-', "_");
        let entries = || tree.get(key.parts()).into_iter().flat_map(Node::entries).map(|(name, _)| name);
        let there = entries().find(|name| **name == small).or_else(|| entries().find(alike));
        // a language that is not there yet: the underscore can only be a hyphen
        let language =
            matches!(key.parts(), [campaigns, _, text] if campaigns == "campaigns" && text == "text");
        let new = if language { small.replace('_', "-") } else { small.clone() };
        key = key.child(there.unwrap_or(&new));
    }
    key
}

/// Lays one variable. A value never takes the place of a table: the table's other settings would be lost unsaid.
fn lay(draft: &mut Draft, key: &Key, node: Node, origin: &Origin) {
    let is_table = |node: &Node| matches!(node.content, Content::Table(_));
    if !is_table(&node) && draft.tree.get(key.parts()).is_some_and(is_table) {
        let parts =
            "STEPCAST_".to_owned() + &key.to_string().to_uppercase().replace('.', "__").replace('-', "_");
        draft.fault_of_layer(
            format!("this is a section; its settings have variables {parts}__..."),
            origin.clone(),
        );
        return;
    }
    let mut whole = node;
    for name in key.parts().iter().rev() {
        let mut table = Node::table(origin.clone());
        table.put(&Key::of(&[name]), Some(whole));
        whole = table;
    }
    overlay(&mut draft.tree, whole);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(variables: &[(&str, &str)]) -> Draft {
        let mut draft = Draft::of_defaults();
        let variables: Vec<_> = variables.iter().map(|&(n, v)| (n.into(), v.into())).collect();
        lay_environment(&mut draft, &variables);
        draft
    }

    #[test]
    fn names_find_their_settings() {
        let draft = laid(&[
            ("STEPCAST_SENDER__CHUNK", "50"),
            ("STEPCAST_CAMPAIGNS__NIGHTLY__TEXT__ZH_HANS__TITLE", "步"),
            ("STEPCAST_CAMPAIGNS__NIGHTLY__TEXT__PT_BR__TITLE", "passos"),
            ("STEPCAST_CHANNELS__HOOK__SECRET", "whsec_x"),
            ("PATH", "/bin"),
            ("STEPCAST_CONFIG", "x.toml"),
        ]);
        assert_eq!(draft.faults.0, []);
        for (key, value) in [
            (&["sender", "chunk"][..], Value::Integer(50)),
            (&["campaigns", "nightly", "text", "zh-Hans", "title"], Value::from("步")),
            (&["campaigns", "nightly", "text", "pt-br", "title"], Value::from("passos")),
            (&["channels", "hook", "secret"], Value::from("whsec_x")),
        ] {
            assert_eq!(draft.tree.get(key).unwrap().to_value(), value, "{key:?}");
        }
        assert!(draft.tree.get(&["config"]).is_none());
    }

    #[test]
    fn a_variable_that_names_no_setting_is_a_fault() {
        let deep = format!("STEPCAST_{}", "A__".repeat(10_000) + "B");
        for name in ["STEPCAST_", "STEPCAST___CHUNK", "STEPCAST_SENDER____CHUNK", &deep, "STEPCAST_SENDER"] {
            assert_eq!(laid(&[(name, "5")]).faults.0.len(), 1, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_utf8_is_a_fault() {
        use std::os::unix::ffi::OsStringExt;
        let mut draft = Draft::of_defaults();
        let bad = OsString::from_vec(b"STEPCAST_\xff".to_vec());
        lay_environment(&mut draft, &[("STEPCAST_DATA".into(), bad.clone()), (bad, "1".into())]);
        assert_eq!(draft.faults.0.len(), 2);
    }
}
