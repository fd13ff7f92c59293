// The partitioners of sarama, asked as its asynchronous producer asks them.
package main

import "github.com/IBM/sarama"

func saramaProfiles() ([]profile, error) {
	constructors := []struct {
		name, function string
		constructor    sarama.PartitionerConstructor
	}{
		// The default is the one in the configuration itself.
		{"sarama", "sarama.NewConfig().Producer.Partitioner", sarama.NewConfig().Producer.Partitioner},
		{"sarama:reference", "sarama.NewReferenceHashPartitioner", sarama.NewReferenceHashPartitioner},
		{"sarama:crc32", "sarama.NewConsistentCRCHashPartitioner", sarama.NewConsistentCRCHashPartitioner},
		{"sarama:murmur2", "sarama.NewMurmur2Partitioner", sarama.NewMurmur2Partitioner},
	}
	profiles := make([]profile, len(constructors))
	for at, one := range constructors {
		partitioner := one.constructor(topic)
		profiles[at] = profile{one.name, one.function, func(key []byte, n int) (int, error) {
			message := &sarama.ProducerMessage{Topic: topic}
			// An encoder without bytes is an empty key; no encoder is a null key.
			if key != nil {
				message.Key = sarama.ByteEncoder(key)
			}
			partition, err := partitioner.Partition(message, int32(n))
			return int(partition), err
		}}
	}
	return profiles, nil
}
