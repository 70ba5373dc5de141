package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/quic-go/quic-go"
)

// slot holds a connection, and opens it when it is needed.
type slot struct {
	peer    peer
	mutex   sync.Mutex
	current *connection
}

func (s *slot) get() (*connection, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.current != nil && s.current.isUsable() {
		return s.current, nil
	}
	opened, err := s.peer.open()
	if err != nil {
		return nil, fmt.Errorf("connecting failed: %w", err)
	}
	s.current = opened
	return opened, nil
}

func (s *slot) connect() (facts, error) {
	s.close()
	opened, err := s.get()
	if err != nil {
		return facts{}, err
	}
	return opened.facts(), nil
}

func (s *slot) close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.current != nil {
		s.current.close()
	}
	s.current = nil
}

// openStream waits while the server allows no further stream.
func (s *slot) openStream() (*quic.Stream, error) {
	connection, err := s.get()
	if err != nil {
		return nil, err
	}
	return connection.quic.OpenStreamSync(context.Background())
}
