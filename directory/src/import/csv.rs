use ::csv::{ReaderBuilder, StringRecord};
use domain::Uid;

use crate::{Change, ChangeLine, DeviceLine, Refusal};

const COLUMNS: [&str; 9] =
    ["uid", "zone", "language", "region", "consent", "consent_at", "name", "devices", "deleted"];

/// Which column stands where.
pub(super) struct Header {
    columns: Vec<&'static str>,
}

impl Header {
    pub(super) fn parse(line: &[u8]) -> Result<Self, Refusal> {
        let mut columns = Vec::with_capacity(COLUMNS.len());
        for name in &cells(line)? {
            let known = COLUMNS.into_iter().find(|known| *known == name);
            let shown = || name.chars().take(40).collect::<String>();
            let column = known.ok_or_else(|| {
                Refusal::new(shown(), format!("is not a known column: those are {}", COLUMNS.join(", ")))
            })?;
            if columns.contains(&column) {
                return Err(Refusal::new(column, "the column is given twice"));
            }
            columns.push(column);
        }
        if !columns.contains(&"uid") {
            return Err(Refusal::new("uid", "the column is missing"));
        }
        if !columns.contains(&"zone") && !columns.contains(&"deleted") {
            return Err(Refusal::new("zone", "the column is missing"));
        }
        Ok(Self { columns })
    }

    /// The change of one row.
    pub(super) fn row(&self, line: &[u8]) -> Result<Change, Refusal> {
        let cells = cells(line)?;
        if cells.len() != self.columns.len() {
            let reason = format!("has {} cells, the header has {}", cells.len(), self.columns.len());
            return Err(Refusal::new("line", reason));
        }
        let cell = |column: &str| {
            let place = self.columns.iter().position(|c| *c == column)?;
            cells.get(place).filter(|text| !text.is_empty())
        };
        let text = |column| cell(column).map(str::to_owned);
        let truth = |column| cell(column).map(|text| truth(column, text)).transpose();
        let uid = cell("uid").map(|text| text.parse::<Uid>()).transpose();
        let uid = uid.map_err(|e| Refusal::new("uid", e.to_string()))?;
        let deleted = truth("deleted")?;
        if deleted == Some(true) {
            return ChangeLine { uid, deleted, ..ChangeLine::default() }.try_into();
        }
        let line = ChangeLine {
            uid,
            zone: text("zone"),
            language: text("language"),
            region: text("region"),
            consent: truth("consent")?,
            consent_at: text("consent_at"),
            name: text("name"),
            devices: cell("devices").map(devices).transpose()?,
            deleted,
        };
        line.try_into()
    }
}

/// The cells of one line. Each line has its own reader: a stray quote must not swallow the rows after it.
fn cells(line: &[u8]) -> Result<StringRecord, Refusal> {
    // a reader of its own costs more than all the rest of a row, and only quotes need one
    if !line.contains(&b'"') && !line.contains(&b'\r') && !line.is_empty() {
        let text = std::str::from_utf8(line).map_err(|_| Refusal::new("line", "is not UTF-8"))?;
        return Ok(text.split(',').collect());
    }
    if line.iter().filter(|byte| **byte == b'"').count() % 2 == 1 {
        return Err(Refusal::new("line", "has a quote that is not closed; a row is one line"));
    }
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(line.len() + 1)
        .from_reader(line);
    let mut record = StringRecord::new();
    let one = reader.read_record(&mut record).and_then(|first| {
        let more = first && reader.read_record(&mut StringRecord::new())?;
        Ok(first && !more)
    });
    match one {
        Ok(true) => Ok(record),
        Ok(false) => Err(Refusal::new("line", "is not one row: a line end inside it is not allowed")),
        Err(error) if matches!(error.kind(), ::csv::ErrorKind::Utf8 { .. }) => {
            Err(Refusal::new("line", "is not UTF-8"))
        }
        Err(error) => Err(Refusal::new("line", error.to_string())),
    }
}

fn truth(column: &'static str, text: &str) -> Result<bool, Refusal> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" => Ok(true),
        "false" | "0" | "no" => Ok(false),
        _ => {
            let shown: String = text.chars().take(40).collect();
            Err(Refusal::new(column, format!("{shown:?}: true, false, 1, 0, yes or no is wanted")))
        }
    }
}

fn devices(text: &str) -> Result<Vec<DeviceLine>, Refusal> {
    let device = |(i, part): (usize, &str)| match part.split_once(':') {
        Some((channel, address)) => Ok(DeviceLine {
            channel: Some(channel.to_owned()),
            address: Some(address.to_owned()),
            registered_at: None,
        }),
        None => Err(Refusal::new(format!("devices[{i}]"), "channel:address is wanted")),
    };
    text.split('|').enumerate().map(device).collect()
}
