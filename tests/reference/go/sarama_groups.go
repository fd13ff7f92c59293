// The assignors of sarama, asked as its consumer group's leader asks them.
package main

import (
	"encoding/binary"

	"github.com/IBM/sarama"
	old "github.com/Shopify/sarama"
)

var saramaAssignors = map[string]assignor{
	"sarama:range":              saramaAssignor(sarama.NewBalanceStrategyRange),
	"sarama:roundrobin":         saramaAssignor(sarama.NewBalanceStrategyRoundRobin),
	"sarama:sticky":             saramaAssignor(sarama.NewBalanceStrategySticky),
	"sarama:cooperative-sticky": saramaAssignor(sarama.NewBalanceStrategyCooperativeSticky),
}

func saramaAssignor(create func() sarama.BalanceStrategy) assignor {
	return func(question *groupQuestion) (*balancing, error) {
		strategy := create()
		members, err := saramaMembers(question, strategy)
		if err != nil {
			return nil, err
		}
		topics, err := saramaTopics(question, members)
		if err != nil {
			return nil, err
		}
		var planned sarama.BalanceStrategyPlan
		balance := func() (err error) {
			planned, err = strategy.Plan(members, topics)
			return err
		}
		return &balancing{balance, func() (plan, error) { return plan(planned), nil }}, nil
	}
}

// saramaMembers is the members' metadata, in a map that is filled as JoinGroupResponse.GetMembers fills it.
func saramaMembers(
	question *groupQuestion, strategy sarama.BalanceStrategy,
) (map[string]sarama.ConsumerGroupMemberMetadata, error) {
	members := make(map[string]sarama.ConsumerGroupMemberMetadata, len(question.Members))
	for _, member := range question.Members {
		metadata := sarama.ConsumerGroupMemberMetadata{Version: 2, Topics: member.Topics, GenerationID: member.generation()}
		owned, names := member.owned()
		switch strategy.Name() {
		case sarama.StickyBalanceStrategyName:
			if member.Owned != nil {
				// The bytes that a leader sends to a member, and the member back to the next leader.
				data, err := strategy.AssignmentData(member.ID, owned, member.generation())
				if err != nil {
					return nil, err
				}
				metadata.UserData = data
			}
		case sarama.CooperativeStickyBalanceStrategyName:
			metadata.UserData = binary.BigEndian.AppendUint32(nil, uint32(member.generation()))
			for _, name := range names {
				metadata.OwnedPartitions = append(
					metadata.OwnedPartitions, &sarama.OwnedPartition{Topic: name, Partitions: owned[name]},
				)
			}
		}
		raw, err := member.sent()
		if err != nil {
			return nil, err
		}
		if raw != nil {
			response := sarama.JoinGroupResponse{Members: []sarama.GroupMember{{MemberId: member.ID, Metadata: raw}}}
			read, err := response.GetMembers()
			if err != nil {
				return nil, err
			}
			metadata = read[member.ID]
		}
		members[member.ID] = metadata
	}
	return members, nil
}

// saramaTopics does what consumerGroup.balance does before it asks the strategy: client.Partitions answers a topic
// that the brokers do not know with ErrUnknownTopicOrPartition.
func saramaTopics(
	question *groupQuestion, members map[string]sarama.ConsumerGroupMemberMetadata,
) (map[string][]int32, error) {
	topics, counts := map[string][]int32{}, question.counts()
	for _, member := range members {
		for _, topic := range member.Topics {
			topics[topic] = nil
		}
	}
	for topic := range topics {
		if counts[topic] == 0 {
			return nil, sarama.ErrUnknownTopicOrPartition
		}
		partitions := make([]int32, counts[topic])
		for at := range partitions {
			partitions[at] = int32(at)
		}
		topics[topic] = partitions
	}
	return topics, nil
}

// The range of up to 1.34.0, and the roundrobin of up to 1.27, from the last release that has both.
var oldSaramaAssignors = map[string]assignor{
	"sarama:range@1.34.0":    oldSaramaAssignor(old.BalanceStrategyRange),
	"sarama:roundrobin@1.27": oldSaramaAssignor(old.BalanceStrategyRoundRobin),
}

func oldSaramaAssignor(strategy old.BalanceStrategy) assignor {
	return func(question *groupQuestion) (*balancing, error) {
		members := map[string]sarama.ConsumerGroupMemberMetadata{}
		asked := map[string]old.ConsumerGroupMemberMetadata{}
		for _, member := range question.Members {
			members[member.ID] = sarama.ConsumerGroupMemberMetadata{Topics: member.Topics}
			asked[member.ID] = old.ConsumerGroupMemberMetadata{Topics: member.Topics}
		}
		topics, err := saramaTopics(question, members)
		if err != nil {
			return nil, err
		}
		var planned old.BalanceStrategyPlan
		balance := func() (err error) {
			planned, err = strategy.Plan(asked, topics)
			return err
		}
		return &balancing{balance, func() (plan, error) { return plan(planned), nil }}, nil
	}
}
