// An HTTP/3 client for tests. Commands are lines of JSON on standard input, answers are lines of
// JSON on standard output. Strings carry bytes: each character is one byte (latin1).
//
//	client ADDRESS SERVER-NAME CA
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
)

type command struct {
	ID   int            `json:"id"`
	Do   string         `json:"do"`
	Ask  requestOptions `json:"ask"`
	Raw  rawOptions     `json:"raw"`
	Load loadOptions    `json:"load"`
}

type report struct {
	ID     int    `json:"id"`
	Answer any    `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"`
}

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(arguments []string) error {
	if len(arguments) != 3 {
		return fmt.Errorf("usage: client ADDRESS SERVER-NAME CA")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(arguments[2])) {
		return fmt.Errorf("the CA contains no certificate in PEM format")
	}
	peer := peer{address: arguments[0], tls: &tls.Config{
		ServerName:         arguments[1],
		RootCAs:            roots,
		NextProtos:         []string{"h3"},
		ClientSessionCache: tls.NewLRUClientSessionCache(16),
	}}
	slot := &slot{peer: peer}
	var output sync.Mutex
	writer := json.NewEncoder(os.Stdout)
	reader := json.NewDecoder(os.Stdin)
	for {
		var next command
		if err := reader.Decode(&next); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("a command is not readable: %w", err)
		}
		go func() {
			answer := report{ID: next.ID}
			result, err := execute(slot, next)
			if err != nil {
				answer.Error = explain(err)
			} else {
				answer.Answer = result
			}
			output.Lock()
			defer output.Unlock()
			if err := writer.Encode(answer); err != nil {
				os.Exit(1)
			}
		}()
	}
}

func execute(slot *slot, next command) (any, error) {
	switch next.Do {
	case "ask":
		return ask(slot, next.Ask)
	case "raw":
		return raw(slot, next.Raw)
	case "load":
		return load(slot.peer, next.Load)
	case "connect":
		return slot.connect()
	case "close":
		slot.close()
		return true, nil
	}
	return nil, fmt.Errorf("there is no command %q", next.Do)
}
