use std::io::{Cursor, Write};

use domain::Uid;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;

use super::*;

fn open(text: &[u8], format: Format) -> Result<UserRows, RowError> {
    UserRows::open(Box::new(Cursor::new(text.to_vec())), format)
}

fn rows(text: &str) -> Vec<Result<Row, RowError>> {
    open(text.as_bytes(), Format::Csv).unwrap().collect()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::default());
    to.write_all(text).unwrap();
    to.finish().unwrap()
}

fn uid(row: &Result<Row, RowError>) -> Option<(u64, u64)> {
    let row = row.as_ref().ok()?;
    match &row.change {
        Change::Put(user) => Some((row.line, user.uid.0)),
        Change::Delete(uid) => Some((row.line, uid.0)),
    }
}

const FULL: &str = "\u{feff}deleted,uid,zone,language,region,consent,consent_at,name,devices\r\n\
    ,1001,Europe/Berlin,zh-Hant,eu,NO,2026-06-01T08:00:00Z,\"Lovelace, \"\"Ada\"\"\",stub:a|webhook:https://x/y:z\r\n\
    \r\n\
    no,1002,Asia/Tokyo,,,,,,\r\n\
    1,1003,,,,,,,\r\n";

#[test]
fn csv_by_its_header() {
    let rows: Vec<_> = rows(FULL).into_iter().map(Result::unwrap).collect();
    assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 4, 5]);
    let Change::Put(ada) = &rows[0].change else { panic!() };
    assert_eq!(
        (ada.name.as_deref(), ada.language.clone(), ada.region.clone()),
        (Some("Lovelace, \"Ada\""), "zh-Hant".parse().ok(), "eu".parse().ok())
    );
    assert_eq!(ada.consent, Some(false));
    assert_eq!(ada.consent_at, Some("2026-06-01T08:00:00Z".parse().unwrap()));
    let devices: Vec<_> =
        ada.devices.iter().flatten().map(|d| (d.channel.as_str(), d.address.as_str())).collect();
    assert_eq!(devices, [("stub", "a"), ("webhook", "https://x/y:z")]);
    let Change::Put(plain) = &rows[1].change else { panic!() };
    assert!(plain.consent.is_none() && plain.consent_at.is_none() && plain.devices.is_none());
    assert!(plain.language.is_none() && plain.region.is_none(), "an empty cell changes nothing");
    assert_eq!(rows[2].change, Change::Delete(Uid(1003)));
}

#[test]
fn a_bad_row_is_told_by_line_and_field_and_spoils_no_other() {
    let text = "uid,zone,consent,devices,name\n\
        1,Europe/Berlin,,,\n\
        01001,Europe/Berlin,,,\n\
        2,Mars/Tharsis,,,\n\
        3,Europe/Berlin,perhaps,,\n\
        4,Europe/Berlin,,nochannel,\n\
        5,Europe/Berlin,,stub:a|stub:,\n\
        6,Europe/Berlin,,\n\
        7,Europe/Berlin,,,\"Ada\n\
        8,,,,\n\
        ,Europe/Berlin,,,\n\
        9,Europe/Berlin,,,last\n";
    let rows = rows(text);
    let faults: Vec<_> =
        rows.iter().filter_map(|row| row.as_ref().err()).map(|e| (e.line, e.field.as_str())).collect();
    assert_eq!(
        faults,
        [
            (3, "uid"),
            (4, "zone"),
            (5, "consent"),
            (6, "devices[0]"),
            (7, "devices[1].address"),
            (8, "line"),
            (9, "line"),
            (10, "zone"),
            (11, "uid"),
        ]
    );
    assert_eq!(rows.iter().filter_map(uid).collect::<Vec<_>>(), [(2, 1), (12, 9)]);
}

#[test]
fn a_header_that_does_not_fit_stops_the_import() {
    let fault = |text: &str| {
        let error = open(text.as_bytes(), Format::Csv).err().unwrap();
        (error.line, error.field)
    };
    assert_eq!(fault("uid,zone,nick\n1,Asia/Tokyo,x"), (1, "nick".into()));
    assert_eq!(fault("uid,zone,uid\n"), (1, "uid".into()));
    assert_eq!(fault("zone\nAsia/Tokyo"), (1, "uid".into()));
    assert_eq!(fault("uid,name\n"), (1, "zone".into()));
    assert_eq!(fault(""), (1, "uid".into()));
    assert_eq!(rows("uid,deleted\n1,yes\n").iter().filter_map(uid).collect::<Vec<_>>(), [(2, 1)]);
}

#[test]
fn packed_files_of_several_members_read_as_one_and_count_their_own_bytes() {
    let packed = [gzip(b"uid,zone\n1,Asia/Tokyo\n2,Asia/"), gzip(b"Tokyo\n3,Asia/Tokyo")].concat();
    let mut rows = open(&packed, Format::Csv).unwrap();
    assert_eq!(
        rows.by_ref().map(|row| uid(&row)).collect::<Vec<_>>(),
        [Some((2, 1)), Some((3, 2)), Some((4, 3))]
    );
    assert_eq!(rows.bytes_read(), packed.len() as u64);

    let cut = gzip(&b"{\"uid\":1,\"zone\":\"Asia/Tokyo\"}\n".repeat(1000));
    let rows: Vec<_> = open(&cut[..cut.len() - 20], Format::Ndjson).unwrap().collect();
    let (last, before) = rows.split_last().unwrap();
    assert!(before.iter().all(Result::is_ok));
    assert_eq!(last.as_ref().unwrap_err().field, "file", "the end of a file that is cut is told, once");
}

#[test]
fn ndjson_rows_and_lines_too_long() {
    let text = format!(
        "{{\"uid\":1,\"zone\":\"Asia/Tokyo\"}}\r\nnull\n{{\"uid\":2,\"zone\":\"Asia/Tokyo\",\"name\":\"{}\"}}\n\
         {{\"uid\":\"3\",\"deleted\":true}}",
        "x".repeat(LONGEST_LINE)
    );
    let rows: Vec<_> = open(text.as_bytes(), Format::Ndjson).unwrap().collect();
    assert_eq!(rows.iter().map(uid).collect::<Vec<_>>(), [Some((1, 1)), None, None, Some((4, 3))]);
    let fault = rows[2].as_ref().unwrap_err();
    assert_eq!((fault.line, fault.reason.as_str()), (3, "is longer than 65536 bytes"));
    assert_eq!(open(b"", Format::Ndjson).unwrap().count(), 0);
}

#[test]
fn no_row_error_repeats_a_name_or_an_address() {
    let text = "uid,zone,devices,name\n1,Asia/Tokyo,SECRET,x\n2,Asia/Tokyo,a b:SECRET,x\n\
        3,Asia/Tokyo,stub:SECRET\u{7},x\n4,Asia/Tokyo,stub:a,\"SECRET\n";
    for row in rows(text) {
        let shown = row.unwrap_err().to_string();
        assert!(!shown.contains("SECRET"), "{shown}");
    }
}

proptest! {
    #[test]
    fn garbage_is_told_and_never_a_panic(bytes: Vec<u8>, tail in "[\\x00-\\x7f,\"|:\n\r]{0,200}", zip: bool) {
        for format in [Format::Csv, Format::Ndjson] {
            for head in ["", "uid,zone,language,region,consent,consent_at,name,devices,deleted\n"] {
                let mut text = [head.as_bytes(), tail.as_bytes(), b"\n", &bytes].concat();
                if zip {
                    // a good start, a broken tail
                    text = [gzip(&text), bytes.clone()].concat();
                }
                if let Ok(rows) = open(&text, format) {
                    for row in rows {
                        if let Err(error) = row {
                            prop_assert!(error.line > 0 && !error.field.is_empty() && !error.reason.is_empty());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn whatever_can_be_written_as_csv_is_read_back(uid: u64, name in "[^\\pC]{0,50}", address in "[^\\pC|]{1,50}") {
        let cell = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let text = format!("uid,zone,name,devices\n{uid},Asia/Tokyo,{},{}\n", cell(&name), cell(&format!("stub:{address}")));
        let row = rows(&text).remove(0).unwrap();
        let Change::Put(user) = row.change else { panic!() };
        prop_assert_eq!((user.uid, user.name.as_deref().unwrap_or_default(), &user.devices.as_ref().unwrap()[0].address), (Uid(uid), name.as_str(), &address));
    }
}
