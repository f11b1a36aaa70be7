use config::Config;

use super::{print_json, replay};
use crate::{access::Access, cli::Dead, endings::Ending, say::say};

/// `stepcast dead list|show|replay`
pub(super) async fn run(config: Config, asked: Dead) -> anyhow::Result<Ending> {
    let access = Access::open(config).await?;
    match asked {
        Dead::List { after, limit, json } => {
            let mut query = vec![("limit", limit.to_string())];
            query.extend(after.map(|after| ("after", after.to_string())));
            let listed = access.get("/ops/v1/dead", &query).await?;
            if json {
                return Ok(print_json(&listed));
            }
            let letters = listed["dead"].as_array().cloned().unwrap_or_default();
            if letters.is_empty() {
                say!("there are no dead letters");
            }
            for letter in letters {
                let text = |field: &str| letter[field].as_str().unwrap_or_default().to_owned();
                say!(
                    "{:>6}  {}  {:<10} {:<17} {}",
                    letter["id"],
                    text("at"),
                    text("channel"),
                    text("reason"),
                    text("detail")
                );
            }
        }
        Dead::Show { id, json } => {
            let letter = access.get(&format!("/ops/v1/dead/{id}"), &[]).await?;
            if json {
                return Ok(print_json(&letter));
            }
            say!("{letter:#}");
        }
        Dead::Replay { reason, limit, json } => return replay::replay(&access, reason, limit, json).await,
    }
    Ok(Ending::Done)
}
