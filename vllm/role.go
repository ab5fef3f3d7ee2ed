package vllm

import (
	"fmt"

	"go.opentelemetry.io/otel/attribute"

	"github.com/infertel/infertel-go/semconv"
)

// PDRole is the part that an engine plays where prefill and decode run on
// different nodes. It is the value of gen_ai.pd_role.
type PDRole uint8

// The parts of an engine.
const (
	// PDRoleNone is an engine that does both. It is the zero value.
	PDRoleNone PDRole = iota
	// PDRoleProducer is a Prefill node: it has no decode span and its
	// time_in_model_decode is 0.
	PDRoleProducer
	// PDRoleConsumer is a Decode node: it has no prefill span and its
	// time_in_model_prefill is 0.
	PDRoleConsumer
)

// String returns the value of gen_ai.pd_role.
func (r PDRole) String() string { return r.attribute().Value.AsString() }

func (r PDRole) attribute() attribute.KeyValue {
	switch r {
	case PDRoleProducer:
		return semconv.GenAIPDRoleProducer
	case PDRoleConsumer:
		return semconv.GenAIPDRoleConsumer
	}
	return semconv.GenAIPDRoleNone
}

// ParsePDRole returns the role named producer, consumer or none.
func ParsePDRole(name string) (PDRole, error) {
	for _, r := range []PDRole{PDRoleNone, PDRoleProducer, PDRoleConsumer} {
		if name == r.String() {
			return r, nil
		}
	}
	return PDRoleNone, fmt.Errorf("vllm: PD role is %q, want producer, consumer or none", name)
}
