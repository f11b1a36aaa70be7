use config::Config;
use serde_json::{Value, json};

use super::print_json;
use crate::{access::Access, cli::Key, endings::Ending, say::say};

/// `stepcast key add|list|revoke`
pub(super) async fn run(config: Config, asked: Key) -> anyhow::Result<Ending> {
    match asked {
        Key::Add { scopes, name, json } => {
            let scopes: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
            let body = json!({ "scopes": scopes, "name": name });
            let made = Access::open_or_make(config).await?.post_json("/ops/v1/keys", &body).await?;
            if json {
                return Ok(print_json(&made));
            }
            say!("{}", text(&made["key"]));
        }
        Key::List { json } => {
            let told = Access::open(config).await?.get("/ops/v1/keys", &[]).await?;
            if json {
                return Ok(print_json(&told));
            }
            for key in told["keys"].as_array().into_iter().flatten() {
                let scopes: Vec<_> = key["scopes"].as_array().into_iter().flatten().map(text).collect();
                say!(
                    "{}  {}  {}  {}",
                    text(&key["id"]),
                    text(&key["made_at"]),
                    scopes.join(","),
                    text(&key["name"])
                );
            }
        }
        Key::Revoke { id, json } => {
            let told =
                Access::open(config).await?.post(&format!("/ops/v1/keys/{id}/revoke"), Vec::new()).await?;
            if json {
                return Ok(print_json(&told));
            }
            say!("revoked {id}");
        }
    }
    Ok(Ending::Done)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
