use toml::{
    Spanned, Value,
    de::{DeTable, DeValue},
};

use crate::{
    Origin,
    tree::{Content, Node},
};

/// Reads TOML as far as it can be read: the tree, and each fault of syntax with its line. `origin` makes the origin of a
/// setting on a line, counted from 1.
pub(crate) fn parse(text: &str, origin: impl Fn(usize) -> Origin) -> (Node, Vec<(usize, String)>) {
    let lines = Lines(text.match_indices('\n').map(|(at, _)| at).collect());
    if let Some(line) = too_deep(text) {
        return (Node::table(origin(1)), vec![(line, format!("more than {DEEPEST} dots in a key"))]);
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut faults: Vec<_> = errors
        .iter()
        .map(|e| (e.span().map_or(1, |span| lines.of(span.start)), e.message().to_owned()))
        .collect();
    let node = convert_table(table.get_ref(), origin(1), &lines, &origin, &mut faults);
    faults.sort();
    faults.dedup();
    (node, faults)
}

/// Reads one TOML value, such as `5`, `"5s"` or `["a", "b"]`; `None` if it is not one.
pub(crate) fn parse_value(text: &str, origin: &Origin) -> Option<Node> {
    too_deep(text).is_none().then_some(())?;
    let value = DeValue::parse(text.trim()).ok()?;
    let mut faults = Vec::new();
    let node = convert(value.get_ref(), origin.clone(), &Lines(Vec::new()), &|_| origin.clone(), &mut faults);
    node.filter(|_| faults.is_empty())
}

/// The most dots in a key. Each is a level of tables, and levels are walked and dropped by recursion.
const DEEPEST: usize = 64;

/// The first line with a key of too many levels, if any. Text of several lines is judged as well, which only matters
/// where it has that many dots in a line and looks like a key.
fn too_deep(text: &str) -> Option<usize> {
    let in_keys = |line: &str| {
        line.split(['=', '{', ','])
            .map(|key| key.bytes().filter(|&b| b == b'.').count())
            .max()
            .unwrap_or_default()
    };
    text.lines().position(|line| in_keys(line) > DEEPEST).map(|at| at + 1)
}

/// Where the line breaks are.
struct Lines(Vec<usize>);

impl Lines {
    fn of(&self, at: usize) -> usize {
        self.0.partition_point(|&end| end < at) + 1
    }
}

type Notes = Vec<(usize, String)>;

fn convert_table(
    table: &DeTable<'_>,
    own: Origin,
    lines: &Lines,
    origin: &impl Fn(usize) -> Origin,
    faults: &mut Notes,
) -> Node {
    let mut node = Node::table(own);
    let Content::Table(entries) = &mut node.content else { return node };
    for (name, value) in table {
        let own = origin(lines.of(name.span().start));
        if let Some(value) = convert(value.get_ref(), own, lines, origin, faults) {
            entries.insert(name.get_ref().to_string(), value);
        } else {
            let line = lines.of(name.span().start);
            faults.push((line, format!("{}: the number is too large", name.get_ref())));
        }
    }
    node
}

/// `None` for a number out of range; lists may hold one, which is noted.
fn convert(
    value: &DeValue<'_>,
    own: Origin,
    lines: &Lines,
    origin: &impl Fn(usize) -> Origin,
    faults: &mut Notes,
) -> Option<Node> {
    match value {
        DeValue::Table(table) => Some(convert_table(table, own, lines, origin, faults)),
        other => plain(other, lines, faults).map(|value| Node::leaf(own, value)),
    }
}

fn plain(value: &DeValue<'_>, lines: &Lines, faults: &mut Notes) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            Value::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok()?)
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().ok()?),
        DeValue::Boolean(truth) => Value::Boolean(*truth),
        DeValue::Datetime(time) => Value::Datetime(*time),
        DeValue::Array(items) => {
            let mut item = |item: &Spanned<DeValue<'_>>| {
                let value = plain(item.get_ref(), lines, faults);
                if value.is_none() {
                    faults.push((lines.of(item.span().start), "a number in a list is too large".to_owned()));
                }
                value
            };
            Value::Array(items.iter().filter_map(&mut item).collect())
        }
        DeValue::Table(table) => {
            let entries = table.iter().filter_map(|(name, value)| {
                plain(value.get_ref(), lines, faults).map(|value| (name.get_ref().to_string(), value))
            });
            Value::Table(entries.collect())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Value, Vec<(usize, String)>) {
        let (node, faults) = parse(text, |_| Origin::Default);
        (node.to_value(), faults)
    }

    #[test]
    fn reads_what_the_toml_crate_reads() {
        let text = "a = 0x1_0\nb = -1_000\nc = 1e3\nd = [1, 'x', {y = 2}]\n[e.f]\ng = 1979-05-27\nh = '''\nx\n'''\n[[i]]\nj = true\n";
        let (value, faults) = read(text);
        assert_eq!((value, faults), (Value::Table(text.parse().unwrap()), vec![]));
    }

    #[test]
    fn every_fault_of_syntax_has_its_line() {
        let (_, faults) = read("a = \nb = 1\nb = 2\nc = 99999999999999999999\nd = 'x\n");
        let lines: Vec<usize> = faults.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 4, 5], "{faults:?}");
    }

    #[test]
    fn a_setting_knows_its_line() {
        let origin = |line: usize| Origin::Environment(line.to_string().into());
        let (node, _) = parse("a = 1\n\n[t]\nb = 2\nc = { d = 3 }\n", origin);
        for (key, line) in
            [(vec!["a"], "1"), (vec!["t"], "3"), (vec!["t", "b"], "4"), (vec!["t", "c", "d"], "5")]
        {
            assert_eq!(node.get(&key).unwrap().origin, Origin::Environment(line.into()), "{key:?}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        for text in [
            format!("{}a = 1", "a.".repeat(100_000)),
            format!("[{}a]", "a.".repeat(100_000)),
            format!("x = {{ {}a = 1 }}", "a.".repeat(100_000)),
            format!("x = {}", "[".repeat(100_000)),
            format!("x = {}", "{ a = ".repeat(100_000)),
        ] {
            assert!(!read(&text).1.is_empty());
            assert!(parse_value(&text[4..], &Origin::Default).is_none());
        }
    }

    #[test]
    fn single_values() {
        let value = |text| parse_value(text, &Origin::Default).map(|n| n.to_value());
        assert_eq!(value(" 5 "), Some(Value::Integer(5)));
        assert_eq!(value("[\"a\"]"), Some(Value::from(vec!["a"])));
        for text in ["", "5s", "whsec_abc", "a = 1", "99999999999999999999", "127.0.0.1:80"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
