// franz-go's partitioner over the keys of each case: a loop that writes a column of ints, as ours does.
package benches

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

const none = -1

// TestMain prints the run's seed and the versions, in the lines that Go's benchmark format has for them.
func TestMain(m *testing.M) {
	seed, err := runSeed()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Printf("seed: %d\n", seed)
	fmt.Printf("go: %s\n", runtime.Version())
	os.Exit(m.Run())
}

// BenchmarkPartition asks the partitioner as a producer does, with one record whose key changes; an operation is all
// rows. Results go into a slice that is there before, and what the first of them add up to is a metric: `sum`.
func BenchmarkPartition(b *testing.B) {
	lab, err := readLab()
	if err != nil {
		b.Fatal(err)
	}
	partitioner := kgo.StickyKeyPartitioner(nil).ForTopic("t")
	for _, one := range lab.Cases {
		b.Run(one.Name, func(b *testing.B) {
			keys := one.keys(lab.Rows.Kernel)
			found := make([]int32, len(keys))
			record := &kgo.Record{Topic: "t"}
			for b.Loop() {
				for row, key := range keys {
					if key == nil {
						found[row] = none
						continue
					}
					record.Key = key
					found[row] = int32(partitioner.Partition(record, lab.N))
				}
			}
			b.ReportMetric(float64(len(keys)), "rows/op")
			b.ReportMetric(float64(checked(b, one, found[:lab.CheckedRows])), "sum")
		})
	}
}

// checked fails if the first partitions add up to another sum than in the other layers, known only for seed 0.
func checked(b *testing.B, one keyCase, found []int32) int {
	sum := 0
	for _, partition := range found {
		sum += int(max(partition, 0))
	}
	if seed, _ := runSeed(); seed == 0 && sum != one.Checksum {
		b.Fatalf("%s: the partitions' sum is %d, and cases.json says %d", one.Name, sum, one.Checksum)
	}
	return sum
}
