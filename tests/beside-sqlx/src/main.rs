//! Records in the inbox and reads the record through sqlx, from one file in one process.

use nimbus_inbox_core::{Error, Inbox};
use nimbus_inbox_sqlite::SqliteInbox;
use sqlx::{Connection, SqliteConnection};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = tempfile::tempdir()?;
    let path = data.path().join("inbox.db");
    let inbox = Inbox::new("BillingEndpoint", SqliteInbox::open(&path).await?)?;
    inbox.process("m-1", async || Ok::<_, Error>(())).await?;

    let mut connection = SqliteConnection::connect(&format!("sqlite://{}", path.display())).await?;
    let records: i64 = sqlx::query_scalar("select count(*) from nimbus_inbox")
        .fetch_one(&mut connection)
        .await?;
    assert_eq!(records, 1);
    Ok(())
}
