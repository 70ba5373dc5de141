//go:build tools

// Keeps the requirement in go.mod. Nothing is built from this file.
package pebble

import _ "github.com/letsencrypt/pebble/v2/cmd/pebble"
