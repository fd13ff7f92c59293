// The assignors of kafka-go, asked as its ConsumerGroup asks them when it leads.
package main

import "github.com/segmentio/kafka-go"

var kafkaGoAssignors = map[string]assignor{
	"kafka-go:range":         kafkaGoAssignor(kafka.RangeGroupBalancer{}),
	"kafka-go:roundrobin":    kafkaGoAssignor(kafka.RoundRobinGroupBalancer{}),
	"kafka-go:rack-affinity": kafkaGoAssignor(kafka.RackAffinityGroupBalancer{}),
}

func kafkaGoAssignor(balancer kafka.GroupBalancer) assignor {
	return func(question *groupQuestion) (*balancing, error) {
		members := make([]kafka.GroupMember, len(question.Members))
		for at, member := range question.Members {
			members[at] = kafka.GroupMember{ID: member.ID, Topics: member.Topics}
			if _, racks := balancer.(kafka.RackAffinityGroupBalancer); racks {
				rack := kafka.RackAffinityGroupBalancer{}
				if member.Rack != nil {
					rack.Rack = *member.Rack
				}
				data, err := rack.UserData()
				if err != nil {
					return nil, err
				}
				members[at].UserData = data
			}
		}
		var partitions []kafka.Partition
		for _, topic := range question.Topics {
			for at := range topic.partitions {
				leader := kafka.Broker{Rack: question.leaderRack(topic.name, at)}
				partitions = append(partitions, kafka.Partition{Topic: topic.name, ID: int(at), Leader: leader})
			}
		}
		var assigned kafka.GroupMemberAssignments
		balance := func() error {
			assigned = balancer.AssignGroups(members, partitions)
			return nil
		}
		return &balancing{balance, func() (plan, error) { return kafkaGoPlan(assigned), nil }}, nil
	}
}

func kafkaGoPlan(assigned kafka.GroupMemberAssignments) plan {
	planned := plan{}
	for member, topics := range assigned {
		planned[member] = map[string][]int32{}
		for topic, numbers := range topics {
			for _, number := range numbers {
				planned[member][topic] = append(planned[member][topic], int32(number))
			}
		}
	}
	return planned
}
