package simengine

import "time"

// Handover joins the two halves of a request: the one on the prefill node and the
// one on the decode node.
type Handover struct {
	// Room is the number that both nodes know the request by.
	Room uint64
	// Ready says that the KV cache lies ready on the prefill node, so that the
	// decode node pulls it. Otherwise the prefill node sends it once both are
	// connected.
	Ready bool

	waiting []func() // of the nodes that ask to be connected
	sent    bool
	onSent  func()
}

// connect calls both sides when the second of them asks to be connected.
func (h *Handover) connect(s *Sim, d time.Duration, f func()) {
	if h.waiting = append(h.waiting, f); len(h.waiting) < 2 {
		return
	}
	for _, f := range h.waiting {
		s.After(d, f)
	}
	h.waiting = nil
}

// arrived tells the decode node that the KV cache is there.
func (h *Handover) arrived() {
	h.sent = true
	if h.onSent != nil {
		h.onSent()
	}
}

// whenSent calls f when the KV cache is there.
func (h *Handover) whenSent(f func()) {
	if h.sent {
		f()
		return
	}
	h.onSent = f
}

// Store is a KV cache outside the engines that holds the beginnings of prompts.
type Store struct {
	blockSize int
	hashes    map[uint64]bool
}

// NewStore returns a store that holds the given prompts.
func NewStore(blockSize int, prompts ...[]int) *Store {
	s := &Store{blockSize: blockSize, hashes: map[uint64]bool{}}
	for _, p := range prompts {
		for _, h := range prefixHashes(append(p[:len(p):len(p)], 0), blockSize) {
			s.hashes[h] = true
		}
	}
	return s
}

// match returns how many tokens of the prompt the store holds.
func (s *Store) match(hashes []uint64) int {
	if s == nil {
		return 0
	}
	for i, h := range hashes {
		if !s.hashes[h] {
			return i * s.blockSize
		}
	}
	return len(hashes) * s.blockSize
}
