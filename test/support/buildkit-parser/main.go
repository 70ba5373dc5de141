// Reads Dockerfiles, one JSON string a line, and writes what BuildKit's own parser makes of each, one JSON object a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

type node struct {
	Keyword  string    `json:"keyword"`
	Flags    []string  `json:"flags"`
	Words    []string  `json:"words"`
	Line     int       `json:"line"`
	Original string    `json:"original"`
	Heredocs []heredoc `json:"heredocs"`
}

type heredoc struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

type stage struct {
	Name  string   `json:"name"`
	Base  string   `json:"base"`
	Adds  []string `json:"adds"`
	Froms []string `json:"froms"`
}

type reading struct {
	Error  string  `json:"error,omitempty"`
	Nodes  []node  `json:"nodes"`
	Escape string  `json:"escape"`
	Stages []stage `json:"stages"`
	// Why the instructions do not make a build.
	Problem string `json:"problem,omitempty"`
	Panic   string `json:"panic,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var text string
		if err := json.Unmarshal(line, &text); err != nil {
			panic(err)
		}
		answer, err := json.Marshal(read(text))
		if err != nil {
			panic(err)
		}
		out.Write(append(answer, '\n'))
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func read(text string) (found reading) {
	defer func() {
		if panicked := recover(); panicked != nil {
			found = reading{Panic: fmt.Sprint(panicked)}
		}
	}()
	result, err := parser.Parse(strings.NewReader(text))
	if err != nil {
		return reading{Error: err.Error()}
	}
	found = reading{Escape: string(result.EscapeToken)}
	for _, child := range result.AST.Children {
		found.Nodes = append(found.Nodes, nodeOf(child))
	}
	stages, err := parseStages(result.AST)
	if err != nil {
		found.Problem = err.Error()
	}
	for _, one := range stages {
		found.Stages = append(found.Stages, stageOf(one))
	}
	return found
}

func nodeOf(child *parser.Node) node {
	one := node{Keyword: strings.ToUpper(child.Value), Flags: child.Flags, Line: child.StartLine, Original: child.Original}
	for next := child.Next; next != nil; next = next.Next {
		one.Words = append(one.Words, next.Value)
	}
	// Older versions have no such field.
	documents := reflect.ValueOf(child).Elem().FieldByName("Heredocs")
	for at := 0; documents.IsValid() && at < documents.Len(); at++ {
		document := documents.Index(at)
		one.Heredocs = append(one.Heredocs, heredoc{
			document.FieldByName("Name").String(),
			document.FieldByName("Content").String(),
		})
	}
	return one
}

func stageOf(one instructions.Stage) stage {
	found := stage{Name: one.Name, Base: one.BaseName}
	for _, command := range one.Commands {
		switch typed := command.(type) {
		case *instructions.AddCommand:
			found.Adds = append(found.Adds, sourcesOf(typed)...)
		case *instructions.CopyCommand:
			if typed.From != "" {
				found.Froms = append(found.Froms, typed.From)
			}
		case *instructions.RunCommand:
			for _, mount := range instructions.GetMounts(typed) {
				if mount.From != "" {
					found.Froms = append(found.Froms, mount.From)
				}
			}
		}
	}
	return found
}
