use std::collections::BTreeMap;

use toml::Value;

use crate::{Origin, key::Key};

/// A value with where it came from, or a table of them.
#[derive(Clone)]
pub(crate) struct Node {
    /// The layer that named it last.
    pub(crate) origin: Origin,
    /// What it holds.
    pub(crate) content: Content,
}

/// What a node holds. No `Debug`: some values are secrets.
#[derive(Clone)]
pub(crate) enum Content {
    /// Settings by name.
    Table(BTreeMap<String, Node>),
    /// A setting's value; a list is one value.
    Leaf(Value),
}

impl Node {
    /// An empty table.
    pub(crate) fn table(origin: Origin) -> Self {
        Self { origin, content: Content::Table(BTreeMap::new()) }
    }

    /// A setting.
    pub(crate) fn leaf(origin: Origin, value: Value) -> Self {
        Self { origin, content: Content::Leaf(value) }
    }

    /// The entries of a table; none of a value.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&String, &Node)> {
        match &self.content {
            Content::Table(entries) => Some(entries.iter()),
            Content::Leaf(_) => None,
        }
        .into_iter()
        .flatten()
    }

    /// The node at `key`.
    pub(crate) fn get<S: AsRef<str>>(&self, key: &[S]) -> Option<&Node> {
        key.iter().try_fold(self, |node, name| match &node.content {
            Content::Table(entries) => entries.get(name.as_ref()),
            Content::Leaf(_) => None,
        })
    }

    /// The deepest node on the way to `key`.
    pub(crate) fn nearest(&self, key: &Key) -> &Node {
        (0..=key.parts().len()).rev().find_map(|n| self.get(&key.parts()[..n])).unwrap_or(self)
    }

    /// Puts `node` at `key`, or takes away what is there. Nothing happens where the table of `key` is not there.
    pub(crate) fn put(&mut self, key: &Key, node: Option<Node>) {
        let Some((table, name)) = key.split() else { return };
        let Some(entries) = self.table_mut(table) else { return };
        match node {
            Some(node) => entries.insert(name.to_owned(), node),
            None => entries.remove(name),
        };
    }

    /// The entries of the table at `key`.
    pub(crate) fn table_mut<S: AsRef<str>>(&mut self, key: &[S]) -> Option<&mut BTreeMap<String, Node>> {
        let mut node = self;
        for name in key {
            node = match &mut node.content {
                Content::Table(entries) => entries.get_mut(name.as_ref())?,
                Content::Leaf(_) => return None,
            };
        }
        match &mut node.content {
            Content::Table(entries) => Some(entries),
            Content::Leaf(_) => None,
        }
    }

    /// Every value with its key.
    pub(crate) fn leaves(&self) -> Vec<(Key, &Value, &Origin)> {
        let mut found = Vec::new();
        let mut open = vec![(Key::default(), self)];
        while let Some((key, node)) = open.pop() {
            match &node.content {
                Content::Leaf(value) => found.push((key, value, &node.origin)),
                Content::Table(entries) => open.extend(entries.iter().map(|(n, node)| (key.child(n), node))),
            }
        }
        found
    }

    /// The value without its origins.
    pub(crate) fn to_value(&self) -> Value {
        match &self.content {
            Content::Leaf(value) => value.clone(),
            Content::Table(entries) => {
                Value::Table(entries.iter().map(|(name, node)| (name.clone(), node.to_value())).collect())
            }
        }
    }
}
