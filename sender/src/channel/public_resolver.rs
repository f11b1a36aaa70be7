use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::private_address::is_private;

/// Resolves names as the system does and leaves out what is private, so that a name that points inside, now or later,
/// leads nowhere: the check is made on the very addresses that are then connected to.
#[derive(Debug)]
pub(super) struct PublicResolver;

/// A name with private addresses only.
#[derive(Debug, thiserror::Error)]
#[error("the name has private addresses only")]
pub(super) struct PrivateName;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses: Addrs = Box::new(public(found)?.into_iter());
            Ok(addresses)
        })
    }
}

fn public(found: impl Iterator<Item = SocketAddr>) -> Result<Vec<SocketAddr>, PrivateName> {
    let mut any = false;
    let public: Vec<_> = found.inspect(|_| any = true).filter(|a| !is_private(a.ip())).collect();
    if any && public.is_empty() { Err(PrivateName) } else { Ok(public) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|t| t.parse().unwrap()).collect()
    }

    #[test]
    fn private_addresses_are_left_out() {
        let mixed = addresses(&["10.0.0.1:0", "8.8.8.8:0", "[::1]:0", "[2606:4700::1]:0"]);
        let kept = public(mixed.into_iter()).unwrap();
        assert_eq!(kept, addresses(&["8.8.8.8:0", "[2606:4700::1]:0"]));
        assert!(public(addresses(&["127.0.0.1:0", "[::ffff:10.0.0.1]:0"]).into_iter()).is_err());
    }

    #[tokio::test]
    async fn localhost_is_private() {
        let refused = PublicResolver.resolve("localhost".parse().unwrap()).await.err().unwrap();
        assert!(refused.is::<PrivateName>(), "{refused}");
    }
}
