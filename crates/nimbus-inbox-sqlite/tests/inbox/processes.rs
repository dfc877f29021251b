//! Several processes on one file. The test runs itself as its children.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use nimbus_inbox_core::{InboxStore, InboxStoreExt};
use nimbus_inbox_sqlite::SqliteInbox;
use nimbus_inbox_testing::key;

use crate::support::{child, directory, keys, place_of_parent, recorded, this_program};

const CHILDREN: usize = 4;
const IDS: usize = 200;

/// INB-21, INB-27: all of them create the table, and of all calls that record a key one says that
/// it created the record.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_record_is_created_by_exactly_one_process() {
    if let Some(directory) = place_of_parent() {
        return record_from_a_process(&directory).await;
    }
    let directory = directory();
    let test = "processes::each_record_is_created_by_exactly_one_process";
    let children: Vec<_> = (0..CHILDREN)
        .map(|_| {
            child(&this_program(), test, directory.path())
                .spawn()
                .expect("a child")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("a child").success());
    }

    let mut creators: HashMap<String, usize> = HashMap::new();
    for entry in fs::read_dir(directory.path()).expect("readable") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|extension| extension == "now") {
            for id in fs::read_to_string(path).expect("readable").lines() {
                *creators.entry(id.to_owned()).or_default() += 1;
            }
        }
    }
    for number in 0..IDS {
        let id = format!("order-{number}");
        assert_eq!(creators.get(&id), Some(&1), "processes that created {id}");
    }
    let inbox = SqliteInbox::open(directory.path().join("inbox.db"))
        .await
        .expect("an intact file");
    assert_eq!(recorded(&inbox, &keys("order", IDS)).await, IDS);
}

/// Writes down for which ids this process was told that it created the record.
async fn record_from_a_process(directory: &Path) {
    let inbox = SqliteInbox::open(directory.join("inbox.db"))
        .await
        .expect("everyone gets in");
    let own = usize::try_from(std::process::id()).expect("small");
    let calls: Vec<_> = (0..IDS)
        .map(|number| {
            let (inbox, id) = (inbox.clone(), format!("order-{}", (number * 7 + own) % IDS));
            tokio::spawn(async move {
                let one = key("Billing", &id);
                let recorded = if number % 3 == 0 {
                    inbox.record_one(&one).await.expect("its turn comes")
                } else {
                    let batch = [key("Billing", &format!("{own}-{number}")), one];
                    inbox.record(&batch).await.expect("its turn comes")[1]
                };
                recorded.is_now().then_some(id)
            })
        })
        .collect();
    let mut created = String::new();
    for call in calls {
        if let Some(id) = call.await.expect("no panic") {
            created.push_str(&id);
            created.push('\n');
        }
    }
    fs::write(directory.join(format!("{own}.now")), created).expect("writable");
}
