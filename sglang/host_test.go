package sglang

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestDiscoverHostID(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	missing := filepath.Join(dir, "missing")
	none := func() ([]net.Interface, error) { return nil, nil }
	broken := func() ([]net.Interface, error) { return nil, errors.New("no interfaces here") }
	some := func() ([]net.Interface, error) {
		return []net.Interface{
			{Name: "lo"},
			{Name: "zero", HardwareAddr: net.HardwareAddr{0, 0, 0, 0, 0, 0}},
			{Name: "infiniband", HardwareAddr: net.HardwareAddr{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}},
			{Name: "short", HardwareAddr: net.HardwareAddr{1, 2, 3, 4, 5}},
			{Name: "eth0", HardwareAddr: net.HardwareAddr{0x02, 0x42, 0xac, 0x11, 0x00, 0x02}},
			{Name: "eth1", HardwareAddr: net.HardwareAddr{0x02, 0x42, 0xac, 0x11, 0x00, 0x03}},
		}, nil
	}
	for _, tc := range []struct {
		name       string
		file       string
		interfaces func() ([]net.Interface, error)
		want       string
	}{
		{"machine id", write("id", "9f86d081884c7d659a2feaa0c55ad015\n"), some, "9f86d081884c7d659a2feaa0c55ad015"},
		{"empty machine id", write("empty", "\n"), some, "000000000000000000000242ac110002"},
		{"hardware address", missing, some, "000000000000000000000242ac110002"},
		{"no interface", missing, none, "unknown"},
		{"no list of interfaces", missing, broken, "unknown"},
	} {
		if got := discoverHostID(tc.file, tc.interfaces); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNewTracerFindsTheHost(t *testing.T) {
	tr, err := NewEngine(EngineConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.hostID() == "" {
		t.Error("no host id")
	}
}
