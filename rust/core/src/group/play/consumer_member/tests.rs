//! What a KIP-848 member does at an event: a missed poll, a fenced epoch, a smaller assignment.

use std::sync::Arc;

use super::super::super::consumer::{
    ConsumerGroup as Group, ConsumerGroupConfig as Config, ConsumerGroupEffect as Answer,
    ConsumerGroupRequest as Request, Place,
};
use super::super::super::error_code::Code;
use super::super::ledger::Reader;
use super::super::member::{Api, Effect, Event, Member, Scene, Sent, Start, consumer};
use super::{ConsumerCoordinator, ConsumerMember, MemberState, Timer};

/// A member that polls every 500 ms, and what it sees.
struct Life {
    scene: Scene<ConsumerCoordinator>,
    member: ConsumerMember,
}

impl Life {
    /// A member that has joined, reads both partitions of a topic, and has acknowledged them.
    fn stable() -> Self {
        let config = consumer(30_000);
        let mut scene = Scene::new(ConsumerCoordinator { group: Group::new(Config::default()) }, 2);
        let start = Start { reader: Reader(0), number: 1, config: Arc::new(config), topics: Arc::new([0]) };
        let (member, _) = scene.at(0, |step| ConsumerMember::new(start, step));
        let mut life = Self { scene, member };
        life.happens(0, Event::Start);
        assert_eq!(epochs(&life.happens(3, Event::Wake(Timer::Heartbeat))), [0]);
        life.is_answered(13, Code::None, 1, Some(vec![(0, 0), (0, 1)]));
        assert_eq!(life.member.membership.state, MemberState::Reconciling);
        for at in [500, 500, 501, 513] {
            life.happens(at, Event::Wake(Timer::Poll));
        }
        life.happens(515, Event::Wake(Timer::Positions));
        life.is_answered(515, Code::None, 1, None);
        assert_eq!((life.member.membership.state, life.member.is_busy), (MemberState::Stable, true));
        life
    }

    fn happens(&mut self, at: i64, event: Event<ConsumerMember>) -> Vec<Effect<ConsumerMember>> {
        let (result, effects) = self.scene.at(at, |step| self.member.step(event, step));
        assert!(result.is_ok());
        effects
    }

    /// The answer to a heartbeat comes.
    fn is_answered(
        &mut self,
        at: i64,
        code: Code,
        epoch: i32,
        assignment: Option<Vec<Place>>,
    ) -> Vec<Effect<ConsumerMember>> {
        let sent = Sent { api: Api::ConsumerGroupHeartbeat, identity: self.member.identity, read: at };
        self.happens(at, Event::Answer(sent, Answer { at, tag: 0, code, epoch, assignment }))
    }
}

/// The member epochs of the heartbeats that it sends.
fn epochs(effects: &[Effect<ConsumerMember>]) -> Vec<i32> {
    let epoch = |effect: &Effect<ConsumerMember>| {
        let Effect::Send(_, request) = effect else { return None };
        if let Request::Heartbeat(heartbeat) = &**request { Some(heartbeat.epoch) } else { None }
    };
    effects.iter().filter_map(epoch).collect()
}

/// How many partitions it stops reading.
fn stops(effects: &[Effect<ConsumerMember>]) -> usize {
    let stopped = |effect: &Effect<ConsumerMember>| match effect {
        Effect::Stop(places, _) => places.len(),
        _ => 0,
    };
    effects.iter().map(stopped).sum()
}

#[test]
fn leaves_if_the_application_does_not_poll_in_time_and_joins_again_when_it_does() {
    let mut life = Life::stable();
    life.happens(600, Event::Stall(60_000));
    life.happens(1_000, Event::Wake(Timer::Poll));
    let effects = life.happens(31_000, Event::Wake(Timer::Heartbeat));
    assert_eq!((epochs(&effects), stops(&effects)), (vec![-1], 2));
    assert_eq!(life.member.membership.state, MemberState::Stale);
    let effects = life.happens(60_600, Event::Wake(Timer::Stall));
    assert!(effects.iter().any(|it| matches!(it, Effect::Wake(Timer::Poll, 60_600))), "{effects:?}");
    // The first round of that call finds the event of the call before, and wakes at once.
    let rounds = [60_600, 60_600].map(|at| epochs(&life.happens(at, Event::Wake(Timer::Poll))));
    assert_eq!(rounds, [vec![], vec![0]]);
}

#[test]
fn joins_again_at_once_if_it_is_fenced() {
    let mut life = Life::stable();
    let effects = life.is_answered(5_600, Code::FencedMemberEpoch, 0, None);
    assert_eq!((epochs(&effects), stops(&effects)), (vec![0], 2));
    assert_eq!(life.member.membership.state, MemberState::Joining);
}

#[test]
fn gives_up_partitions_in_a_poll_and_acknowledges_that_in_a_later_one() {
    let mut life = Life::stable();
    let effects = life.is_answered(1_600, Code::None, 2, Some(vec![(0, 0)]));
    assert_eq!((epochs(&effects), stops(&effects)), (vec![], 0));
    // It is busy, so its network thread hears of every second call.
    let polled: Vec<_> = [2_000, 2_500, 3_000]
        .map(|at| life.happens(at, Event::Wake(Timer::Poll)))
        .map(|effects| (epochs(&effects), stops(&effects)))
        .into();
    assert_eq!(polled, [(vec![], 0), (vec![], 1), (vec![2], 0)]);
    assert_eq!(life.member.subscriptions.assigned(), [(0, 0)]);
}
