// The balancers of kafka-go, asked as its Writer asks them: with the partitions 0 to n-1.
package main

import "github.com/segmentio/kafka-go"

func kafkaGo() ([]profile, error) {
	balancers := []struct {
		name, function string
		balancer       kafka.Balancer
	}{
		{"kafka-go:hash", "kafka.Hash{}", &kafka.Hash{}},
		{"kafka-go:reference", "kafka.ReferenceHash{}", &kafka.ReferenceHash{}},
		{"kafka-go:crc32", "kafka.CRC32Balancer{}", kafka.CRC32Balancer{}},
		{"kafka-go:murmur2", "kafka.Murmur2Balancer{}", kafka.Murmur2Balancer{}},
	}
	var numbers []int
	upTo := func(n int) []int {
		for len(numbers) < n {
			numbers = append(numbers, len(numbers))
		}
		return numbers[:n]
	}
	profiles := make([]profile, len(balancers))
	for at, one := range balancers {
		profiles[at] = profile{one.name, one.function, func(key []byte, n int) (int, error) {
			return one.balancer.Balance(kafka.Message{Topic: topic, Key: key}, upTo(n)...), nil
		}}
	}
	return profiles, nil
}
