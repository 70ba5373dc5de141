package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go/quicvarint"
)

// Frames and kinds of streams of RFC 9114.
const (
	dataFrame     = 0x0
	headersFrame  = 0x1
	settingsFrame = 0x4
	goAwayFrame   = 0x7
	controlStream = 0x0
)

// field is one line of a header. Repeated names are repeated fields.
type field = [2]string

func appendFrame(to []byte, kind uint64, payload []byte) []byte {
	to = quicvarint.Append(to, kind)
	to = quicvarint.Append(to, uint64(len(payload)))
	return append(to, payload...)
}

// readFrame returns io.EOF only if the stream ends before a frame.
func readFrame(from quicvarint.Reader) (uint64, []byte, error) {
	kind, err := quicvarint.Read(from)
	if err != nil {
		return 0, nil, err
	}
	length, err := quicvarint.Read(from)
	if err != nil {
		return kind, nil, insideOf(kind, err)
	}
	var payload bytes.Buffer
	if _, err := io.CopyN(&payload, from, int64(length)); err != nil {
		return kind, payload.Bytes(), insideOf(kind, err)
	}
	return kind, payload.Bytes(), nil
}

func insideOf(kind uint64, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("inside of a frame of type %#x: %w", kind, err)
}

// encodeFields returns a HEADERS frame. It checks nothing: attacks are made of it.
func encodeFields(fields []field) ([]byte, error) {
	var block bytes.Buffer
	encoder := qpack.NewEncoder(&block)
	for _, field := range fields {
		err := encoder.WriteField(qpack.HeaderField{Name: toBytes(field[0]), Value: toBytes(field[1])})
		if err != nil {
			return nil, err
		}
	}
	return appendFrame(nil, headersFrame, block.Bytes()), nil
}

func decodeFields(block []byte) ([]field, error) {
	next := qpack.NewDecoder().Decode(block)
	fields := []field{}
	for {
		found, err := next()
		if err == io.EOF {
			return fields, nil
		} else if err != nil {
			return nil, fmt.Errorf("the server's header is not readable: %w", err)
		}
		fields = append(fields, field{toText([]byte(found.Name)), toText([]byte(found.Value))})
	}
}

// toText returns a string in which each character is one of these bytes.
func toText(raw []byte) string {
	text := make([]rune, len(raw))
	for at, value := range raw {
		text[at] = rune(value)
	}
	return string(text)
}

// toBytes is the opposite of toText.
func toBytes(text string) string {
	raw := make([]byte, 0, len(text))
	for _, character := range text {
		raw = append(raw, byte(character))
	}
	return string(raw)
}
