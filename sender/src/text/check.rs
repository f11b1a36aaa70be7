use domain::Day;
use minijinja::Environment;

use super::{Names, Part, TextError, Texts, Values};

/// The variables a template may use.
const VARIABLES: [&str; 4] = ["steps", "steps_grouped", "name", "day"];

/// Steps that texts tend to treat apart, up to more than anybody walks in a day.
const STEPS: [u32; 6] = [0, 1, 999, 8_350, 65_536, u32::MAX];

/// A name may be empty; the other is as long as most.
const NAMES: [&str; 2] = ["", "Ada Lovelace"];

impl Texts {
    /// Tries every text before a night does.
    pub(super) fn check(&self) -> Result<(), TextError> {
        for names in self.languages.values() {
            for part in [Part::Title, Part::Body] {
                known_variables(&self.engine, names, part)?;
            }
            for name in NAMES {
                for (steps, day) in STEPS.into_iter().zip(days()) {
                    self.render_in(names, Values { name, steps, day })?;
                }
            }
        }
        Ok(())
    }
}

/// Looks for unknown variables in every branch; rendering finds only those in the branches that the samples take.
fn known_variables(engine: &Environment<'_>, names: &Names, part: Part) -> Result<(), TextError> {
    let template = engine.get_template(names.of(part)).map_err(|e| names.fault(part, e.to_string()))?;
    let known = |name: &str| VARIABLES.contains(&name) || engine.globals().any(|(global, _)| global == name);
    match template.undeclared_variables(false).into_iter().filter(|name| !known(name)).min() {
        None => Ok(()),
        Some(name) => {
            let known = VARIABLES.join(", ");
            Err(names.fault(part, format!("unknown variable {name:?}; there are {known}")))
        }
    }
}

/// Days of all kinds: leap, first, last.
fn days() -> impl Iterator<Item = Day> {
    [20_260_607, 20_280_229, 20_261_231, 20_270_101].into_iter().filter_map(Day::from_number).cycle()
}
