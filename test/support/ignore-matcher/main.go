// Answers, for an ignore file and a list of paths, which of them BuildKit leaves out. One question and one answer a line.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

type question struct {
	Text  string
	Paths []string
}

type answer struct {
	Error    string `json:"error,omitempty"`
	Excluded []bool `json:"excluded"`
}

func read(asked question) answer {
	patterns, err := ignorefile.ReadAll(strings.NewReader(asked.Text))
	if err != nil {
		return answer{Error: err.Error()}
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		return answer{Error: err.Error()}
	}
	result := answer{}
	for _, path := range asked.Paths {
		parts := strings.Split(path, "/")
		excluded := false
		info := patternmatcher.MatchInfo{}
		for end := range parts {
			excluded, info, err = matcher.MatchesUsingParentResults(strings.Join(parts[:end+1], "/"), info)
			if err != nil {
				return answer{Error: err.Error()}
			}
		}
		result.Excluded = append(result.Excluded, excluded)
	}
	return result
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if json.Unmarshal(line, &asked) != nil {
			return
		}
		_ = output.Encode(read(asked))
	}
}
