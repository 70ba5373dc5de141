package main

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"
)

type loadOptions struct {
	Fields      []field `json:"fields"`
	Count       int     `json:"count"`
	Open        int     `json:"open"`
	Connections int     `json:"connections"`
}

type loadAnswer struct {
	Answered map[string]int `json:"answered"`
	Failed   []string       `json:"failed"`
	Seconds  float64        `json:"seconds"`
	P99Ms    float64        `json:"p99Ms"`
}

type exchanged struct {
	status int
	err    error
	took   time.Duration
}

// load sends a request often, over each connection in turn. A connection that fails is replaced for the next request.
func load(peer peer, options loadOptions) (*loadAnswer, error) {
	message, err := encodeFields(options.Fields)
	if err != nil {
		return nil, err
	}
	if options.Open < 1 || options.Connections < 1 {
		return nil, errors.New("open and connections must be at least 1")
	}
	slots := make([]slot, options.Connections)
	for at := range slots {
		slots[at].peer = peer
		defer slots[at].close()
	}
	turns, results := make(chan int), make(chan exchanged)
	go func() {
		defer close(turns)
		for turn := range options.Count {
			turns <- turn
		}
	}()
	var workers sync.WaitGroup
	for range options.Open {
		workers.Go(func() {
			for turn := range turns {
				results <- exchangeOnce(&slots[turn%len(slots)], message)
			}
		})
	}
	go func() {
		defer close(results)
		workers.Wait()
	}()
	return summarize(results), nil
}

func exchangeOnce(slot *slot, message []byte) exchanged {
	began := time.Now()
	stream, err := slot.openStream()
	if err != nil {
		return exchanged{err: err}
	}
	found, err := exchange(stream, message)
	if err != nil {
		return exchanged{err: err}
	}
	return exchanged{status: found.Status, took: time.Since(began)}
}

func summarize(results <-chan exchanged) *loadAnswer {
	began := time.Now()
	summary := &loadAnswer{Answered: map[string]int{}, Failed: []string{}}
	times := []time.Duration{}
	for result := range results {
		if result.err != nil {
			summary.Failed = append(summary.Failed, explain(result.err))
			continue
		}
		summary.Answered[strconv.Itoa(result.status)]++
		times = append(times, result.took)
	}
	summary.Seconds = time.Since(began).Seconds()
	if slices.Sort(times); len(times) > 0 {
		summary.P99Ms = float64(times[len(times)*99/100].Microseconds()) / 1000
	}
	return summary
}
