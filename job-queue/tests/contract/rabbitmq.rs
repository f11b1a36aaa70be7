//! The engine on a RabbitMQ broker, at the address in `STEPCAST_TEST_AMQP`; and through TLS at that in
//! `STEPCAST_TEST_AMQPS`.

mod faults;
mod proxy;

use std::{
    hash::{BuildHasher, RandomState},
    panic::{AssertUnwindSafe, resume_unwind},
    sync::Arc,
};

use async_trait::async_trait;
use domain::ChannelName;
use futures_util::FutureExt;
use job_queue::{AmqpSettings, JobQueue, Ladder, RabbitQueue};
use plumbing::amqp::{
    Broker, Link,
    lapin::{
        BasicProperties,
        options::{BasicPublishOptions, ConfirmSelectOptions, QueueDeleteOptions},
    },
};

use crate::{
    delivery,
    engine::{Engine, STEPS},
    keeping, ladder, load,
};

struct Rabbit {
    settings: AmqpSettings,
    /// For what the checks do behind the engine's back.
    link: Link,
    queue: Option<Arc<RabbitQueue>>,
}

impl Rabbit {
    async fn start() -> Self {
        Self::start_at(settings("STEPCAST_TEST_AMQP")).await
    }

    async fn start_at(settings: AmqpSettings) -> Self {
        let link = Link::open(&Broker::new(&settings).unwrap(), "stepcast contract").await.unwrap();
        let mut engine = Self { settings, link, queue: None };
        engine.restart().await;
        engine
    }

    /// Removes all queues that a check may have made.
    async fn clean(&mut self) {
        self.queue = None;
        let on = self.link.channel().await.unwrap();
        let prefix = &self.settings.prefix;
        let mut queues = vec![format!("{prefix}.dead")];
        for channel in ["stub", "webhook"] {
            queues.push(format!("{prefix}.{channel}"));
            queues.extend(STEPS.map(|step| format!("{prefix}.{channel}.wait.{}", step.as_millis())));
        }
        for queue in queues {
            on.queue_delete(queue.into(), QueueDeleteOptions::default()).await.unwrap();
        }
    }
}

/// The broker that the environment names by a variable, with a prefix that nobody else has.
pub(crate) fn settings(variable: &str) -> AmqpSettings {
    #[allow(clippy::disallowed_methods, reason = "tests are told so where the servers are")]
    let url = std::env::var(variable).unwrap();
    let prefix = format!("contract-{:016x}", RandomState::new().hash_one(0u8));
    let mut settings = AmqpSettings::at(url.clone(), prefix);
    if let Some((scheme, rest)) = url.split_once("://")
        && let Some((user, place)) = rest.rsplit_once('@')
    {
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        settings.username = user.to_owned();
        settings.password = Some(password.to_owned().into());
        settings.url = format!("{scheme}://{place}");
    }
    settings
}

/// The same broker's other door. Its certificate is the one that the link's own tests believe.
fn settings_of_tls() -> AmqpSettings {
    let ca = concat!(env!("CARGO_MANIFEST_DIR"), "/../plumbing/src/amqp/certificates/trusted.pem");
    AmqpSettings { ca_file: Some(ca.into()), ..settings("STEPCAST_TEST_AMQPS") }
}

async fn to_the_end(mut engine: Rabbit, check: impl AsyncFnOnce(&mut Rabbit)) {
    let end = AssertUnwindSafe(check(&mut engine)).catch_unwind().await;
    engine.clean().await;
    if let Err(panic) = end {
        resume_unwind(panic);
    }
}

#[async_trait]
impl Engine for Rabbit {
    fn queue(&self) -> Arc<dyn JobQueue> {
        Arc::clone(self.queue.as_ref().unwrap()) as _
    }

    async fn publish_raw(&self, channel: &ChannelName, bytes: &[u8]) {
        let on = self.link.channel().await.unwrap();
        on.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
        let queue = format!("{}.{channel}", self.settings.prefix);
        // it is declared where the channel was looked at
        self.queue().depth(channel).await.unwrap();
        let options = BasicPublishOptions { mandatory: true, ..Default::default() };
        let properties = BasicProperties::default().with_delivery_mode(2);
        let confirm = on.basic_publish("".into(), queue.into(), options, bytes, properties).await.unwrap();
        let confirmation = confirm.await.unwrap();
        assert!(confirmation.is_ack() && confirmation.take_message().is_none());
    }

    async fn restart(&mut self) {
        self.queue = None;
        let ladder = Ladder::new(STEPS.to_vec()).unwrap();
        self.queue = Some(RabbitQueue::open(&self.settings, ladder).unwrap());
    }
}

macro_rules! checks {
    ($($module:ident :: $name:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs the servers that tests/run starts"]
            async fn $name() {
                to_the_end(Rabbit::start().await, async |engine| $module::$name(engine).await).await;
            }
        )*
    };
}

checks! {
    delivery::comes_in_order_and_goes_with_its_acknowledgement,
    delivery::comes_from_a_queue_that_was_made_ready,
    delivery::comes_again_first_when_dropped,
    delivery::comes_again_when_its_task_ends_badly,
    delivery::comes_again_when_its_consumer_goes,
    delivery::holds_no_more_than_its_prefetch,
    delivery::wakes_who_waits,
    delivery::bytes_that_are_no_batch_come_as_they_are,
    ladder::a_long_wait_holds_up_no_short_one,
    ladder::nothing_comes_before_its_step,
    ladder::what_is_due_wakes_who_waits,
    ladder::what_is_due_waits_for_who_comes_later,
    keeping::all_but_the_acknowledged_survives_a_restart,
    keeping::dead_letters_are_listed_oldest_first,
    keeping::dead_letters_are_taken_off_once,
    keeping::old_dead_letters_are_forgotten,
    load::ten_thousand_go_through_once_each,
    load::giving_up_on_the_next_one_loses_nothing,
    faults::a_consumer_whose_queue_is_deleted_is_told,
    faults::what_is_published_to_a_deleted_queue_gets_there,
    faults::calls_that_lose_their_queue_together_all_get_there,
    faults::a_queue_with_other_arguments_is_named,
    faults::what_comes_back_too_often_is_a_dead_letter,
    faults::readers_of_dead_letters_wait_for_each_other_and_lose_none,
    faults::a_reader_of_dead_letters_waits_longer_than_for_an_answer,
    faults::a_cut_connection_is_made_again,
    faults::a_black_hole_is_noticed_by_both_sides,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn ten_thousand_go_through_tls() {
    let engine = Rabbit::start_at(settings_of_tls()).await;
    assert!(engine.settings.url.starts_with("amqps://"), "{}", engine.settings.url);
    to_the_end(engine, async |engine| load::ten_thousand_go_through_once_each(engine).await).await;
}

#[tokio::test]
#[ignore = "needs the servers that tests/run starts"]
async fn a_broker_whose_certificate_is_not_believed_gets_no_password() {
    let settings = AmqpSettings { ca_file: None, ..settings_of_tls() };
    let error = Link::open(&Broker::new(&settings).unwrap(), "stepcast contract").await.err().unwrap();
    assert!(error.to_string().contains("certificate"), "{error}");
}
