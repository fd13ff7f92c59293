// The assignors of franz-go, asked as its group leader asks them.
package main

import (
	"fmt"
	"reflect"
	"sort"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var franzGoAssignors = map[string]assignor{
	"franz-go:range":              franzGoAssignor(kgo.RangeBalancer),
	"franz-go:roundrobin":         franzGoAssignor(kgo.RoundRobinBalancer),
	"franz-go:sticky":             franzGoAssignor(kgo.StickyBalancer),
	"franz-go:cooperative-sticky": franzGoAssignor(kgo.CooperativeStickyBalancer),
}

func franzGoAssignor(create func() kgo.GroupBalancer) assignor {
	return func(question *groupQuestion) (*balancing, error) {
		balancer := create()
		members, err := franzGoMembers(question, balancer)
		if err != nil {
			return nil, err
		}
		group, topics, err := balancer.MemberBalancer(members)
		if err != nil {
			return nil, err
		}
		counts, known := make(map[string]int32, len(topics)), question.counts()
		for topic := range topics {
			if known[topic] > 0 {
				counts[topic] = known[topic]
			}
		}
		franzGoRacks(question, group, counts)
		var planned kgo.IntoSyncAssignment
		balance := func() (err error) {
			planned, err = group.(kgo.GroupMemberBalancerOrError).BalanceOrError(counts)
			return err
		}
		return &balancing{balance, func() (plan, error) { return franzGoPlan(planned) }}, nil
	}
}

// franzGoMembers returns the members of a JoinGroup response, sorted as the leader sorts them.
func franzGoMembers(question *groupQuestion, balancer kgo.GroupBalancer) ([]kmsg.JoinGroupResponseMember, error) {
	members := make([]kmsg.JoinGroupResponseMember, len(question.Members))
	for at, member := range question.Members {
		owned, _ := member.owned()
		topics := append([]string{}, member.Topics...)
		sort.Strings(topics)
		metadata := balancer.JoinGroupMetadata(topics, owned, member.generation())
		if member.Rack != nil {
			read := kmsg.NewConsumerMemberMetadata()
			if err := read.ReadFrom(metadata); err != nil {
				return nil, err
			}
			read.Rack = member.Rack
			metadata = read.AppendTo(nil)
		}
		raw, err := member.sent()
		if err != nil {
			return nil, err
		}
		if raw != nil {
			metadata = raw
		}
		members[at] = kmsg.NewJoinGroupResponseMember()
		members[at].MemberID, members[at].InstanceID, members[at].ProtocolMetadata = member.ID, member.InstanceID, metadata
	}
	sort.SliceStable(members, func(i, j int) bool {
		one, other := members[i], members[j]
		switch {
		case one.InstanceID != nil && other.InstanceID != nil:
			return *one.InstanceID < *other.InstanceID
		case one.InstanceID != nil || other.InstanceID != nil:
			return one.InstanceID != nil
		}
		return one.MemberID < other.MemberID
	})
	return members, nil
}

// franzGoRacks sets the fields that a client sets before it balances; they are not exported.
func franzGoRacks(question *groupQuestion, group kgo.GroupMemberBalancer, counts map[string]int32) {
	balancer := reflect.ValueOf(group.(*kgo.ConsumerBalancer)).Elem()
	set := func(name string, value any) {
		field := balancer.FieldByName(name)
		if field.IsValid() {
			reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
		}
	}
	set("balanceRacks", question.BalanceRacks)
	someMember, someLeader := false, false
	for _, member := range question.Members {
		someMember = someMember || member.Rack != nil
	}
	racks := make(map[string][]string, len(counts))
	for topic, count := range counts {
		racks[topic] = make([]string, count)
		for partition := range count {
			racks[topic][partition] = question.leaderRack(topic, partition)
			someLeader = someLeader || racks[topic][partition] != ""
		}
	}
	if someMember && someLeader {
		set("partitionRacks", racks)
	}
}

// franzGoPlan is the assignment that the members get.
func franzGoPlan(planned kgo.IntoSyncAssignment) (plan, error) {
	answer := plan{}
	for _, member := range planned.IntoSyncAssignment() {
		var assignment kmsg.ConsumerMemberAssignment
		if err := assignment.ReadFrom(member.MemberAssignment); err != nil {
			return nil, fmt.Errorf("%s: %w", member.MemberID, err)
		}
		answer[member.MemberID] = map[string][]int32{}
		for _, topic := range assignment.Topics {
			answer[member.MemberID][topic.Topic] = topic.Partitions
		}
	}
	return answer, nil
}
