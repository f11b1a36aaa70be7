use std::str::FromStr;

/// How a file of users is written. Whether it is packed is told by its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header.
    Csv,
    /// A JSON object a line.
    Ndjson,
}

impl Format {
    /// The format of a file by its name: `.csv` is CSV; `.ndjson`, `.jsonl` and `.json` are NDJSON; in any case, and
    /// with or without `.gz` after it. `None` for another.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let (_, ending) = name.strip_suffix(".gz").unwrap_or(&name).rsplit_once('.')?;
        match ending {
            "csv" => Some(Self::Csv),
            "ndjson" | "jsonl" | "json" => Some(Self::Ndjson),
            _ => None,
        }
    }
}

impl FromStr for Format {
    type Err = String;

    /// `csv` or `ndjson`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "csv" => Ok(Self::Csv),
            "ndjson" => Ok(Self::Ndjson),
            other => Err(format!("format {other:?}: csv or ndjson is wanted")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_format() {
        for name in ["users.csv", "USERS.CSV", "a/b.c/users.csv.gz"] {
            assert_eq!(Format::of_name(name), Some(Format::Csv), "{name}");
        }
        for name in ["users.ndjson", "users.jsonl.gz", "users.json.gz"] {
            assert_eq!(Format::of_name(name), Some(Format::Ndjson), "{name}");
        }
        for name in ["users", "csv", "users.gz", "users.csv.bz2", "users.csv/other", ""] {
            assert_eq!(Format::of_name(name), None, "{name}");
        }
        assert_eq!("ndjson".parse(), Ok(Format::Ndjson));
        assert!("xml".parse::<Format>().is_err());
    }
}
