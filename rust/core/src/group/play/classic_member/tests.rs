//! What a classic member does at an event: a missed poll, a rebalance that a heartbeat tells of, an unknown ID.

use std::sync::Arc;

use super::super::super::classic::{
    ClassicGroup as Group, ClassicGroupConfig as Config, ClassicGroupRequest as Request, Joined, Response,
};
use super::super::super::error_code::Code;
use super::super::member::{Api, Effect, Event, Life, Member, Progress, Sent, consumer};
use super::super::script::{Consumer, MemberAction};
use super::{ClassicCoordinator, ClassicMember, Timer};
use crate::assignors::Assignor;

impl Life<ClassicMember> {
    /// A member that polls every 500 ms and has just joined, with both partitions of a topic.
    fn stable(assignor: Assignor) -> Self {
        let assignors = Arc::new([(assignor.name().into(), assignor)]);
        let config = Consumer { assignors, ..consumer(300_000) };
        let mut life = Self::new(ClassicCoordinator::new(Group::new(Config::default())), config);
        assert_eq!(sent(&life.happens(3, Event::Wake(Timer::Poll))), [Api::JoinGroup]);
        life.is_answered(13, Api::JoinGroup, joined(assignor, 1));
        assert_eq!(sent(&life.happens(13, Event::Wake(Timer::Poll))), [Api::SyncGroup]);
        let assignment = Some([(0, 0), (0, 1)].into());
        life.is_answered(
            23,
            Api::SyncGroup,
            Response::Synced { code: Code::None, protocol: None, assignment },
        );
        let effects = life.happens(23, Event::Wake(Timer::Poll));
        assert!(
            effects.iter().any(|it| matches!(it, Effect::Read(places) if places.len() == 2)),
            "{effects:?}"
        );
        life.happens(33, Event::Wake(Timer::Poll));
        life
    }

    /// An answer comes.
    fn is_answered(
        &mut self,
        at: i64,
        api: Api,
        answer: super::AnswerOf<ClassicMember>,
    ) -> Vec<Effect<ClassicMember>> {
        self.happens(at, Event::Answer(Sent { api, identity: self.member.identity, read: at }, answer))
    }
}

/// The answer to a follower's `JoinGroup`.
fn joined(assignor: Assignor, generation: i32) -> super::AnswerOf<ClassicMember> {
    Response::Joined(Joined {
        code: Code::None,
        generation,
        protocol: Some(assignor.name().into()),
        leader: Some("other".into()),
        member: "m".into(),
        skip_assignment: false,
        members: Vec::new(),
    })
}

fn sent(effects: &[Effect<ClassicMember>]) -> Vec<Api> {
    let api = |effect: &Effect<ClassicMember>| match effect {
        Effect::Send(sent, _) => Some(sent.api),
        _ => None,
    };
    effects.iter().filter_map(api).collect()
}

fn stops(effects: &[Effect<ClassicMember>]) -> Vec<(usize, Progress)> {
    let stop = |effect: &Effect<ClassicMember>| match effect {
        Effect::Stop(places, progress) => Some((places.len(), *progress)),
        _ => None,
    };
    effects.iter().filter_map(stop).collect()
}

#[test]
fn leaves_if_the_application_does_not_poll_in_time() {
    let mut life = Life::stable(Assignor::Range);
    let effects = life.happens(1_200, Event::Script(MemberAction::Stall(400_000)));
    // The last poll before the stall was at 1,000 ms.
    assert!(effects.iter().any(|it| matches!(it, Effect::Wake(Timer::PollInterval, 301_000))), "{effects:?}");
    let effects = life.happens(301_000, Event::Wake(Timer::PollInterval));
    assert_eq!(sent(&effects), [Api::LeaveGroup]);
    assert_eq!(stops(&effects), [(2, Progress { read: 1_200, committed: i64::MIN })]);
    // It joins again in its next poll, as a new member.
    assert!(effects.iter().any(|it| matches!(it, Effect::Wake(Timer::Poll, 401_200))), "{effects:?}");
    life.happens(401_200, Event::Wake(Timer::Stall));
    let effects = life.happens(401_200, Event::Wake(Timer::Poll));
    let is_new = |request: &_| matches!(request, Request::Join(join) if join.member.is_empty());
    let joins_anew = |it: &Effect<_>| matches!(it, Effect::Send(_, request) if is_new(request));
    assert!(effects.iter().any(joins_anew), "{effects:?}");
}

#[test]
fn rejoins_when_a_heartbeat_is_answered_that_the_group_rebalances() {
    for (assignor, given_up) in [(Assignor::Range, 1), (Assignor::CooperativeSticky, 0)] {
        let mut life = Life::stable(assignor);
        assert_eq!(sent(&life.happens(3_013, Event::Wake(Timer::Heartbeat))), [Api::Heartbeat]);
        let effects = life.is_answered(3_023, Api::Heartbeat, Response::Done(Code::RebalanceInProgress));
        // Its thread looks each 100 ms, and its application polls at 3,500 ms.
        assert!(effects.iter().any(|it| matches!(it, Effect::Wake(Timer::Answers, 3_113))), "{effects:?}");
        life.happens(3_113, Event::Wake(Timer::Answers));
        let effects = life.happens(3_500, Event::Wake(Timer::Poll));
        assert_eq!((sent(&effects), stops(&effects).len()), (vec![Api::JoinGroup], given_up));
    }
}

#[test]
fn forgets_its_id_when_the_coordinator_does_not_know_it() {
    let mut life = Life::stable(Assignor::CooperativeSticky);
    life.happens(3_013, Event::Wake(Timer::Heartbeat));
    life.is_answered(3_023, Api::Heartbeat, Response::Done(Code::UnknownMemberId));
    assert!(life.member.reads((0, 1)));
    let effects = life.happens(3_113, Event::Wake(Timer::Answers));
    assert_eq!(stops(&effects).len(), 1);
    assert_eq!(life.member.identity(), (&"".into(), -1));
    // Until its next poll it still has them, and returns no records.
    assert!(!life.member.reads((0, 1)));
}

#[test]
fn gives_up_a_sync_group_that_waits_for_longer_than_request_timeout_ms() {
    let mut life = Life::stable(Assignor::Range);
    life.happens(3_013, Event::Wake(Timer::Heartbeat));
    life.is_answered(3_023, Api::Heartbeat, Response::Done(Code::RebalanceInProgress));
    life.happens(3_113, Event::Wake(Timer::Answers));
    assert_eq!(sent(&life.happens(3_500, Event::Wake(Timer::Poll))), [Api::JoinGroup]);
    life.is_answered(3_510, Api::JoinGroup, joined(Assignor::Range, 2));
    let effects = life.happens(4_000, Event::Wake(Timer::Poll));
    assert_eq!(sent(&effects), [Api::SyncGroup]);
    // The timer is still that of the first one, of 13 ms.
    let effects = life.happens(30_014, Event::Wake(Timer::SyncTimeout));
    assert!(matches!(effects[..], [Effect::Wake(Timer::SyncTimeout, 34_001)]), "{effects:?}");
    let effects = life.happens(34_001, Event::Wake(Timer::SyncTimeout));
    assert!(effects.iter().any(|it| matches!(it, Effect::Disconnect)), "{effects:?}");
    // One whose answer has come in time gives up nothing.
    let mut life = Life::stable(Assignor::Range);
    let effects = life.happens(30_014, Event::Wake(Timer::SyncTimeout));
    assert!(effects.is_empty(), "{effects:?}");
}
