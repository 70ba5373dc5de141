package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const (
	noError          = quic.ApplicationErrorCode(http3.ErrCodeNoError)
	requestCancelled = quic.StreamErrorCode(http3.ErrCodeRequestCanceled)
)

// explain names the error codes of HTTP/3.
func explain(err error) string {
	var stream *quic.StreamError
	var application *quic.ApplicationError
	switch {
	case errors.As(err, &stream):
		return fmt.Sprintf("%s reset the stream: %s", side(stream.Remote), name(uint64(stream.ErrorCode)))
	case errors.As(err, &application):
		code := name(uint64(application.ErrorCode))
		text := fmt.Sprintf("%s closed the connection: %s", side(application.Remote), code)
		if application.ErrorMessage != "" {
			text += ": " + application.ErrorMessage
		}
		return text
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return "the server ended the stream before the answer was complete"
	}
	return err.Error()
}

func side(isRemote bool) string {
	if isRemote {
		return "the server"
	}
	return "the client"
}

func name(code uint64) string {
	number := fmt.Sprintf("%#x", code)
	if known := http3.ErrCode(code).String(); !strings.HasPrefix(known, "unknown") {
		return fmt.Sprintf("%s (%s)", known, number)
	}
	return number
}
