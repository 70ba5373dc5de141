package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
)

type requestOptions struct {
	Fields        []field `json:"fields"`
	Body          string  `json:"body"`
	Trailers      []field `json:"trailers"`
	CancelAfterMs *int    `json:"cancelAfterMs"`
}

type answer struct {
	Status   int     `json:"status"`
	Fields   []field `json:"headers"`
	Trailers []field `json:"trailers"`
	Body     string  `json:"body"`
	Early    []int   `json:"early"`
}

// ask sends a request and reads its answer.
func ask(slot *slot, options requestOptions) (*answer, error) {
	message, err := encodeRequest(options)
	if err != nil {
		return nil, err
	}
	stream, err := slot.openStream()
	if err != nil {
		return nil, err
	}
	if options.CancelAfterMs != nil {
		after := time.Duration(*options.CancelAfterMs) * time.Millisecond
		defer time.AfterFunc(after, func() { cancel(stream) }).Stop()
	}
	return exchange(stream, message)
}

// exchange sends a message and reads the answer at the same time: it may come before the end.
func exchange(stream *quic.Stream, message []byte) (*answer, error) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		// If the server reads no further, its answer says why.
		if _, err := stream.Write(message); err == nil {
			_ = stream.Close()
		}
	}()
	found, err := readAnswer(quicvarint.NewReader(stream))
	if err != nil || isOpen(sent) {
		cancel(stream)
	}
	return found, err
}

func cancel(stream *quic.Stream) {
	stream.CancelWrite(requestCancelled)
	stream.CancelRead(requestCancelled)
}

func encodeRequest(options requestOptions) ([]byte, error) {
	message, err := encodeFields(options.Fields)
	if err != nil {
		return nil, err
	}
	if options.Body != "" {
		message = appendFrame(message, dataFrame, []byte(toBytes(options.Body)))
	}
	if len(options.Trailers) == 0 {
		return message, nil
	}
	trailers, err := encodeFields(options.Trailers)
	return append(message, trailers...), err
}

func readAnswer(reader quicvarint.Reader) (*answer, error) {
	found := answer{Fields: []field{}, Trailers: []field{}, Early: []int{}}
	var body strings.Builder
	for {
		kind, payload, err := readFrame(reader)
		if err == io.EOF && found.Status != 0 {
			found.Body = body.String()
			return &found, nil
		} else if err != nil {
			return nil, err
		}
		switch {
		case kind == dataFrame && found.Status != 0:
			body.WriteString(toText(payload))
		case kind == headersFrame:
			err = found.add(payload)
		case kind == dataFrame || kind == settingsFrame || kind == goAwayFrame:
			err = fmt.Errorf("the server sent a frame of type %#x at a wrong place", kind)
		}
		if err != nil {
			return nil, err
		}
	}
}

// add reads the header of an answer, an early one, or the trailers.
func (a *answer) add(block []byte) error {
	fields, err := decodeFields(block)
	if err != nil {
		return err
	}
	if a.Status != 0 {
		a.Trailers = append(a.Trailers, fields...)
		return nil
	}
	if len(fields) == 0 || fields[0][0] != ":status" {
		return fmt.Errorf("the server's header does not begin with :status")
	}
	status, err := strconv.Atoi(fields[0][1])
	if err != nil {
		return fmt.Errorf("the server's :status is not a number: %q", fields[0][1])
	}
	if status < 200 {
		a.Early = append(a.Early, status)
		return nil
	}
	a.Status, a.Fields = status, fields[1:]
	return nil
}
