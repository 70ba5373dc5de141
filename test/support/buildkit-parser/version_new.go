//go:build !old

package main

import (
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func parseStages(tree *parser.Node) ([]instructions.Stage, error) {
	stages, _, err := instructions.Parse(tree, nil)
	return stages, err
}

func sourcesOf(add *instructions.AddCommand) []string {
	return add.SourcePaths
}
