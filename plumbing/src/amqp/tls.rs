use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, pem::PemObject},
};
use rustls_platform_verifier::BuilderVerifierExt;

/// How servers are believed: those whose certificate comes from one in the file, or without a file from one the system
/// trusts. The error names the setting.
pub(super) fn client(ca_file: Option<&Path>) -> Result<Arc<ClientConfig>, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("url: TLS is not to be had: {e}"))?;
    let config = match ca_file {
        Some(path) => builder.with_root_certificates(roots(path)?).with_no_client_auth(),
        None => builder
            .with_platform_verifier()
            .map_err(|e| format!("ca_file: without one the system's certificates are wanted: {e}"))?
            .with_no_client_auth(),
    };
    Ok(Arc::new(config))
}

fn roots(path: &Path) -> Result<RootCertStore, String> {
    let fault = |error: &dyn ToString| format!("ca_file: {}: {}", path.display(), error.to_string());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| fault(&e))? {
        roots.add(certificate.map_err(|e| fault(&e))?).map_err(|e| fault(&e))?;
    }
    match roots.is_empty() {
        true => Err(fault(&"it holds no certificate")),
        false => Ok(roots),
    }
}
