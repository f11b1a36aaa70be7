use crate::{
    Origin,
    tree::{Content, Node},
};

/// Lays `over` on `under`, tables key by key. A channel whose kind changes loses the keys that only the defaults gave
/// it: they belong to the other kind.
pub(crate) fn overlay(under: &mut Node, over: Node) {
    forget_other_kinds(under, &over);
    merge(under, over);
}

fn merge(under: &mut Node, over: Node) {
    let Content::Table(new) = over.content else {
        *under = over;
        return;
    };
    let Content::Table(old) = &mut under.content else {
        *under = Node { origin: over.origin, content: Content::Table(new) };
        return;
    };
    under.origin = over.origin;
    for (name, node) in new {
        match old.get_mut(&name) {
            Some(there) => merge(there, node),
            None => _ = old.insert(name, node),
        }
    }
}

fn forget_other_kinds(under: &mut Node, over: &Node) {
    let Some(channels) = over.get(&["channels"]) else { return };
    for (name, channel) in channels.entries() {
        let Some(kind) = channel.get(&["kind"]).map(Node::to_value) else { continue };
        let changed = under.get(&["channels", name, "kind"]).is_some_and(|old| old.to_value() != kind);
        if let Some(entries) = under.table_mut(&["channels", name]).filter(|_| changed) {
            entries.retain(|_, node| node.origin != Origin::Default);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    fn tree(text: &str, line: Option<usize>) -> Node {
        let origin = |_| match line {
            None => Origin::Default,
            line => Origin::File { path: std::path::Path::new("f").into(), line },
        };
        let (node, faults) = parse(text, origin);
        assert!(faults.is_empty());
        node
    }

    fn laid(under: &str, over: &str) -> toml::Value {
        let mut node = tree(under, None);
        overlay(&mut node, tree(over, Some(1)));
        node.to_value()
    }

    fn table(text: &str) -> toml::Value {
        toml::Value::Table(text.parse().unwrap())
    }

    #[test]
    fn tables_merge_and_lists_are_replaced() {
        let both = laid("a = 1\n[t]\nx = 1\ny = [1, 2]", "[t]\ny = [3]\nz = 4");
        assert_eq!(both, table("a = 1\n[t]\nx = 1\ny = [3]\nz = 4"));
    }

    #[test]
    fn a_new_kind_drops_the_defaults_of_the_old_one() {
        let under = "channels.stub = { kind = 'stub', latency = '1s' }";
        let hook = "channels.stub = { kind = 'webhook', url = 'u' }";
        assert_eq!(laid(under, hook), table(hook));
        let same = "channels.stub = { kind = 'stub', error_rate = 0.5 }";
        let both = "channels.stub = { kind = 'stub', latency = '1s', error_rate = 0.5 }";
        assert_eq!(laid(under, same), table(both));
    }
}
