// The oracle answers with upstream's own code: `oracle allocator` runs the real DRA allocator, `oracle cel` the real
// CEL compiler. Both read one JSON object a line on stdin and write one JSON object a line on stdout, in order.
// The rows are described in README.md beside build.py.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"

	kjson "sigs.k8s.io/json"
)

// exitAbandoned tells the client that the last answer stands, but that a search which ignores its deadline is still
// running, so that this process must be replaced.
const exitAbandoned = 3

func main() {
	if len(os.Args) != 2 {
		fail("usage: oracle allocator|cel|version")
	}
	switch os.Args[1] {
	case "allocator":
		serve(os.Stdin, os.Stdout, answerAllocation)
	case "cel":
		serve(os.Stdin, os.Stdout, answerExpression)
	case "version":
		fmt.Println(upstreamVersion())
	default:
		fail("unknown command " + os.Args[1])
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "oracle: "+message)
	os.Exit(2)
}

// upstreamVersion is the version of the module that answers.
func upstreamVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/dynamic-resource-allocation" {
				return module.Version
			}
		}
	}
	return "unknown"
}

// serve answers each line before it reads the next one. answer returns false if the process can't go on.
func serve(in io.Reader, out io.Writer, answer func(line []byte) (any, bool)) {
	reader := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			result, goOn := answer(line)
			encoded, marshalErr := json.Marshal(result)
			if marshalErr != nil {
				fail("encode answer: " + marshalErr.Error())
			}
			if _, writeErr := out.Write(append(encoded, '\n')); writeErr != nil {
				fail("write answer: " + writeErr.Error())
			}
			if !goOn {
				os.Exit(exitAbandoned)
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			fail("read row: " + err.Error())
		}
	}
}

// decode fills row as the API server's decoder would (case-sensitive), and returns the fields of its API objects that
// this minor's types don't have and that were therefore dropped. Keys of the row itself may be anything.
func decode(line []byte, row any) (dropped []string, err error) {
	strict, err := kjson.UnmarshalStrict(line, row)
	for _, problem := range strict {
		if text := problem.Error(); !ownKey.MatchString(text) {
			dropped = append(dropped, text)
		}
	}
	return dropped, err
}

// ownKey recognises the decoder's complaint about a key of the row itself: it has no path.
var ownKey = regexp.MustCompile(`^unknown field "[^".\[]*"$`)

// setFlags sets bool fields of a struct by name and refuses names that the struct doesn't have. Switching off a
// feature that this release doesn't have is not an error.
func setFlags(target any, prefix string, flags map[string]bool) error {
	value := reflect.ValueOf(target).Elem()
	for name, on := range flags {
		field := value.FieldByName(prefix + name)
		if !field.IsValid() {
			if on {
				return fmt.Errorf("feature not known in this release: %s", name)
			}
			continue
		}
		field.SetBool(on)
	}
	return nil
}
