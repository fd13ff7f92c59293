//! What a KIP-848 member does at an event: a missed poll, a fenced epoch, a smaller assignment.

use super::super::super::consumer::{
    ConsumerGroup as Group, ConsumerGroupConfig as Config, ConsumerGroupRequest as Request,
    HeartbeatAnswer as Answer, Place,
};
use super::super::super::error_code::Code;
use super::super::member::{Api, Effect, Event, Life, Sent, consumer};
use super::super::script::MemberAction;
use super::{ConsumerCoordinator, ConsumerMember, MemberState, Timer};

impl Life<ConsumerMember> {
    /// A member that polls every 500 ms, has joined, reads both partitions of a topic, and has acknowledged them.
    fn stable() -> Self {
        let coordinator = ConsumerCoordinator { group: Group::new(Config::default()) };
        let mut life = Self::new(coordinator, consumer(30_000));
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

    /// The answer to a heartbeat comes.
    fn is_answered(
        &mut self,
        at: i64,
        code: Code,
        epoch: i32,
        assignment: Option<Vec<Place>>,
    ) -> Vec<Effect<ConsumerMember>> {
        let sent = Sent { api: Api::ConsumerGroupHeartbeat, identity: self.member.identity, read: at };
        self.happens(at, Event::Answer(sent, Answer { code, epoch, assignment }))
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
    life.happens(600, Event::Script(MemberAction::Stall(60_000)));
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
    assert_eq!(life.member.subscriptions.assigned, [(0, 0)]);
}
