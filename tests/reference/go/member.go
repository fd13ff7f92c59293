// Joins a group of a running Kafka with a real Go client, and says what it takes and what it gives up.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A live member of a group, until its context is done.
type liveMember func(ctx context.Context, bootstrap, group, topic string, assignors []string, say sayFunc) error

// What a member takes or gives up of its topic.
type sayFunc func(what string, partitions []int32)

var liveMembers = map[string]liveMember{"franz-go": franzGoMember, "sarama": saramaMember}

var franzGoBalancers = map[string]func() kgo.GroupBalancer{
	"range":              kgo.RangeBalancer,
	"cooperative-sticky": kgo.CooperativeStickyBalancer,
}

var saramaStrategies = map[string]func() sarama.BalanceStrategy{
	"range":              sarama.NewBalanceStrategyRange,
	"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky,
}

// joinGroup lives as a member until its input ends; each line out is {"takes": [0, 1]} or {"gives_up": [0, 1]}.
func joinGroup(arguments []string, input io.Reader, answers io.Writer) error {
	if len(arguments) != 5 {
		return fmt.Errorf("member takes a client, host:port, a group, a topic and assignors, not %d words", len(arguments))
	}
	member, known := liveMembers[arguments[0]]
	if !known {
		return fmt.Errorf("there is no client %s here", arguments[0])
	}
	ctx, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, input)
		end()
	}()
	var mutex sync.Mutex
	encoder := json.NewEncoder(answers)
	say := func(what string, partitions []int32) {
		mutex.Lock()
		defer mutex.Unlock()
		_ = encoder.Encode(map[string][]int32{what: partitions})
	}
	return member(ctx, arguments[1], arguments[2], arguments[3], strings.Split(arguments[4], ","), say)
}

func franzGoMember(ctx context.Context, bootstrap, group, topic string, assignors []string, say sayFunc) error {
	balancers := make([]kgo.GroupBalancer, len(assignors))
	for at, name := range assignors {
		balancers[at] = franzGoBalancers[name]()
	}
	given := func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { say("gives_up", lost[topic]) }
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.Balancers(balancers...),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, added map[string][]int32) {
			say("takes", added[topic])
		}),
		kgo.OnPartitionsRevoked(given), kgo.OnPartitionsLost(given),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	for ctx.Err() == nil {
		client.PollFetches(ctx)
	}
	return nil
}

func saramaMember(ctx context.Context, bootstrap, group, topic string, assignors []string, say sayFunc) error {
	config := sarama.NewConfig()
	config.Version = sarama.V3_2_0_0
	// By default it is range.
	strategies := make([]sarama.BalanceStrategy, len(assignors))
	for at, name := range assignors {
		strategies[at] = saramaStrategies[name]()
	}
	config.Consumer.Group.Rebalance.GroupStrategies = strategies
	consumers, err := sarama.NewConsumerGroup([]string{bootstrap}, group, config)
	if err != nil {
		return err
	}
	defer consumers.Close()
	for ctx.Err() == nil {
		if err := consumers.Consume(ctx, []string{topic}, saramaHandler(say)); err != nil {
			return err
		}
	}
	return nil
}

// A handler whose claims say when they begin and end.
type saramaHandler sayFunc

func (say saramaHandler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (say saramaHandler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (say saramaHandler) ConsumeClaim(_ sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	say("takes", []int32{claim.Partition()})
	for range claim.Messages() {
	}
	say("gives_up", []int32{claim.Partition()})
	return nil
}
