// The partitioners of franz-go, asked as its producer asks them.
package main

import (
	"fmt"
	"hash/crc32"
	"hash/fnv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The default partitioner moves on after this many bytes without a key: a value of this size makes it choose each time.
const uniformBytes = 64 << 10

func franzGo() ([]profile, error) {
	// A client connects when it has something to send, which this one never has.
	producer, err := kgo.NewClient()
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	standard, ok := producer.OptValue(kgo.RecordPartitioner).(kgo.Partitioner)
	if !ok {
		return nil, fmt.Errorf("franz-go does not say which partitioner is its default")
	}
	byDefault := franzGoProfile("franz-go", "kgo.NewClient().OptValue(kgo.RecordPartitioner)", standard)
	sticky := franzGoProfile("franz-go", "kgo.StickyKeyPartitioner(nil)", kgo.StickyKeyPartitioner(nil))
	return []profile{
		{byDefault.name, byDefault.function, func(key []byte, n int) (int, error) {
			partition, err := byDefault.partition(key, n)
			if err != nil || key == nil {
				return partition, err
			}
			// The profile also stands for the earlier default, which differs only without a key.
			if other, err := sticky.partition(key, n); err != nil || other != partition {
				return 0, fmt.Errorf("the default says %d, %s %d (%v)", partition, sticky.function, other, err)
			}
			return partition, nil
		}},
		franzGoProfile("franz-go:sarama-crc32", "kgo.StickyKeyPartitioner(kgo.SaramaHasher(crc32.ChecksumIEEE))",
			kgo.StickyKeyPartitioner(kgo.SaramaHasher(crc32.ChecksumIEEE))),
		franzGoProfile("franz-go:sarama-compat", "kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a))",
			kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a))),
	}, nil
}

// fnv32a is the hash that franz-go's documentation of SaramaCompatHasher asks for.
func fnv32a(key []byte) uint32 {
	hash := fnv.New32a()
	hash.Write(key)
	return hash.Sum32()
}

func franzGoProfile(name, function string, partitioner kgo.Partitioner) profile {
	of := partitioner.ForTopic(topic)
	value := make([]byte, uniformBytes)
	return profile{name, function, func(key []byte, n int) (int, error) {
		record := &kgo.Record{Topic: topic, Key: key, Value: value}
		if batched, sticks := of.(kgo.TopicPartitionerOnNewBatch); sticks {
			batched.OnNewBatch()
		}
		if byBackup, weighs := of.(kgo.TopicBackupPartitioner); weighs {
			return byBackup.PartitionByBackup(record, n, &noBackup{left: n}), nil
		}
		return of.Partition(record, n), nil
	}}
}

// noBackup reports that nothing waits for any of the partitions.
type noBackup struct{ next, left int }

func (b *noBackup) Next() (int, int64) {
	partition := b.next
	b.next++
	b.left--
	return partition, 0
}

func (b *noBackup) Rem() int { return b.left }
