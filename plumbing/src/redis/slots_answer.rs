use ::redis::Value;

use super::{address::Address, slot::SLOTS};

/// Slots that one node has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub first: u16,
    pub last: u16,
    pub owner: Address,
}

/// Reads what a node answers to `CLUSTER SLOTS`: a list of (first slot, last slot, the primary, replicas ...), each
/// node as (host, port, ...). Source: the documentation of that command.
pub(super) fn read_slots(answers: Vec<Value>, speaker: &Address) -> Result<Vec<Range>, String> {
    let rows = match answers.into_iter().next() {
        Some(Value::Array(rows)) => rows,
        Some(Value::ServerError(error)) => return Err(error.to_string()),
        _ => return Err("CLUSTER SLOTS gave no list".to_owned()),
    };
    let ranges: Option<Vec<Range>> = rows.iter().map(|row| read_row(row, speaker)).collect();
    let ranges = ranges.ok_or("CLUSTER SLOTS gave what is no list of slots and nodes")?;
    if ranges.is_empty() { Err("it knows no node that has slots".to_owned()) } else { Ok(ranges) }
}

fn read_row(row: &Value, speaker: &Address) -> Option<Range> {
    let Value::Array(row) = row else { return None };
    let [Value::Int(first), Value::Int(last), Value::Array(primary), ..] = row.as_slice() else {
        return None;
    };
    let (first, last) = (u16::try_from(*first).ok()?, u16::try_from(*last).ok()?);
    let [host, Value::Int(port), ..] = primary.as_slice() else { return None };
    let host = match host {
        Value::BulkString(bytes) => Some(std::str::from_utf8(bytes).ok()?),
        Value::SimpleString(text) => Some(text.as_str()),
        Value::Nil => None,
        _ => return None,
    };
    let port = u16::try_from(*port).ok().filter(|port| *port != 0)?;
    (first <= last && last < SLOTS).then(|| Range {
        first,
        last,
        owner: Address::of_node(host, port, speaker),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(first: i64, last: i64, host: Value, port: i64) -> Value {
        let id = Value::BulkString(b"0123".to_vec());
        let node = Value::Array(vec![host, Value::Int(port), id, Value::Array(Vec::new())]);
        Value::Array(vec![Value::Int(first), Value::Int(last), node.clone(), node])
    }

    fn host(name: &str) -> Value {
        Value::BulkString(name.as_bytes().to_vec())
    }

    #[test]
    fn reads_ranges_and_takes_the_speaker_where_no_host_is_named() {
        let speaker = Address::parse("redis://seed:1").unwrap();
        let rows = Value::Array(vec![row(0, 99, host("10.0.0.1"), 7), row(100, 16_383, Value::Nil, 8)]);
        let ranges = read_slots(vec![rows], &speaker).unwrap();
        let told: Vec<_> = ranges.iter().map(|r| (r.first, r.last, r.owner.to_string())).collect();
        assert_eq!(told, [(0, 99, "10.0.0.1:7".to_owned()), (100, 16_383, "seed:8".to_owned())]);
    }

    #[test]
    fn refuses_what_is_no_map() {
        let speaker = Address::parse("redis://seed:1").unwrap();
        let bad = [
            vec![],
            vec![Value::Nil],
            vec![Value::Array(vec![])],
            vec![Value::Array(vec![Value::Int(3)])],
            vec![Value::Array(vec![row(5, 4, host("a"), 1)])],
            vec![Value::Array(vec![row(0, 16_384, host("a"), 1)])],
            vec![Value::Array(vec![row(-1, 4, host("a"), 1)])],
            vec![Value::Array(vec![row(0, 4, host("a"), 0)])],
            vec![Value::Array(vec![row(0, 4, Value::Int(1), 1)])],
        ];
        for answer in bad {
            assert!(read_slots(answer.clone(), &speaker).is_err(), "{answer:?}");
        }
    }
}
