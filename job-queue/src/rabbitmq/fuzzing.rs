use plumbing::amqp::lapin::{BasicProperties, types::parsing::parse_field_table};

use super::{letter, names::Names};

/// A dead letter: headers as AMQP writes them, and the message behind them.
pub fn dead_letter(bytes: &[u8]) {
    let Ok((rest, headers)) = parse_field_table(bytes) else { return };
    let properties = BasicProperties::default().with_headers(headers);
    let (names, body) = (Names::new("stepcast"), rest.to_vec());
    let first = letter::read(&names, &properties, body.clone());
    assert_eq!(first.ok(), letter::read(&names, &properties, body).ok(), "not the same at each reading");
}
