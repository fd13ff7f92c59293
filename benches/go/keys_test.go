// The cases of cases.json as byte slices: the same bytes, row by row, that the other layers make.
package benches

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

const (
	seedName  = "PARTWRIGHT_BENCH_SEED"
	tailBytes = 6
	alphabet  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
)

// lab is cases.json, as far as this layer needs it.
type lab struct {
	N           int                  `json:"n"`
	Rows        struct{ Kernel int } `json:"rows"`
	CheckedRows int                  `json:"checked_rows"`
	Cases       []keyCase            `json:"cases"`
}

type keyCase struct {
	Name         string `json:"name"`
	Seed         uint64 `json:"seed"`
	Kind         string `json:"kind"`
	Shortest     uint64 `json:"shortest"`
	Longest      uint64 `json:"longest"`
	NullPerMille uint64 `json:"null_per_mille"`
	Values       uint64 `json:"values"`
	Checksum     int    `json:"checksum"`
}

// readLab reads cases.json, with the run's seed mixed into each case's.
func readLab() (lab, error) {
	var found lab
	text, err := os.ReadFile("../cases.json")
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return found, err
	}
	seed, err := runSeed()
	for at := range found.Cases {
		found.Cases[at].Seed ^= seed
	}
	return found, err
}

// runSeed is 0 unless the environment names a seed; the checksums hold for 0.
func runSeed() (uint64, error) {
	said, isSaid := os.LookupEnv(seedName)
	if !isSaid {
		return 0, nil
	}
	seed, err := strconv.ParseUint(said, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is '%s': say a whole number from 0 to 2^64 - 1", seedName, said)
	}
	return seed, nil
}

// keys are the first rows of a case, nil where the case has a null.
func (c keyCase) keys(rows int) [][]byte {
	keys := make([][]byte, rows)
	for row := range keys {
		keys[row] = c.key(uint64(row))
	}
	return keys
}

func (c keyCase) key(row uint64) []byte {
	choice := c.word(row, 0)
	switch c.Kind {
	case "uuid":
		digits := hex.EncodeToString(c.bytes(row, 16))
		return []byte(digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:])
	case "tails":
		tail := c.text((choice>>32)%c.Values, tailBytes)
		tail[0] = 'N'
		return tail
	case "long":
		return binary.BigEndian.AppendUint64(nil, c.word(row, 1))
	}
	if (choice&0xffffffff)%1000 < c.NullPerMille {
		return nil
	}
	return c.text(row, int(c.Shortest+(choice>>32)%(c.Longest-c.Shortest+1)))
}

func (c keyCase) text(row uint64, length int) []byte {
	text := c.bytes(row, length)
	for at, each := range text {
		text[at] = alphabet[each&63]
	}
	return text
}

func (c keyCase) bytes(row uint64, length int) []byte {
	made := make([]byte, 0, length+8)
	for place := uint64(1); len(made) < length; place++ {
		made = binary.LittleEndian.AppendUint64(made, c.word(row, place))
	}
	return made[:length:length]
}

// word is SplitMix64 by position, as `word` of the Rust bench.
func (c keyCase) word(row, place uint64) uint64 {
	word := c.Seed + (row*16+place+1)*0x9e3779b97f4a7c15
	word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9
	word = (word ^ (word >> 27)) * 0x94d049bb133111eb
	return word ^ (word >> 31)
}
