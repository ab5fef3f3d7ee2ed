package main

import (
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"

	jaegerui "github.com/tonistiigi/jaeger-ui-rest"
)

// writeAssets writes Jaeger's web UI, which its own module lacks, to a directory.
func writeAssets(dir string) error {
	return copyTree(jaegerui.FS(jaegerui.Config{}), "/", dir)
}

func copyTree(from http.FileSystem, name, to string) error {
	f, err := from.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return copyFile(to, f)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := f.Readdir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyTree(from, path.Join(name, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(to string, from io.Reader) error {
	content, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
