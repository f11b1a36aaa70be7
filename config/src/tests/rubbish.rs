use proptest::prelude::*;

use super::*;

/// Lines of the default page changed as by a bad day: taken out, doubled, cut, or replaced.
fn edited(edits: &[(usize, u8, String)]) -> String {
    let mut lines: Vec<String> = DEFAULTS.lines().map(|l| l.trim_start_matches('#').to_owned()).collect();
    for (at, edit, text) in edits {
        let at = at % lines.len();
        match edit % 5 {
            0 => _ = lines.remove(at),
            1 => lines.insert(at, lines[at].clone()),
            2 => lines[at] = lines[at].chars().take(text.len()).collect(),
            3 => lines[at] = text.clone(),
            _ => lines[at] = format!("{} = {text}", lines[at].split('=').next().unwrap_or_default()),
        }
    }
    lines.join("\n")
}

proptest! {
    #[test]
    fn no_file_makes_it_panic(
        edits in prop::collection::vec((any::<usize>(), any::<u8>(), "[\\[\\]{}\"'=.,#a-z0-9 \\-\n]{0,12}|\\PC{0,8}"), 0..12)
    ) {
        let mut draft = Draft::of_defaults();
        let (tree, faults) = parse::parse(&edited(&edits), |_| Origin::Environment("x".into()));
        overlay::overlay(&mut draft.tree, tree);
        let clean = faults.is_empty();
        match Config::of_draft(draft) {
            Ok(config) => prop_assert!(config.show().count() > 20),
            Err(faults) => prop_assert!(!faults.0.is_empty() || !clean),
        }
    }

    #[test]
    fn no_variable_makes_it_panic(
        variables in prop::collection::vec(("(STEPCAST_)?[A-Z_]{0,20}|STEPCAST_(SENDER|CHANNELS__STUB|CAMPAIGNS__NIGHTLY)(__[A-Z_]{0,9})?", "\\PC{0,12}"), 0..6)
    ) {
        let variables: Vec<_> = variables.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let variables = pairs(&variables).into_iter().filter(|(name, _)| name != "STEPCAST_CONFIG");
        if let Err(faults) = Config::load(None, variables) {
            prop_assert!(!faults.0.is_empty());
        }
    }
}
