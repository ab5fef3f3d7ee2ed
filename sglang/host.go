package sglang

import (
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/infertel/infertel-go/internal/boundedtext"
)

const (
	machineIDFile = "/etc/machine-id"
	unknownHost   = "unknown"
)

// discoverHostID finds the identifier of this host the way the engine does, so
// that its threads and ours on one host agree where a machine id exists.
func discoverHostID(machineIDFile string, interfaces func() ([]net.Interface, error)) string {
	if content, err := os.ReadFile(machineIDFile); err == nil {
		if id := boundedtext.Cut(strings.TrimSpace(string(content)), boundedtext.MaxName); id != "" {
			return id
		}
	}
	found, err := interfaces()
	if err != nil {
		return unknownHost
	}
	for _, i := range found {
		if id := hardwareID(i.HardwareAddr); id != "" {
			return id
		}
	}
	return unknownHost
}

// hardwareID is the address as the engine writes it: the number it is, as 32
// hexadecimal digits. An address of another length or without a bit set, as the
// loopback interface has, identifies nothing.
func hardwareID(addr net.HardwareAddr) string {
	if len(addr) != 6 {
		return ""
	}
	var n uint64
	for _, b := range addr {
		n = n<<8 | uint64(b)
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%032x", n)
}
