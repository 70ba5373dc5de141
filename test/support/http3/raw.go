package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/quic-go/quic-go"
)

type rawOptions struct {
	Bytes string `json:"bytes"`
	End   bool   `json:"end"`
	Kind  string `json:"kind"`
}

type rawAnswer struct {
	Bytes           string  `json:"bytes"`
	StreamError     *uint64 `json:"streamError,omitempty"`
	ConnectionError *uint64 `json:"connectionError,omitempty"`
}

const (
	// answerLimit ends a bidirectional stream that the server leaves open.
	answerLimit = 30 * time.Second
	// silenceLimit ends the wait at a unidirectional stream, at which nothing may happen.
	silenceLimit = time.Second
)

// raw writes bytes on a stream of its own, and reports the reaction to them.
func raw(slot *slot, options rawOptions) (*rawAnswer, error) {
	connection, err := slot.get()
	if err != nil {
		return nil, err
	}
	bytes := []byte(toBytes(options.Bytes))
	if options.Kind == "unidirectional" {
		return rawUnidirectional(connection.quic, bytes, options.End)
	}
	stream, err := connection.quic.OpenStreamSync(context.Background())
	if err != nil {
		return nil, err
	}
	defer cancel(stream)
	writeError := write(stream, bytes, options.End)
	_ = stream.SetReadDeadline(time.Now().Add(answerLimit))
	found, readError := io.ReadAll(stream)
	answer := &rawAnswer{Bytes: toText(found)}
	return answer, errors.Join(answer.add(writeError), answer.add(readError))
}

func rawUnidirectional(conn *quic.Conn, bytes []byte, end bool) (*rawAnswer, error) {
	stream, err := conn.OpenUniStreamSync(context.Background())
	if err != nil {
		return nil, err
	}
	answer := &rawAnswer{}
	err = answer.add(write(stream, bytes, end))
	isRefused := stream.Context().Done()
	if end {
		// Its context ends with the stream.
		isRefused = nil
	}
	select {
	case <-conn.Context().Done():
		err = answer.add(context.Cause(conn.Context()))
	case <-isRefused:
		err = answer.add(context.Cause(stream.Context()))
	case <-time.After(silenceLimit):
	}
	return answer, err
}

func write(stream io.WriteCloser, bytes []byte, end bool) error {
	if _, err := stream.Write(bytes); err != nil || !end {
		return err
	}
	return stream.Close()
}

// add notes the code of an error, and returns an error that has none.
func (a *rawAnswer) add(err error) error {
	var stream *quic.StreamError
	var application *quic.ApplicationError
	var transport *quic.TransportError
	var code uint64
	switch {
	case err == nil || errors.Is(err, os.ErrDeadlineExceeded):
	case errors.As(err, &stream):
		code = uint64(stream.ErrorCode)
		a.StreamError = &code
	case errors.As(err, &application):
		code = uint64(application.ErrorCode)
		a.ConnectionError = &code
	case errors.As(err, &transport):
		code = uint64(transport.ErrorCode)
		a.ConnectionError = &code
	default:
		return err
	}
	return nil
}
