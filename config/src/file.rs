use std::{fs, io::Read, path::Path, sync::Arc};

use crate::{Origin, draft::Draft, overlay::overlay, parse::parse};

/// The longest configuration file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Lays a file over the draft. One that is not there or cannot be read is a fault, as is each fault of its syntax; what
/// could be read of it is laid all the same, so that its other faults are found too.
pub(crate) fn lay_file(draft: &mut Draft, path: &Path) {
    let path: Arc<Path> = path.into();
    let origin = |line| Origin::File { path: path.clone(), line };
    match read(&path) {
        Err(fault) => draft.fault_of_layer(fault, origin(None)),
        Ok(text) => {
            let (tree, faults) = parse(&text, |line| origin(Some(line)));
            for (line, fault) in faults {
                draft.fault_of_layer(fault, origin(Some(line)));
            }
            overlay(&mut draft.tree, tree);
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    let cannot = |e: std::io::Error| format!("the file cannot be read: {e}");
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(cannot)?.take(LONGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LONGEST) {
        return Err(format!("the file is longer than {LONGEST} bytes"));
    }
    String::from_utf8(bytes)
        .map_err(|e| format!("the file is not UTF-8 from byte {}", e.utf8_error().valid_up_to()))
}
