// Sends records with a real Go client: a line for each, "<hex key or null>".
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

// For clients whose partitioner is a setting, the one that users mean by the client's name.
var writers = map[string]func(bootstrap, topic string, keys [][]byte) error{
	"franz-go": writeFranzGo,
	"kafka-go": writeKafkaGo,
	"sarama":   writeSarama,
}

// write sends a record for each line, a key in hex or the word null, to a topic of a running Kafka.
func write(arguments []string, lines io.Reader) error {
	if len(arguments) != 3 {
		return fmt.Errorf("write takes a client, host:port and a topic, not %d words", len(arguments))
	}
	writer, known := writers[arguments[0]]
	if !known {
		return fmt.Errorf("there is no client %s here", arguments[0])
	}
	var keys [][]byte
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		if scanner.Text() == "null" {
			keys = append(keys, nil)
			continue
		}
		key, err := hex.DecodeString(scanner.Text())
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	return writer(arguments[1], arguments[2], keys)
}

func writeSarama(bootstrap, topic string, keys [][]byte) error {
	config := sarama.NewConfig()
	config.Producer.Return.Successes = true
	producer, err := sarama.NewSyncProducer([]string{bootstrap}, config)
	if err != nil {
		return err
	}
	defer producer.Close()
	messages := make([]*sarama.ProducerMessage, len(keys))
	for i, key := range keys {
		messages[i] = &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("v")}
		if key != nil {
			messages[i].Key = sarama.ByteEncoder(key)
		}
	}
	return producer.SendMessages(messages)
}

func writeKafkaGo(bootstrap, topic string, keys [][]byte) error {
	writer := &kafka.Writer{
		Addr: kafka.TCP(bootstrap), Topic: topic, Balancer: &kafka.Hash{}, BatchTimeout: 10 * time.Millisecond,
	}
	messages := make([]kafka.Message, len(keys))
	for i, key := range keys {
		messages[i] = kafka.Message{Key: key, Value: []byte("v")}
	}
	if err := writer.WriteMessages(context.Background(), messages...); err != nil {
		return err
	}
	return writer.Close()
}

func writeFranzGo(bootstrap, topic string, keys [][]byte) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(topic))
	if err != nil {
		return err
	}
	defer client.Close()
	records := make([]*kgo.Record, len(keys))
	for i, key := range keys {
		records[i] = &kgo.Record{Key: key, Value: []byte("v")}
	}
	return client.ProduceSync(context.Background(), records...).FirstErr()
}
