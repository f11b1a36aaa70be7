use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// How operators reach the running program, section `[ops]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ops {
    /// Address and port of the ops interface; loopback.
    pub listen: SocketAddr,
    /// File with the key; `None` is `ops.key` in the data folder.
    pub key_file: Option<PathBuf>,
}

/// Where the ops key lies.
pub(crate) fn key_path(data: &Path, key_file: Option<&Path>) -> PathBuf {
    key_file.map_or_else(|| data.join("ops.key"), Path::to_owned)
}

pub(crate) fn check_address(text: &str) -> Result<(), String> {
    let wanted = "an address and port are wanted, such as \"127.0.0.1:7080\" or \"0.0.0.0:7080\"";
    text.parse::<SocketAddr>().map(drop).map_err(|_| wanted.to_owned())
}

pub(crate) fn check_listen(text: &str) -> Result<(), String> {
    match text.parse::<SocketAddr>() {
        Err(_) => {
            Err("an address and port are wanted, such as \"127.0.0.1:7022\" or \"[::1]:7022\"".to_owned())
        }
        Ok(address) if !address.ip().is_loopback() => {
            Err("a loopback address is wanted: the ops interface is for this machine alone".to_owned())
        }
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback() {
        for good in ["127.0.0.1:7022", "[::1]:0", "127.1.2.3:80"] {
            assert_eq!(check_listen(good), Ok(()), "{good}");
        }
        for bad in [
            "0.0.0.0:7022",
            "[::]:7022",
            "10.0.0.1:7022",
            "localhost:7022",
            "127.0.0.1",
            "127.0.0.1:70220",
            "",
        ] {
            assert!(check_listen(bad).is_err(), "{bad}");
        }
    }
}
