// Answers questions about keys with a real Go client: "<hex key or null> <n>" in, one partition a profile out.
//
// The one argument names the client; `write CLIENT HOST:PORT TOPIC` sends keys to a topic instead, `groups CLIENT`
// asks its assignors (groups.go), and `member CLIENT HOST:PORT GROUP TOPIC ASSIGNOR,...` joins a group (member.go).
// The first line out is the client's provenance in JSON, the second the names of its profiles; after them comes one
// line for each line in, in order.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	topic       = "t"
	longestLine = 1 << 20
)

// A profile is one of a client's partitioners, with partwright's name for it.
type profile struct {
	name string
	// The client's function that answers, as its users write it.
	function string
	// A nil key is a null key; an empty key is not nil.
	partition func(key []byte, n int) (int, error)
}

// A client is a Go module whose partitioners are asked.
type client struct {
	module   string
	profiles func() ([]profile, error)
}

var clients = map[string]client{
	"franz-go": {"github.com/twmb/franz-go", franzGo},
	"kafka-go": {"github.com/segmentio/kafka-go", kafkaGo},
	"sarama":   {"github.com/IBM/sarama", saramaProfiles},
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string, questions io.Reader, answers io.Writer) error {
	if len(arguments) > 0 && arguments[0] == "write" {
		return write(arguments[1:], questions)
	}
	if len(arguments) > 0 && arguments[0] == "member" {
		return joinGroup(arguments[1:], questions, answers)
	}
	if len(arguments) > 0 && arguments[0] == "groups" {
		return answerGroups(arguments[1:], questions, answers)
	}
	if len(arguments) != 1 {
		return fmt.Errorf("one argument names the client, not %d", len(arguments))
	}
	asked, known := clients[arguments[0]]
	if !known {
		return fmt.Errorf("there is no client %s here", arguments[0])
	}
	profiles, err := asked.profiles()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(answers, 1<<16)
	if err := introduce(out, asked.module, profiles); err != nil {
		return err
	}
	if err := answer(out, questions, profiles); err != nil {
		return err
	}
	return out.Flush()
}

// introduce writes the first two lines: who answers, and under which names.
func introduce(out *bufio.Writer, module string, profiles []profile) error {
	version, err := linkedVersion(module)
	if err != nil {
		return err
	}
	names := make([]string, len(profiles))
	functions := make(map[string]string, len(profiles))
	for at, one := range profiles {
		names[at] = one.name
		functions[one.name] = one.function
	}
	provenance, err := json.Marshal(map[string]any{"library": module, "version": version, "functions": functions})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n%s\n", provenance, strings.Join(names, " "))
	return err
}

// linkedVersion is the version that the linker put into this program, whatever go.mod says by now.
func linkedVersion(module string) (string, error) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "", fmt.Errorf("this program was built without module information")
	}
	for _, dependency := range build.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v"), nil
		}
	}
	return "", fmt.Errorf("%s is not linked into this program", module)
}

func answer(out *bufio.Writer, questions io.Reader, profiles []profile) error {
	lines := bufio.NewScanner(questions)
	lines.Buffer(make([]byte, 1<<16), longestLine)
	var line []byte
	for lines.Scan() {
		key, n, err := parse(lines.Bytes())
		if err != nil {
			return err
		}
		line = line[:0]
		for _, one := range profiles {
			partition, err := one.partition(key, n)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", one.name, lines.Text(), err)
			}
			line = append(strconv.AppendInt(line, int64(partition), 10), ' ')
		}
		line[len(line)-1] = '\n'
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return lines.Err()
}

func parse(line []byte) ([]byte, int, error) {
	written, number, found := bytes.Cut(line, []byte{' '})
	if !found {
		return nil, 0, fmt.Errorf("%q is no question: say <hex key or null> <n>", line)
	}
	n, err := strconv.Atoi(string(number))
	if err != nil || string(written) == "null" {
		return nil, n, err
	}
	key := make([]byte, hex.DecodedLen(len(written)))
	_, err = hex.Decode(key, written)
	return key, n, err
}
