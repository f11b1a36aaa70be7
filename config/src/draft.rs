use std::collections::BTreeSet;

use crate::{
    Fault, Faults, Origin,
    key::Key,
    near::nearest,
    parse::parse,
    printable::printable_short,
    tree::{Content, Node},
};

/// A configuration while it is put together: its layers laid over one another, and all that was found wrong so far. What
/// is wrong is noted and repaired, so that the rest can be looked at as well.
pub(crate) struct Draft {
    /// The layers so far.
    pub(crate) tree: Node,
    /// The faults so far.
    pub(crate) faults: Faults,
    /// What is allowed, but hardly meant.
    pub(crate) warnings: Vec<String>,
    defaults: Node,
    faulty: Vec<Key>,
    /// Lines of the file whose syntax is at fault.
    bad_lines: BTreeSet<usize>,
}

impl Draft {
    /// The compiled-in defaults alone.
    pub(crate) fn of_defaults() -> Self {
        let (tree, faults) = parse(crate::DEFAULTS, |_| Origin::Default);
        let defaults = tree.clone();
        let mut draft = Self {
            tree,
            defaults,
            faults: Faults::default(),
            warnings: Vec::new(),
            faulty: Vec::new(),
            bad_lines: BTreeSet::new(),
        };
        for (line, fault) in faults {
            draft.fault_of_layer(format!("line {line}: {fault}"), Origin::Default);
        }
        draft
    }

    /// The value at `key` is not what is wanted.
    pub(crate) fn fault(&mut self, key: &Key, wanted: impl Into<String>) {
        let node = self.tree.nearest(key);
        let given = self.tree.get(key.parts()).and_then(|node| match &node.content {
            Content::Leaf(value) => Some(printable_short(key, value)),
            Content::Table(_) => None,
        });
        self.add(key, key.to_string(), given, wanted.into(), node.origin.clone());
    }

    /// The item at `index`, from 0, of the list at `key` is not what is wanted.
    pub(crate) fn fault_in_list(&mut self, key: &Key, index: usize, wanted: impl Into<String>) {
        let node = self.tree.nearest(key);
        let given = match &node.content {
            Content::Leaf(toml::Value::Array(items)) => {
                items.get(index).map(|item| printable_short(key, item))
            }
            _ => None,
        };
        self.add(key, format!("{key}[{index}]"), given, wanted.into(), node.origin.clone());
    }

    /// There is no value at `key`, and one is wanted. Not told where a fault of `key` is known: then it was taken out.
    pub(crate) fn missing(&mut self, key: &Key, wanted: &str) {
        if !self.about(key) {
            let origin = self.tree.nearest(key).origin.clone();
            self.add(key, key.to_string(), None, format!("missing; {wanted}"), origin);
        }
    }

    /// There is no such setting as `key`; its table has those of `known`. Its value is not told: nobody knows what it is.
    pub(crate) fn unknown(&mut self, key: &Key, known: &[&str]) {
        let Some((table, name)) = key.split() else { return };
        let wanted = match nearest(name, known.iter().copied()) {
            Some(near) => format!("there is no such setting; is {} meant?", Key::of(table).child(near)),
            None => "there is no such setting".to_owned(),
        };
        let origin = self.tree.nearest(key).origin.clone();
        self.add(key, key.to_string(), None, wanted, origin);
    }

    /// A whole file, its syntax, or a variable's name is at fault.
    pub(crate) fn fault_of_layer(&mut self, wanted: String, origin: Origin) {
        if let Origin::File { line: Some(line), .. } = &origin {
            self.bad_lines.insert(*line);
        }
        let wanted = one_line(&wanted);
        self.faults.0.push(Fault { setting: String::new(), given: None, wanted, origin });
    }

    /// Whether a fault of `key`, or of something in it, is known: what follows from it need not be told as well.
    pub(crate) fn about(&self, key: &Key) -> bool {
        self.faulty.iter().any(|known| known.is_in(key))
    }

    /// Puts the default in the place of a value that is at fault, or takes it out where there is none.
    pub(crate) fn repair(&mut self, key: &Key) {
        self.tree.put(key, self.defaults.get(key.parts()).cloned());
    }

    /// The names in the table at `key`.
    pub(crate) fn names(&self, key: &Key) -> Vec<String> {
        self.tree.get(key.parts()).into_iter().flat_map(Node::entries).map(|(name, _)| name.clone()).collect()
    }

    fn add(&mut self, key: &Key, setting: String, given: Option<String>, wanted: String, origin: Origin) {
        self.faulty.push(key.clone());
        // a line whose syntax is at fault was told already, and what was read of it is a guess
        let told = matches!(&origin, Origin::File { line: Some(line), .. } if self.bad_lines.contains(line));
        if !told {
            self.faults.0.push(Fault { setting, given, wanted: one_line(&wanted), origin });
        }
    }
}

/// A message of another crate may have several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
