package main

import (
	"encoding/json"
	"math/rand/v2"
)

// roomNumber is the number by which two nodes know the n-th request.
func roomNumber(seed, n uint64) uint64 { return rand.NewPCG(seed, n).Uint64() >> 1 }

// withRoom returns the request as a router sends it to both nodes.
func withRoom(r httpRequest, room uint64) (httpRequest, error) {
	var b body
	if err := json.Unmarshal(r.body, &b); err != nil {
		return r, err
	}
	b.BootstrapRoom = &room
	text, err := json.Marshal(b)
	if err != nil {
		return r, err
	}
	r.body = text
	return r, nil
}

func roomOf(r httpRequest) uint64 {
	var b struct {
		BootstrapRoom uint64 `json:"bootstrap_room"`
	}
	if json.Unmarshal(r.body, &b) != nil {
		return 0
	}
	return b.BootstrapRoom
}
