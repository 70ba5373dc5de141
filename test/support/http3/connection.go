package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
)

// peer is the server, and how it is called.
type peer struct {
	address string
	tls     *tls.Config
}

// connection is a QUIC connection whose control stream is open.
type connection struct {
	quic *quic.Conn
	// isLeaving is set when the server sent GOAWAY: it accepts no further requests.
	isLeaving atomic.Bool
}

type facts struct {
	ALPN     string `json:"alpn"`
	Resumed  bool   `json:"resumed"`
	Used0RTT bool   `json:"used0rtt"`
}

const handshakeLimit = 10 * time.Second

// open connects. If the server issued a ticket that allows early data, SETTINGS are early data.
func (p peer) open() (*connection, error) {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeLimit)
	defer cancel()
	conn, err := quic.DialAddrEarly(ctx, p.address, p.tls, &quic.Config{
		MaxIncomingStreams: -1,
		MaxIdleTimeout:     time.Minute,
	})
	if err != nil {
		return nil, err
	}
	isEarly := isOpen(conn.HandshakeComplete())
	sendError := sendSettings(conn)
	select {
	case <-conn.HandshakeComplete():
	case <-conn.Context().Done():
		return nil, context.Cause(conn.Context())
	case <-ctx.Done():
		return nil, errors.New("the handshake did not complete")
	}
	isRefused := isEarly && !conn.ConnectionState().Used0RTT
	if isRefused || errors.Is(sendError, quic.Err0RTTRejected) {
		if conn, err = conn.NextConnection(ctx); err != nil {
			return nil, err
		}
		sendError = sendSettings(conn)
	}
	if sendError != nil {
		return nil, sendError
	}
	opened := &connection{quic: conn}
	go opened.readServerStreams()
	return opened, nil
}

func isOpen(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return false
	default:
		return true
	}
}

func sendSettings(conn *quic.Conn) error {
	control, err := conn.OpenUniStream()
	if err != nil {
		return err
	}
	_, err = control.Write(appendFrame([]byte{controlStream}, settingsFrame, nil))
	return err
}

func (c *connection) facts() facts {
	state := c.quic.ConnectionState()
	return facts{state.TLS.NegotiatedProtocol, state.TLS.DidResume, state.Used0RTT}
}

func (c *connection) isUsable() bool { return !c.isLeaving.Load() && isOpen(c.quic.Context().Done()) }

func (c *connection) close() {
	// It fails only if the connection is closed already.
	_ = c.quic.CloseWithError(noError, "")
}

func (c *connection) readServerStreams() {
	for {
		stream, err := c.quic.AcceptUniStream(context.Background())
		if err != nil {
			return
		}
		go c.readServerStream(stream)
	}
}

// readServerStream looks for GOAWAY on the control stream, and skips every other stream.
func (c *connection) readServerStream(stream *quic.ReceiveStream) {
	reader := quicvarint.NewReader(stream)
	kind, err := quicvarint.Read(reader)
	for err == nil && kind == controlStream {
		var frame uint64
		if frame, _, err = readFrame(reader); frame == goAwayFrame {
			c.isLeaving.Store(true)
		}
	}
	// The end of a stream of the server is seen by the requests of its connection.
	_, _ = io.Copy(io.Discard, stream)
}
