//! Which database is meant, and how the commands open it: one that is there, a new one, or either.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use crate::exit::Usage;
use crate::store::{Found, Place, Store};

/// Which database.
#[derive(Debug, Args)]
pub struct Database {
    /// SQLite file; `serve`, `migrate` and `token create` make it when it is missing [default:
    /// weavewatch/server.sqlite in $XDG_DATA_HOME, else ~/.local/share; on Windows in %LOCALAPPDATA%].
    #[arg(long, value_name = "FILE", conflicts_with = "database_url")]
    pub data: Option<PathBuf>,
    /// PostgreSQL instead of a file, such as postgres://user@host/weavewatch.
    #[arg(long, value_name = "URL", env = "WEAVEWATCH_DATABASE_URL", hide_env_values = true, value_parser = postgres_url)]
    pub database_url: Option<String>,
}

impl Database {
    /// Opens the database, makes it when it is missing, and brings its schema up to date.
    ///
    /// # Errors
    /// With the place and what to do.
    pub async fn open_or_create(self) -> anyhow::Result<Store> {
        let place = self.with_folder()?;
        if Store::look(&place).await.with_context(|| format!("failed to open {place}"))? == Found::Foreign {
            bail!("failed to open {place}: it is the database of another program");
        }
        open(&place).await
    }

    /// Opens a database that is there, and brings its schema up to date.
    ///
    /// # Errors
    /// With the place and what to do; also when it would have to be made.
    pub async fn open(self) -> anyhow::Result<Store> {
        let place = self.place()?;
        must_be_ours(&place).await?;
        open(&place).await
    }

    /// Opens a database that is there and leaves its schema alone.
    ///
    /// # Errors
    /// With the place and what to do.
    pub async fn open_as_it_is(self) -> anyhow::Result<Store> {
        let place = self.place()?;
        must_be_ours(&place).await?;
        Store::open(&place).await.with_context(|| format!("failed to open {place}"))
    }

    /// Makes a database without tables.
    ///
    /// # Errors
    /// With the place and what to do; also when something is there already.
    pub async fn open_empty(self) -> anyhow::Result<Store> {
        let place = self.with_folder()?;
        if Store::look(&place).await.with_context(|| format!("failed to open {place}"))? != Found::Nothing {
            let why = format!("failed to restore: there is a database at {place} already, name a new one");
            return Err(Usage(why).into());
        }
        Store::open(&place).await.with_context(|| format!("failed to open {place}"))
    }

    /// The place, where a new file can be made.
    fn with_folder(self) -> anyhow::Result<Place> {
        let is_default = self.data.is_none();
        let place = self.place()?;
        if let (true, Place::File(file)) = (is_default, &place) {
            let folder = file.parent().context("failed to find the user's data folder: name a file with --data")?;
            std::fs::create_dir_all(folder)
                .with_context(|| format!("failed to make {}: name a file with --data", folder.display()))?;
        }
        Ok(place)
    }

    /// What was typed, turned into a place.
    ///
    /// # Errors
    /// When nothing was typed and the user has no folder.
    pub fn place(self) -> anyhow::Result<Place> {
        if let Some(file) = self.data {
            return Ok(Place::File(file));
        }
        if let Some(url) = self.database_url {
            return Ok(Place::Postgres(url));
        }
        let folder = data_folder().context("failed to find the user's data folder: name a file with --data")?;
        Ok(Place::File(folder.join("server.sqlite")))
    }
}

async fn must_be_ours(place: &Place) -> anyhow::Result<()> {
    if Store::look(place).await.with_context(|| format!("failed to open {place}"))? != Found::Ours {
        bail!(
            "there is no Weavewatch database at {place}: name another, or make one with `weavewatch-server serve` \
             or `weavewatch-server migrate`"
        );
    }
    Ok(())
}

async fn open(place: &Place) -> anyhow::Result<Store> {
    let store = Store::open(place).await.with_context(|| format!("failed to open {place}"))?;
    store.migrate().await.with_context(|| format!("failed to bring the schema of {place} up to date"))?;
    Ok(store)
}

fn data_folder() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        from("LOCALAPPDATA")?
    } else {
        from("XDG_DATA_HOME").or_else(|| Some(from("HOME")?.join(".local/share")))?
    };
    Some(base.join("weavewatch"))
}

fn postgres_url(text: &str) -> Result<String, String> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        Ok(text.to_owned())
    } else {
        Err("expected postgres://…; a SQLite file is named with --data".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Cli;

    #[test]
    fn two_databases_are_wrong_usage() {
        let typed = ["weavewatch-server", "serve", "--data", "a", "--database-url", "postgres://b"];
        let error = Cli::try_parse_from(typed).expect_err("one of them only");
        assert_eq!(error.exit_code(), 2);
        assert!(Cli::try_parse_from(["weavewatch-server", "serve", "--database-url", "mysql://b"]).is_err());
    }
}
