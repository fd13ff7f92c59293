// Asks the released assignors of the Go clients who reads what: `groups CLIENT`, with a group in JSON per line.
//
// The first line out is the client's provenance; then comes a line for each line in: `assignment`, or `error` with the
// client's reason. A question with `runs` is asked so often, and `assignments` are the different answers, sorted: what
// Go's order of maps decides. One with `timed` is balanced so often, and `seconds` says how long each time took. Lists are in the client's order, and topics, which have none, in the order of their names.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"
)

// A topic of a group, in the order in which the brokers' metadata lists them.
type groupTopic struct {
	name       string
	partitions int32
}

type groupTopics []groupTopic

type groupMember struct {
	ID         string         `json:"id"`
	Topics     []string       `json:"topics"`
	Owned      *[]ownedOnWire `json:"owned"`
	Generation *int32         `json:"generation"`
	InstanceID *string        `json:"instance_id"`
	Rack       *string        `json:"rack"`
	// The bytes that a member of another client sent, in hex, instead of everything except its ID and instance ID.
	Metadata *string `json:"metadata"`
}

type groupQuestion struct {
	Assignor     string                 `json:"assignor"`
	Topics       groupTopics            `json:"topics"`
	Racks        map[string][][]*string `json:"racks"`
	BalanceRacks bool                   `json:"balance_racks"`
	Members      []groupMember          `json:"members"`
	Runs         int                    `json:"runs"`
	Timed        int                    `json:"timed"`
}

// ownedOnWire is a pair of a topic's name and a partition.
type ownedOnWire struct {
	topic     string
	partition int32
}

// A plan has the partitions of each member by topic.
type plan map[string]map[string][]int32

// An assignor takes a group, or returns the reason why not.
type assignor func(*groupQuestion) (*balancing, error)

// A balancing is a group that a client has taken: it balances, and then returns its plan.
type balancing struct {
	balance func() error
	plan    func() (plan, error)
}

type groupClient struct {
	module    string
	assignors map[string]assignor
}

var groupClients = map[string]groupClient{
	"franz-go": {"github.com/twmb/franz-go", franzGoAssignors},
	"kafka-go": {"github.com/segmentio/kafka-go", kafkaGoAssignors},
	"sarama":   {"github.com/IBM/sarama", saramaAssignors},
	// The last release under this path that has the older assignors.
	"sarama-1.27": {"github.com/Shopify/sarama", oldSaramaAssignors},
}

func (o *ownedOnWire) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&o.topic, &o.partition})
}

// UnmarshalJSON keeps the order of the object's names, which a map would lose.
func (t *groupTopics) UnmarshalJSON(text []byte) error {
	tokens := json.NewDecoder(bytes.NewReader(text))
	if _, err := tokens.Token(); err != nil {
		return err
	}
	for tokens.More() {
		name, err := tokens.Token()
		if err != nil {
			return err
		}
		topic := groupTopic{name: name.(string)}
		if err := tokens.Decode(&topic.partitions); err != nil {
			return err
		}
		*t = append(*t, topic)
	}
	return nil
}

// counts are the numbers of partitions of the topics that the brokers know.
func (q *groupQuestion) counts() map[string]int32 {
	counts := make(map[string]int32, len(q.Topics))
	for _, topic := range q.Topics {
		if topic.partitions > 0 {
			counts[topic.name] = topic.partitions
		}
	}
	return counts
}

// leaderRack is the rack of a partition's first replica, which is its preferred leader.
func (q *groupQuestion) leaderRack(topic string, partition int32) string {
	racks := q.Racks[topic]
	if int(partition) >= len(racks) || len(racks[partition]) == 0 || racks[partition][0] == nil {
		return ""
	}
	return *racks[partition][0]
}

// owned is what a member owns by topic, and the topics in the member's own order.
func (m *groupMember) owned() (map[string][]int32, []string) {
	owned, names := map[string][]int32{}, []string{}
	if m.Owned != nil {
		for _, each := range *m.Owned {
			if _, known := owned[each.topic]; !known {
				names = append(names, each.topic)
			}
			owned[each.topic] = append(owned[each.topic], each.partition)
		}
	}
	return owned, names
}

// sent is the bytes of a member of another client, nil if the question has none.
func (m *groupMember) sent() ([]byte, error) {
	if m.Metadata == nil {
		return nil, nil
	}
	return hex.DecodeString(*m.Metadata)
}

func (m *groupMember) generation() int32 {
	if m.Generation == nil {
		return -1
	}
	return *m.Generation
}

func answerGroups(arguments []string, questions io.Reader, answers io.Writer) error {
	if len(arguments) != 1 {
		return fmt.Errorf("one argument names the client, not %d", len(arguments))
	}
	client, known := groupClients[arguments[0]]
	if !known {
		return fmt.Errorf("there is no client %s here", arguments[0])
	}
	version, err := linkedVersion(client.module)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(answers, 1<<16)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(map[string]any{"library": client.module, "version": version}); err != nil {
		return err
	}
	in := bufio.NewReaderSize(questions, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			answer, err := answerGroup(client, line)
			if err != nil {
				return err
			}
			if err := lines.Encode(answer); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return out.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// assignor returns the one with this name; a name with the version that is linked into this program is its own.
func (c groupClient) assignor(name string) (assignor, error) {
	version, err := linkedVersion(c.module)
	if err != nil {
		return nil, err
	}
	if assign, known := c.assignors[name]; known {
		return assign, nil
	}
	plain, asked, _ := strings.Cut(name, "@")
	if assign, known := c.assignors[plain]; known && strings.HasPrefix(version, asked+".") {
		return assign, nil
	}
	return nil, fmt.Errorf("there is no assignor %s in %s %s", name, c.module, version)
}

func answerGroup(client groupClient, line []byte) (map[string]any, error) {
	var question groupQuestion
	if err := json.Unmarshal(line, &question); err != nil {
		return nil, err
	}
	assign, err := client.assignor(question.Assignor)
	if err != nil {
		return nil, err
	}
	if question.Timed > 0 {
		return timed(assign, &question)
	}
	seen := map[string]map[string][][2]any{}
	for range max(1, question.Runs) {
		planned, err := assigned(assign, &question)
		if err != nil {
			return map[string]any{"error": err.Error()}, nil
		}
		lists := question.lists(planned)
		text, err := json.Marshal(lists)
		if err != nil {
			return nil, err
		}
		seen[string(text)] = lists
	}
	texts := make([]string, 0, len(seen))
	for text := range seen {
		texts = append(texts, text)
	}
	sort.Strings(texts)
	if question.Runs == 0 {
		return map[string]any{"assignment": seen[texts[0]]}, nil
	}
	assignments := make([]any, len(texts))
	for at, text := range texts {
		assignments[at] = seen[text]
	}
	return map[string]any{"assignments": assignments}, nil
}

// assigned is a plan, or the panic with which the client ends.
func assigned(assign assignor, question *groupQuestion) (answer plan, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	taken, err := assign(question)
	if err != nil {
		return nil, err
	}
	if err := taken.balance(); err != nil {
		return nil, err
	}
	return taken.plan()
}

// timed returns how long the client balances the group, as often as asked; the group is taken anew each time.
func timed(assign assignor, question *groupQuestion) (map[string]any, error) {
	seconds := make([]float64, question.Timed)
	for at := range seconds {
		taken, err := assign(question)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if err := taken.balance(); err != nil {
			return nil, err
		}
		seconds[at] = time.Since(began).Seconds()
	}
	return map[string]any{"seconds": seconds}, nil
}

// lists are a plan's partitions by member, with a list for each member.
func (q *groupQuestion) lists(planned plan) map[string][][2]any {
	lists := make(map[string][][2]any, len(q.Members))
	for _, member := range q.Members {
		list := [][2]any{}
		names := make([]string, 0, len(planned[member.ID]))
		for name := range planned[member.ID] {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			for _, partition := range planned[member.ID][name] {
				list = append(list, [2]any{name, partition})
			}
		}
		lists[member.ID] = list
	}
	return lists
}
