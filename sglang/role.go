package sglang

import "fmt"

// PDRole is the part of a node under prefill-decode disaggregation. Each node
// has a request span of its own, so one request makes two traces. They are not
// linked; the attribute bootstrap_room has the same value in both.
type PDRole uint8

// The parts of a node.
const (
	// PDRoleNone is for engines that are not disaggregated. It is the zero value.
	PDRoleNone PDRole = iota
	// PDRolePrefill is a Prefill node. Its request span is named "prefill Req ...",
	// its threads "Prefill Tokenizer" and so on.
	PDRolePrefill
	// PDRoleDecode is a Decode node. Its request span is named "decode Req ...", its
	// threads "Decode Tokenizer" and so on.
	PDRoleDecode
)

// String returns prefill, decode or none.
func (r PDRole) String() string {
	switch r {
	case PDRolePrefill:
		return "prefill"
	case PDRoleDecode:
		return "decode"
	}
	return "none"
}

// ParsePDRole returns the role named prefill, decode or none.
func ParsePDRole(name string) (PDRole, error) {
	for _, r := range []PDRole{PDRoleNone, PDRolePrefill, PDRoleDecode} {
		if name == r.String() {
			return r, nil
		}
	}
	return PDRoleNone, fmt.Errorf("sglang: PD role is %q, want prefill, decode or none", shown(name))
}

func (r PDRole) check() error {
	if r > PDRoleDecode {
		return fmt.Errorf("sglang: EngineConfig.PDRole is %d, want PDRoleNone, PDRolePrefill or PDRoleDecode", r)
	}
	return nil
}
